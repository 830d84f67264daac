import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { eventReading } from '@parallax/api-contract';
import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { eventInboxSubject, eventsSubject, webhooksSubject } from '../../platform/bus/subjects.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import type { EventTaker } from './event.ts';
import {
  claimInbox,
  forgetEvents,
  remember,
  remembered,
  settleInbox,
  somethingWaits,
  storeEvents,
  subjectFacts,
  workspacesOfProbes,
  writtenWith,
} from './inbox.queries.ts';
import type { InboxRow, Wanted } from './inbox.queries.ts';
import { makeEvents } from './make-events.ts';
import { subjectOf } from './translate.ts';
import type { Subject } from './translate.ts';

/** A hint wakes it; this catches what a hint missed. */
const everyMs = 10_000;
const forgetEveryMs = 600_000;
const atOnce = 500;
/** A hint comes before the commit of what it tells, so it is looked again and again, less often each time. */
const looksAfterMs = [20, 100, 400, 1_500, 4_000] as const;

/**
 * Makes events of the state changes that wait, and lets others act on them, in one transaction.
 * @returns how many state changes were seen to
 */
export async function makeEventsOnce(
  context: Pick<Context, 'database' | 'publicUrl'>,
  takers: readonly EventTaker[],
  log: Logger,
): Promise<number> {
  const { worker } = context.database;
  if (!(await worker.exists(somethingWaits))) return 0;
  return worker.transaction(async (transaction) => {
    const rows = await claimInbox(transaction, atOnce);
    if (rows === undefined || rows.length === 0) return 0;
    const subjects = rows.flatMap((row) => subjectIfAny(row) ?? []);
    const facts = await factsFor(transaction, context.publicUrl, rows, subjects);
    const places = subjects.map(({ workspaceId, type, id }) => ({
      workspaceId: workspaceId ?? facts.workspaceOfProbe.get(id) ?? 0,
      type,
      id,
    }));
    const made = makeEvents(rows, facts, await remembered(transaction, distinct(places)), newEventId);
    for (const { id, error } of made.failed)
      log.warn({ row: String(id), error }, 'no event could be made of a state change');
    await remember(transaction, made.remembered);
    const stored = await storeEvents(transaction, made.events);
    if (stored.length > 0) for (const take of takers) await take(transaction, stored);
    await settleInbox(transaction, made.done, made.failed);
    return made.done.length + made.failed.length;
  });
}

function newEventId(): string {
  return `evt_${randomBytes(16).toString('hex')}`;
}

/** What cannot be understood is found again, and put aside, when its event is made. */
function subjectIfAny(row: InboxRow): Subject | undefined {
  try {
    return subjectOf(row);
  } catch {
    return undefined;
  }
}

function distinct<Place extends { readonly workspaceId: number; readonly type: string; readonly id: number }>(
  places: readonly Place[],
): readonly Place[] {
  return [...new Map(places.map((place) => [`${place.workspaceId} ${place.type} ${place.id}`, place])).values()];
}

const messagePayload = z.looseObject({
  incident_id: z.number(),
  seq: z.number(),
  members: z.array(z.looseObject({ type: z.string(), id: z.number() })).catch([]),
});

async function factsFor(
  transaction: Transaction,
  publicUrl: string,
  rows: readonly InboxRow[],
  subjects: readonly Subject[],
) {
  const messages = rows.flatMap(({ kind, payload }) => {
    const read = kind.startsWith('incident.') ? messagePayload.safeParse(payload) : undefined;
    return read?.success === true ? [read.data] : [];
  });
  const wanted: Wanted[] = [...subjects, ...messages.flatMap(({ members }) => members)].map(({ type, id }) => ({
    type,
    id,
  }));
  const unique = [...new Map(wanted.map((one) => [`${one.type} ${one.id}`, one])).values()];
  return {
    subjects: await subjectFacts(transaction, unique),
    workspaceOfProbe: await workspacesOfProbes(
      transaction,
      subjects.flatMap(({ type, id }) => (type === 'probe' ? [id] : [])),
    ),
    written: await writtenWith(
      transaction,
      messages.map(({ incident_id: incidentId, seq }) => ({ incidentId, seq })),
    ),
    publicUrl,
  };
}

/** Makes events until it is stopped. Any number of processes may: one at a time does. */
export async function startEvents(
  context: Context,
  log: Logger,
  takers: readonly EventTaker[],
): Promise<RunningService> {
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;
  const making = repeat({
    everyMs,
    work: async (isStopped) => {
      let seen = 0;
      for (let some = 1; some > 0 && !isStopped(); seen += some) some = await makeEventsOnce(context, takers, log);
      if (seen === 0) return;
      looks = 0;
      context.bus.hint(eventsSubject, {});
      context.bus.hint(webhooksSubject, {});
    },
    onError: (error) => log.warn({ err: error }, 'events cannot be made; tried again'),
  });
  // Bound to the start: a hint may come from within a transaction, whose connection slonik would hold whatever follows to.
  const lookAgain = AsyncResource.bind((): void => {
    const afterMs = looksAfterMs[looks];
    if (afterMs === undefined || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      looks += 1;
      void making.soon().then(lookAgain);
    }, afterMs);
  });
  const hints = context.bus.listen(eventInboxSubject, () => {
    // A look that is far off is of an earlier hint; the first one is near, and many hints must not put it off.
    if (looks > 0) {
      clearTimeout(timer);
      timer = undefined;
    }
    looks = 0;
    lookAgain();
  });
  const forgetting = repeat({
    everyMs: forgetEveryMs,
    work: async (isStopped) => {
      const beforeMs = context.now() - eventReading.keptDays * 86_400_000 - forgetEveryMs;
      const forget = () => context.database.worker.transaction((transaction) => forgetEvents(transaction, beforeMs));
      while (!isStopped() && (await forget()) > 0);
    },
    onError: (error) => log.warn({ err: error }, 'old events cannot be removed; tried again'),
  });
  return {
    stop: async () => {
      hints.stop();
      looks = looksAfterMs.length;
      clearTimeout(timer);
      await Promise.all([making.stop(), forgetting.stop()]);
    },
  };
}
