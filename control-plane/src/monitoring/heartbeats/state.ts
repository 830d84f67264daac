import type { DownReason } from '@parallax/api-contract';
import type { Schedule } from './schedules/schedule.ts';

/** What decides about a heartbeat: its settings with times in milliseconds. */
export type Rules = {
  readonly schedule: Schedule;
  readonly graceMs: number;
  readonly maxRuntimeMs: number | null;
  readonly minRuntimeMs: number | null;
  readonly failuresBeforeAlert: number;
  readonly resumeOnPing: boolean;
  readonly methods: 'any' | 'post';
};

/** A run that has begun and has not ended. */
export type Run = {
  /** Null: begun without an identifier. */
  readonly rid: string | null;
  readonly startedMs: number;
  /** The start or the last sign of life, moved by what was credited: its maximum run time counts from here. */
  readonly aliveMs: number;
  readonly isKeptAlive: boolean;
  /** It took longer than it may; that was noticed once. */
  readonly isOverdue: boolean;
};

/** What is known of a heartbeat. Times are milliseconds since the epoch. `late` is not stored: it is `up` after `nextExpectedMs`. */
export type State = {
  readonly status: 'new' | 'up' | 'down' | 'paused';
  readonly statusSinceMs: number;
  /** Why it is down. */
  readonly reason: DownReason | null;
  /** Failed and missed runs in a row. */
  readonly failures: number;
  /** The end of the last run, or when it was resumed: what the next signal is expected after. */
  readonly expectsFromMs: number | null;
  readonly nextExpectedMs: number | null;
  readonly deadlineMs: number | null;
  /** By what the deadline of the present expectation was moved, since signals could not be taken. */
  readonly creditMs: number;
  readonly runs: readonly Run[];
  readonly lastPingMs: number | null;
  readonly lastDurationMs: number | null;
};

/** A change that others are told of. */
export type Announcement = {
  readonly kind:
    | 'heartbeat.missed'
    | 'heartbeat.failed'
    | 'heartbeat.recovered'
    | 'heartbeat.paused'
    | 'heartbeat.resumed';
  readonly from: State['status'];
  readonly to: State['status'];
  readonly reason: DownReason | null;
  /** When it came to be so: of a miss the deadline. */
  readonly atMs: number;
};

/** Open runs that are remembered. */
export const mostRuns = 50;

/** A heartbeat of which nothing has come yet. */
export function newState(nowMs: number): State {
  return {
    status: 'new',
    statusSinceMs: nowMs,
    reason: null,
    failures: 0,
    expectsFromMs: null,
    nextExpectedMs: null,
    deadlineMs: null,
    creditMs: 0,
    runs: [],
    lastPingMs: null,
    lastDurationMs: null,
  };
}
