import { webhookContents, webhookSignatures } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));

/** So long a delivery belongs to whom has claimed it: it begins to be sent within two thirds of it, and an attempt takes at most a quarter. */
export const leaseMs = 60_000;
/** Deliveries of one claim; one that takes fewer leaves nothing that has room. */
export const mostOfClaim = 200;
/** Attempts under way at once, over all processes: to one webhook, those of a replay among them, and for one workspace. */
export const mostOfWebhook = 5;
export const mostOfWorkspace = 64;
const mostReplays = 2;
/** A process claims so many times more while no other one has any: what waits is at hand when there is room. Not where a receiver is slow or has a pace. */
const claimedAhead = 2;

const claimedRow = z.object({
  id: z.bigint(),
  webhook_id: z.number(),
  workspace_id: z.number(),
  event_id: z.string(),
  tries: z.number(),
  /** So many deliveries to the webhook this process may have claimed. */
  most: z.number(),
  is_slow: z.boolean(),
  body: z.string().nullable(),
  sealed: z.instanceof(Buffer),
  signature: z.enum(webhookSignatures),
  content: z.enum(webhookContents),
  previous_until: z.number().nullable(),
});
export type Claimed = Omit<z.output<typeof claimedRow>, 'id'> & { readonly id: number; readonly claimedMs: number };

/** What a process has room for. */
export type Room = {
  readonly all: number;
  /** Attempts to receivers that were slow. */
  readonly slow: number;
  /** Webhooks that have no room: it has claimed as much for them as it may. */
  readonly full: ReadonlySet<number>;
};

/** How many may begin now by `max_per_second`. Bursts are of 50 ms, and the rate is that much lower, so that no second holds more. */
const rate = sql.fragment`(case when w.max_per_second < 20 then w.max_per_second else w.max_per_second * 0.95 end)`;
const burst = sql.fragment`(case when w.max_per_second < 20 then 1 else floor(w.max_per_second * 0.05) end)`;
const pacedFrom = (nowMs: number) =>
  sql.fragment`greatest(w.paced_at, ${at(nowMs)} - make_interval(secs => (${burst} / ${rate})::float8))`;

/** Webhooks for which anything waits, by leaps through the index: a backlog of one costs no more than one delivery. */
export const waitingWebhooks = sql.fragment`
  select min(webhook_id) from webhook_deliveries where state = 'queued'
  union all
  select (select min(d.webhook_id) from webhook_deliveries d where d.state = 'queued' and d.webhook_id > hooks.id)
  from hooks where hooks.id is not null`;

/** So many deliveries that have waited longest are looked at before all webhooks for which anything waits. */
const windowSize = 1_000;

/** Of one webhook what is due, eldest first. A range over the whole key, so that the index of the queue is the only one that gives this order. */
const dueOf = (isReplay: boolean, nowMs: number) => sql.fragment`
  select d.id, d.due_at, d.is_replay from webhook_deliveries d
  where d.state = 'queued' and (d.webhook_id, d.is_replay, d.due_at) >= (r.id, ${isReplay}, '-infinity'::timestamptz)
    and (d.webhook_id, d.is_replay, d.due_at) <= (r.id, ${isReplay}, ${at(nowMs)})
  order by d.webhook_id, d.is_replay, d.due_at`;

/**
 * Picks what is due and has room. Whatever is looked up for a webhook stands behind `offset 0` or in a materialized part, so that it is looked
 * up for each webhook by itself.
 * @param webhookIds those for which something is due; undefined: all for which anything waits
 */
const pickedOf = (replica: string, nowMs: number, room: Room, webhookIds?: readonly number[]) => sql.fragment`
  hooks (id) as (${
    webhookIds === undefined
      ? waitingWebhooks
      : sql.fragment`select unnest(${sql.array(
          [...webhookIds].toSorted((a, b) => a - b),
          'int4',
        )})`
  }),
  ready as materialized (
    select w.id, w.workspace_id, w.is_slow, w.paced, l.n as claimed, l.replays, m.most
    from hooks cross join lateral (
      select w.id, w.workspace_id, w.is_slow, w.max_per_second,
        case when w.max_per_second is null then ${claimedAhead * mostOfWebhook}
          else floor(extract(epoch from ${at(nowMs)} - ${pacedFrom(nowMs)}) * ${rate} + 0.000001)::integer end as paced
      from webhooks w where w.id = hooks.id and w.is_active offset 0) w
    cross join lateral (
      select count(*)::integer as n, count(*) filter (where d.leased_by <> ${replica})::integer as others,
        count(*) filter (where is_replay)::integer as replays
      from webhook_deliveries d
      where d.workspace_id = w.workspace_id and d.webhook_id = w.id and d.leased_by is not null and d.due_at > ${at(nowMs)} offset 0) l
    cross join lateral (
      select ${mostOfWebhook} * case when l.others = 0 and not w.is_slow and w.max_per_second is null then ${claimedAhead} else 1 end as most) m
    where l.n < m.most and w.paced > 0
  ), busy as materialized (
    select r.workspace_id, l.n, ${mostOfWorkspace} * case when l.others = 0 then ${claimedAhead} else 1 end as most
    from (select distinct workspace_id from ready) r cross join lateral (
      select count(*)::integer as n, count(*) filter (where d.leased_by <> ${replica})::integer as others from webhook_deliveries d
      where d.workspace_id = r.workspace_id and d.leased_by is not null and d.due_at > ${at(nowMs)} offset 0) l
  ), due as (
    select r.id as webhook_id, r.workspace_id, r.is_slow, d.id, d.due_at, r.paced, r.claimed, r.most,
      row_number() over (partition by r.id order by d.is_replay, d.due_at, d.id) as place
    from ready r cross join lateral (
      (select * from (${dueOf(false, nowMs)} limit ${claimedAhead * mostOfWebhook}) d)
      union all
      (select * from (${dueOf(true, nowMs)} limit ${mostReplays}) d limit greatest(0, ${mostReplays} - r.replays))) d
  ), shared as (
    select due.id, due.webhook_id, due.place, due.due_at, due.is_slow, due.most, busy.most as most_of_workspace,
      row_number() over (partition by due.workspace_id order by due.place, due.due_at) + busy.n as of_workspace,
      row_number() over (partition by due.is_slow order by due.place, due.due_at) as of_speed
    from due join busy on busy.workspace_id = due.workspace_id
    where due.place <= least(due.paced, due.most - due.claimed)
  ), chosen as materialized (
    select id, place, due_at, most from shared
    where of_workspace <= most_of_workspace and (not is_slow or of_speed <= ${room.slow})
    order by place, due_at limit ${Math.min(room.all, mostOfClaim)}
  ), picked as materialized (
    select d.id, d.webhook_id, chosen.most from chosen cross join lateral (
      select d.id, d.webhook_id from webhook_deliveries d where d.id = chosen.id and d.state = 'queued' and d.due_at <= ${at(nowMs)}
      for update skip locked) d)`;

/**
 * Waits for other claims, and keeps the planner to the ways that are cheap whatever the statistics say. While they are of calm times, or of none,
 * PostgreSQL would for each webhook read all that waits and sort it.
 */
export const beginClaim = sql.unsafe`
  select pg_advisory_xact_lock(hashtextextended('webhooks claim', 0)),
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`;

/** The statement of a claim, in a transaction that began with `beginClaim`; exported for its plan. */
export const claimStatement = (
  replica: string,
  nowMs: number,
  room: Room,
  webhookIds?: readonly number[],
) => sql.fragment`
  with recursive ${pickedOf(replica, nowMs, room, webhookIds)}, paced as (
    update webhooks w set paced_at = ${pacedFrom(nowMs)} + make_interval(secs => (n.n / ${rate})::float8)
    from (select webhook_id, count(*) as n from picked group by webhook_id) n
    where w.id = n.webhook_id and w.max_per_second is not null)
  update webhook_deliveries d set due_at = ${at(nowMs + leaseMs)}, leased_by = ${replica}, tries = d.tries + 1
  from picked cross join lateral (
    select w.is_slow, w.sealed, w.signature, w.content, w.previous_until from webhooks w where w.id = picked.webhook_id offset 0) w
  where d.id = picked.id
  returning d.id, d.webhook_id, d.workspace_id, d.event_id, d.tries, picked.most, w.is_slow,
    coalesce(d.body, (select e.body from events e where e.event_id = d.event_id)) as body,
    w.sealed, w.signature, w.content, w.previous_until`;

const waitingRow = z.object({ webhook_id: z.number(), n: z.number() });

/**
 * Claims deliveries that are due, at most as many of each webhook and workspace as may be under way, or twice as many. Claims go one after another over all
 * replicas: two at once would each not see what the other begins.
 *
 * What is due is asked first. Where it is little, only its webhooks are looked at: those whose next attempt is hours away cost nothing, and what
 * waits behind a receiver that hangs costs no claim.
 */
export async function claimDeliveries(
  pool: DatabasePool,
  replica: string,
  nowMs: number,
  room: Room,
): Promise<Claimed[]> {
  const waiting = await pool.any(sql.type(waitingRow)`
    select webhook_id, count(*)::integer as n from (
      select webhook_id from webhook_deliveries where state = 'queued' and due_at <= ${at(nowMs)} order by due_at limit ${windowSize}) due
    group by webhook_id`);
  const isAll = waiting.reduce((sum, { n }) => sum + n, 0) < windowSize;
  const ids = waiting.map(({ webhook_id: id }) => id).filter((id) => !room.full.has(id));
  if (isAll && ids.length === 0) return [];
  const webhookIds = isAll ? ids : undefined;
  return pool.transaction(async (transaction) => {
    await transaction.query(beginClaim);
    const rows = await transaction.any(sql.type(claimedRow)`${claimStatement(replica, nowMs, room, webhookIds)}`);
    return rows.map((row) => ({ ...row, id: Number(row.id), claimedMs: nowMs }));
  });
}

/** When something is due that is not yet: the end of a delay or of a lease, or the pace of a webhook; null when nothing waits. */
export async function nextDueMs(pool: DatabasePool, nowMs: number): Promise<number | null> {
  const row = await pool.one(sql.type(z.object({ due: z.number().nullable(), is_paced: z.boolean() }))`
    select (select min(due_at) from webhook_deliveries where state = 'queued' and due_at > ${at(nowMs)}) as due,
      exists (select from webhooks where max_per_second is not null and paced_at > ${at(nowMs - 1_000)}) as is_paced`);
  return row.is_paced ? nowMs + 50 : row.due;
}

/** Gives back deliveries that were claimed and not begun, as if they had not been. */
export async function giveBack(pool: DatabasePool, replica: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await pool.query(sql.unsafe`
    update webhook_deliveries set due_at = clock_timestamp(), leased_by = null, tries = tries - 1
    where id = any(${sql.array([...ids], 'int8')}) and state = 'queued' and leased_by = ${replica}`);
}
