import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { changeMs, freshMs, retryMs, servingOf, staleMs } from './freshness.ts';

const instants = fc.integer({ min: 0, max: 200_000 });
const ages = fc.record({ readMs: instants, changedMs: fc.option(instants), failedMs: fc.option(instants) });
const now = fc.integer({ min: 200_000, max: 280_000 });

t.test('nobody waits while a page cannot be read anew, and the database is left alone between attempts', async () => {
  fc.assert(
    fc.property(ages, now, (age, nowMs) => {
      const failedMs = age.failedMs ?? 1;
      return servingOf({ ...age, failedMs }, nowMs) === (nowMs - failedMs < retryMs ? 'serve' : 'refresh');
    }),
  );
});

t.test('what has changed is not shown after two seconds, and what is old is not shown at all', async (t) => {
  t.ok(changeMs < 2_000);
  fc.assert(
    fc.property(ages, now, ({ readMs, changedMs }, nowMs) => {
      const serving = servingOf({ readMs, changedMs, failedMs: null }, nowMs);
      const ageMs = nowMs - readMs;
      const isChanged = changedMs !== null && nowMs - changedMs > changeMs;
      if (serving === 'serve') return ageMs < freshMs && changedMs === null;
      return (serving === 'wait') === (isChanged || ageMs >= staleMs);
    }),
  );
});
