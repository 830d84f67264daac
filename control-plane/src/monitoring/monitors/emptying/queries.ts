import { setTimeout as sleep } from 'node:timers/promises';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { removeDiagnoses } from '../../diagnostics/index.ts';
import { removeProbeRanges, removeStatusRanges } from '../../status-ranges/index.ts';
import { sumOfRemoved } from './rows.ts';
import type { Removal, Removed, RowsOfMonitor } from './rows.ts';

/** Rows of a table without partitions that are removed at once. */
const rowsAtOnce = 5_000;
/** A chunk of a busy monitor has some 30 kB. */
const hoursAtOnce = 1_000;
/** Rows that another transaction holds are tried again after this. */
const heldPauseMs = 20;

const hourMs = 3_600_000;
const instant = (ms: number) => sql.timestamp(new Date(ms));

// `rows` were removed by the statement; `was_any` is what stood there before it.
const removalRow = z.object({ rows: z.number(), was_any: z.boolean() });

function removal({ rows, was_any: wasAny }: z.infer<typeof removalRow>, removed: Removed): Removal {
  return { removed, wasAny, wasHeld: wasAny && rows === 0 };
}

/**
 * The oldest hour of results: of an interval of a second and three probes that is 10,800 rows. Those that stand in packed hours too are
 * counted there.
 */
const removeResults: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and r.e < ${instant(beforeMs)}`;
  const row = await worker.one(sql.type(removalRow.extend({ results: z.number() }))`
    with first as (select r.e from check_results r where r.monitor_id = ${monitorId} ${older} order by r.e limit 1),
    gone as (
      delete from check_results r using first
      where r.monitor_id = ${monitorId} and r.e >= first.e and r.e < first.e + interval '1 hour' ${older} returning r.e)
    select exists (select from first) as was_any, (select count(*) from gone)::integer as rows,
      (select count(*) from gone, result_storage s where gone.e >= s.hot_from)::integer as results`);
  return removal(row, { results: row.results });
};

const removeEvidence: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and v.e < ${instant(beforeMs)}`;
  const row = await worker.one(sql.type(removalRow)`
    with gone as (
      delete from result_evidence where ctid = any(array(
        select v.ctid from result_evidence v where v.monitor_id = ${monitorId} ${older}
        limit ${rowsAtOnce} for update skip locked))
      returning 1)
    select exists (select from result_evidence v where v.monitor_id = ${monitorId} ${older}) as was_any,
      (select count(*) from gone)::integer as rows`);
  return removal(row, { result_evidence: row.rows });
};

/** Packed hours that ended before the time. Taken without waiting for whoever packs one of them again: the two would wait for each other. */
const removeHours: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and h.hour < ${Math.floor(beforeMs / hourMs)}`;
  const row = await worker.one(sql.type(removalRow.extend({ results: z.number() }))`
    with oldest as (
      select h.hour, h.probe_id from result_hours h where h.monitor_id = ${monitorId} ${older}
      order by h.hour limit ${hoursAtOnce} for update skip locked),
    gone as (
      delete from result_hours h using oldest
      where h.monitor_id = ${monitorId} and h.hour = oldest.hour and h.probe_id = oldest.probe_id returning h.hour, h.results)
    select exists (select from result_hours h where h.monitor_id = ${monitorId} ${older}) as was_any,
      (select count(*) from gone)::integer as rows,
      (select coalesce(sum(gone.results), 0) from gone, result_storage s
       where (gone.hour + 1) * 3600.0 <= extract(epoch from s.hot_from))::integer as results`);
  return removal(row, { hourly_aggregates: row.rows, results: row.results });
};

const removeDays: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and d.day < ${Math.floor(beforeMs / (24 * hourMs))}`;
  const row = await worker.one(sql.type(removalRow)`
    with oldest as (
      select d.day, d.probe_id from result_days d where d.monitor_id = ${monitorId} ${older}
      order by d.day limit ${rowsAtOnce} for update skip locked),
    gone as (
      delete from result_days d using oldest
      where d.monitor_id = ${monitorId} and d.day = oldest.day and d.probe_id = oldest.probe_id returning 1)
    select exists (select from result_days d where d.monitor_id = ${monitorId} ${older}) as was_any,
      (select count(*) from gone)::integer as rows`);
  return removal(row, { daily_aggregates: row.rows });
};

const removeStaleHours: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and h.hour < ${Math.floor(beforeMs / hourMs)}`;
  const row = await worker.one(sql.type(removalRow)`
    with gone as (
      delete from stale_hours where ctid = any(array(
        select h.ctid from stale_hours h where h.monitor_id = ${monitorId} ${older}
        limit ${rowsAtOnce} for update skip locked))
      returning 1)
    select exists (select from stale_hours h where h.monitor_id = ${monitorId} ${older}) as was_any,
      (select count(*) from gone)::integer as rows`);
  return removal(row, {});
};

/** Results before what is derived from them, so that nobody derives it again from what is going. */
const ownRows: readonly RowsOfMonitor[] = [
  removeResults,
  removeEvidence,
  removeStaleHours,
  removeHours,
  removeDays,
  removeStatusRanges,
  removeProbeRanges,
  removeDiagnoses,
];

/** What was removed, and whether that was all. */
export type Emptied = { readonly removed: Required<Removed>; readonly isDone: boolean };

/**
 * Removes what is kept of a monitor batch by batch, each committed on its own: all of a deleted one, or what is older than its reset.
 * Several at once do no harm; rows that somebody holds are waited for.
 * @param worker a pool of the worker login: requests may not remove results
 * @param what.more rows of capabilities to the right
 * @param mayGoOn asked before each batch
 */
export async function emptyMonitor(
  worker: DatabasePool,
  what: { readonly monitorId: number; readonly beforeMs: number | null; readonly more: readonly RowsOfMonitor[] },
  mayGoOn: () => boolean,
): Promise<Emptied> {
  const parts: Removed[] = [];
  for (const removeSome of [...ownRows, ...what.more]) {
    for (let wasAny = true; wasAny; ) {
      if (!mayGoOn()) return { removed: sumOfRemoved(...parts), isDone: false };
      const done = await removeSome(worker, what.monitorId, what.beforeMs);
      parts.push(done.removed);
      ({ wasAny } = done);
      if (done.wasHeld) await sleep(heldPauseMs);
    }
  }
  return { removed: sumOfRemoved(...parts), isDone: true };
}

/** Records that a deleted monitor was found empty, and whether the client is being told so. */
export async function recordDeletedEmpty(worker: DatabasePool, monitorId: number, isTold: boolean): Promise<void> {
  await worker.query(sql.unsafe`
    update monitors set emptied_at = clock_timestamp(), deletion_told = deletion_told or ${isTold}
    where id = ${monitorId} and deleted_at is not null`);
}

/**
 * Records that nothing of before a reset was found any more, unless there was another reset since. The hour that the reset fell into is
 * packed anew, should it have been packed with what was before.
 */
export async function recordResetEmpty(worker: DatabasePool, monitorId: number, resetMs: number): Promise<void> {
  await worker.query(sql.unsafe`
    insert into stale_hours (monitor_id, hour)
    select distinct h.monitor_id, h.hour from result_hours h
    where h.monitor_id = ${monitorId} and h.hour = ${Math.floor(resetMs / hourMs)} on conflict do nothing`);
  await worker.query(sql.unsafe`
    update monitors set reset_emptied_at = clock_timestamp() where id = ${monitorId} and reset_at = ${instant(resetMs)}`);
}

/** Monitors looked at in one round. */
const monitorsAtOnce = 100;

/**
 * Deleted monitors that have something left: not emptied yet, though no request can be at it any more; or emptied so soon after
 * the deletion that results already on their way may have been stored since.
 */
export async function deletedToEmpty(connection: CommonQueryMethods): Promise<readonly number[]> {
  return connection.anyFirst(sql.type(z.object({ id: z.number() }))`
    select id from monitors
    where deleted_at is not null and (
      (emptied_at is null and deleted_at < now() - interval '25 seconds')
      or (emptied_at < deleted_at + interval '60 seconds' and deleted_at < now() - interval '60 seconds'))
    order by deleted_at limit ${monitorsAtOnce}`);
}

const resetRow = z.object({ id: z.number(), reset_at: z.number() });

/** The same of monitors that were reset; with the time of the last reset in milliseconds. */
export async function resetToEmpty(
  connection: CommonQueryMethods,
): Promise<readonly { readonly monitorId: number; readonly resetMs: number }[]> {
  const rows = await connection.any(sql.type(resetRow)`
    select id, reset_at from monitors
    where reset_at is not null and deleted_at is null and (
      (reset_emptied_at is null and reset_at < now() - interval '25 seconds')
      or (reset_emptied_at < reset_at + interval '60 seconds' and reset_at < now() - interval '60 seconds'))
    order by reset_at limit ${monitorsAtOnce}`);
  return rows.map((row) => ({ monitorId: row.id, resetMs: row.reset_at }));
}
