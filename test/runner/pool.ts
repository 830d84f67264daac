import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from './order.ts';

export type Pool = {
  /** How many there are to fill. */
  readonly cores: number;
  readonly signal: AbortSignal;
  readonly begin: (run: Run) => Promise<void>;
  /** How many cores of the machine were idle since it was asked last; absent: only the parts that stages name count. */
  readonly idleCores?: () => number;
  /** So long the machine is watched before one more is begun; for tests of the pool. */
  readonly lookMs?: number;
};

/** So much of a core must have been idle for one more to begin. */
const worthwhileIdle = 0.4;
/** So many at most for each core: each may hold a PostgreSQL and several programs in memory. */
const mostForEachCore = 5;

/**
 * Does runs side by side, the first of the list first, as long as the parts of cores that they use fit into what there is, and more while the
 * machine idles all the same: what waits for deadlines uses far less than its stage says. What has to be alone comes at the end. Resolves when all
 * have ended; after an abort nothing more is begun.
 */
export async function runPool(runs: readonly Run[], pool: Pool): Promise<void> {
  const { cores, signal, begin, idleCores, lookMs = 1_000 } = pool;
  const waiting = runs.filter(({ stage }) => stage.isAlone !== true);
  const running = new Set<Promise<void>>();
  let used = 0;
  const beginNext = (index: number): void => {
    const [next] = waiting.splice(index, 1);
    if (next === undefined) return;
    used += next.stage.cores;
    const one: Promise<void> = begin(next).finally(() => {
      used -= next.stage.cores;
      running.delete(one);
    });
    running.add(one);
    idleCores?.();
  };
  while (waiting.length > 0 && !signal.aborted) {
    const fitting = waiting.findIndex(({ stage }) => running.size === 0 || used + stage.cores <= cores);
    if (fitting !== -1) beginNext(fitting);
    else if (idleCores === undefined || running.size >= cores * mostForEachCore) await Promise.race(running);
    else {
      const look = new AbortController();
      const looked = sleep(lookMs, true, { signal: look.signal }).catch(() => false);
      const isTime = await Promise.race([looked, ...[...running].map((one) => one.then(() => false))]).finally(() =>
        look.abort(),
      );
      if (isTime && idleCores() >= worthwhileIdle) beginNext(0);
    }
  }
  await Promise.all(running);
  for (const alone of runs.filter(({ stage }) => stage.isAlone === true)) {
    if (!signal.aborted) await begin(alone);
  }
}
