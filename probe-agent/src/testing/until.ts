import { sleep } from '../ports.ts';

/** Resolves when the condition holds; rejects with its name when it does not in time. */
export async function until(
  name: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`did not come true within ${withinMs} ms: ${name}`);
    await sleep(5);
  }
}
