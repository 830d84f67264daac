import t from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeatWhenDue } from './repeat-when-due.ts';

/** Signals that a test gives itself. */
function handSignals(isHeard = true) {
  const wakes = new Set<() => void>();
  return {
    ring: () => wakes.forEach((wake) => wake()),
    count: () => wakes.size,
    on: (_tables: readonly string[], wake: () => void) => {
      wakes.add(wake);
      setImmediate(wake);
      return { stop: () => void wakes.delete(wake) };
    },
    isHeard: () => isHeard,
  };
}

/** Resolves when it holds. @throws after three seconds */
async function until(holds: () => boolean): Promise<void> {
  for (const endMs = performance.now() + 3_000; !holds(); await sleep(2))
    if (performance.now() > endMs) throw new Error('it did not come');
}

const onError = (error: unknown): never => {
  throw error;
};

void t.test('it runs when signals are heard, then after each, and not otherwise', async (t) => {
  const signals = handSignals();
  let runs = 0;
  const work = async () => {
    runs += 1;
    return undefined;
  };
  const repeated = repeatWhenDue({ signals, tables: ['a'], everyMs: 60_000, leastMs: 0, work, onError });
  await until(() => runs === 1);
  await sleep(60);
  t.equal(runs, 1, 'nothing is due, nothing was signalled');
  signals.ring();
  await until(() => runs === 2);
  await repeated.stop();
  signals.ring();
  await sleep(20);
  t.equal(runs, 2, 'nothing after the stop');
  t.equal(signals.count(), 0, 'and nobody listens');
});

void t.test('a signal during a run is followed by another run, many by one', async (t) => {
  const signals = handSignals();
  const begun: number[] = [];
  let release: () => void = () => undefined;
  const work = async () => {
    begun.push(performance.now());
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return undefined;
  };
  const repeated = repeatWhenDue({ signals, tables: ['a'], leastMs: 50, work, onError });
  await until(() => begun.length === 1);
  for (let count = 0; count < 5; count += 1) signals.ring();
  release();
  await until(() => begun.length === 2);
  t.ok((begun[1] ?? 0) - (begun[0] ?? 0) >= 49, 'no sooner than the shortest time between two');
  release();
  await sleep(80);
  t.equal(begun.length, 2);
  await repeated.stop();
});

void t.test('what is due is done when it is due', async (t) => {
  const signals = handSignals();
  const begun: number[] = [];
  const work = async () => {
    begun.push(performance.now());
    return begun.length === 1 ? 120 : undefined;
  };
  const repeated = repeatWhenDue({ signals, tables: ['a'], leastMs: 0, work, onError });
  await until(() => begun.length === 2);
  const afterMs = (begun[1] ?? 0) - (begun[0] ?? 0);
  t.ok(afterMs >= 118, `after ${afterMs} ms`);
  await repeated.stop();
});

void t.test('where changes are not signalled, or a run failed, it looks again soon', async () => {
  const errors: unknown[] = [];
  let runs = 0;
  const options = { tables: ['a'], everyMs: 60_000, unheardMs: 30, leastMs: 0 };
  const unheard = repeatWhenDue({
    ...options,
    signals: handSignals(false),
    work: async () => {
      runs += 1;
      return undefined;
    },
    onError,
  });
  await until(() => runs >= 3);
  await unheard.stop();
  const failing = repeatWhenDue({
    ...options,
    signals: handSignals(),
    work: () => Promise.reject(new Error('away')),
    onError: (error) => errors.push(error),
  });
  await until(() => errors.length >= 3);
  await failing.stop();
});

void t.test('who asks gets a run that began after the asking', async (t) => {
  const signals = handSignals();
  let value = 1;
  const seen: number[] = [];
  const work = async () => {
    const read = value;
    await sleep(20);
    seen.push(read);
    return undefined;
  };
  const repeated = repeatWhenDue({ signals, tables: ['a'], leastMs: 0, work, onError });
  await sleep(10);
  value = 2;
  await Promise.all([repeated.soon(), repeated.soon()]);
  t.equal(seen.at(-1), 2);
  t.ok(seen.length <= 3, 'two who ask share a run');
  await repeated.stop();
  await repeated.soon();
});
