import type pg from 'pg';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import { inTransaction } from '../queries.ts';

/** Everybody who reads packed results waits behind a drop: it is given up after this, and tried again. */
const dropLockMs = 300;
const instant = (ms: number) => sql.timestamp(new Date(ms));

/**
 * Drops the oldest partition of packed hours or days that lies wholly before an hour, or a day, counted since 1970.
 * @returns its name; null when there is none
 */
export async function dropPartition(pool: pg.Pool, of: 'hour' | 'day', before: number): Promise<string | null> {
  return inTransaction(pool, async (client) => {
    await client.query(`set local lock_timeout = '${dropLockMs}ms'`);
    const found = await client.query<{ name: string | null }>(`select drop_${of}_partition($1) as name`, [before]);
    return found.rows[0]?.name ?? null;
  });
}

// Each deletes one batch of rows and gives how many there were; fewer than the limit: there is no more.

/** Evidence of results before a time. */
export async function deleteEvidence(pool: CommonQueryMethods, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from result_evidence where ctid = any(array(
      select ctid from result_evidence where e < ${instant(beforeMs)} order by e limit ${limit} for update skip locked))`);
  return rowCount;
}

/** Batches that were refused before a time. */
export async function deleteRejections(pool: CommonQueryMethods, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from rejected_batches where id in (
      select id from rejected_batches where at < ${instant(beforeMs)} order by at limit ${limit} for update skip locked)`);
  return rowCount;
}

/** Records of results that probes had to drop, received before a time. */
export async function deleteLosses(pool: CommonQueryMethods, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from lost_results where id in (
      select id from lost_results where received_at < ${instant(beforeMs)} order by received_at limit ${limit} for update skip locked)`);
  return rowCount;
}

/**
 * Cursors that have not moved since a time, of epochs before the probe's newest: their logs are gone. Should such an epoch come to life again, its
 * probe is asked for it from the beginning, and what it still has of that time is too old to be stored.
 */
export async function deleteCursors(pool: CommonQueryMethods, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from cursors where (probe_id, epoch, shard) in (
      select c.probe_id, c.epoch, c.shard
      from probes p
      cross join lateral (select max(epoch) as epoch from cursors where probe_id = p.id) newest
      join cursors c on c.probe_id = p.id and c.epoch < newest.epoch
      where c.updated_at < ${instant(beforeMs)}
      limit ${limit} for update of c skip locked)`);
  return rowCount;
}

/**
 * Supplements that ended before a time. Nobody asks for the status of that time any more, and their probes have been heard of since, so that they
 * know of the end.
 */
export async function deleteSupplements(pool: CommonQueryMethods, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from assignments where id in (
      select a.id from assignments a join probes p on p.id = a.probe_id
      where a.supplement and a.ended_at < ${instant(beforeMs)}
        and (p.last_seen_at > a.ended_at + interval '1 day' or p.revoked_at is not null)
      order by a.ended_at limit ${limit} for update of a skip locked)`);
  return rowCount;
}

const monitorRow = z.object({ id: z.number(), plan: z.string() });
/** A monitor with the plan of its workspace's owner. */
export type PlannedMonitor = z.infer<typeof monitorRow>;

/** The next monitors in the order of their numbers. */
export async function monitorsAfter(
  pool: CommonQueryMethods,
  monitorId: number,
  limit: number,
): Promise<readonly PlannedMonitor[]> {
  return pool.any(sql.type(monitorRow)`
    select m.id, u.plan from monitors m join workspaces w on w.id = m.workspace_id join users u on u.id = w.owner_id
    where m.id > ${monitorId} and m.deleted_at is null order by m.id limit ${limit}`);
}

const ids = (monitorIds: readonly number[]) => sql.array([...monitorIds], 'int4');

/** Packed hours of some monitors before an hour, counted since 1970. */
export async function deleteHours(
  pool: CommonQueryMethods,
  monitorIds: readonly number[],
  beforeHour: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from result_hours h using (
      select monitor_id, hour, probe_id from result_hours
      where monitor_id = any (${ids(monitorIds)}) and hour < ${beforeHour} limit ${limit}) old
    where h.monitor_id = old.monitor_id and h.hour = old.hour and h.probe_id = old.probe_id and h.hour < ${beforeHour}`);
  return rowCount;
}

/** Evidence of some monitors before a time. */
export async function deleteEvidenceOf(
  pool: CommonQueryMethods,
  monitorIds: readonly number[],
  beforeMs: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from result_evidence where ctid = any(array(
      select ctid from result_evidence where monitor_id = any (${ids(monitorIds)}) and e < ${instant(beforeMs)}
      limit ${limit} for update skip locked))`);
  return rowCount;
}

/** Ranges of some monitors that ended before a time. */
export async function deleteRanges(
  pool: CommonQueryMethods,
  monitorIds: readonly number[],
  beforeMs: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from status_ranges where ctid = any(array(
      select ctid from status_ranges
      where monitor_id = any (${ids(monitorIds)}) and started_at < ${instant(beforeMs)} and ended_at < ${instant(beforeMs)}
      limit ${limit} for update skip locked))`);
  return rowCount;
}

/** The same of their probes. */
export async function deleteProbeRanges(
  pool: CommonQueryMethods,
  monitorIds: readonly number[],
  beforeMs: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from probe_ranges where ctid = any(array(
      select r.ctid
      from (
        select distinct monitor_id, probe_id from assignments where monitor_id = any (${ids(monitorIds)})
        union all select id, 0 from unnest(${ids(monitorIds)}) as id) voter
      join probe_ranges r on r.monitor_id = voter.monitor_id and r.probe_id = voter.probe_id
      where r.started_at < ${instant(beforeMs)} and r.ended_at < ${instant(beforeMs)}
      limit ${limit} for update of r skip locked))`);
  return rowCount;
}

/** Diagnoses of disagreements of some monitors that began before a time. */
export async function deleteDiagnoses(
  pool: CommonQueryMethods,
  monitorIds: readonly number[],
  beforeMs: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from diagnoses where id in (
      select id from diagnoses where monitor_id = any (${ids(monitorIds)}) and since < ${instant(beforeMs)}
      limit ${limit} for update skip locked)`);
  return rowCount;
}
