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
  readonly evidence: Readonly<Record<string, unknown>>;
  /** When a late result last changed it. */
  readonly revisedMs: number | null;
};

const row = z.object({
  id: z.bigint(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  counted_until: z.number(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  evidence: z.record(z.string(), z.unknown()),
  revised_at: z.number().nullable(),
});

type Fragment = ReturnType<typeof sql.fragment>;

// A stopped control plane earns no uptime: an open range counts to where its shard was folded. Looked up once, not for each row.
const columnsOf = (
  monitorId: number,
): Fragment => sql.fragment`r.id, r.started_at, r.ended_at, r.status, r.evidence, r.revised_at,
  coalesce(r.ended_at, greatest(r.started_at, least(now(), (
    select s.folded_until from monitors f join shards s on s.shard = f.shard where f.id = ${monitorId})))) as counted_until`;

/**
 * Where the ranges of a window begin: ranges of one key do not overlap, so of those that began before the window only the last can reach
 * into it. What began before the monitor's reset is not there any more, whether or not it is removed already.
 */
const firstStart = (monitorId: number, table: Fragment, from: Fragment): Fragment => sql.fragment`(
  select greatest(f.reset_at, (select max(b.started_at) from ${table} and b.started_at <= ${from}), '-infinity')
  from monitors f where f.id = ${monitorId})`;

/**
 * A page of a monitor's consensus ranges, newest first; with `hours` those that overlap the last so many hours, whole.
 * The caller has seen that the monitor is the tenant's.
 */
export async function statusRangesPage(
  connection: CommonQueryMethods,
  monitorId: number,
  filter: { readonly page: number; readonly pageSize: number; readonly hours?: number | undefined },
): Promise<{ readonly items: StatusRangeItem[]; readonly total: number }> {
  const offset = (filter.page - 1) * filter.pageSize;
  const matching = (name: Fragment): Fragment =>
    sql.fragment`${name}.monitor_id = ${monitorId} and ${name}.started_at >= ${firstListed(monitorId, filter.hours)}`;
  const isFromPageOn =
    offset === 0
      ? sql.fragment`true`
      : sql.fragment`r.started_at <= (
          select p.started_at from status_ranges p where ${matching(sql.fragment`p`)} order by p.started_at desc limit 1 offset ${offset})`;
  const found = await connection.any(sql.type(row)`
    select ${columnsOf(monitorId)} from status_ranges r
    where ${matching(sql.fragment`r`)} and ${isFromPageOn} order by r.started_at desc limit ${filter.pageSize}`);
  const total = await connection.oneFirst(sql.type(z.object({ total: z.bigint() }))`
    select count(*) as total from status_ranges r where ${matching(sql.fragment`r`)}`);
  return { items: found.map(rangeItem), total: Number(total) };
}

/**
 * From which start on ranges overlap the last so many hours. Only the last that began before them can reach into them, and its end is looked at here: what is
 * left is a bound on the start, so that counting and going to a page read nothing but the index.
 */
function firstListed(monitorId: number, hours: number | undefined): Fragment {
  const from = sql.fragment`now() - make_interval(hours => ${hours ?? 0})`;
  const reaching = sql.fragment`(
    select case when b.ended_at <= ${from} then ${from} else b.started_at end from status_ranges b
    where b.monitor_id = ${monitorId} and b.started_at <= ${from} order by b.started_at desc limit 1)`;
  return sql.fragment`(
    select greatest(f.reset_at, ${hours === undefined ? sql.fragment`null` : reaching}, '-infinity') from monitors f where f.id = ${monitorId})`;
}

/** Consensus ranges that overlap [fromMs, toMs), whole, oldest first. */
export async function statusRanges(
  connection: CommonQueryMethods,
  monitorId: number,
  fromMs: number,
  toMs: number,
): Promise<StatusRangeItem[]> {
  const from = sql.fragment`${sql.timestamp(new Date(fromMs))}`;
  const table = sql.fragment`status_ranges b where b.monitor_id = ${monitorId}`;
  const found = await connection.any(sql.type(row)`
    select ${columnsOf(monitorId)} from status_ranges r
    where r.monitor_id = ${monitorId} and r.started_at >= ${firstStart(monitorId, table, from)}
      and r.started_at < ${sql.timestamp(new Date(toMs))} and (r.ended_at is null or r.ended_at > ${from})
    order by r.started_at`);
  return found.map(rangeItem);
}

/** Ranges that are looked back over for the onset of an outage. */
const mostBeforeOnset = 200;

const onsetRow = z.object({ monitor_id: z.number(), started_at: z.number(), is_failing: z.boolean() });

/**
 * When the outage began that a failing range belongs to: the start of the first of the failing ranges that touch one another up to it, of those
 * since the reset. Of an outage of more than 200 ranges, the start of the earliest that is looked at.
 * @param startedMs start of the range, whole milliseconds
 */
export async function onsetOf(connection: CommonQueryMethods, monitorId: number, startedMs: number): Promise<number> {
  return (await onsetsOf(connection, new Map([[monitorId, startedMs]]))).get(monitorId) ?? startedMs;
}

/** The same of many monitors in one statement, one range of each: by the number of the monitor. */
export async function onsetsOf(
  connection: CommonQueryMethods,
  startsMs: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, number>> {
  if (startsMs.size === 0) return new Map();
  const given = [...startsMs].map(([id, ms]) => [id, new Date(ms + 1).toISOString()]);
  const found = await connection.any(sql.type(onsetRow)`
    select g.monitor_id, r.started_at,
      r.status in ('DOWN', 'TIMEOUT') and coalesce(r.ended_at = lag(r.started_at) over (partition by g.monitor_id order by r.started_at desc), true)
        as is_failing
    from ${sql.unnest(given, ['int4', 'timestamptz'])} as g (monitor_id, before)
      left join monitors m on m.id = g.monitor_id
      cross join lateral (
        select b.started_at, b.ended_at, b.status from status_ranges b
        where b.monitor_id = g.monitor_id and b.started_at < g.before and b.started_at >= coalesce(m.reset_at, '-infinity')
        order by b.started_at desc limit ${mostBeforeOnset}
      ) r order by g.monitor_id, r.started_at desc`);
  const ofMonitor = Map.groupBy(found, (each) => each.monitor_id);
  return new Map(
    [...startsMs].map(([id, startedMs]) => {
      const rows = ofMonitor.get(id) ?? [];
      const end = rows.findIndex((range) => !range.is_failing);
      const failing = end === -1 ? rows : rows.slice(0, end);
      return [id, Math.min(startedMs, Math.floor(failing.at(-1)?.started_at ?? startedMs))];
    }),
  );
}

const probeRow = row.extend({ probe_id: z.number() });

/**
 * Ranges of the votes of probes on a monitor that overlap [fromMs, toMs), whole, oldest first, by probe; without an entry for a probe that has none.
 * Probe 0 is the control plane.
 */
export async function rangesOfProbes(
  connection: CommonQueryMethods,
  monitorId: number,
  probeIds: readonly number[],
  fromMs: number,
  toMs: number,
): Promise<ReadonlyMap<number, StatusRangeItem[]>> {
  if (probeIds.length === 0) return new Map();
  const from = sql.fragment`${sql.timestamp(new Date(fromMs))}`;
  const table = sql.fragment`probe_ranges b where b.monitor_id = ${monitorId} and b.probe_id = v.probe_id`;
  const found = await connection.any(sql.type(probeRow)`
    select r.probe_id, ${columnsOf(monitorId)} from unnest(${sql.array([...new Set(probeIds)], 'int4')}) as v (probe_id)
    cross join lateral (
      select * from probe_ranges r
      where r.monitor_id = ${monitorId} and r.probe_id = v.probe_id and r.started_at >= ${firstStart(monitorId, table, from)}
        and r.started_at < ${sql.timestamp(new Date(toMs))} and (r.ended_at is null or r.ended_at > ${from})) r
    order by r.probe_id, r.started_at`);
  const byProbe = Map.groupBy(found, (each) => each.probe_id);
  return new Map([...byProbe].map(([probeId, rows]) => [probeId, rows.map(rangeItem)]));
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
      select id, reset_at, case when status in ('PARTIAL', 'WARNING') then 'DEGRADED' else status end as told
      from monitors
      where deleted_at is null and id > (select floor(random() * coalesce(max(id), 0))::integer from monitors)
      order by id limit ${sampledMonitors})
    select count(*)::integer as looked,
      (count(*) filter (where sample.told <> coalesce(open.status, 'UNKNOWN')))::integer as wrong
    from sample left join status_ranges open on open.monitor_id = sample.id and open.ended_at is null
      and open.started_at >= coalesce(sample.reset_at, '-infinity')`);
}

/** Ranges that are removed at once. */
const rowsAtOnce = 5_000;
const removedRow = z.object({ rows: z.number(), was_any: z.boolean() });

/**
 * Removes a batch of a monitor's consensus ranges: those that began before the time (milliseconds), all when it is null. Ranges that the
 * ingest holds are left for another batch: it holds them for a moment, and the two must not wait for each other.
 * @returns how many; whether there were any; whether all of them were held
 */
export function removeStatusRanges(worker: CommonQueryMethods, monitorId: number, beforeMs: number | null) {
  return removeRanges(worker, sql.fragment`status_ranges`, 'status_ranges', monitorId, beforeMs);
}

/** The same of the ranges of its probes. */
export function removeProbeRanges(worker: CommonQueryMethods, monitorId: number, beforeMs: number | null) {
  return removeRanges(worker, sql.fragment`probe_ranges`, 'probe_ranges', monitorId, beforeMs);
}

async function removeRanges<Kind extends 'status_ranges' | 'probe_ranges'>(
  worker: CommonQueryMethods,
  table: Fragment,
  kind: Kind,
  monitorId: number,
  beforeMs: number | null,
) {
  const older =
    beforeMs === null ? sql.fragment`` : sql.fragment`and r.started_at < ${sql.timestamp(new Date(beforeMs))}`;
  const found = await worker.one(sql.type(removedRow)`
    with gone as (
      delete from ${table} where ctid = any(array(
        select r.ctid from ${table} r where r.monitor_id = ${monitorId} ${older}
        limit ${rowsAtOnce} for update skip locked))
      returning 1)
    select exists (select from ${table} r where r.monitor_id = ${monitorId} ${older}) as was_any,
      (select count(*) from gone)::integer as rows`);
  return {
    removed: { [kind]: found.rows } as { readonly [Each in Kind]: number },
    wasAny: found.was_any,
    wasHeld: found.was_any && found.rows === 0,
  };
}
