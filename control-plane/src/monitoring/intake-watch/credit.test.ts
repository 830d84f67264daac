import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { creditOf } from './credit.ts';

void t.test('an outage is credited with its time and a minute, a busy moment is none', async (t) => {
  t.equal(creditOf(null, 1e12), null, 'before the first note nobody waited');
  t.equal(creditOf(1_000, 500), null, 'a clock that was set back is no outage');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: 0, max: 1e9 }), (beforeMs, gapMs) => {
      const credit = creditOf(beforeMs, beforeMs + gapMs);
      return gapMs <= 10_000 ? credit === null : credit === gapMs + 60_000;
    }),
  );
  t.equal(creditOf(0, 20_000.2), 80_001, 'in whole milliseconds, as deadlines are stored');
});
