import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { nextWindow } from '../recurrence/occurrences.ts';
import type { Occurrence } from '../recurrence/occurrences.ts';
import { scheduleOf } from '../schedule.ts';
import type { StoredSchedule } from '../schedule.ts';
import { coveredSubjects } from '../scope/covers.ts';
import { maintenanceNews } from './news.ts';
import type { MaintenanceName } from './news.ts';
import { afterEnd } from './states.ts';

/** Changes that are looked for at once. */
const atOnce = 100;
const at = (ms: number) => sql.timestamp(new Date(ms));

/** Columns of a schedule as `scheduleColumns` reads them. */
export const scheduleRow = z.object({
  starts_at: z.number(),
  duration_seconds: z.number(),
  rrule: z.string().nullable(),
  timezone: z.string(),
  exdates: z.array(z.number()),
});

/** Of a maintenance `x`. */
export const scheduleColumns = sql.fragment`x.starts_at, x.duration_seconds, x.rrule, x.timezone, array(
  select (extract(epoch from e) * 1000)::float8 from unnest(x.exdates) e order by e) as exdates`;

export function storedOf(row: z.infer<typeof scheduleRow>): StoredSchedule {
  return {
    startsMs: row.starts_at,
    durationSeconds: row.duration_seconds,
    rrule: row.rrule,
    timezone: row.timezone,
    exdatesMs: row.exdates,
  };
}

const dueRow = scheduleRow.extend({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  next_starts_at: z.number(),
  next_ends_at: z.number(),
});
type Due = z.infer<typeof dueRow>;

/** Maintenance whose next occurrence is to start. */
export async function dueStarts(connection: CommonQueryMethods, nowMs: number): Promise<readonly Due[]> {
  return connection.any(sql.type(dueRow)`
    select x.id, x.workspace_id, x.name, x.next_starts_at, x.next_ends_at, ${scheduleColumns} from maintenance x
    where x.status = 'scheduled' and x.deleted_at is null and x.next_starts_at <= ${at(nowMs)}
    order by x.next_starts_at, x.id limit ${atOnce}`);
}

/**
 * Starts an occurrence: of any number of workers that saw it, the one does it whose update finds the state that it saw.
 * @returns whether it was this one
 */
export async function startOccurrence(pool: DatabasePool, due: Due): Promise<boolean> {
  return pool.transaction(async (tx) => {
    const window = { startsMs: due.next_starts_at, endsMs: due.next_ends_at };
    const next = nextWindow(scheduleOf(storedOf(due)), window.endsMs);
    const claimed = await tx.query(sql.unsafe`
      update maintenance set status = 'active', ${nextColumns(next)}, version = version + 1, updated_at = clock_timestamp()
      where id = ${due.id} and status = 'scheduled' and deleted_at is null and next_starts_at = ${at(window.startsMs)}
        and next_ends_at = ${at(window.endsMs)}`);
    if (claimed.rowCount === 0) return false;
    const occurrenceId = await openOccurrence(tx, due, window);
    await enqueue(tx, maintenanceNews('maintenance.started', due, { id: occurrenceId, ...window }, window.startsMs));
    return true;
  });
}

/** Columns of the next occurrence. */
export function nextColumns(next: Occurrence | undefined) {
  return next === undefined
    ? sql.fragment`next_starts_at = null, next_ends_at = null, next_is_shifted = false`
    : sql.fragment`next_starts_at = ${at(next.startsMs)}, next_ends_at = ${at(next.endsMs)}, next_is_shifted = ${next.isShifted}`;
}

/** Writes an occurrence and whom it covers, from its planned start on: also where the start was noticed late. @returns its identifier */
async function openOccurrence(
  tx: Transaction,
  { id, workspace_id: workspaceId }: Pick<Due, 'id' | 'workspace_id'>,
  window: { readonly startsMs: number; readonly endsMs: number },
): Promise<number> {
  const occurrenceId = await tx.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into maintenance_occurrences (workspace_id, maintenance_id, starts_at, ends_at)
    values (${workspaceId}, ${id}, ${at(window.startsMs)}, ${at(window.endsMs)}) returning id`);
  await tx.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
    select x.workspace_id, ${occurrenceId}, s.type, s.id, greatest(s.created_at, ${at(window.startsMs)})
    from maintenance x cross join lateral ${coveredSubjects} s
    where x.id = ${id} and s.created_at < ${at(window.endsMs)}`);
  return occurrenceId;
}

const endingRow = scheduleRow.extend({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  occurrence_id: z.number(),
  occurrence_starts_at: z.number(),
  occurrence_ends_at: z.number(),
  next_starts_at: z.number().nullable(),
  next_ends_at: z.number().nullable(),
});
type Ending = z.infer<typeof endingRow>;

/** Occurrences whose planned end has come. */
export async function dueEnds(connection: CommonQueryMethods, nowMs: number): Promise<readonly Ending[]> {
  return connection.any(sql.type(endingRow)`
    select x.id, x.workspace_id, x.name, o.id as occurrence_id, o.starts_at as occurrence_starts_at,
      o.ends_at as occurrence_ends_at, x.next_starts_at, x.next_ends_at, ${scheduleColumns}
    from maintenance_occurrences o join maintenance x on x.id = o.maintenance_id
    where o.ended_at is null and o.ends_at <= ${at(nowMs)} and x.status = 'active' and x.deleted_at is null
    order by o.ends_at, o.id limit ${atOnce}`);
}

/** Ends an occurrence whose time is over, as `startOccurrence` starts one. Where the next one touches it, that starts in its place. */
export async function endOccurrence(pool: DatabasePool, ending: Ending): Promise<boolean> {
  return pool.transaction(async (tx) => {
    const { id, next_starts_at: nextStartsMs, next_ends_at: nextEndsMs } = ending;
    const to = afterEnd(ending.occurrence_ends_at, nextStartsMs);
    const claimed = await tx.query(sql.unsafe`
      update maintenance set status = ${to}, version = version + 1, updated_at = clock_timestamp()
      where id = ${id} and status = 'active' and deleted_at is null
        and next_starts_at is not distinct from ${nextStartsMs === null ? null : at(nextStartsMs)}::timestamptz`);
    if (claimed.rowCount === 0) return false;
    const closed = await closeOccurrence(tx, id, 'elapsed', ending.occurrence_ends_at);
    if (closed === null) throw new Error(`maintenance ${id} was active without an occurrence`);
    if (to === 'active' && nextStartsMs !== null && nextEndsMs !== null) {
      await tx.query(sql.unsafe`
        update maintenance set ${nextColumns(nextWindow(scheduleOf(storedOf(ending)), nextEndsMs))} where id = ${id}`);
      await openOccurrence(tx, ending, { startsMs: nextStartsMs, endsMs: nextEndsMs });
      return true;
    }
    await enqueue(tx, maintenanceNews('maintenance.ended', ending, closed, ending.occurrence_ends_at));
    return true;
  });
}

const closedRow = z.object({ id: z.number(), starts_at: z.number(), ends_at: z.number() });

/**
 * Ends the occurrence of a maintenance that lasts; the caller holds the maintenance's row. What it held is released by the job.
 * @returns the occurrence; null when none lasted
 */
export async function closeOccurrence(
  tx: Transaction,
  maintenanceId: number,
  reason: 'elapsed' | 'ended' | 'cancelled' | 'deleted',
  endedMs: number,
): Promise<(MaintenanceName & { readonly startsMs: number; readonly endsMs: number }) | null> {
  const row = await tx.maybeOne(sql.type(closedRow)`
    update maintenance_occurrences set ended_at = greatest(${at(endedMs)}, starts_at), end_reason = ${reason}
    where maintenance_id = ${maintenanceId} and ended_at is null returning id, starts_at, ends_at`);
  return row === null ? null : { id: row.id, startsMs: row.starts_at, endsMs: row.ends_at };
}

/** The planned end of the last occurrence of a maintenance that started; null when none has. */
export async function lastPlannedEnd(tx: Transaction, maintenanceId: number): Promise<number | null> {
  return tx.oneFirst(sql.type(z.object({ ends_at: z.number().nullable() }))`
    select max(ends_at) as ends_at from maintenance_occurrences where maintenance_id = ${maintenanceId}`);
}
