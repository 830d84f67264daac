import t from 'tap';
import { RowLog } from './row-log.ts';
import { at, result } from './test-support.ts';
import type { StoredResult } from './types.ts';

const logOf = (...rows: readonly StoredResult[]): RowLog => {
  const log = new RowLog(1);
  for (const row of rows) log.insert(row);
  return log;
};
const secondsOf = (log: RowLog): number[] => [...log].map(({ eUs }) => (eUs - at(0)) / 1_000_000);
const outcomes = ['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error'] as const;

t.test('a row is read as it was put in, scheduled and received at its own time', async (t) => {
  outcomes.forEach((outcome, index) => {
    const row = result(1, index, outcome, { error: 7, freshS: 9, probeRevision: 11, kind: 'recheck' });
    t.same([...logOf(row)], [{ ...row, kind: 'scheduled', receivedUs: row.eUs }]);
  });
  const log = new RowLog(5);
  log.push(result(5, 1, 'ok', { error: 3 }));
  t.match(log.at(0), { voter: 5, error: 3, eUs: at(1) });
});

t.test('rows are in order however they come, also beyond the room for the first ones', async (t) => {
  for (const count of [0, 1, 7, 8, 9, 15, 16, 17, 40]) {
    const seconds = Array.from({ length: count }, (_, index) => index);
    t.same(secondsOf(logOf(...seconds.map((s) => result(1, s, 'ok')))), seconds);
    t.same(secondsOf(logOf(...seconds.toReversed().map((s) => result(1, s, 'ok')))), seconds);
    const mixed = seconds.toSorted((a, b) => ((a * 7) % 11) - ((b * 7) % 11) || a - b);
    t.same(secondsOf(logOf(...mixed.map((s) => result(1, s, 'ok')))), seconds);
    const pushed = new RowLog(1);
    for (const s of seconds) pushed.push(result(1, s, 'ok', { error: s }));
    t.same(
      [...pushed].map(({ error }) => error),
      seconds,
    );
    t.equal(pushed.length, count);
  }
});

t.test('of two rows of one instant the one that counts stays, whichever came first', async (t) => {
  const rising: readonly Partial<StoredResult>[][] = [
    [{ probeRevision: 1, outcome: 'timeout', freshS: 9, error: 9 }, { probeRevision: 2 }],
    outcomes.map((outcome, index) => ({ outcome, freshS: 90 - index, error: 90 - index })),
    [{ freshS: 1, error: 9 }, { freshS: 2 }],
    [{ error: 1 }, { error: 2 }],
  ];
  for (const list of rising) {
    const rows = list.map((changes) => result(1, 5, 'ok', { freshS: 0, error: 0, ...changes }));
    for (const [index, lesser] of rows.entries())
      for (const greater of rows.slice(index + 1)) {
        const up = new RowLog(1);
        t.same([up.insert(lesser), up.insert(greater), up.length], [true, true, 1]);
        const down = new RowLog(1);
        t.same([down.insert(greater), down.insert(lesser), down.length], [true, false, 1]);
        const wanted = { ...greater, kind: 'scheduled', receivedUs: greater.eUs };
        t.same([up.at(0), down.at(0)], [wanted, wanted]);
      }
  }
  const log = logOf(result(1, 5, 'ok'));
  t.equal(log.insert(result(1, 5, 'ok')), false, 'the same again');
  t.equal(log.insert(result(1, 4, 'ok')), true);
  t.equal(log.insert(result(1, 4, 'fail')), true);
  t.same(secondsOf(log), [4, 5]);
  t.equal(log.at(1).outcome, 'ok', 'its neighbour is as it was');
});

t.test('where there is no row there is no time', async (t) => {
  const log = logOf(result(1, 5, 'ok'), result(1, 6, 'ok'));
  t.same(
    [-1, 0, 1, 2].map((index) => log.eAt(index)),
    [Number.NEGATIVE_INFINITY, at(5), at(6), Number.NEGATIVE_INFINITY],
  );
  t.equal(log.lastUs, at(6));
  t.equal(new RowLog(1).lastUs, Number.NEGATIVE_INFINITY);
});

t.test('rows are let go up to a time, and others put in after it', async (t) => {
  const kept = (untilS: number): number[] => {
    const log = logOf(...[1, 2, 3, 4].map((s) => result(1, s, 'ok')));
    log.dropUntil(at(untilS));
    log.insert(result(1, 2.5, 'ok'));
    log.push(result(1, 9, 'ok'));
    return secondsOf(log);
  };
  t.same(kept(0.999999), [1, 2, 2.5, 3, 4, 9]);
  t.same(kept(1), [2, 2.5, 3, 4, 9]);
  t.same(kept(3), [2.5, 4, 9]);
  t.same(kept(100), [2.5, 9]);
});
