import type { OutboxEntry } from '../../platform/outbox/enqueue.ts';
import type { StateRow } from './row.ts';
import type { Announcement, Change } from './state.ts';

/** What a check is to others: its place and its name. */
export type Subject = Pick<StateRow, 'id' | 'workspace_id' | 'name'>;

/** Facts beside the change: which delivery said it, by which rule. */
export type Facts = Readonly<Record<string, unknown>>;

const text = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Rows of the outbox for the changes of a check. */
export function entriesOf(subject: Subject, change: Change, detectedMs: number, facts: Facts = {}): OutboxEntry[] {
  return change.announcements.map((announcement) => entryOf(subject, announcement, change, detectedMs, facts));
}

function entryOf(
  subject: Subject,
  { what, from, to, atMs }: Announcement,
  { state }: Change,
  detectedMs: number,
  facts: Facts,
): OutboxEntry {
  return {
    key: keyOf(subject.id),
    kind: `webhook_check.${what}`,
    payload: {
      webhook_check_id: subject.id,
      workspace_id: subject.workspace_id,
      name: subject.name,
      at: new Date(atMs).toISOString(),
      detected_at: new Date(detectedMs).toISOString(),
      from,
      to,
      last_received_at: text(state.lastReceivedMs),
      next_expected_at: text(state.nextExpectedMs),
      ...facts,
    },
  };
}

/** The row that tells of a deletion. */
export function deletionOf(subject: Subject, from: StateRow['status'], nowMs: number): OutboxEntry {
  return {
    key: keyOf(subject.id),
    kind: 'webhook_check.deleted',
    payload: {
      webhook_check_id: subject.id,
      workspace_id: subject.workspace_id,
      name: subject.name,
      at: new Date(nowMs).toISOString(),
      from,
    },
  };
}

const keyOf = (checkId: number): string => `webhook_check:${checkId}`;
