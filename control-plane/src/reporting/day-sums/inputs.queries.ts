import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { intakeOutages } from '../../monitoring/intake-watch/index.ts';
import { onsetsOf } from '../../monitoring/status-ranges/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { maintenanceOfSubjects } from '../../response/maintenance/index.ts';
import type { ReportRange, TimeInterval } from '../statistics/index.ts';
import { isFailing } from './day-row.ts';
import type { SubjectType } from './subject-type.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));

const subjectRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  since: z.number(),
  known: z.number(),
  live_day: z.number().nullable(),
});

/** A subject whose days are summed. Times in milliseconds since the epoch. */
export type DaySubject = {
  readonly id: number;
  readonly workspaceId: number;
  /** Its creation or last reset. */
  readonly sinceMs: number;
  /** How far its time is known. */
  readonly knownMs: number;
  /** The day of its live row; null when it has none. */
  readonly liveDay: number | null;
};

/** Those of the subjects that are there. */
export async function subjectsOf(
  connection: CommonQueryMethods,
  type: SubjectType,
  ids: readonly number[],
  nowMs: number,
): Promise<DaySubject[]> {
  const live = sql.fragment`(
    select d.day from subject_days d where d.subject_type = ${type} and d.subject_id = s.id and d.tail is not null) as live_day`;
  const which = sql.fragment`s.id = any(${sql.array([...ids], 'int4')}) and s.deleted_at is null`;
  const rows = await connection.any(
    type === 'monitor'
      ? sql.type(subjectRow)`
          select s.id, s.workspace_id, greatest(s.created_at, s.reset_at) as since, least(${at(nowMs)}, h.folded_until) as known, ${live}
          from monitors s left join shards h on h.shard = s.shard where ${which}`
      : sql.type(subjectRow)`
          select s.id, s.workspace_id, s.created_at as since, ${at(nowMs)} as known, ${live}
          from ${subjectTable[type]} s where ${which}`,
  );
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    sinceMs: row.since,
    knownMs: row.known,
    liveDay: row.live_day,
  }));
}

/** Where subjects of a type stand. */
export const subjectTable = {
  monitor: sql.fragment`monitors`,
  heartbeat: sql.fragment`heartbeats`,
  webhook_check: sql.fragment`webhook_checks`,
} as const satisfies Record<SubjectType, unknown>;

const rangeTable = {
  monitor: { table: sql.fragment`status_ranges`, id: sql.fragment`monitor_id`, since: sql.fragment`s.reset_at` },
  heartbeat: { table: sql.fragment`heartbeat_ranges`, id: sql.fragment`heartbeat_id`, since: sql.fragment`null` },
  webhook_check: { table: sql.fragment`webhook_check_ranges`, id: sql.fragment`check_id`, since: sql.fragment`null` },
} as const satisfies Record<SubjectType, unknown>;

/** A subject and the time of it that is read. */
export type SubjectWindow = { readonly id: number; readonly fromMs: number; readonly toMs: number };

const rangeRow = z.object({
  id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
});

/**
 * Ranges of subjects of one type that overlap the window of each, and the last one that began before it; by subject and in order.
 * @param most that are read: of that number some may be missing
 */
export async function rangesOf(
  connection: CommonQueryMethods,
  type: SubjectType,
  windows: readonly SubjectWindow[],
  most: number,
): Promise<ReadonlyMap<number, ReportRange[]> | null> {
  const { table, id, since } = rangeTable[type];
  const rows = await connection.any(sql.type(rangeRow)`
    select w.id, r.started_at, r.ended_at, upper(r.status) as status
    from ${windowRows(windows)} join ${subjectTable[type]} s on s.id = w.id
    cross join lateral (
      select r.started_at, r.ended_at, r.status from ${table} r
      where r.${id} = w.id and r.started_at < w.to_at and r.started_at >= greatest(${since}, (
        select max(b.started_at) from ${table} b where b.${id} = w.id and b.started_at <= w.from_at), '-infinity')
      order by r.started_at limit ${most}) r
    order by w.id, r.started_at limit ${most}`);
  if (rows.length === most) return null;
  const ranges = Map.groupBy(rows, (row) => row.id);
  return new Map(
    [...ranges].map(([subject, list]) => [
      subject,
      list.map((row) => ({
        startedMs: row.started_at,
        endedMs: row.ended_at,
        status: row.status,
        isRevised: false,
        votes: null,
      })),
    ]),
  );
}

function windowRows(windows: readonly SubjectWindow[]) {
  const rows = windows.map(({ id, fromMs, toMs }) => [
    id,
    new Date(fromMs).toISOString(),
    new Date(toMs).toISOString(),
  ]);
  return sql.fragment`${sql.unnest(rows, ['int4', 'timestamptz', 'timestamptz'])} as w (id, from_at, to_at)`;
}

/** When the outages began that windows of monitors begin in. Of other subjects an outage is one range. */
export async function onsetsAt(
  connection: CommonQueryMethods,
  type: SubjectType,
  windows: readonly SubjectWindow[],
  ranges: ReadonlyMap<number, readonly ReportRange[]>,
): Promise<ReadonlyMap<number, number>> {
  if (type !== 'monitor') return new Map();
  const starts = new Map<number, number>();
  for (const { id, fromMs } of windows) {
    const first = ranges.get(id)?.at(0);
    if (first !== undefined && first.startedMs <= fromMs && isFailing(first)) starts.set(id, first.startedMs);
  }
  return onsetsOf(connection, starts);
}

const intervalRow = z.object({ id: z.number(), started_at: z.number(), ended_at: z.number().nullable() });

/** What covers the ranges of subjects in a time. */
export type Covers = {
  readonly pausedAs: 'PAUSED' | 'UNKNOWN';
  readonly pausesOf: (id: number) => readonly TimeInterval[];
  readonly maintenanceOf: (id: number) => readonly TimeInterval[];
};

/** Pauses and maintenance of subjects of one type; where those send to the product, the times in which it took nothing in are their pauses. */
export async function coversOf(
  connection: CommonQueryMethods,
  type: SubjectType,
  ids: readonly number[],
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<Covers> {
  const found = await maintenanceOfSubjects(connection, type, ids, window);
  const maintenance = Map.groupBy(found, ({ id }) => id);
  const maintenanceOf = (id: number) => maintenance.get(id) ?? [];
  if (type !== 'monitor') {
    const lost = await intakeOutages(connection, window);
    return { pausedAs: 'UNKNOWN', pausesOf: () => lost, maintenanceOf };
  }
  const rows = await connection.any(sql.type(intervalRow)`
    select p.monitor_id as id, p.started_at, p.ended_at from pauses p
    where p.monitor_id = any(${sql.array([...ids], 'int4')}) and p.started_at < ${at(window.toMs)}
      and (p.ended_at is null or p.ended_at > ${at(window.fromMs)})`);
  const pauses = Map.groupBy(
    rows.map((row) => ({ id: row.id, fromMs: row.started_at, toMs: row.ended_at })),
    ({ id }) => id,
  );
  return { pausedAs: 'PAUSED', pausesOf: (id) => pauses.get(id) ?? [], maintenanceOf };
}
