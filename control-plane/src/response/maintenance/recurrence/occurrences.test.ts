import fc from 'fast-check';
import t from 'tap';
import { nextOccurrence, nextOccurrences, occurrencesOf, scheduleOf, wouldHaveBeen } from './occurrences.ts';
import { instantOf, localTime, plainMs } from './zone.ts';

const hourMs = 3_600_000;
const at = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

const series = (starts: string, rrule: string, zone: string, more: { hours?: number; exceptMs?: number[] } = {}) =>
  scheduleOf({
    startsMs: at(starts),
    durationMs: (more.hours ?? 1) * hourMs,
    rrule,
    zone,
    exceptMs: more.exceptMs ?? [],
  });

const begins = (schedule: ReturnType<typeof series>, count: number): string[] =>
  nextOccurrences(schedule, 0, count).map(
    ({ startsMs, isShifted }) => `${iso(startsMs)}${isShifted ? ' shifted' : ''}`,
  );

void t.test('a series keeps its time of day while clocks change', async (t) => {
  t.same(begins(series('2026-03-28T02:00:00Z', 'FREQ=DAILY;COUNT=3', 'Europe/Berlin'), 9), [
    '2026-03-28T02:00',
    '2026-03-29T01:00',
    '2026-03-30T01:00',
  ]);
  t.same(begins(series('2026-03-28T02:00:00Z', 'FREQ=DAILY;COUNT=2', 'UTC'), 9), [
    '2026-03-28T02:00',
    '2026-03-29T02:00',
  ]);
});

void t.test('an instance in the gap is shifted by it, and one in the overlap is the first of two', async (t) => {
  t.same(begins(series('2026-03-28T01:30:00Z', 'FREQ=DAILY;COUNT=3', 'Europe/Berlin'), 9), [
    '2026-03-28T01:30',
    '2026-03-29T01:30 shifted',
    '2026-03-30T00:30',
  ]);
  t.same(begins(series('2026-10-24T00:30:00Z', 'FREQ=DAILY;COUNT=3', 'Europe/Berlin'), 9), [
    '2026-10-24T00:30',
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  // Begun at the second of the two, the first occurrence is there.
  t.same(begins(series('2026-10-25T01:30:00Z', 'FREQ=DAILY;COUNT=2', 'Europe/Berlin'), 9), [
    '2026-10-25T01:30',
    '2026-10-26T01:30',
  ]);
  // Half an hour (Lord Howe), and a whole day that was skipped (Apia, 30 December 2011).
  t.same(begins(series('2026-10-02T15:45:00Z', 'FREQ=DAILY;COUNT=2', 'Australia/Lord_Howe'), 2), [
    '2026-10-02T15:45',
    '2026-10-03T15:45 shifted',
  ]);
});

void t.test(
  'local times and instants agree in zones of every kind, for every quarter of an hour of two years',
  async (t) => {
    for (const zone of [
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'America/St_Johns',
      'UTC',
    ]) {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 2 * 365 * 96 }), (quarter) => {
          const ms = at('2026-01-01T00:00:00Z') + quarter * 900_000;
          const local = localTime(ms, zone);
          const back = instantOf(local, zone);
          // The same, or the first of two.
          return (
            !back.isShifted &&
            back.ms <= ms &&
            plainMs(localTime(back.ms, zone)) === plainMs(local) &&
            ms - back.ms <= 3_600_000
          );
        }),
        { numRuns: 300 },
      );
    }
    t.pass('in six zones');
  },
);

void t.test('exceptions are left out, and an end is judged by the instant or the local day', async (t) => {
  const starts = '2026-01-05T22:30:00Z';
  t.same(begins(series(starts, 'FREQ=DAILY;COUNT=3', 'UTC', { exceptMs: [at('2026-01-06T22:30:00Z')] }), 9), [
    '2026-01-05T22:30',
    '2026-01-07T22:30',
  ]);
  t.same(begins(series(starts, 'FREQ=DAILY;UNTIL=20260106T223000Z', 'UTC'), 9).length, 2);
  t.same(begins(series(starts, 'FREQ=DAILY;UNTIL=20260106T222959Z', 'UTC'), 9).length, 1);
  // It is the 6th already in Berlin when it begins.
  t.same(begins(series('2026-01-05T23:30:00Z', 'FREQ=DAILY;UNTIL=20260107', 'Europe/Berlin'), 9).length, 2);
});

void t.test('occurrences that overlap or meet are one, and they may not run on for more than 31 days', async (t) => {
  const weekend = series('2026-01-03T00:00:00Z', 'FREQ=WEEKLY;BYDAY=SA,SU', 'UTC', { hours: 24 });
  t.match(nextOccurrences(weekend, 0, 2), [
    { startsMs: at('2026-01-03T00:00:00Z'), endsMs: at('2026-01-05T00:00:00Z') },
    { startsMs: at('2026-01-10T00:00:00Z') },
  ]);
  const endless = series('2026-01-03T00:00:00Z', 'FREQ=DAILY', 'UTC', { hours: 25 });
  t.throws(() => nextOccurrences(endless, 0, 1), { name: 'RuleError', message: /runs into the next/ });
});

void t.test('what comes next comes after what was', async (t) => {
  const daily = series('2026-01-01T00:00:00Z', 'FREQ=DAILY;COUNT=2', 'UTC');
  t.match(nextOccurrence(daily, at('2026-01-01T00:00:00Z'), 0), { startsMs: at('2026-01-02T00:00:00Z') });
  t.equal(nextOccurrence(daily, at('2026-01-02T00:00:00Z'), 0), null);
  const once = scheduleOf({ startsMs: 5, durationMs: 10, rrule: null, zone: 'UTC', exceptMs: [] });
  t.match([...occurrencesOf(once)], [{ startsMs: 5, endsMs: 15 }]);
  t.equal(nextOccurrence(once, 0, 15), null, 'it is over');
});

void t.test('a series is also known as it would have been before', async (t) => {
  const now = at('2026-06-10T12:00:00Z');
  const fromMs = now - 30 * 24 * hourMs;
  const past = (starts: string, rule: string) =>
    wouldHaveBeen(series(starts, rule, 'UTC'), fromMs, now).map(({ startsMs }) => iso(startsMs).slice(5, 10));
  t.same(past('2026-06-14T02:00:00Z', 'FREQ=WEEKLY;BYDAY=SU;COUNT=2'), ['05-17', '05-24', '05-31', '06-07']);
  t.same(past('2026-06-14T02:00:00Z', 'FREQ=WEEKLY;INTERVAL=2'), ['05-17', '05-31']);
  t.same(past('2026-06-11T02:00:00Z', 'FREQ=DAILY;INTERVAL=7'), ['05-14', '05-21', '05-28', '06-04']);
  t.same(past('2026-08-31T02:00:00Z', 'FREQ=MONTHLY'), ['05-31']);
  t.same(past('2027-05-20T02:00:00Z', 'FREQ=YEARLY'), ['05-20']);
  t.same(
    wouldHaveBeen(scheduleOf({ startsMs: now, durationMs: 1, rrule: null, zone: 'UTC', exceptMs: [] }), fromMs, now),
    [],
  );
});
