import type { Planned } from './stages.ts';

/** A run of a file that waits for its turn; `seconds` is what it is expected to take. */
export type Waiting = Planned & { readonly seconds: number };

/**
 * Runs files side by side, the first of the list first, as long as the parts of cores that they use fit into what there is. What has to
 * be alone comes at the end. Resolves when all have ended; after an abort nothing more is begun.
 * @param cores how many there are to fill
 */
export async function runPool(
  waiting: readonly Waiting[],
  { cores, signal, run }: { cores: number; signal: AbortSignal; run: (planned: Planned) => Promise<void> },
): Promise<void> {
  const together = waiting.filter(({ stage }) => stage.isAlone !== true);
  const running = new Set<Promise<void>>();
  let used = 0;
  while (together.length > 0 && !signal.aborted) {
    const index = together.findIndex(({ stage }) => running.size === 0 || used + stage.cores <= cores);
    const next = index === -1 ? undefined : together.splice(index, 1)[0];
    if (next === undefined) {
      await Promise.race(running);
      continue;
    }
    used += next.stage.cores;
    const one: Promise<void> = run(next).finally(() => {
      used -= next.stage.cores;
      running.delete(one);
    });
    running.add(one);
  }
  await Promise.all(running);
  for (const alone of waiting.filter(({ stage }) => stage.isAlone === true)) {
    if (!signal.aborted) await run(alone);
  }
}
