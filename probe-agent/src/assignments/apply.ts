import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Assignment, AssignmentDelta, SnapshotEnd } from '@parallax/wire';

/** Assignments by monitor, and the revision up to which they are complete. */
export type AssignmentState = { readonly revision: bigint; readonly byMonitor: ReadonlyMap<number, Assignment> };

/** What has to be done to the present state to reach the new one. */
export type AssignmentChange = {
  readonly revision: bigint;
  /** New or different assignments. */
  readonly set: readonly Assignment[];
  /** Monitors that are no longer assigned. */
  readonly removed: readonly number[];
};

/**
 * A whole snapshot against the present state. It is taken as the truth, also when its revision is lower than the known one (a database that
 * was restored). A string says why it cannot be applied: it is not complete or not what was meant, and must be asked for again.
 */
export function applySnapshot(
  state: AssignmentState,
  assignments: readonly Assignment[],
  end: Pick<SnapshotEnd, 'revision' | 'count' | 'hash'>,
): AssignmentChange | string {
  const next = new Map(assignments.map((assignment) => [assignment.monitorId, assignment]));
  if (next.size !== assignments.length) return 'a monitor stands in the snapshot twice';
  if (assignments.length !== end.count)
    return `the snapshot has ${assignments.length} assignments, announced were ${end.count}`;
  if (!assignmentHash(assignments).equals(end.hash)) return 'the hash of the snapshot differs';
  const set = assignments.filter((assignment) => {
    const held = state.byMonitor.get(assignment.monitorId);
    return held?.revision !== assignment.revision || !isDeepStrictEqual(held.privateTargets, assignment.privateTargets);
  });
  const removed = [...state.byMonitor.keys()].filter((monitorId) => !next.has(monitorId));
  return { revision: end.revision, set, removed };
}

/**
 * What changed above the known revision; undefined for a delta that is known already. An entry up to the known
 * revision, or older than what is held for its monitor, does nothing: a removal from before a later assignment, an assignment from before a
 * later removal.
 */
export function applyDelta(state: AssignmentState, delta: AssignmentDelta): AssignmentChange | undefined {
  if (delta.revision <= state.revision) return undefined;
  const newest = new Map<number, { readonly revision: bigint; readonly assignment: Assignment | undefined }>();
  const consider = (monitorId: number, revision: bigint, assignment: Assignment | undefined): void => {
    const held = newest.get(monitorId)?.revision ?? state.byMonitor.get(monitorId)?.revision ?? 0n;
    if (revision > held && revision > state.revision) newest.set(monitorId, { revision, assignment });
  };
  for (const assignment of delta.changed) consider(assignment.monitorId, assignment.revision, assignment);
  for (const removal of delta.removed) consider(removal.monitorId, removal.revision, undefined);
  const set: Assignment[] = [];
  const removed: number[] = [];
  for (const [monitorId, { assignment }] of newest) {
    if (assignment !== undefined) set.push(assignment);
    else if (state.byMonitor.has(monitorId)) removed.push(monitorId);
  }
  return { revision: delta.revision, set, removed };
}

/** SHA-256 over "monitor_id:revision\n" in ascending order of monitor_id, as session.proto says. */
export function assignmentHash(assignments: Iterable<Pick<Assignment, 'monitorId' | 'revision'>>): Buffer {
  const hash = createHash('sha256');
  for (const { monitorId, revision } of [...assignments].sort((a, b) => a.monitorId - b.monitorId))
    hash.update(`${monitorId}:${revision}\n`);
  return hash.digest();
}
