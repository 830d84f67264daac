import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { instantOf, wallOf } from '../../response/maintenance/index.ts';
import { dueStep, nextRun, runAt } from './periods.ts';
import type { Schedule } from './periods.ts';

const dayMs = 86_400_000;
const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString();
const plain = (run: { readonly dueMs: number; readonly fromMs: number; readonly toMs: number }) =>
  [run.dueMs, run.fromMs, run.toMs].map(iso);

const berlin: Schedule = { frequency: 'daily', timezone: 'Europe/Berlin', weekStarts: 1, sendAt: '08:00' };

void t.test('a period is reported on the day after it has closed', async (t) => {
  t.same(plain(nextRun(berlin, at('2026-11-27T03:00:00Z'))), [
    '2026-11-27T07:00:00.000Z',
    '2026-11-25T23:00:00.000Z',
    '2026-11-26T23:00:00.000Z',
  ]);
  t.equal(iso(nextRun(berlin, at('2026-11-27T07:00:00Z')).dueMs), '2026-11-28T07:00:00.000Z', 'after, not at');
  const weekly = { ...berlin, frequency: 'weekly' } as const;
  t.same(plain(nextRun(weekly, at('2026-11-27T03:00:00Z'))), [
    '2026-11-30T07:00:00.000Z',
    '2026-11-22T23:00:00.000Z',
    '2026-11-29T23:00:00.000Z',
  ]);
  t.same(plain(nextRun({ ...weekly, weekStarts: 7 }, at('2026-11-27T03:00:00Z'))), [
    '2026-11-29T07:00:00.000Z',
    '2026-11-21T23:00:00.000Z',
    '2026-11-28T23:00:00.000Z',
  ]);
  t.same(plain(nextRun({ ...berlin, frequency: 'monthly' }, at('2026-02-28T12:00:00Z'))), [
    '2026-03-01T07:00:00.000Z',
    '2026-01-31T23:00:00.000Z',
    '2026-02-28T23:00:00.000Z',
  ]);
  t.same(plain(nextRun({ ...berlin, frequency: 'quarterly' }, at('2026-01-01T07:00:00Z'))), [
    '2026-04-01T06:00:00.000Z',
    '2025-12-31T23:00:00.000Z',
    '2026-03-31T22:00:00.000Z',
  ]);
});

void t.test('a clock that leaps over the time makes it later, one that shows it twice takes the first', async (t) => {
  const night = { ...berlin, sendAt: '02:30' };
  t.same(plain(nextRun(night, at('2026-03-28T12:00:00Z'))), [
    '2026-03-29T01:30:00.000Z',
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
  ]);
  t.equal(iso(nextRun(night, at('2026-10-24T12:00:00Z')).dueMs), '2026-10-25T00:30:00.000Z');
  const short = nextRun(night, at('2026-03-29T12:00:00Z'));
  t.equal(short.toMs - short.fromMs, 23 * 3_600_000, 'a day of 23 hours');
  const long = nextRun(night, at('2026-10-25T12:00:00Z'));
  t.equal(long.toMs - long.fromMs, 25 * 3_600_000, 'and one of 25');
  // Cairo has no midnight on that day: the clock goes from 23:59 to 01:00.
  const cairo = { ...berlin, timezone: 'Africa/Cairo' };
  t.same(plain(nextRun(cairo, at('2026-04-23T22:30:00Z'))), [
    '2026-04-24T05:00:00.000Z',
    '2026-04-22T22:00:00.000Z',
    '2026-04-23T22:00:00.000Z',
  ]);
});

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Kathmandu'];

void t.test('in every zone runs follow each other without a gap, at the wall time that was asked for', async () => {
  const schedules = fc.record({
    frequency: fc.constantFrom('daily', 'weekly', 'monthly', 'quarterly'),
    timezone: fc.constantFrom(...zones),
    weekStarts: fc.constantFrom(1, 7),
    sendAt: fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([hours, minutes]) => `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`),
  });
  const instants = fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2032-01-01T00:00:00Z') });
  fc.assert(
    fc.property(schedules, instants, (schedule: Schedule, afterMs) => {
      const run = nextRun(schedule, afterMs);
      const following = nextRun(schedule, run.dueMs);
      const wall = new Date(wallOf(run.dueMs, schedule.timezone)).toISOString().slice(11, 16);
      const [hours = 0, minutes = 0] = schedule.sendAt.split(':').map(Number);
      const asked = instantOf(
        Math.floor(wallOf(run.dueMs, schedule.timezone) / dayMs) * dayMs + hours * 3_600_000 + minutes * 60_000,
        schedule.timezone,
      );
      return (
        run.dueMs > afterMs &&
        run.fromMs < run.toMs &&
        run.toMs <= run.dueMs &&
        run.dueMs - run.toMs < 25 * 3_600_000 &&
        following.fromMs === run.toMs &&
        following.dueMs > run.dueMs &&
        runAt(schedule, run.dueMs).fromMs === run.fromMs &&
        (asked.isShifted ? wall > schedule.sendAt : wall === schedule.sendAt)
      );
    }),
    { numRuns: 2_000 },
  );
});

void t.test('a missed period is made up for within a week, late; what is older is skipped in one step', async (t) => {
  const dueMs = at('2026-11-10T07:00:00Z');
  t.match(dueStep(berlin, dueMs, dueMs + 60_000), { kind: 'run', isLate: false, nextMs: dueMs + dayMs });
  t.match(dueStep(berlin, dueMs, dueMs + 2 * 3_600_000), { kind: 'run', isLate: true });
  t.match(dueStep(berlin, dueMs, dueMs + 7 * dayMs), { kind: 'run', isLate: true });
  const skipped = dueStep(berlin, dueMs, dueMs + 10 * dayMs);
  t.same(skipped, {
    kind: 'skip',
    period: { fromMs: at('2026-11-08T23:00:00Z'), toMs: at('2026-11-11T23:00:00Z') },
    nextMs: dueMs + 3 * dayMs,
  });
  t.same(dueStep(berlin, dueMs + 60_000, dueMs + 120_000), { kind: 'wait', nextMs: dueMs + dayMs });
  t.match(dueStep(berlin, skipped.nextMs, dueMs + 10 * dayMs), {
    kind: 'run',
    run: { fromMs: at('2026-11-11T23:00:00Z') },
  });
});
