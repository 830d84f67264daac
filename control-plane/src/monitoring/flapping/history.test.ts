import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { calm, calmAt, change, elapse, isFlapping, percentOf, stateOf } from './history.ts';
import type { History, State } from './history.ts';

const minute = 60_000;
const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500);
const states = (text: string): History => ({ states: text, atMs: 0 });
/** 'u' for 21 states, with these positions (0 the oldest) turned around from there on. */
const changesAt = (...positions: number[]): History => {
  let state: State = 'u';
  return states(
    Array.from({ length: 21 }, (_, index) => {
      if (positions.includes(index)) state = state === 'u' ? 'd' : 'u';
      return state;
    }).join(''),
  );
};
const near = (value: number): number => Math.round(value * 1_000) / 1_000;

void t.test('the percentage is that of Nagios, computed by hand', async (t) => {
  t.equal(percentOf(calm('u', 0)), 0);
  t.equal(percentOf(states('ud'.repeat(11).slice(0, 21))), 100, 'twenty changes of the mean weight 1');
  // 0.75 / 20: the oldest change that is remembered.
  t.equal(near(percentOf(changesAt(1))), 3.75);
  // 1.25 / 20: the newest.
  t.equal(near(percentOf(changesAt(20))), 6.25);
  // The tenth and the eleventh change weigh 0.75 + 9 × 0.5 / 19 = 0.9868 and 0.75 + 10 × 0.5 / 19 = 1.0132.
  t.equal(near(percentOf(changesAt(10))), 4.934);
  t.equal(near(percentOf(changesAt(11))), 5.066);
  // Changes 3, 4, 5, 9, 12, 16 and 19 weigh 0.8026 + 0.8289 + 0.8553 + 0.9605 + 1.0395 + 1.1447 + 1.2237 = 6.8553.
  t.equal(near(percentOf(changesAt(3, 4, 5, 9, 12, 16, 19))), 34.276);
});

void t.test('it starts at 20 percent and stops below 5', async (t) => {
  // 1.1711 + 1.1974 + 1.2237 = 3.5921: 17.96 %; with 1.25 it is 4.8421: 24.21 %.
  t.notOk(isFlapping(changesAt(17, 18, 19), false));
  t.ok(isFlapping(changesAt(17, 18, 19, 20), false));
  t.ok(isFlapping(changesAt(17, 18, 19), true), 'it goes on below 20');
  t.ok(isFlapping(changesAt(11), true), '5.07 %');
  t.notOk(isFlapping(changesAt(10), true), '4.93 %');
});

void t.test('an interval without a change is one state more, and so is each change', async (t) => {
  const once = change(calm('u', 0), 'd', 30_000, minute);
  t.same(once, { states: `${'u'.repeat(20)}d`, atMs: 30_000 });
  t.same(elapse(once, 30_000 + minute - 1, minute), once);
  t.same(elapse(once, 30_000 + minute, minute), { states: `${'u'.repeat(19)}dd`, atMs: 30_000 + minute });
  t.equal(elapse(once, 100 * minute, minute).states, 'd'.repeat(21));
  t.same(change(once, 'd', 40_000, minute), once, 'no change');
  t.same(
    change(once, 'u', 10_000, minute),
    { states: `${'u'.repeat(19)}du`, atMs: 30_000 },
    'told late: not before the last',
  );
  t.equal(elapse(once, 30_000 + 30_000, 1_000).states, once.states, 'a minute at least between two');
  t.equal(elapse(once, 30_000 + 10 * minute, 5 * minute).states, `${'u'.repeat(18)}ddd`);
});

void t.test(
  'two outages within twenty minutes make a monitor of one minute flap, and some fifteen quiet minutes end it',
  async (t) => {
    let history = calm('u', 0);
    for (const [atS, state] of [
      [0, 'd'],
      [60, 'u'],
      [300, 'd'],
    ] as const)
      history = change(history, state, atS * 1_000, minute);
    t.notOk(isFlapping(history, false));
    history = change(history, 'u', 360_000, minute);
    t.ok(isFlapping(history, false));
    const until = calmAt(history, true, minute);
    t.ok(isFlapping(elapse(history, until - 1, minute), true));
    t.notOk(isFlapping(elapse(history, until, minute), true));
    t.ok(until > 15 * minute && until < 25 * minute, `${until / minute} min`);
  },
);

void t.test('PARTIAL and UNKNOWN confirm nothing', async (t) => {
  t.same(['UP', 'WARNING', 'DEGRADED', 'DOWN', 'TIMEOUT', 'PARTIAL', 'UNKNOWN'].map(stateOf), [
    'u',
    'u',
    'u',
    'd',
    'd',
    undefined,
    undefined,
  ]);
});

void t.test('whatever happens there are 21 states between 0 and 100 percent, and calm comes when it is told', (t) => {
  const steps = fc.array(
    fc.record({
      state: fc.constantFrom('u' as const, 'd' as const),
      afterMs: fc.integer({ min: -minute, max: 20 * minute }),
    }),
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 600 }), (list, intervalS) => {
      const intervalMs = intervalS * 1_000;
      let history = calm('u', 0);
      let flaps = false;
      for (const { state, afterMs } of list) {
        const before = history;
        history = change(history, state, history.atMs + afterMs, intervalMs);
        flaps = isFlapping(history, flaps);
        const percent = percentOf(history);
        if (history.states.length !== 21 || percent < 0 || percent > 100 || history.atMs < before.atMs) return false;
        if (history.states.at(-1) !== state || (percent >= 20 && !flaps)) return false;
      }
      const until = calmAt(history, flaps, intervalMs);
      const then = elapse(history, until, intervalMs);
      const justBefore = elapse(history, until - 1, intervalMs);
      if (until === history.atMs) return !flaps && percentOf(history) === 0;
      return flaps
        ? !isFlapping(then, true) && isFlapping(justBefore, true)
        : percentOf(then) === 0 && percentOf(justBefore) > 0;
    }),
    { numRuns },
  );
  t.end();
});
