import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { QuietHours } from '../alert.ts';
import { quietUntil } from './quiet-hours.ts';

const everyDay = [1, 2, 3, 4, 5, 6, 7];
const night = (timezone: string, more: Partial<QuietHours> = {}): QuietHours => ({
  windows: [{ days: everyDay, start: '22:00', end: '07:00' }],
  timezone,
  except_severity: null,
  ...more,
});
const until = (quiet: QuietHours, at: string, severity: 'minor' | 'critical' = 'minor'): string | null => {
  const ms = quietUntil(quiet, severity, Date.parse(at));
  return ms === null ? null : new Date(ms).toISOString();
};

void t.test('a night lasts until the morning of the zone, in summer and in winter', async (t) => {
  t.equal(until(night('Europe/Berlin'), '2026-01-05T23:00:00Z'), '2026-01-06T06:00:00.000Z');
  t.equal(until(night('Europe/Berlin'), '2026-07-05T23:00:00Z'), '2026-07-06T05:00:00.000Z');
  t.equal(until(night('Europe/Berlin'), '2026-07-05T12:00:00Z'), null);
  t.equal(until(night('Asia/Kolkata'), '2026-07-05T16:29:59Z'), null);
  t.equal(until(night('Asia/Kolkata'), '2026-07-05T16:30:00Z'), '2026-07-06T01:30:00.000Z');
  t.equal(until(night('UTC'), '2026-07-05T07:00:00Z'), null, 'the end belongs to the day');
});

void t.test(
  'the night in which clocks are put forward is an hour shorter, that in which they are put back an hour longer',
  async (t) => {
    t.equal(until(night('Europe/Berlin'), '2026-03-28T21:00:00Z'), '2026-03-29T05:00:00.000Z');
    t.equal(until(night('Europe/Berlin'), '2026-10-24T20:00:00Z'), '2026-10-25T06:00:00.000Z');
  },
);

void t.test(
  'a time that clocks skip is the moment of the leap; one that they show twice is quiet both times',
  async (t) => {
    const quiet = (start: string, end: string) => night('Europe/Berlin', { windows: [{ days: everyDay, start, end }] });
    t.equal(until(quiet('01:00', '02:30'), '2026-03-29T00:30:00Z'), '2026-03-29T01:00:00.000Z');
    t.equal(until(quiet('02:30', '04:00'), '2026-03-29T01:00:00Z'), '2026-03-29T02:00:00.000Z');
    t.equal(until(quiet('01:00', '02:30'), '2026-10-25T00:45:00Z'), '2026-10-25T01:30:00.000Z');
  },
);

void t.test(
  'days are those of the start; windows that touch are one silence; without a gap it is looked at again in a week',
  async (t) => {
    const friday = night('UTC', { windows: [{ days: [5], start: '22:00', end: '07:00' }] });
    t.equal(until(friday, '2026-01-09T23:00:00Z'), '2026-01-10T07:00:00.000Z');
    t.equal(until(friday, '2026-01-10T23:00:00Z'), null);
    const touching = night('UTC', {
      windows: [
        { days: everyDay, start: '22:00', end: '02:00' },
        { days: everyDay, start: '02:00', end: '07:00' },
      ],
    });
    t.equal(until(touching, '2026-01-09T23:00:00Z'), '2026-01-10T07:00:00.000Z');
    const always = night('UTC', { windows: [{ days: everyDay, start: '00:00', end: '00:00' }] });
    t.equal(until(always, '2026-01-09T23:00:00Z'), '2026-01-16T23:00:00.000Z');
  },
);

void t.test('what is severe enough is told all the same', async (t) => {
  const quiet = night('UTC', { except_severity: 'critical' });
  t.equal(until(quiet, '2026-01-09T23:00:00Z', 'critical'), null);
  t.ok(until(quiet, '2026-01-09T23:00:00Z', 'minor'));
});

void t.test('in any zone, the end of a silence is not silent, and every instant before it is', async () => {
  const time = fc.integer({ min: 0, max: 95 }).map((n) => {
    const [hours, minutes] = [Math.floor(n / 4), (n % 4) * 15];
    return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
  });
  fc.assert(
    fc.property(
      fc.constantFrom(
        'Europe/Berlin',
        'America/New_York',
        'Australia/Lord_Howe',
        'Asia/Kathmandu',
        'America/St_Johns',
        'UTC',
      ),
      fc.array(
        fc.record({ days: fc.uniqueArray(fc.constantFrom(...everyDay), { minLength: 1 }), start: time, end: time }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 31) }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (timezone, windows, atMs, part) => {
        const quiet = night(timezone, { windows });
        const endMs = quietUntil(quiet, 'minor', atMs);
        if (endMs === null) return true;
        if (endMs >= atMs + 7 * 86_400_000) return true;
        const betweenMs = atMs + Math.floor(part * (endMs - atMs - 1));
        return quietUntil(quiet, 'minor', endMs) === null && quietUntil(quiet, 'minor', betweenMs) === endMs;
      },
    ),
    { numRuns: 1_000 },
  );
});
