import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Context } from '../../../context.ts';
import { configurationSubject, outboxSubject } from '../../../platform/bus/subjects.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { isClean, isUnfit, testify } from './judge.ts';
import type { Testimony } from './judge.ts';
import {
  endServed,
  noteClean,
  openQuarantine,
  openQuarantines,
  regionsOfProbes,
  seenByProbe,
  suspects,
} from './queries.ts';

const lookMs = 3_000;
/** What looks cost stays below a twentieth of the time, whatever an outage of everything makes them read. */
const restFactor = 20;
/** Suspects that are looked at more closely in one look. */
const suspectsAtOnce = 3;
/** Probes in quarantine agree again or not for half an hour: a look every so often will do. */
const cleanEveryMs = 15_000;
const cleanMs = 30 * 60_000;

/** Puts probes that fail alone into quarantine, and lets them out (rule 13 of the consensus). Every replica looks; the database lets one write. */
export async function startQuarantines(context: Context, log: Logger): Promise<RunningService> {
  const pool = context.database.worker;
  let restUntilMs = 0;
  let cleanAtMs = 0;

  const look = async (isStopped: () => boolean): Promise<void> => {
    const beganMs = performance.now();
    if (beganMs < restUntilMs) return;
    const put = await judgeOnce(pool, context.now(), isStopped);
    const released = beganMs < cleanAtMs ? [] : await reviewOnce(pool, context.now(), isStopped);
    if (beganMs >= cleanAtMs) cleanAtMs = beganMs + cleanEveryMs;
    restUntilMs = performance.now() + restFactor * (performance.now() - beganMs);
    if (put !== undefined)
      log.warn({ probe_id: put.probeId, reason: put.reason }, 'a probe fails alone and was put into quarantine');
    for (const probeId of released) log.info({ probe_id: probeId }, 'a probe was let out of quarantine');
    if (put !== undefined || released.length > 0) announce(context);
  };
  return repeat({
    everyMs: lookMs,
    work: look,
    onError: (error) => log.warn({ err: error }, 'probes could not be judged; trying again'),
  });
}

/** Hints, after the commit: the ingest takes the votes away or counts them again, and the notice is handed out. */
export function announce({ bus, shards }: Pick<Context, 'bus' | 'shards'>): void {
  for (let shard = 0; shard < shards; shard += 1) bus.hint(configurationSubject(shard), { type: 'configuration' });
  bus.hint(outboxSubject, {});
}

/**
 * Looks for a probe to be put into quarantine, and puts in one at most: who is unfit bears no witness, so the others are judged anew without it.
 * @param nowMs the database's clock
 * @returns the probe, with the reason that was given
 */
export async function judgeOnce(
  pool: DatabasePool,
  nowMs: number,
  isStopped: () => boolean = () => false,
): Promise<{ readonly probeId: number; readonly reason: string } | undefined> {
  const suspected = await suspects(pool, nowMs, suspectsAtOnce);
  if (suspected.length === 0) return undefined;
  const regions = await regionsOfProbes(pool);
  for (const probeId of suspected) {
    if (isStopped()) return undefined;
    const testimony = testify(probeId, await seenByProbe(pool, probeId, nowMs), regions);
    const reason = reasonOf(testimony);
    if (isUnfit(testimony) && (await openQuarantine(pool, probeId, reason, nowMs))) return { probeId, reason };
  }
  return undefined;
}

/** Looks how probes in quarantine do, and lets out those that have agreed with the others for long enough. @returns whom it let out */
export async function reviewOnce(
  pool: DatabasePool,
  nowMs: number,
  isStopped: () => boolean = () => false,
): Promise<readonly number[]> {
  const open = await openQuarantines(pool);
  if (open.length === 0) return [];
  const regions = await regionsOfProbes(pool);
  for (const { id, probeId } of open) {
    if (isStopped()) return [];
    const testimony = testify(probeId, await seenByProbe(pool, probeId, nowMs), regions);
    await noteClean(pool, id, isClean(testimony), nowMs);
  }
  return endServed(pool, nowMs, cleanMs);
}

function reasonOf({ checked, alone }: Testimony): string {
  return `over two intervals it contradicted all other probes on ${alone} of the ${checked} monitors that were looked at, while those agreed`;
}
