import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { timeTicks, valueAxis } from './axis.ts';

t.test('an axis reaches the highest value with a few round numbers', async () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), fc.integer({ min: 2, max: 10 }), (highest, count) => {
      const { max, ticks } = valueAxis(highest, count);
      const step = ticks[1]!;
      const leading = Number(step.toExponential(6).slice(0, 8));
      return (
        max >= highest * (1 - 1e-9) &&
        ticks[0] === 0 &&
        ticks.at(-1) === max &&
        ticks.length <= count + 1 &&
        max - step < highest &&
        [1, 2, 5].includes(Math.round(leading * 1e6) / 1e6)
      );
    }),
  );
});

t.test('an axis of nothing has a length', async (t) => {
  t.ok(valueAxis(0, 4).max > 0);
});

t.test('the ends of an axis', async (t) => {
  t.same(valueAxis(95, 4), { max: 100, ticks: [0, 50, 100] });
  t.same(valueAxis(100, 4), { max: 100, ticks: [0, 50, 100] });
  t.same(valueAxis(380, 4), { max: 400, ticks: [0, 100, 200, 300, 400] });
});

t.test('times lie in the window, at whole steps, and are few', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2e12 }),
      fc.integer({ min: 3_600_000, max: 366 * 86_400_000 }),
      (fromMs, length) => {
        const { stepMs, atMs } = timeTicks(fromMs, fromMs + length, 8);
        return (
          atMs.length <= 8 &&
          atMs.length > 0 &&
          atMs.every((at) => at >= fromMs && at <= fromMs + length && at % stepMs === 0)
        );
      },
    ),
  );
});

t.test('a day has hours and a month has days', async (t) => {
  const day = 86_400_000;
  t.equal(timeTicks(0, day, 8).stepMs, 3 * 3_600_000);
  t.equal(timeTicks(0, 30 * day, 8).stepMs, 5 * day);
});
