import type { CheckOutcome, Listener } from '@parallax/checks';
import { AssignmentDelta } from '@parallax/wire';
import type { CheckerOptions } from '../runner/checker.ts';
import type { ClockLine } from '../runner/clock.ts';
import type { PlannedChange } from '../runner/plan.ts';
import type { FirstCheck } from '../runner/schedule.ts';
import type { SkipReason } from '../runner/skipped.ts';

/** What a worker begins with. Plain data: it is copied into its thread. */
export type WorkerStart = {
  /** Says that a thread of this program is one of these workers. */
  readonly purpose: 'parallax-checks';
  readonly probeId: number;
  /** Checks of this worker at the same time, at most. */
  readonly maxInFlight: number;
  readonly checker: CheckerOptions;
  readonly line: ClockLine;
  readonly deniedListeners: readonly Listener[];
  /** Whether somebody wants to know how late checks begin. */
  readonly isObserved: boolean;
};

/** Assignments in the form in which they came, and when each is looked at first. */
export type PackedChange = {
  readonly set: Uint8Array<ArrayBuffer>;
  /** For each of them milliseconds within which it begins, or one of `firstNumbers`. */
  readonly firsts: Float64Array<ArrayBuffer>;
  readonly removed: readonly number[];
  readonly isPresumedGood: boolean;
};

/** From the main thread to a worker. */
export type ToWorker =
  | { readonly type: 'assignments'; readonly change: PackedChange }
  | { readonly type: 'clock'; readonly line: ClockLine }
  | { readonly type: 'deny'; readonly listeners: readonly Listener[] }
  /** A `RunCheck`; answered by `answer` with the same number. */
  | {
      readonly type: 'run';
      readonly id: number;
      readonly kind: 'manual' | 'recheck';
      readonly request: Uint8Array<ArrayBuffer>;
    }
  /** Answers `judge`; without an outcome it stays as it is. */
  | { readonly type: 'judged'; readonly id: number; readonly outcome: CheckOutcome | undefined }
  | { readonly type: 'stop' };

/** From a worker to the main thread. */
export type FromWorker =
  | {
      readonly type: 'report';
      /** See `unpackResults`; empty when only the rest has changed. */
      readonly results: Uint8Array<ArrayBuffer>;
      /** How late the checks that began since the last report were, milliseconds; empty when nobody wants to know. */
      readonly lateMs: readonly number[];
      /** Slots that were not run since the last report. */
      readonly skipped: Readonly<Record<SkipReason, number>>;
      readonly inFlight: number;
    }
  | { readonly type: 'judge'; readonly id: number; readonly outcome: CheckOutcome }
  /** A `CheckAnswer` whose effective time is on the monotonic clock. */
  | { readonly type: 'answer'; readonly id: number; readonly answer: Uint8Array<ArrayBuffer> }
  | {
      readonly type: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly fields: object;
      readonly message: string;
    }
  /** Nothing runs any more, and everything was reported. */
  | { readonly type: 'stopped' };

/** No window is negative. */
const firstNumbers = { asBefore: -1, at_once: -2, on_phase: -3 } as const;

export function packChange(change: PlannedChange): PackedChange {
  const changed = change.set.map(({ assignment }) => assignment);
  return {
    // A copy: a view of a larger buffer would travel with all of it.
    set: new Uint8Array(AssignmentDelta.encode({ changed, removed: [], revision: 0n }).finish()),
    firsts: Float64Array.from(change.set, ({ first }) => toNumber(first)),
    removed: change.removed,
    isPresumedGood: change.isPresumedGood,
  };
}

export function unpackChange(packed: PackedChange): PlannedChange {
  const { changed } = AssignmentDelta.decode(packed.set);
  return {
    set: changed.map((assignment, index) => ({
      assignment,
      first: toFirst(packed.firsts[index] ?? firstNumbers.asBefore),
    })),
    removed: packed.removed,
    isPresumedGood: packed.isPresumedGood,
  };
}

function toNumber(first: FirstCheck | undefined): number {
  if (first === undefined) return firstNumbers.asBefore;
  return typeof first === 'object' ? first.withinMs : firstNumbers[first];
}

function toFirst(number: number): FirstCheck | undefined {
  if (number === firstNumbers.at_once) return 'at_once';
  if (number === firstNumbers.on_phase) return 'on_phase';
  return number === firstNumbers.asBefore ? undefined : { withinMs: number };
}
