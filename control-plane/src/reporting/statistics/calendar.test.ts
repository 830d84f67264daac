import { usualPoints } from '@parallax/api-contract';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { bucketEdges, bucketLength } from './buckets.ts';
import { periodAt } from './calendar.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const iso = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
  [fromMs, toMs].map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z'));
const berlin = { timezone: 'Europe/Berlin', weekStarts: 1 };

void t.test('a period begins and ends when the wall clock of its zone says so', async (t) => {
  // A Wednesday, two days before the clocks of Berlin go forward on Sunday 29 March.
  const nowMs = Date.parse('2026-03-25T23:30:00Z');
  for (const [period, from, to] of [
    ['day', '2026-03-25T23:00Z', '2026-03-26T23:00Z'],
    ['last_day', '2026-03-24T23:00Z', '2026-03-25T23:00Z'],
    ['week', '2026-03-22T23:00Z', '2026-03-29T22:00Z'],
    ['last_week', '2026-03-15T23:00Z', '2026-03-22T23:00Z'],
    ['month', '2026-02-28T23:00Z', '2026-03-31T22:00Z'],
    ['last_month', '2026-01-31T23:00Z', '2026-02-28T23:00Z'],
    ['quarter', '2025-12-31T23:00Z', '2026-03-31T22:00Z'],
    ['last_quarter', '2025-09-30T22:00Z', '2025-12-31T23:00Z'],
    ['year', '2025-12-31T23:00Z', '2026-12-31T23:00Z'],
    ['last_year', '2024-12-31T23:00Z', '2025-12-31T23:00Z'],
  ] as const) {
    t.same(iso(periodAt(period, nowMs, berlin)), [from, to], period);
  }
  const sunday = { timezone: 'America/New_York', weekStarts: 7 };
  t.same(iso(periodAt('week', nowMs, sunday)), ['2026-03-22T04:00Z', '2026-03-29T04:00Z'], 'a week from Sunday');
  const utc = { timezone: 'UTC', weekStarts: 3 };
  t.same(iso(periodAt('week', nowMs, utc)), ['2026-03-25T00:00Z', '2026-04-01T00:00Z'], 'a week from Wednesday');
});

void t.test('a day without a midnight begins when the clocks go forward', async (t) => {
  const beirut = { timezone: 'Asia/Beirut', weekStarts: 1 };
  const { fromMs, toMs } = periodAt('day', Date.parse('2026-03-29T12:00:00Z'), beirut);
  t.same(iso({ fromMs, toMs }), ['2026-03-28T22:00Z', '2026-03-29T21:00Z']);
  t.equal(toMs - fromMs, 23 * hourMs);
});

const zones = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'Asia/Kolkata',
  'America/St_Johns',
  'Asia/Beirut',
  'Pacific/Apia',
);
const periods = fc.constantFrom('day', 'week', 'month', 'quarter', 'year');
const instants = fc.integer({ min: Date.UTC(2012, 0), max: Date.UTC(2030, 0) });

void t.test('the present period holds the present, and the last one ends where it begins', async () => {
  fc.assert(
    fc.property(periods, instants, zones, fc.integer({ min: 1, max: 7 }), (unit, nowMs, timezone, weekStarts) => {
      const present = periodAt(unit, nowMs, { timezone, weekStarts });
      const last = periodAt(`last_${unit}` as 'last_day', nowMs, { timezone, weekStarts });
      return present.fromMs <= nowMs && nowMs < present.toMs && last.toMs === present.fromMs && last.fromMs < last.toMs;
    }),
  );
});

void t.test('buckets fill their window in order, no more of them than were asked for', async () => {
  const points = fc.option(fc.integer({ min: 2, max: 500 }), { nil: undefined });
  fc.assert(
    fc.property(instants, fc.integer({ min: 1, max: 400 * dayMs }), zones, points, (fromMs, ms, timezone, points) => {
      const window = { fromMs, toMs: fromMs + ms };
      const edges = bucketEdges(bucketLength({ points }, window), window, { timezone, weekStarts: 1 });
      return (
        edges[0] === fromMs &&
        edges.at(-1) === window.toMs &&
        edges.every((edge, index) => index === 0 || edge > (edges[index - 1] ?? 0)) &&
        edges.length - 1 <= (points ?? usualPoints)
      );
    }),
  );
});

void t.test('too many buckets are refused, and a length beside a number', async (t) => {
  const window = { fromMs: 0, toMs: 501 * hourMs };
  const edges = (toMs: number) => bucketEdges({ unit: 'hour', size: 1 }, { ...window, toMs }, berlin);
  t.equal(edges(500 * hourMs).length, 501);
  t.throws(() => edges(500 * hourMs + 1), { code: 'invalid_input' });
  t.throws(() => bucketLength({ bucket: 'day', points: 10 }, window), { code: 'invalid_input' });
  t.same(bucketEdges({ unit: 'day', size: 1 }, { fromMs: 7, toMs: 7 }, berlin), []);
  t.same(bucketLength({}, { fromMs: 0, toMs: 6 * hourMs }), { unit: 'minute', size: 2 });
  t.same(bucketLength({}, { fromMs: 0, toMs: 6 * hourMs + 1 }), { unit: 'hour', size: 1 });
});
