import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { dayMs } from './day-row.ts';
import type { DayRow } from './day-row.ts';
import { subjectTable } from './inputs.queries.ts';
import { subjectTypes } from './subject-type.ts';
import type { SubjectType } from './subject-type.ts';

/** Sums are kept for so many days. */
export const keptDays = 730;

/** Makes this process the one that sums, for the time of the transaction. False: another one is. */
export async function takeRunner(tx: Transaction): Promise<boolean> {
  return tx.oneFirst(sql.type(z.object({ is_taken: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('sums of days', 0)) as is_taken`);
}

const markRow = z.object({
  subject_type: z.enum(subjectTypes),
  subject_id: z.number(),
  is_whole: z.boolean(),
  from_day: z.number().nullable(),
  to_day: z.number().nullable(),
});

/** Days of a subject that are to be summed anew. */
export type Mark = {
  readonly type: SubjectType;
  readonly id: number;
  /** It came, went, moved or was reset: all of its days. */
  readonly isWhole: boolean;
  /** Null: from its first day on. */
  readonly fromDay: number | null;
  /** Null: up to the present one. */
  readonly toDay: number | null;
};

/** Takes away marks that are due, the oldest first; those of one subject are one. */
export async function takeMarks(tx: Transaction, nowMs: number, most: number): Promise<Mark[]> {
  const rows = await tx.any(sql.type(markRow)`
    with taken as (
      delete from subject_day_marks where id = any(array(
        select id from subject_day_marks where due_at <= ${sql.timestamp(new Date(nowMs))} order by id limit ${most}))
      returning subject_type, subject_id, from_at, to_at)
    select subject_type, subject_id, bool_or(from_at = '-infinity') as is_whole,
      nullif(floor(extract(epoch from min(from_at)) / 86400), '-infinity')::integer as from_day,
      nullif(floor(extract(epoch from max(to_at)) / 86400), 'infinity')::integer as to_day
    from taken group by subject_type, subject_id order by subject_type, subject_id`);
  return rows.map((row) => ({
    type: row.subject_type,
    id: row.subject_id,
    isWhole: row.is_whole,
    fromDay: row.from_day,
    toDay: row.to_day,
  }));
}

/** A time of a subject that is still to be summed. */
export type NewMark = {
  readonly type: SubjectType;
  readonly id: number;
  readonly fromMs: number;
  /** Null: up to the present day. */
  readonly toMs: number | null;
  /** Null: at once. */
  readonly dueMs: number | null;
};

/** Notes what is still to be summed. */
export async function addMarks(tx: Transaction, marks: readonly NewMark[]): Promise<void> {
  if (marks.length === 0) return;
  const rows = marks.map(({ type, id, fromMs, toMs, dueMs }) => [
    type,
    id,
    new Date(fromMs).toISOString(),
    toMs === null ? 'infinity' : new Date(toMs).toISOString(),
    dueMs === null ? '-infinity' : new Date(dueMs).toISOString(),
  ]);
  await tx.query(sql.unsafe`
    insert into subject_day_marks (subject_type, subject_id, from_at, to_at, due_at)
    select * from ${sql.unnest(rows, ['text', 'int4', 'timestamptz', 'timestamptz', 'timestamptz'])} as w`);
}

/** Removes the days of subjects that are gone, and those of before a creation or reset; lets the others follow to their workspace. */
export async function followSubjects(tx: Transaction, type: SubjectType, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const since = type === 'monitor' ? sql.fragment`greatest(s.created_at, s.reset_at)` : sql.fragment`s.created_at`;
  const which = sql.fragment`d.subject_type = ${type} and d.subject_id = any(${sql.array([...ids], 'int4')})`;
  await tx.query(sql.unsafe`
    delete from subject_days d where ${which} and not exists (
      select from ${subjectTable[type]} s
      where s.id = d.subject_id and s.deleted_at is null and d.day >= floor(extract(epoch from ${since}) / 86400))`);
  await tx.query(sql.unsafe`
    update subject_days d set workspace_id = s.workspace_id from ${subjectTable[type]} s
    where ${which} and s.id = d.subject_id and d.workspace_id <> s.workspace_id`);
}

/** Days that are completed at once. */
const daysAtOnce = 5_000;

/**
 * Completes live days that are over as far as they are known, and begins the next ones: what they counted as goes on.
 * @returns how many
 */
export async function completeDays(tx: Transaction, nowMs: number): Promise<number> {
  const now = sql.timestamp(new Date(nowMs));
  const rest = (kind: number) => sql.fragment`case due.tail when ${kind} then ${dayMs} - d.until_ms else 0 end`;
  const { rowCount } = await tx.query(sql.unsafe`
    with due as (
      select d.subject_type, d.subject_id, d.day, d.tail, coalesce(m.workspace_id, h.workspace_id, w.workspace_id) as workspace_id
      from subject_days d
        left join monitors m on d.subject_type = 'monitor' and m.id = d.subject_id and m.deleted_at is null
        left join shards s on s.shard = m.shard
        left join heartbeats h on d.subject_type = 'heartbeat' and h.id = d.subject_id and h.deleted_at is null
        left join webhook_checks w on d.subject_type = 'webhook_check' and w.id = d.subject_id and w.deleted_at is null
      where d.tail is not null and d.day < floor(extract(epoch from ${now}::timestamptz) / 86400)
        and d.day < floor(extract(epoch from least(${now}, s.folded_until)) / 86400)
        and num_nonnulls(m.id, h.id, w.id) = 1
      limit ${daysAtOnce}),
    done as (
      update subject_days d set tail = null, until_ms = ${dayMs},
        up_ms = d.up_ms + ${rest(0)}, degraded_ms = d.degraded_ms + ${rest(1)}, down_ms = d.down_ms + ${rest(2)},
        timeout_ms = d.timeout_ms + ${rest(3)}, unknown_ms = d.unknown_ms + ${rest(4)}, maintenance_ms = d.maintenance_ms + ${rest(5)},
        paused_ms = d.paused_ms + ${rest(6)}
      from due where (d.subject_type, d.subject_id, d.day) = (due.subject_type, due.subject_id, due.day)
      returning d.subject_type, d.subject_id, d.day)
    insert into subject_days (subject_type, subject_id, workspace_id, day, until_ms, tail)
    select due.subject_type, due.subject_id, due.workspace_id, due.day + 1, 0, due.tail
    from due join done using (subject_type, subject_id, day)`);
  return rowCount;
}

/** A day of a subject as it is stored. */
export type StoredDay = {
  readonly type: SubjectType;
  readonly id: number;
  readonly workspaceId: number;
  readonly row: DayRow;
};

const sums = Array.from({ length: 7 }, () => 'int4');
const columns = ['text', 'int4', 'int4', 'int4', ...sums, 'int4', 'int2', 'int4', 'int4', 'int8', 'text'];

/** Writes days over what was there; those of one subject in their order, so that it never has two live ones. */
export async function writeDays(tx: Transaction, days: readonly StoredDay[]): Promise<void> {
  for (let at = 0; at < days.length; at += daysAtOnce) {
    const rows = days
      .slice(at, at + daysAtOnce)
      .map(({ type, id, workspaceId, row }) => [
        type,
        id,
        workspaceId,
        row.day,
        row.time.upMs,
        row.time.degradedMs,
        row.time.downMs,
        row.time.timeoutMs,
        row.time.unknownMs,
        row.time.maintenanceMs,
        row.time.pausedMs,
        row.untilMs,
        row.tail,
        row.outages,
        row.repairs,
        row.repairMs,
        row.spans === null ? null : `{${row.spans.join()}}`,
      ]);
    await tx.query(sql.unsafe`
      insert into subject_days (subject_type, subject_id, workspace_id, day, up_ms, degraded_ms, down_ms, timeout_ms, unknown_ms,
        maintenance_ms, paused_ms, until_ms, tail, outages, repairs, repair_ms, spans)
      select t, id, workspace_id, day, up, degraded, down, timeout, unknown, maintenance, paused, until_ms, tail, outages, repairs, repair_ms,
        spans::integer[]
      from ${sql.unnest(rows, columns)} as w (t, id, workspace_id, day, up, degraded, down, timeout, unknown, maintenance, paused, until_ms,
        tail, outages, repairs, repair_ms, spans)
      order by t, id, day
      on conflict (subject_type, subject_id, day) do update set workspace_id = excluded.workspace_id, up_ms = excluded.up_ms,
        degraded_ms = excluded.degraded_ms, down_ms = excluded.down_ms, timeout_ms = excluded.timeout_ms, unknown_ms = excluded.unknown_ms,
        maintenance_ms = excluded.maintenance_ms, paused_ms = excluded.paused_ms, until_ms = excluded.until_ms, tail = excluded.tail,
        outages = excluded.outages, repairs = excluded.repairs, repair_ms = excluded.repair_ms, spans = excluded.spans`);
  }
}

/** Removes days that are older than they are kept, some at once. @returns how many */
export async function removeOldDays(connection: CommonQueryMethods, nowMs: number): Promise<number> {
  const { rowCount } = await connection.query(sql.unsafe`
    delete from subject_days where ctid = any(array(
      select d.ctid from workspaces w cross join (values ('monitor'), ('heartbeat'), ('webhook_check')) as t (type)
        cross join lateral (
          select o.ctid from subject_days o
          where o.workspace_id = w.id and o.subject_type = t.type and o.day < ${Math.floor(nowMs / dayMs) - keptDays}
          limit ${daysAtOnce}) d
      limit ${daysAtOnce}))`);
  return rowCount;
}
