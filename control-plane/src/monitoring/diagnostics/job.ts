import { readDiagnosis } from '@parallax/checks';
import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Context } from '../../context.ts';
import { untilFirstDue } from '../../platform/database/first-due.queries.ts';
import { repeatWhenDue } from '../../platform/repeat-when-due.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { askDiagnosis } from '../probes/index.ts';
import type { DiagnosisAnswer } from '../probes/index.ts';
import { conclude, isAnyGiven } from './conclusion.ts';
import type { Testimony } from './conclusion.ts';
import { chooseSides } from './pair.ts';
import type { Witness } from './pair.ts';
import { claimDue, firstDue, forget, giveBack, keep, witnessesOf } from './queries.ts';
import type { Claimed } from './queries.ts';

/** Asks one probe; replaced in tests. */
export type Ask = (probeId: number, monitorId: number) => Promise<DiagnosisAnswer>;

const againMs = 1_000;
/** Diagnoses under way at the same time in one process. */
const mostAtOnce = 4;
/** What a probe may take. */
const deadlineMs = 15_000;
const mostAttempts = 3;
const againAfterSeconds = 10;

/** Looks for disagreements that were noted, and has one failing and one passing probe look at the target. */
export async function startDiagnostics(
  context: Pick<Context, 'database' | 'bus'>,
  log: Logger,
  ask: Ask = (probeId, monitorId) => askDiagnosis(context.bus, probeId, { monitorId, deadlineMs }),
): Promise<RunningService & { readonly soon: () => Promise<void> }> {
  const { worker: pool, signals } = context.database;
  const underWay = new Map<Claimed, Promise<void>>();
  let isStopping = false;
  const look = repeatWhenDue({
    signals,
    tables: ['diagnoses'],
    unheardMs: againMs,
    work: async () => {
      const room = mostAtOnce - underWay.size;
      if (room <= 0) return againMs;
      for (const claimed of await claimDue(pool, room)) {
        const running = examine(pool, claimed, ask)
          .catch((error: unknown) => {
            if (!isStopping)
              log.warn({ err: error, monitor_id: claimed.monitorId }, 'a diagnosis failed; it is tried again');
          })
          .finally(() => underWay.delete(claimed));
        underWay.set(claimed, running);
      }
      return untilFirstDue(pool, firstDue, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'diagnoses that are due were not read; tried again'),
  });
  return {
    soon: async () => {
      await look.soon();
      await Promise.all(underWay.values());
    },
    stop: async () => {
      isStopping = true;
      await look.stop();
      // Nobody waits for probes at a stop: another process takes what was under way, or this one after its start.
      await Promise.all([...underWay.keys()].map((claimed) => giveBack(pool, claimed, 0).catch(() => undefined)));
    },
  };
}

async function examine(pool: DatabasePool, claimed: Claimed, ask: Ask): Promise<void> {
  const sides = claimed.isPartial ? chooseSides(await witnessesOf(pool, claimed.monitorId)) : undefined;
  if (sides === undefined) return forget(pool, claimed);
  // At the same time: what they see may change.
  const [failing, passing] = await Promise.all([
    firstGiven(sides.failing, claimed.monitorId, ask),
    firstGiven(sides.passing, claimed.monitorId, ask),
  ]);
  if (failing === undefined || passing === undefined) return forget(pool, claimed);
  const isGiven = isAnyGiven(failing, passing);
  if (!isGiven && claimed.attempts < mostAttempts) return giveBack(pool, claimed, againAfterSeconds);
  return keep(pool, claimed, isGiven ? 'made' : 'failed', conclude(failing, passing));
}

/** The first diagnosis that somebody of one side gives, else what the last one said. */
async function firstGiven(witnesses: readonly Witness[], monitorId: number, ask: Ask): Promise<Testimony | undefined> {
  let last: Testimony | undefined;
  for (const witness of witnesses) {
    const answer = await ask(witness.probeId, monitorId);
    const diagnosis = 'diagnosis' in answer ? readDiagnosis(answer.diagnosis) : undefined;
    if (diagnosis !== undefined) return { witness, diagnosis };
    last = { witness, refused: 'refused' in answer ? answer.refused : 'its diagnosis cannot be read' };
  }
  return last;
}
