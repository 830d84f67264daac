import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { dueEnds, dueStarts, endOccurrence, startOccurrence } from './claims/queries.ts';
import { finishReleased, joinOccurrences, releaseSome } from './holds/queries.ts';

/** A start or an end is noticed within this; its time is the planned one all the same. */
const everyMs = 1_000;
/** Whoever joins what is covered, or leaves it, counts within this; a change of status asks at once. */
const settleEveryMs = 5_000;

/** Starts and ends maintenance by the clock. */
export async function startMaintenanceClock(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: (isStopped) => tick(context, () => !isStopped()),
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

/** Does what is due; after a standstill every occurrence that was missed, one after another. @returns how many changes this worker made */
export async function tick(
  { database: { worker }, now }: Pick<Context, 'database' | 'now'>,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  let changes = 0;
  for (let seen = 1; seen > 0 && mayGoOn(); ) {
    seen = 0;
    for (const due of await dueStarts(worker, now())) {
      seen += 1;
      if (await startOccurrence(worker, due)) changes += 1;
    }
    for (const ending of await dueEnds(worker, now())) {
      seen += 1;
      if (await endOccurrence(worker, ending)) changes += 1;
    }
  }
  await releaseAll({ database: { worker }, now }, mayGoOn, 'ended');
  return changes;
}

/** @returns how many monitors joined or were released */
export async function settle(
  context: Pick<Context, 'now'> & { readonly database: Pick<Context['database'], 'worker'> },
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  const joined = await joinOccurrences(context.database.worker, context.now());
  return joined + (await releaseAll(context, mayGoOn, 'all'));
}

async function releaseAll(
  { database: { worker }, now }: Pick<Context, 'now'> & { readonly database: Pick<Context['database'], 'worker'> },
  mayGoOn: () => boolean,
  which: 'ended' | 'all',
): Promise<number> {
  let released = 0;
  for (let some = 1; some > 0 && mayGoOn(); released += some) some = await releaseSome(worker, now(), which);
  await finishReleased(worker, now());
  return released;
}
