import type { Assignment } from '@parallax/wire';
import type { AppliedChange } from '../assignments/store.ts';
import type { FirstCheck } from './schedule.ts';

/** An assignment that is new or different, and when it is checked first; undefined: as before, or at its next regular slot. */
export type PlannedAssignment = { readonly assignment: Assignment; readonly first: FirstCheck | undefined };

/** What has to be done to a schedule. */
export type PlannedChange = {
  readonly set: readonly PlannedAssignment[];
  readonly removed: readonly number[];
  /** They are many, so those that need not be looked at at once need not hurry with their first result. */
  readonly isPresumedGood: boolean;
};

/** A start with many monitors spreads their first checks so that about so many begin in a second. */
const firstChecksPerSecond = 200;

/** Decides for each assignment of a change when it is looked at first: a start spreads them, what is new or checked otherwise comes at once. */
export function planChange(change: AppliedChange): PlannedChange {
  const withinMs = Math.max(1_000, (change.set.length / firstChecksPerSecond) * 1_000);
  const firstOf = (assignment: Assignment): FirstCheck | undefined => {
    if (change.first) return { withinMs: Math.min(withinMs, intervalMsOf(assignment)) };
    const previous = change.previous.get(assignment.monitorId);
    return previous === undefined || previous.probeRevision !== assignment.probeRevision ? 'at_once' : undefined;
  };
  return {
    set: change.set.map((assignment) => ({ assignment, first: firstOf(assignment) })),
    removed: change.removed,
    isPresumedGood: change.set.length > firstChecksPerSecond,
  };
}

/** Milliseconds between two checks of a monitor. */
export function intervalMsOf(assignment: Assignment): number {
  return Math.max(1, assignment.intervalSeconds) * 1_000;
}
