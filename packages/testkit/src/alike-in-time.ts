/** Whether two calls take the same time, as far as can be told, and what they took. */
export type TimeComparison = { readonly isAlike: boolean; readonly told: string };

const pairs = 200;
const mostTries = 5;
/** Medians of pairs may differ by 5 %, or by so many milliseconds. */
const allowed = { share: 0.05, ms: 0.2 } as const;

/**
 * Compares the times of two calls by the medians of 200 interleaved pairs. What else the machine does may spoil one comparison, but not several
 * in the same way: up to five are made, and only where the same call is slower in each of them is there something to be learnt from it.
 */
export async function compareTimes(
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<TimeComparison> {
  for (let warm = 0; warm < 10; warm += 1) {
    await one();
    await other();
  }
  const tries: string[] = [];
  let slower: number | undefined;
  for (let tried = 0; tried < mostTries; tried += 1) {
    const [a, b] = await mediansOfPairs(one, other);
    tries.push(`${a.toFixed(3)} ms and ${b.toFixed(3)} ms`);
    const told = tries.join('; ');
    const isWithin = Math.abs(a - b) <= Math.max(allowed.ms, allowed.share * Math.min(a, b));
    slower ??= Math.sign(a - b);
    if (isWithin || Math.sign(a - b) !== slower) return { isAlike: true, told };
  }
  return { isAlike: false, told: tries.join('; ') };
}

async function mediansOfPairs(
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<readonly [number, number]> {
  const times: readonly [number[], number[]] = [[], []];
  for (let pair = 0; pair < pairs; pair += 1) {
    // Whoever comes first pays for what the machine did in between.
    if (pair % 2 === 0) times[0].push(await timeOf(one));
    times[1].push(await timeOf(other));
    if (pair % 2 === 1) times[0].push(await timeOf(one));
  }
  return [median(times[0]), median(times[1])];
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await call();
  return performance.now() - beganMs;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length / 2] ?? 0;
