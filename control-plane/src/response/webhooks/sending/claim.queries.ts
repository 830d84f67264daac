import { webhookContents, webhookSignatures } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));

/** So long a delivery belongs to whom has claimed it; an attempt takes at most a quarter of it. */
export const leaseMs = 60_000;
/** Deliveries of one claim. */
const mostOfClaim = 200;
/** Attempts under way at once, over all processes: to one webhook, those of a replay among them, and for one workspace. */
const mostOfWebhook = 5;
const mostReplays = 2;
const mostOfWorkspace = 64;

const claimedRow = z.object({
  id: z.bigint(),
  webhook_id: z.number(),
  workspace_id: z.number(),
  event_id: z.string(),
  tries: z.number(),
  is_slow: z.boolean(),
  body: z.string().nullable(),
  sealed: z.instanceof(Buffer),
  signature: z.enum(webhookSignatures),
  content: z.enum(webhookContents),
  previous_until: z.number().nullable(),
});
export type Claimed = Omit<z.output<typeof claimedRow>, 'id'> & { readonly id: number };

/** How many attempts this process has room for, and how many of them to receivers that were slow. */
export type Room = { readonly all: number; readonly slow: number };

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

/** Picks what is due and has room; exported for its plan. */
export const pickedOf = (nowMs: number, room: Room) => sql.fragment`
  hooks (id) as (${waitingWebhooks}),
  ready as materialized (
    select w.id, w.workspace_id, w.is_slow,
      case when w.max_per_second is null then ${mostOfWebhook}
        else floor(extract(epoch from ${at(nowMs)} - ${pacedFrom(nowMs)}) * ${rate} + 0.000001)::integer end as paced,
      l.n as under_way, l.replays
    from hooks join webhooks w on w.id = hooks.id cross join lateral (
      select count(*)::integer as n, count(*) filter (where is_replay)::integer as replays from webhook_deliveries d
      where d.workspace_id = w.workspace_id and d.webhook_id = w.id and d.leased_by is not null and d.due_at > ${at(nowMs)}) l
    where w.is_active and l.n < ${mostOfWebhook}
  ), due as (
    select r.id as webhook_id, r.workspace_id, r.is_slow, d.id, d.due_at, r.paced, r.under_way,
      row_number() over (partition by r.id order by d.is_replay, d.due_at, d.id) as place
    from ready r cross join lateral (
      (select d.id, d.due_at, d.is_replay from webhook_deliveries d
        where d.webhook_id = r.id and d.state = 'queued' and not d.is_replay and d.due_at <= ${at(nowMs)}
        order by d.due_at limit ${mostOfWebhook})
      union all
      (select d.id, d.due_at, d.is_replay from (
        select d.id, d.due_at, d.is_replay, row_number() over (order by d.due_at) as n from (
          select d.id, d.due_at, d.is_replay from webhook_deliveries d
          where d.webhook_id = r.id and d.state = 'queued' and d.is_replay and d.due_at <= ${at(nowMs)}
          order by d.due_at limit ${mostReplays}) d) d
        where d.n <= ${mostReplays} - r.replays)) d
    where r.paced > 0
  ), shared as (
    select due.id, due.place, due.due_at, due.is_slow,
      row_number() over (partition by due.workspace_id order by due.place, due.due_at) + (
        select count(*) from webhook_deliveries l
        where l.workspace_id = due.workspace_id and l.leased_by is not null and l.due_at > ${at(nowMs)}) as of_workspace,
      row_number() over (partition by due.is_slow order by due.place, due.due_at) as of_speed
    from due where due.place <= least(due.paced, ${mostOfWebhook} - due.under_way)
  ), picked as (
    select d.id, d.webhook_id from webhook_deliveries d join shared on shared.id = d.id
    where shared.of_workspace <= ${mostOfWorkspace} and (not shared.is_slow or shared.of_speed <= ${room.slow})
    order by shared.place, shared.due_at limit ${Math.min(room.all, mostOfClaim)}
    for update of d skip locked)`;

/**
 * Claims deliveries that are due, at most as many of each webhook and workspace as may be under way. Claims go one after another over all
 * replicas: two at once would each not see what the other begins.
 */
export async function claimDeliveries(
  pool: DatabasePool,
  replica: string,
  nowMs: number,
  room: Room,
): Promise<Claimed[]> {
  const isDue = await pool.exists(sql.unsafe`
    select from webhook_deliveries where state = 'queued' and due_at <= ${at(nowMs)}`);
  if (!isDue) return [];
  return pool.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended('webhooks claim', 0))`);
    const rows = await transaction.any(sql.type(claimedRow)`
      with recursive ${pickedOf(nowMs, room)}, paced as (
        update webhooks w set paced_at = ${pacedFrom(nowMs)} + make_interval(secs => (n.n / ${rate})::float8)
        from (select webhook_id, count(*) as n from picked group by webhook_id) n
        where w.id = n.webhook_id and w.max_per_second is not null)
      update webhook_deliveries d set due_at = ${at(nowMs + leaseMs)}, leased_by = ${replica}, tries = d.tries + 1
      from picked join webhooks w on w.id = picked.webhook_id
      where d.id = picked.id
      returning d.id, d.webhook_id, d.workspace_id, d.event_id, d.tries, w.is_slow,
        coalesce(d.body, (select e.body from events e where e.event_id = d.event_id)) as body,
        w.sealed, w.signature, w.content, w.previous_until`);
    return rows.map((row) => ({ ...row, id: Number(row.id) }));
  });
}

/** When something is due that is not yet: the end of a delay or of a lease, or the pace of a webhook; null when nothing waits. */
export async function nextDueMs(pool: DatabasePool, nowMs: number): Promise<number | null> {
  const row = await pool.one(sql.type(z.object({ due: z.number().nullable(), is_paced: z.boolean() }))`
    select (select min(due_at) from webhook_deliveries where state = 'queued' and due_at > ${at(nowMs)}) as due,
      exists (select from webhooks where max_per_second is not null and paced_at > ${at(nowMs - 1_000)}) as is_paced`);
  return row.is_paced ? nowMs + 50 : row.due;
}
