import t from 'tap';
import { liveDay } from './days/day.ts';

/* Days of one monitor with three probes, one of which lies: no outage is announced that was none, and each is announced in time. */

const days = Number(process.env['PARALLAX_MONITOR_DAYS'] ?? 30);

t.test(
  `${days} days with blips, a liar and wrong clocks: no false outage, and every outage soon`,
  { timeout: 600_000 },
  async (t) => {
    const told = Array.from({ length: days }, (_, index) => liveDay(index + 1));
    t.equal(
      told.reduce((sum, day) => sum + day.falseDowns, 0),
      0,
    );
    const beyondMs = told
      .flatMap(({ detectedMs, intervalS }) => detectedMs.map((ms) => ms - (2 * intervalS + 15) * 1_000))
      .sort((a, b) => a - b);
    t.ok(beyondMs.length > days / 2, `${beyondMs.length} outages`);
    const p99Ms = beyondMs[Math.floor(beyondMs.length * 0.99)] ?? 0;
    t.ok(p99Ms <= 0, `p99 of detection is ${p99Ms / 1_000} s beyond twice the interval and 15 s`);
  },
);

t.test(
  'blips that are not over before the second look are what a liar can turn: then the figure is not zero',
  async (t) => {
    const told = Array.from({ length: 30 }, (_, index) => liveDay(index + 1, true));
    t.ok(told.some(({ falseDowns }) => falseDowns > 0));
  },
);
