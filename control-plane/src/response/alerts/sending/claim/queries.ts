import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import type { AlertTarget } from '../../alert.ts';
import { targetShape } from '../../rules/row.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));

/** So long a message belongs to whom has claimed it; a sending takes at most half of it. */
export const leaseMs = 60_000;

const deliveryRow = z.object({
  id: z.bigint(),
  workspace_id: z.number(),
  workspace_name: z.string(),
  owner_id: z.number(),
  target_key: z.string(),
  target: targetShape,
  kind: z.string(),
  attempts: z.number(),
  created_at: z.number(),
  /** Drawn when it was made, and of no other message of any installation; null of those of before there were such. */
  message_id: z.string().nullable(),
  /** The target's own language and zone, or those that its owner has now. */
  locale: z.enum(['en', 'ru']),
  timezone: z.string(),
  /** Whose alert it is is still a member of the workspace. */
  is_member: z.boolean(),
});
export type ClaimedDelivery = Omit<z.output<typeof deliveryRow>, 'id' | 'target'> & {
  readonly id: number;
  readonly target: AlertTarget;
};

/** How much of what is under way is whose, and how much may be. */
export type Shares = {
  /** Messages of each workspace that this process sends. */
  readonly underWay: ReadonlyMap<number, number>;
  readonly mostOfWorkspace: number;
  /** Channels that are told each thing by itself, and to whose targets several messages may be under way. */
  readonly channelsInLanes: readonly string[];
};

/** Messages under way at once to one target of a service that keeps open what it is told. */
const lanes = 8;

/** So many messages that have waited longest are looked at before all others are. */
const windowSize = 1_000;

const dueRow = z.object({ n: z.number() });

/**
 * Claims messages that are due: one of each target, or several of a service that keeps each thing apart; none before another of the same occasion
 * to the same target is done with, which is why those that share an occasion go by their eldest notification: digests cannot wait for each other.
 * Claims go one after another over all replicas: two at once would each not see that the other sends to the same target.
 *
 * How much is due is asked first: to plan a claim takes PostgreSQL 15 ms.
 */
export async function claimDeliveries(
  pool: DatabasePool,
  replica: string,
  nowMs: number,
  most: number,
  shares: Shares,
): Promise<ClaimedDelivery[]> {
  const due = await pool.oneFirst(
    sql.type(
      dueRow,
    )`select count(*)::int as n from (select from deliveries where ${isDue(nowMs)} limit ${windowSize}) due`,
  );
  if (due === 0) return [];
  return pool.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended('alerts claim', 0))`);
    const eldest = await claimOf(transaction, eldestTargets(nowMs), replica, nowMs, most, shares);
    // A window that is not full holds all targets for which anything is due.
    if (eldest.length === most || due < windowSize) return eldest;
    // Those that have waited longest may all be for a few targets, or wait for others.
    const underWay = new Map(shares.underWay);
    for (const { workspace_id: id } of eldest) underWay.set(id, (underWay.get(id) ?? 0) + 1);
    const room = most - eldest.length;
    return [...eldest, ...(await claimOf(transaction, allTargets, replica, nowMs, room, { ...shares, underWay }))];
  });
}

/** The condition for a delivery that is due and that nobody is sending. */
export const isDue = (nowMs: number) =>
  sql.fragment`status = 'queued' and next_attempt_at <= ${at(nowMs)} and coalesce(lease_until <= ${at(nowMs)}, true)`;

/** Targets of the messages that have waited longest. */
const eldestTargets = (nowMs: number) => sql.fragment`
  select distinct target_key from (
    select target_key from deliveries where ${isDue(nowMs)} order by next_attempt_at limit ${windowSize}) eldest`;

/** Targets for which there is any message, by leaps through the index: a backlog for one costs no more than one message. */
const allTargets = sql.fragment`
  select min(target_key) from deliveries where status = 'queued'
  union all
  select (select min(d.target_key) from deliveries d where d.status = 'queued' and d.target_key > keys.target_key)
  from keys where keys.target_key is not null`;

async function claimOf(
  transaction: Transaction,
  targets: ReturnType<typeof sql.fragment>,
  replica: string,
  nowMs: number,
  most: number,
  { underWay, mostOfWorkspace, channelsInLanes }: Shares,
): Promise<ClaimedDelivery[]> {
  const shares = sql.unnest([...underWay], ['int4', 'int4']);
  const inLanes = sql.array([...channelsInLanes], 'text');
  const rows = await transaction.any(sql.type(deliveryRow)`
    with recursive keys (target_key) as (${targets}), due as (
      select d.id, d.workspace_id, d.next_attempt_at, d.channel = any(${inLanes}) as in_lanes,
        row_number() over (partition by k.target_key order by d.id)
          + (select count(*) from deliveries l where l.target_key = k.target_key and l.lease_until > ${at(nowMs)}) as place
      from keys k cross join lateral (
        select d.id, d.workspace_id, d.next_attempt_at, d.channel from deliveries d
        where d.target_key = k.target_key and d.status = 'queued' and d.next_attempt_at <= ${at(nowMs)}
          and coalesce(d.lease_until <= ${at(nowMs)}, true)
          -- With offsets each thing of a message is looked up by itself, until one is found that waits: a storm that nobody has analysed yet would
          -- else be searched by all that is queued, for each message. Its own are asked for by a column of no index for the same reason.
          and not exists (
            select from notifications mine
            where mine.delivery_id = d.id and mine.done_at is null and exists (
              select from notifications elder left join deliveries e on e.id = elder.delivery_id
              where elder.occasion_id = mine.occasion_id and elder.target_key = mine.target_key and elder.status = 'queued'
                and elder.id < mine.id and elder.delivery_id is distinct from mine.delivery_id
                and (e.id is null or e.first_notification_id < d.first_notification_id)
              offset 0)
            offset 0)
        order by d.id limit ${lanes}) d
    ), shared as (
      select due.id, due.next_attempt_at,
        row_number() over (partition by due.workspace_id order by due.next_attempt_at, due.id) + coalesce(s.n, 0) as place
      from due left join ${shares} as s (workspace_id, n) on s.workspace_id = due.workspace_id
      where due.place <= case when due.in_lanes then ${lanes} else 1 end
    ), picked as (
      select d.id from deliveries d join shared on shared.id = d.id where shared.place <= ${mostOfWorkspace}
      order by shared.next_attempt_at, d.id limit ${most}
      for update of d skip locked)
    update deliveries d set lease_until = ${at(nowMs + leaseMs)}, leased_by = ${replica}, attempts = d.attempts + 1
    from picked, workspaces w, users u where d.id = picked.id and w.id = d.workspace_id and u.id = d.owner_id
    returning d.id, d.workspace_id, w.name as workspace_name, d.owner_id, d.target_key, d.target, d.kind, d.attempts, d.created_at,
      d.message_id::text as message_id, coalesce(d.target ->> 'locale', u.locale) as locale, coalesce(d.target ->> 'timezone', u.timezone) as timezone,
      w.deleted_at is null and exists (
        select from workspace_members m where m.workspace_id = d.workspace_id and m.user_id = d.owner_id) as is_member`);
  return rows.map((row) => ({ ...row, id: Number(row.id), target: row.target as AlertTarget }));
}
