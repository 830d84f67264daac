import { bodyOf } from './body.ts';
import type { StoredEvent } from './event.ts';
import type { Facts } from './facts.ts';
import type { InboxRow, Remembered } from './inbox.queries.ts';
import { noMemory, subjectOf, translate } from './translate.ts';

/** What becomes of a batch of state changes. */
export type Made = {
  readonly events: readonly StoredEvent[];
  readonly remembered: readonly Remembered[];
  readonly done: readonly bigint[];
  readonly failed: readonly { readonly id: bigint; readonly error: string }[];
};

/**
 * Makes the events of state changes, in their order, with the next numbers of their subjects. A state change that cannot be understood is put aside with
 * those of its key behind it; the others go on.
 * @param known what is remembered of the subjects
 * @param newId makes the id of an event
 */
export function makeEvents(
  rows: readonly InboxRow[],
  facts: Facts,
  known: readonly Remembered[],
  newId: () => string,
): Made {
  const memories = new Map(known.map((one) => [nameOf(one), one]));
  const touched = new Map<string, Remembered>();
  const events: StoredEvent[] = [];
  const done: bigint[] = [];
  const failed: { id: bigint; error: string }[] = [];
  const heldKeys = new Set<string>();
  for (const row of rows) {
    if (heldKeys.has(row.key)) continue;
    try {
      const { drafts, place } = translated(row, facts, memories);
      let { sequence, name } = place;
      let endedMs: number | null = null;
      for (const draft of drafts.drafts) {
        sequence += 1;
        name = draft.name === '' ? name : draft.name;
        endedMs = draft.isLast ? draft.knownMs : null;
        events.push({
          eventId: newId(),
          workspaceId: draft.workspaceId,
          type: draft.type,
          subjectType: draft.subjectType,
          subjectId: draft.subjectId,
          sequence,
          body: bodyOf(draft.name === '' ? named(draft, name) : draft, sequence),
          atMs: draft.knownMs,
        });
      }
      const after = { ...place, sequence, name, memory: drafts.memory, endedMs };
      if (drafts.drafts.length > 0 || drafts.memory !== place.memory) {
        memories.set(nameOf(after), after);
        touched.set(nameOf(after), after);
      }
      done.push(row.id);
    } catch (error) {
      heldKeys.add(row.key);
      failed.push({ id: row.id, error: error instanceof Error ? error.message : String(error) });
    }
  }
  return { events, remembered: [...touched.values()], done, failed };
}

function nameOf({ workspaceId, type, id }: Pick<Remembered, 'workspaceId' | 'type' | 'id'>): string {
  return `${workspaceId} ${type} ${id}`;
}

function translated(row: InboxRow, facts: Facts, memories: ReadonlyMap<string, Remembered>) {
  const subject = subjectOf(row);
  const workspaceId = subject.workspaceId ?? facts.workspaceOfProbe.get(subject.id) ?? 0;
  const place = memories.get(nameOf({ ...subject, workspaceId })) ?? {
    workspaceId,
    type: subject.type,
    id: subject.id,
    name: '',
    sequence: 0,
    memory: noMemory,
    endedMs: null,
  };
  return { drafts: translate(row, facts, place.memory), place };
}

/** The event of a subject whose row is gone, under the name that it had last. */
function named<Draft extends { readonly data: Readonly<Record<string, unknown>> }>(draft: Draft, name: string): Draft {
  const { subject } = draft.data;
  return typeof subject === 'object' ? { ...draft, data: { ...draft.data, subject: { ...subject, name } } } : draft;
}
