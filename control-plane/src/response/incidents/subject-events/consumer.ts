import type { Transaction } from '../../../platform/database/pools.ts';
import { isOtherCause } from '../changed-cause.ts';
import { windowOf } from '../folding/fold.ts';
import { begin } from '../gateway.ts';
import { appendCause, endMembers, knownOutagesOf } from '../members/queries.ts';
import type { KnownOutages, StoredCause } from '../members/queries.ts';
import { lockRows, settleIncidents } from '../state/queries.ts';
import { titleOfSubject } from './event.ts';
import type { SubjectEvent } from './event.ts';

type Failure = SubjectEvent & { readonly what: 'missed' | 'failed' };

/**
 * What heartbeats or webhook checks tell of themselves: many of different subjects of one type in a handful of statements. Their workspace is that of
 * the event: such a subject is never moved.
 * @throws when somebody else was faster
 */
export async function onSubjectEvents(
  transaction: Transaction,
  events: readonly SubjectEvent[],
  nowMs: number,
): Promise<void> {
  const known = await openOutagesOf(transaction, events);
  const open = events.map(({ subject }) => known.get(subject.id));
  // All at once, in the order in which everybody locks them.
  await lockRows(transaction, [...new Set(open.flatMap((outage) => outage?.incidentId ?? []))]);
  const failures = events.filter((event): event is Failure => event.what === 'missed' || event.what === 'failed');
  const changed = [...(await end(transaction, events)), ...(await noteCauses(transaction, failures, known))];
  await settleIncidents(transaction, changed, nowMs);
  const onsets = failures.filter(({ subject }) => !known.has(subject.id));
  await begin(transaction, onsets.map(beginningOf), nowMs);
}

type Open = NonNullable<KnownOutages['open']>;

async function openOutagesOf(
  transaction: Transaction,
  events: readonly SubjectEvent[],
): Promise<ReadonlyMap<number, Open>> {
  const [first] = events;
  if (first === undefined) return new Map();
  const ids = events.map(({ subject }) => subject.id);
  const known = await knownOutagesOf(transaction, first.subject.type, ids);
  return new Map([...known].flatMap(([id, { open }]) => (open === undefined ? [] : [[id, open] as const])));
}

/** Ends the outages of who is well again, paused or gone. @returns their incidents */
function end(transaction: Transaction, events: readonly SubjectEvent[]): Promise<readonly number[]> {
  const ends = events.flatMap(({ subject, what, atMs }) =>
    what === 'missed' || what === 'failed'
      ? []
      : { subject, resolution: what === 'recovered' ? ('auto' as const) : what, atMs },
  );
  return endMembers(transaction, ends);
}

/** Appends what lasting outages changed to, as from missed to failed. @returns their incidents */
async function noteCauses(
  transaction: Transaction,
  failures: readonly Failure[],
  known: ReadonlyMap<number, Open>,
): Promise<readonly number[]> {
  const changed: number[] = [];
  for (const failure of failures) {
    const outage = known.get(failure.subject.id);
    const cause = causeOf(failure);
    if (outage === undefined || !isOtherCause(outage.causes, cause)) continue;
    await appendCause(transaction, outage.memberId, cause);
    changed.push(outage.incidentId);
  }
  return changed;
}

/** Nothing tells what it has in common with others. A job that says that it has failed is not waited for. */
function beginningOf(failure: Failure) {
  const { subject, workspaceId, name, what, atMs } = failure;
  return {
    subject,
    workspaceId,
    name,
    title: titleOfSubject(name, what),
    startedMs: atMs,
    windowMs: windowOf(0),
    key: null,
    isUrgent: what === 'failed',
    cause: causeOf(failure),
  };
}

const causeOf = ({ what, atMs, facts }: Failure): StoredCause => ({
  at: new Date(atMs).toISOString(),
  status: what,
  evidence: facts,
});
