import t from 'tap';
import { stepOf } from './steps.ts';

const minuteMs = 60_000;

t.test('a step is 10 minutes up to 6 h, an hour up to a week, 6 h up to 30 days, and a day beyond', async (t) => {
  for (const [hours, minutes] of [
    [1, 10],
    [6, 10],
    [6.001, 60],
    [7, 60],
    [168, 60],
    [168.001, 360],
    [169, 360],
    [720, 360],
    [720.001, 1_440],
    [2_160, 1_440],
  ] as const)
    t.equal(stepOf(hours), minutes * minuteMs, `${hours} h`);
});
