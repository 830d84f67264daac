import t from 'tap';
import { afterEnd, noFailures } from './back-off.ts';

t.test('short lives double the delay up to 15 s, a long one begins anew', (t) => {
  const delays: number[] = [];
  let backOff = noFailures;
  for (let round = 0; round < 9; round++) {
    backOff = afterEnd(backOff, 100);
    delays.push(backOff.delayMs);
  }
  t.same(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  t.same(afterEnd(backOff, 30_000), { failures: 1, delayMs: 250 });
  t.end();
});
