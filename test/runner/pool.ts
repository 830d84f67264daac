import type { Run } from './order.ts';

/**
 * Does runs side by side, the first of the list first, as long as the parts of cores that they use fit into what there is. What has to be
 * alone comes at the end. Resolves when all have ended; after an abort nothing more is begun.
 * @param cores how many there are to fill
 */
export async function runPool(
  runs: readonly Run[],
  { cores, signal, begin }: { cores: number; signal: AbortSignal; begin: (run: Run) => Promise<void> },
): Promise<void> {
  const waiting = runs.filter(({ stage }) => stage.isAlone !== true);
  const running = new Set<Promise<void>>();
  let used = 0;
  while (waiting.length > 0 && !signal.aborted) {
    const index = waiting.findIndex(({ stage }) => running.size === 0 || used + stage.cores <= cores);
    const next = index === -1 ? undefined : waiting.splice(index, 1)[0];
    if (next === undefined) {
      await Promise.race(running);
      continue;
    }
    used += next.stage.cores;
    const one: Promise<void> = begin(next).finally(() => {
      used -= next.stage.cores;
      running.delete(one);
    });
    running.add(one);
  }
  await Promise.all(running);
  for (const alone of runs.filter(({ stage }) => stage.isAlone === true)) {
    if (!signal.aborted) await begin(alone);
  }
}
