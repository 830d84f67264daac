import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';

/** A stored run of one status. Times in milliseconds since the epoch. */
export type StatusRangeItem = {
  readonly id: bigint;
  readonly startedMs: number;
  /** null while the range is open. */
  readonly endedMs: number | null;
  /** Where the range ends for a sum of durations: its end, or how far an open one is known: min(now, folded_until). */
  readonly countedUntilMs: number;
  readonly status: 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';
  readonly evidence: unknown;
  /** When a late result last changed it. */
  readonly revisedMs: number | null;
};

const row = z.object({
  id: z.bigint(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  counted_until: z.number(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  evidence: z.unknown(),
  revised_at: z.number().nullable(),
});

// A stopped control plane earns no uptime: an open range counts to where its shard was folded.
const columns = sql.fragment`r.id, r.started_at, r.ended_at, r.status, r.evidence, r.revised_at,
  coalesce(r.ended_at, greatest(r.started_at, least(now(), s.folded_until))) as counted_until`;
const ofShard = sql.fragment`join monitors m on m.id = r.monitor_id left join shards s on s.shard = m.shard`;

/**
 * A page of a monitor's consensus ranges, newest first; with `hours` those that overlap the last so many hours, whole.
 * The caller has seen that the monitor is the tenant's.
 */
export async function statusRangesPage(
  connection: CommonQueryMethods,
  monitorId: number,
  filter: { readonly page: number; readonly pageSize: number; readonly hours?: number | undefined },
): Promise<{ readonly items: StatusRangeItem[]; readonly total: number }> {
  const overlap =
    filter.hours === undefined
      ? sql.fragment`true`
      : sql.fragment`(r.ended_at is null or r.ended_at > now() - make_interval(hours => ${filter.hours}))`;
  const found = await connection.any(sql.type(row)`
    select ${columns} from status_ranges r ${ofShard}
    where r.monitor_id = ${monitorId} and ${overlap}
    order by r.started_at desc limit ${filter.pageSize} offset ${(filter.page - 1) * filter.pageSize}`);
  const total = await connection.oneFirst(sql.type(z.object({ total: z.bigint() }))`
    select count(*) as total from status_ranges r where r.monitor_id = ${monitorId} and ${overlap}`);
  return { items: found.map(rangeItem), total: Number(total) };
}

/** Consensus ranges that overlap [fromMs, toMs), whole, oldest first. */
export async function statusRanges(
  connection: CommonQueryMethods,
  monitorId: number,
  fromMs: number,
  toMs: number,
): Promise<StatusRangeItem[]> {
  const found = await connection.any(sql.type(row)`
    select ${columns} from status_ranges r ${ofShard}
    where r.monitor_id = ${monitorId} and r.started_at < ${sql.timestamp(new Date(toMs))}
      and (r.ended_at is null or r.ended_at > ${sql.timestamp(new Date(fromMs))})
    order by r.started_at`);
  return found.map(rangeItem);
}

/** Ranges of one probe's votes on a monitor that overlap [fromMs, toMs), whole, oldest first. Probe 0 is the control plane. */
export async function probeRanges(
  connection: CommonQueryMethods,
  monitorId: number,
  probeId: number,
  fromMs: number,
  toMs: number,
): Promise<StatusRangeItem[]> {
  const found = await connection.any(sql.type(row)`
    select ${columns} from probe_ranges r ${ofShard}
    where r.monitor_id = ${monitorId} and r.probe_id = ${probeId} and r.started_at < ${sql.timestamp(new Date(toMs))}
      and (r.ended_at is null or r.ended_at > ${sql.timestamp(new Date(fromMs))})
    order by r.started_at`);
  return found.map(rangeItem);
}

/** How far a shard is folded, in milliseconds; null before its first fold. Nothing earlier changes but by late results. */
export async function foldedUntil(connection: CommonQueryMethods, shard: number): Promise<number | null> {
  const found = await connection.maybeOneFirst(
    sql.type(z.object({ folded_until: z.number().nullable() }))`select folded_until from shards where shard = ${shard}`,
  );
  return found ?? null;
}

function rangeItem(found: z.infer<typeof row>): StatusRangeItem {
  return {
    id: found.id,
    startedMs: found.started_at,
    endedMs: found.ended_at,
    countedUntilMs: found.counted_until,
    status: found.status,
    evidence: found.evidence,
    revisedMs: found.revised_at,
  };
}

/** What a look at read models found: how many monitors were looked at, and how many say something else than their ranges. */
export type ReadModelSample = { readonly looked: number; readonly wrong: number };

/** Monitors that are compared at once. */
const sampledMonitors = 50;

/**
 * Compares the stored status of some monitors, from a random place on, with their open ranges: both are written in one transaction,
 * so in one statement they always agree. @param pool a pool of the worker login
 */
export async function sampleReadModels(pool: CommonQueryMethods): Promise<ReadModelSample> {
  return pool.one(sql.type(z.object({ looked: z.number(), wrong: z.number() }))`
    with sample as (
      select id, case when status in ('PARTIAL', 'WARNING') then 'DEGRADED' else status end as told
      from monitors
      where deleted_at is null and id > (select floor(random() * coalesce(max(id), 0))::integer from monitors)
      order by id limit ${sampledMonitors})
    select count(*)::integer as looked,
      (count(*) filter (where sample.told <> coalesce(open.status, 'UNKNOWN')))::integer as wrong
    from sample left join status_ranges open on open.monitor_id = sample.id and open.ended_at is null`);
}
