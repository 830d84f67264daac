import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { dueEnds, dueStarts, endOccurrence, startOccurrence } from './claims/queries.ts';
import { finishReleased, isAnyCovered, joinOccurrences, releaseSome } from './cover/queries.ts';
import { untilFirstDue } from '../../platform/database/first-due.queries.ts';
import { sql } from '../../platform/database/pools.ts';
import { repeatWhenDue } from '../../platform/repeat-when-due.ts';

/** What is due and could not be done is tried again after so long; its time is the planned one all the same. */
const againMs = 1_000;
/** Whoever joins what is covered, or leaves it, counts within this; a change of status asks at once. */
const settleEveryMs = 5_000;

/** What is asked for the time, and where it is written what it means. */
type Clock = Pick<Context, 'now'> & { readonly database: Pick<Context['database'], 'worker'> };

/** When the clock gives something to do next: a start, an end, or subjects and windows that are still to be let go. */
const firstDue = sql.fragment`
  select least(
    (select min(next_starts_at) from maintenance where status = 'scheduled' and deleted_at is null),
    (select min(ends_at) from maintenance_occurrences where ended_at is null),
    (select min(ended_at) from maintenance_occurrences where ended_at is not null and released_at is null),
    (select min(deleted_at) from maintenance where deleted_at is not null))`;

/** Starts and ends maintenance by the clock. */
export async function startMaintenanceClock(context: Context, log: Logger): Promise<RunningService> {
  const { worker, signals } = context.database;
  return repeatWhenDue({
    signals,
    tables: ['maintenance', 'maintenance_occurrences'],
    unheardMs: againMs,
    work: async (isStopped) => {
      await tick(context, () => !isStopped());
      return untilFirstDue(worker, firstDue, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'maintenance was not started or ended; tried again'),
  });
}

/** Brings whom a lasting maintenance covers to what its scope says now. */
export async function startMaintenanceScope(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: settleEveryMs,
    work: (isStopped) => settle(context, () => !isStopped()),
    onError: (error) => log.warn({ err: error }, 'whom maintenance covers was not brought up to date; tried again'),
  });
}

/**
 * Does what is due; after a standstill every occurrence that was missed, one after another. What fails is left for the next time and stops
 * nothing else.
 * @returns how many changes this worker made
 * @throws the first failure, after the rest is done
 */
export async function tick({ database: { worker }, now }: Clock, mayGoOn: () => boolean = () => true): Promise<number> {
  const failures: unknown[] = [];
  const attempt = async (change: () => Promise<boolean>): Promise<number> => {
    try {
      return (await change()) ? 1 : 0;
    } catch (error) {
      failures.push(error);
      return 0;
    }
  };
  // One instant for all, and starts before ends: of windows that touch, the later one covers before the earlier one lets go.
  const nowMs = now();
  let changes = 0;
  for (let made = 1; made > 0 && mayGoOn(); changes += made) {
    made = 0;
    for (const due of await dueStarts(worker, nowMs)) made += await attempt(() => startOccurrence(worker, due));
    if (made > 0) continue;
    for (const ending of await dueEnds(worker, nowMs)) made += await attempt(() => endOccurrence(worker, ending));
  }
  if (await isAnyCovered(worker, nowMs, 'ended'))
    await releaseAll({ database: { worker }, now: () => nowMs }, mayGoOn, 'ended');
  if (failures.length > 0) throw failures[0];
  return changes;
}

/** @returns how many subjects joined or were released */
export async function settle(context: Clock, mayGoOn: () => boolean = () => true): Promise<number> {
  if (!(await isAnyCovered(context.database.worker, context.now(), 'all'))) return 0;
  const joined = await joinOccurrences(context.database.worker, context.now());
  return joined + (await releaseAll(context, mayGoOn, 'all'));
}

async function releaseAll(
  { database: { worker }, now }: Clock,
  mayGoOn: () => boolean,
  which: 'ended' | 'all',
): Promise<number> {
  let released = 0;
  for (let some = 1; some > 0 && mayGoOn(); released += some) some = await releaseSome(worker, now(), which);
  await finishReleased(worker, now());
  return released;
}
