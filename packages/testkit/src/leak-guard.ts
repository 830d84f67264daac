import { setTimeout as sleep } from 'node:timers/promises';
import type { TestContext } from './test-context.ts';

type FailingTestContext = TestContext & { fail(message: string): unknown };

const graceMs = 500;

/**
 * Fails the test (or the test file, when given its root) if anything that keeps the process alive is open at its end and was not at
 * this call: servers, sockets, child processes, timers, workers. Call it first, so that it looks after all other teardowns.
 */
export function leakGuard(t: FailingTestContext): void {
  const before = openResources();
  t.teardown(async () => {
    let leaked = newSince(before, openResources());
    for (const startedMs = performance.now(); leaked.length > 0 && performance.now() - startedMs < graceMs; ) {
      await sleep(20);
      leaked = newSince(before, openResources());
    }
    if (leaked.length > 0) t.fail(`left open: ${leaked.join(', ')}`);
  });
}

/** What keeps the event loop alive, by kind. Work that ends by itself within a turn is left out. */
export function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (passing.has(kind)) continue;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

const passing = new Set([
  'Immediate',
  'TickObject',
  'FSReqCallback',
  'FSReqPromise',
  'CloseReq',
  'PROMISE',
  'TTYWrap',
  'WriteWrap',
  'ShutdownWrap',
]);

function newSince(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): string[] {
  const leaked: string[] = [];
  for (const [kind, count] of now) {
    const more = count - (before.get(kind) ?? 0);
    if (more > 0) leaked.push(more === 1 ? kind : `${more} × ${kind}`);
  }
  return leaked;
}
