import { downReasons } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { State } from '../state.ts';
import type { RangeEdit } from './ranges.ts';

const runSchema = z.object({
  rid: z.string().nullable(),
  started_ms: z.number(),
  alive_ms: z.number(),
  is_kept_alive: z.boolean(),
  is_overdue: z.boolean(),
});

const stateRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  slug: z.string(),
  schedule_type: z.enum(['period', 'cron', 'on_calendar']),
  schedule: z.string().nullable(),
  timezone: z.string(),
  expected_interval_seconds: z.number(),
  grace_period_seconds: z.number(),
  max_runtime_seconds: z.number().nullable(),
  min_runtime_seconds: z.number().nullable(),
  failures_before_alert: z.number(),
  resume_on_ping: z.boolean(),
  methods: z.enum(['any', 'post']),
  status: z.enum(['new', 'up', 'down', 'paused']),
  status_since: z.number(),
  reason: z.enum(downReasons).nullable(),
  failures: z.number(),
  expects_from: z.number().nullable(),
  next_expected_at: z.number().nullable(),
  deadline_at: z.number().nullable(),
  credit_ms: z.bigint(),
  runs: z.array(runSchema),
  last_ping_at: z.number().nullable(),
  last_duration_ms: z.bigint().nullable(),
  pings: z.bigint(),
  counted_minute: z.bigint(),
  counted: z.number(),
  version: z.number(),
});
type StateRow = z.output<typeof stateRow>;

/** A heartbeat under lock: its settings, its state, and how many signals it has had. */
export type Locked = Omit<StateRow, 'runs' | 'pings' | 'counted_minute'> & {
  readonly state: State;
  readonly pings: number;
  /** Signals taken in the minute of the epoch that is counted. */
  readonly countedMinute: number;
};

const columns = sql.fragment`id, workspace_id, name, slug, schedule_type, schedule, timezone, expected_interval_seconds, grace_period_seconds,
  max_runtime_seconds, min_runtime_seconds, failures_before_alert, resume_on_ping, methods, status, status_since, reason, failures, expects_from,
  next_expected_at, deadline_at, credit_ms, runs, last_ping_at, last_duration_ms, pings, counted_minute, counted, version`;

/**
 * Heartbeats of the scope with their rows locked until the transaction ends, in one order, so that nobody waits for each other in a circle. Whoever holds
 * a row is the only one that writes its state and tells of it.
 */
export async function lockStates(scope: Scope, tx: Transaction, ids: readonly number[]): Promise<readonly Locked[]> {
  const rows = await tx.any(sql.type(stateRow)`
    select ${columns} from heartbeats
    where id = any(${sql.array(ids, 'int4')}) and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and deleted_at is null
    order by id for update`);
  return rows.map(lockedOf);
}

/** Those whose deadline has passed, locked; rows that somebody else holds are left to them or to the next look. For the worker login, which sees all. */
export async function lockOverdue(tx: Transaction, untilMs: number, most: number): Promise<readonly Locked[]> {
  const rows = await tx.any(sql.type(stateRow)`
    select ${columns} from heartbeats
    where deadline_at <= ${sql.timestamp(new Date(untilMs))} and status in ('new', 'up') and deleted_at is null
    order by deadline_at limit ${most} for update skip locked`);
  return rows.map(lockedOf);
}

/** The next state of a heartbeat, written where its row still has the status and the deadline that were seen. */
export type StateWrite = { readonly id: number; readonly before: State; readonly after: State };

/**
 * Times are compared by the millisecond, since no more of them is read.
 * @returns the heartbeats that were written: one that was not has changed in between
 */
export async function writeStates(tx: Transaction, writes: readonly StateWrite[]): Promise<readonly number[]> {
  if (writes.length === 0) return [];
  const ids = writes.map(({ id }) => id);
  const rows = writes.map(({ id, before, after }) => [
    id,
    before.status,
    seconds(before.deadlineMs),
    ...stateColumns(after),
  ]);
  const written = await tx.anyFirst(sql.typeAlias('id')`
    update heartbeats h set ${stateAssignments}
    from ${sql.unnest(rows, ['int4', 'text', 'float8', ...stateTypes])}
      as c (id, seen_status, seen_deadline, ${stateNames})
    where h.id = c.id and h.id = any(${sql.array(ids, 'int4')}) and h.status = c.seen_status
      and coalesce(abs(extract(epoch from h.deadline_at)::float8 - c.seen_deadline) < 0.0011, h.deadline_at is null and c.seen_deadline is null)
    returning h.id`);
  return written;
}

/** Columns of a state in the order of `stateColumns`, without the number of signals. */
export const stateNames = sql.fragment`status, status_since, reason, failures, expects_from, next_expected_at, deadline_at, credit_ms, runs, last_ping_at, last_duration_ms`;
export const stateTypes = [
  'text',
  'float8',
  'text',
  'int4',
  'float8',
  'float8',
  'float8',
  'int8',
  'text',
  'float8',
  'int8',
] as const;
export const stateAssignments = sql.fragment`status = c.status, status_since = to_timestamp(c.status_since), reason = c.reason, failures = c.failures,
  expects_from = to_timestamp(c.expects_from), next_expected_at = to_timestamp(c.next_expected_at), deadline_at = to_timestamp(c.deadline_at),
  credit_ms = c.credit_ms, runs = c.runs::jsonb, last_ping_at = to_timestamp(c.last_ping_at), last_duration_ms = c.last_duration_ms`;

/** A state as parameters; times in seconds with three digits, which a double holds exactly enough. */
export function stateColumns(state: State): (string | number | null)[] {
  return [
    state.status,
    seconds(state.statusSinceMs),
    state.reason,
    state.failures,
    seconds(state.expectsFromMs),
    seconds(state.nextExpectedMs),
    seconds(state.deadlineMs),
    Math.round(state.creditMs),
    JSON.stringify(
      state.runs.map(({ rid, startedMs, aliveMs, isKeptAlive, isOverdue }) => ({
        rid,
        started_ms: startedMs,
        alive_ms: aliveMs,
        is_kept_alive: isKeptAlive,
        is_overdue: isOverdue,
      })),
    ),
    seconds(state.lastPingMs),
    state.lastDurationMs === null ? null : Math.round(state.lastDurationMs),
  ];
}

/** An edit of the timeline of one heartbeat. */
export type HeartbeatEdit = { readonly heartbeatId: number; readonly workspaceId: number; readonly edit: RangeEdit };

/** Writes edits of timelines, those of one heartbeat in the order in which they happened: the first of each in one go, then the second. */
export async function writeRanges(tx: Transaction, edits: readonly HeartbeatEdit[]): Promise<void> {
  let rest = edits;
  while (rest.length > 0) {
    const seen = new Set<number>();
    const round = rest.filter(({ heartbeatId }) => !seen.has(heartbeatId) && seen.add(heartbeatId));
    await writeRound(tx, round);
    rest = rest.filter((each) => !round.includes(each));
  }
}

async function writeRound(tx: Transaction, edits: readonly HeartbeatEdit[]): Promise<void> {
  const ids = edits.map(({ heartbeatId }) => heartbeatId);
  const rows = edits.map(({ heartbeatId, workspaceId, edit }) => [
    heartbeatId,
    workspaceId,
    seconds(edit.atMs),
    edit.status,
    edit.reason,
  ]);
  const given = sql.fragment`${sql.unnest(rows, ['int4', 'int4', 'float8', 'text', 'text'])} as e (heartbeat_id, workspace_id, at, status, reason)`;
  await tx.query(sql.unsafe`
    update heartbeat_ranges r set ended_at = greatest(r.started_at, to_timestamp(e.at)) from ${given}
    where r.heartbeat_id = e.heartbeat_id and r.heartbeat_id = any(${sql.array(ids, 'int4')}) and r.ended_at is null`);
  await tx.query(sql.unsafe`
    insert into heartbeat_ranges (heartbeat_id, workspace_id, started_at, status, reason)
    select e.heartbeat_id, e.workspace_id, greatest(to_timestamp(e.at), (
      select max(r.ended_at) from heartbeat_ranges r where r.heartbeat_id = e.heartbeat_id)), e.status, e.reason
    from ${given} where e.status is not null
    on conflict (heartbeat_id, started_at) do update set status = excluded.status, reason = excluded.reason, ended_at = null`);
}

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms) / 1_000);

function lockedOf(row: StateRow): Locked {
  const { runs, pings, counted_minute: countedMinute, ...rest } = row;
  return {
    ...rest,
    pings: Number(pings),
    countedMinute: Number(countedMinute),
    state: {
      status: row.status,
      statusSinceMs: row.status_since,
      reason: row.reason,
      failures: row.failures,
      expectsFromMs: row.expects_from,
      nextExpectedMs: row.next_expected_at,
      deadlineMs: row.deadline_at,
      creditMs: Number(row.credit_ms),
      runs: runs.map((run) => ({
        rid: run.rid,
        startedMs: run.started_ms,
        aliveMs: run.alive_ms,
        isKeptAlive: run.is_kept_alive,
        isOverdue: run.is_overdue,
      })),
      lastPingMs: row.last_ping_at,
      lastDurationMs: row.last_duration_ms === null ? null : Number(row.last_duration_ms),
    },
  };
}
