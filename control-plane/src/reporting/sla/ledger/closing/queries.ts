import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import type { ReportRange, TimeInterval } from '../../../statistics/index.ts';

/** `close`: a day is appended a day after it ended. `settle`: it is looked at again when no result of it can come any more. */
export type ClosingKind = 'close' | 'settle';

/** Whole hours from the end of a day until it is worked on. Results are accepted for 49 hours. */
const afterHours: Readonly<Record<ClosingKind, number>> = { close: 24, settle: 52 };

/** Days that are closed afterwards when an installation gets its ledger. */
const daysBack = 90;

/** Begins the ledger of shards that have none, at the oldest monitor's first day, but not more than 90 days ago. */
export async function beginClosing(connection: CommonQueryMethods): Promise<void> {
  await connection.query(sql.unsafe`
    insert into sla_progress (kind, shard, day)
    select k.kind, s.shard, greatest(
      (s.folded_until at time zone 'UTC')::date - ${daysBack}::int,
      least((select min(m.created_at) at time zone 'UTC' from monitors m where m.shard = s.shard), s.folded_until at time zone 'UTC')::date)
    from shards s cross join (values ('close'), ('settle')) k (kind)
    where s.folded_until is not null and not exists (select from sla_progress p where p.shard = s.shard and p.kind = k.kind)
    on conflict do nothing`);
}

const progressRow = z.object({
  kind: z.enum(['close', 'settle']),
  shard: z.number(),
  day: z.string(),
  next_monitor_id: z.number(),
});
export type Progress = z.infer<typeof progressRow>;

/**
 * Takes a day that is due, for the time of the transaction: one of which everything is evaluated that could come in time. Null when there is
 * none, or others are at all of them.
 */
export async function takeDue(transaction: Transaction): Promise<Progress | null> {
  return transaction.maybeOne(sql.type(progressRow)`
    select p.kind, p.shard, p.day::text as day, p.next_monitor_id
    from sla_progress p join shards s on s.shard = p.shard
    where least(s.folded_until, now()) >= (p.day + 1)::timestamp at time zone 'UTC'
        + case p.kind when 'close' then ${afterHours.close}::int else ${afterHours.settle}::int end * interval '1 hour'
      and (p.kind = 'close' or p.day < (select c.day from sla_progress c where c.kind = 'close' and c.shard = p.shard))
    order by p.kind, p.day limit 1
    for update of p skip locked`);
}

/** Notes how far a day is, or that the next one begins. @param nextMonitorId null: the day is done */
export async function noteProgress(
  transaction: Transaction,
  { kind, shard }: Pick<Progress, 'kind' | 'shard'>,
  nextMonitorId: number | null,
): Promise<void> {
  await transaction.query(
    nextMonitorId === null
      ? sql.unsafe`update sla_progress set day = day + 1, next_monitor_id = 0 where kind = ${kind} and shard = ${shard}`
      : sql.unsafe`update sla_progress set next_monitor_id = ${nextMonitorId} where kind = ${kind} and shard = ${shard}`,
  );
}

const monitorRow = z.object({
  id: z.number(),
  chain: z.number(),
  since: z.number(),
  last_entry: z.string().nullable(),
});

/** A monitor that was there on a day. */
export type DayMonitor = {
  readonly id: number;
  readonly chain: number;
  /** Its creation or last reset, in milliseconds. */
  readonly sinceMs: number;
  /** What its chain says last of the day; null when it says nothing. */
  readonly lastEntry: string | null;
};

/**
 * Monitors of a shard that were there on a day, by identifier from the given one on. Their rows are held, so that no reset begins a new
 * chain and nobody else appends until the transaction ends.
 */
export async function monitorsOfDay(
  transaction: Transaction,
  { kind, shard, day, next_monitor_id: nextId }: Progress,
  most: number,
): Promise<DayMonitor[]> {
  await transaction.query(sql.unsafe`
    select from monitors m where m.shard = ${shard} and m.id >= ${nextId} and ${wasThere(day)}
    order by m.id limit ${most} for key share`);
  // A day that was closed is among the last entries, and one that was not is found missing by its own index.
  const ofDay =
    kind === 'close' ? sql.fragment`l.kind = 'day' and l.day = ${day}::date` : sql.fragment`l.day = ${day}::date`;
  const rows = await transaction.any(sql.type(monitorRow)`
    select m.id, m.sla_chain as chain, greatest(m.created_at, m.reset_at) as since, (
      select l.entry from sla_ledger l
      where l.monitor_id = m.id and l.chain = m.sla_chain and ${ofDay} order by l.seq desc limit 1) as last_entry
    from monitors m where m.shard = ${shard} and m.id >= ${nextId} and ${wasThere(day)}
    order by m.id limit ${most}`);
  return rows.map((row) => ({ id: row.id, chain: row.chain, sinceMs: row.since, lastEntry: row.last_entry }));
}

const wasThere = (day: string) => sql.fragment`m.deleted_at is null
  and greatest(m.created_at, m.reset_at) < (${day}::date + 1)::timestamp at time zone 'UTC'`;

const rangeRow = z.object({
  monitor_id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
});

/**
 * Ranges of monitors that may overlap a time, by monitor and in order.
 * @param most that are read; where there are more, the last monitor of the answer may lack some
 */
export async function rangesOfMonitors(
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  window: { readonly fromMs: number; readonly toMs: number },
  most: number,
): Promise<(ReportRange & { readonly monitorId: number })[]> {
  const from = sql.timestamp(new Date(window.fromMs));
  const rows = await connection.any(sql.type(rangeRow)`
    select m.id as monitor_id, r.started_at, r.ended_at, r.status
    from monitors m cross join lateral (
      select r.started_at, r.ended_at, r.status from status_ranges r
      where r.monitor_id = m.id and r.started_at < ${sql.timestamp(new Date(window.toMs))}
        and (r.ended_at is null or r.ended_at > ${from})
        and r.started_at >= greatest(m.reset_at, (
          select max(b.started_at) from status_ranges b where b.monitor_id = m.id and b.started_at <= ${from}), '-infinity')
      order by r.started_at) r
    where m.id = any(${sql.array(monitorIds, 'int4')})
    order by m.id, r.started_at limit ${most}`);
  return rows.map((row) => ({
    monitorId: row.monitor_id,
    startedMs: row.started_at,
    endedMs: row.ended_at,
    status: row.status,
    isRevised: false,
    votes: null,
  }));
}

const pauseRow = z.object({ monitor_id: z.number(), started_at: z.number(), ended_at: z.number().nullable() });

/** Pauses of monitors that overlap a time. */
export async function pausesOfMonitors(
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<(TimeInterval & { readonly monitorId: number })[]> {
  const rows = await connection.any(sql.type(pauseRow)`
    select p.monitor_id, p.started_at, p.ended_at from pauses p
    where p.monitor_id = any(${sql.array(monitorIds, 'int4')}) and p.started_at < ${sql.timestamp(new Date(window.toMs))}
      and (p.ended_at is null or p.ended_at > ${sql.timestamp(new Date(window.fromMs))})`);
  return rows.map((row) => ({ monitorId: row.monitor_id, fromMs: row.started_at, toMs: row.ended_at }));
}
