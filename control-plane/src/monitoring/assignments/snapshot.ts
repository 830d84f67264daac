import { createHash } from 'node:crypto';
import type { Assignment } from '@parallax/wire';

/** Assignments in one message of a snapshot, changes in one delta. */
export const assignmentsPerMessage = 500;

/** Where a message ends before its number is reached: settings may be large, and an agent reads messages of at most 16 MiB. */
export const assignmentBytesPerMessage = 1024 * 1024;

/** About what an assignment takes on the wire. */
function sizeOf(assignment: Assignment): number {
  return assignment.settingsJson.length + assignment.url.length * 3 + 100;
}

/** Cuts assignments into messages by number and size, in order. */
export function inMessages(assignments: readonly Assignment[]): Assignment[][] {
  const messages: Assignment[][] = [];
  let message: Assignment[] = [];
  let bytes = 0;
  for (const assignment of assignments) {
    const size = sizeOf(assignment);
    const isFull = message.length >= assignmentsPerMessage || bytes + size > assignmentBytesPerMessage;
    if (message.length > 0 && isFull) {
      messages.push(message);
      message = [];
      bytes = 0;
    }
    message.push(assignment);
    bytes += size;
  }
  if (message.length > 0) messages.push(message);
  return messages;
}

/** SHA-256 over "monitor_id:revision\n" in ascending order of monitor, as session.proto says. */
export function snapshotHash(assignments: readonly Pick<Assignment, 'monitorId' | 'revision'>[]): Buffer {
  const hash = createHash('sha256');
  for (const { monitorId, revision } of [...assignments].sort((a, b) => a.monitorId - b.monitorId)) {
    hash.update(`${monitorId}:${revision}\n`);
  }
  return hash.digest();
}

/** A row of the log of assignments with the monitor that it belongs to. `settings` holds the secrets too. */
export type AssignmentRow = {
  readonly monitorId: number;
  readonly revision: bigint;
  /** The seat is open, the monitor active and not deleted, the probe not paused. */
  readonly isWanted: boolean;
  readonly configuration: Omit<Assignment, 'monitorId' | 'revision'> | undefined;
};

/** What one message brings an agent from the known revision to this one. */
export type AssignmentStep = {
  readonly changed: readonly Assignment[];
  readonly removed: readonly { readonly monitorId: number; readonly revision: bigint }[];
  /** The agent has everything up to here when it has applied the step. */
  readonly revision: bigint;
};

/**
 * Rows in order of revision to steps of a bounded size; of several rows of one monitor the newest counts. The last step ends
 * at the last row's revision.
 */
export function toSteps(rows: readonly AssignmentRow[]): AssignmentStep[] {
  const newest = new Map<number, AssignmentRow>();
  for (const row of rows) {
    // Taken out first, so that the order stays the one of the revisions.
    newest.delete(row.monitorId);
    newest.set(row.monitorId, row);
  }
  const steps: AssignmentStep[] = [];
  let changed: Assignment[] = [];
  let removed: { monitorId: number; revision: bigint }[] = [];
  let bytes = 0;
  let last = 0n;
  for (const { monitorId, revision, isWanted, configuration } of newest.values()) {
    const assignment = isWanted && configuration !== undefined ? { monitorId, revision, ...configuration } : undefined;
    const size = assignment === undefined ? 16 : sizeOf(assignment);
    if (bytes > 0 && bytes + size > assignmentBytesPerMessage) {
      steps.push({ changed, removed, revision: last });
      changed = [];
      removed = [];
      bytes = 0;
    }
    if (assignment === undefined) removed.push({ monitorId, revision });
    else changed.push(assignment);
    bytes += size;
    last = revision;
  }
  if (bytes > 0) steps.push({ changed, removed, revision: last });
  return steps;
}
