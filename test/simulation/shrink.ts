import { run } from './run.ts';
import type { RunResult } from './run.ts';

type Broken = Extract<RunResult, { isKept: false }>;

/** Worlds that are tried for a smaller one that breaks the same promise. */
const mostTries = 80;

/**
 * Leaves out one event after another as long as the same promise is broken.
 * @returns the places of the events that are not needed, and what the smallest world was like
 */
export async function shrink(
  broken: Broken,
): Promise<{ readonly without: readonly number[]; readonly result: Broken }> {
  const { seed } = broken.plan;
  let without: number[] = [...broken.without];
  let result = broken;
  let tries = 0;
  for (const index of broken.plan.events.keys()) {
    if (without.includes(index) || tries >= mostTries) continue;
    tries += 1;
    const smaller = await run({ seed, without: [...without, index] });
    if (smaller.isKept || smaller.rule !== broken.rule) continue;
    without = [...without, index];
    result = smaller;
  }
  return { without, result };
}
