import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { coverSubjects } from '../scope/queries.ts';

/* The clock of windows: what begins and what is over. Each step names the state that it saw, so two replicas do it once. */

const at = (ms: number) => sql.timestamp(new Date(ms));
const ms = z.number();

const dueRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  title: z.string(),
  starts_at: ms,
  ends_at: ms,
});
export type DueWindow = {
  readonly id: number;
  readonly workspaceId: number;
  readonly title: string;
  readonly startsMs: number;
  readonly endsMs: number;
};

/** Windows whose next occurrence has begun by now, held by nobody else, with their locks. */
export async function takeBeginning(transaction: Transaction, nowMs: number, most: number): Promise<DueWindow[]> {
  const rows = await transaction.any(sql.type(dueRow)`
    select id, workspace_id, title, next_starts_at as starts_at, next_ends_at as ends_at from maintenance_windows
    where status = 'scheduled' and deleted_at is null and next_starts_at <= ${at(nowMs)}
    order by next_starts_at, id limit ${most} for update skip locked`);
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    title: row.title,
    startsMs: row.starts_at,
    endsMs: row.ends_at,
  }));
}

/** Begins the next occurrence of a locked window, as planned however late it is noticed; announced. */
export async function beginOccurrence(transaction: Transaction, window: DueWindow): Promise<void> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update maintenance_windows set status = 'active', next_starts_at = null, next_ends_at = null, version = version + 1,
      updated_at = clock_timestamp()
    where id = ${window.id} and status = 'scheduled' and next_starts_at = ${at(window.startsMs)}`);
  if (rowCount !== 1) return;
  const id = await transaction.oneFirst(sql.typeAlias('id')`
    insert into maintenance_occurrences (workspace_id, window_id, starts_at, ends_at)
    values (${window.workspaceId}, ${window.id}, ${at(window.startsMs)}, ${at(window.endsMs)})
    returning id`);
  await coverSubjects(transaction, [id], true);
  await announce(transaction, 'maintenance.started', { ...window, occurrenceId: id, endedMs: null });
}

const openRow = z.object({
  id: z.number(),
  window_id: z.number(),
  workspace_id: z.number(),
  title: z.string(),
  starts_at: ms,
  ends_at: ms,
  duration_seconds: z.number(),
  rrule: z.string().nullable(),
  timezone: z.string(),
  first_starts_at: ms,
  exdates: z.array(ms),
});
/** An occurrence under way, with the times of its window. */
export type OpenOccurrence = {
  readonly id: number;
  readonly windowId: number;
  readonly workspaceId: number;
  readonly title: string;
  readonly startsMs: number;
  readonly endsMs: number;
  readonly times: {
    readonly startsMs: number;
    readonly durationMs: number;
    readonly rrule: string | null;
    readonly zone: string;
    readonly exceptMs: readonly number[];
  };
};

const openColumns = sql.fragment`o.id, o.window_id, o.workspace_id, w.title, o.starts_at, o.ends_at, w.duration_seconds, w.rrule, w.timezone,
  w.starts_at as first_starts_at, array(select extract(epoch from e)::float8 * 1000 from unnest(w.exdates) e) as exdates`;

const openOf = (row: z.output<typeof openRow>): OpenOccurrence => ({
  id: row.id,
  windowId: row.window_id,
  workspaceId: row.workspace_id,
  title: row.title,
  startsMs: row.starts_at,
  endsMs: row.ends_at,
  times: {
    startsMs: row.first_starts_at,
    durationMs: row.duration_seconds * 1_000,
    rrule: row.rrule,
    zone: row.timezone,
    exceptMs: row.exdates.map((one) => Math.round(one)),
  },
});

/** Occurrences that are over by now, held by nobody else; their windows are locked. */
export async function takeEnding(transaction: Transaction, nowMs: number, most: number): Promise<OpenOccurrence[]> {
  const rows = await transaction.any(sql.type(openRow)`
    select ${openColumns} from maintenance_occurrences o join maintenance_windows w on w.id = o.window_id
    where o.ended_at is null and o.ends_at <= ${at(nowMs)} order by o.ends_at, o.id limit ${most} for update of w skip locked`);
  // In a statement of its own, which sees what was ended until the locks were held.
  const ids = rows.map(({ id }) => id);
  const open = await transaction.any(sql.type(openRow)`
    select ${openColumns} from maintenance_occurrences o join maintenance_windows w on w.id = o.window_id
    where o.id = any(${sql.array(ids, 'int4')}) and o.ended_at is null order by o.ends_at, o.id`);
  return open.map(openOf);
}

/** The occurrence of a locked window that is under way, or null. */
export async function openOccurrence(transaction: Transaction, windowId: number): Promise<OpenOccurrence | null> {
  const row = await transaction.maybeOne(sql.type(openRow)`
    select ${openColumns} from maintenance_occurrences o join maintenance_windows w on w.id = o.window_id
    where o.window_id = ${windowId} and o.ended_at is null`);
  return row === null ? null : openOf(row);
}

/** Ends an occurrence of a locked window; announced. @returns whether it was under way */
export async function endOccurrence(transaction: Transaction, open: OpenOccurrence, endedMs: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update maintenance_occurrences set ended_at = greatest(starts_at, ${at(endedMs)}) where id = ${open.id} and ended_at is null`);
  if (rowCount !== 1) return false;
  await transaction.query(sql.unsafe`
    update maintenance_subjects set ended_at = greatest(started_at, ${at(endedMs)}) where occurrence_id = ${open.id} and ended_at is null`);
  await announce(transaction, 'maintenance.ended', { ...open, id: open.windowId, occurrenceId: open.id, endedMs });
  return true;
}

/** Sets what comes next of a locked window after an occurrence: null ends it. */
export async function planNext(
  transaction: Transaction,
  windowId: number,
  next: { readonly startsMs: number; readonly endsMs: number } | null,
): Promise<void> {
  await transaction.query(sql.unsafe`
    update maintenance_windows set status = ${next === null ? 'completed' : 'scheduled'},
      next_starts_at = ${next === null ? null : at(next.startsMs)}, next_ends_at = ${next === null ? null : at(next.endsMs)},
      version = version + 1, updated_at = clock_timestamp()
    where id = ${windowId} and status = 'active'`);
}

/** Notes what comes after the occurrence of a locked window that is under way, for who reads. */
export async function noteNext(
  transaction: Transaction,
  windowId: number,
  next: { readonly startsMs: number; readonly endsMs: number } | null,
): Promise<void> {
  if (next === null) return;
  await transaction.query(sql.unsafe`
    update maintenance_windows set next_starts_at = ${at(next.startsMs)}, next_ends_at = ${at(next.endsMs)}
    where id = ${windowId} and status = 'active'`);
}

/**
 * Notes what has come into the scope of occurrences that are under way. Their windows are locked against being ended meanwhile, which would leave
 * what is noted after it without an end; one that somebody holds is looked at the next time. For the worker login.
 */
export async function coverWhatCame(worker: DatabasePool): Promise<void> {
  if (!(await worker.exists(sql.unsafe`select from maintenance_occurrences where ended_at is null`))) return;
  await worker.transaction(async (transaction) => {
    const windows = await transaction.anyFirst(sql.typeAlias('id')`
      select w.id from maintenance_windows w
      where exists (select from maintenance_occurrences o where o.window_id = w.id and o.ended_at is null)
      order by w.id for share of w skip locked`);
    // In a statement of its own, which sees what was ended until the locks were held.
    const open = await transaction.anyFirst(sql.typeAlias('id')`
      select id from maintenance_occurrences where window_id = any(${sql.array(windows, 'int4')}) and ended_at is null`);
    await coverSubjects(transaction, open, false);
  });
}

export type MaintenanceEvent = {
  readonly id: number;
  readonly workspaceId: number;
  readonly title: string;
  readonly occurrenceId: number | null;
  readonly startsMs: number | null;
  readonly endsMs: number | null;
  readonly endedMs: number | null;
};

/** Announces what becomes of a window, in the transaction of the change. */
export async function announce(
  transaction: Transaction,
  kind: 'maintenance.started' | 'maintenance.ended' | 'maintenance.cancelled',
  event: MaintenanceEvent,
): Promise<void> {
  const iso = (value: number | null) => (value === null ? null : new Date(value).toISOString());
  await enqueue(transaction, {
    key: `maintenance:${event.id}`,
    kind,
    payload: {
      maintenance_id: event.id,
      workspace_id: event.workspaceId,
      occurrence_id: event.occurrenceId,
      title: event.title,
      starts_at: iso(event.startsMs),
      ends_at: iso(event.endsMs),
      ended_at: iso(event.endedMs),
    },
  });
}
