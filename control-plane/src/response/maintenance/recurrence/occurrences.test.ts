import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { occurrencesOf, pastWindows, take, windowsOf } from './occurrences.ts';
import type { Schedule } from './occurrences.ts';
import { walkedStarts } from './reference.fixture.ts';
import type { NaiveRule } from './reference.fixture.ts';
import { readRule } from './rule.ts';
import { instantOf, wallOf } from './zone.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

// With daylight saving in both hemispheres, by an hour and by half of one, at midnight, and without any.
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kathmandu',
  'Africa/Cairo',
] as const;

const fromMs = Date.UTC(2026, 0, 1);
const toMs = Date.UTC(2028, 0, 1);

const schedule = (rule: string, more: Partial<Schedule> = {}): Schedule => ({
  startsMs: fromMs,
  durationMs: hourMs,
  rule: readRule(rule),
  zone: 'UTC',
  exceptMs: [],
  ...more,
});
const isoStarts = (given: Schedule, count: number) =>
  take(occurrencesOf(given, given.startsMs), count).map(({ startsMs }) => new Date(startsMs).toISOString());

const weekday = fc.integer({ min: 0, max: 6 });
const names = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** A rule as text, and what it says to somebody who only counts days. */
const ruleAndMeaning: fc.Arbitrary<{ readonly text: string; readonly naive: NaiveRule }> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((interval) => ({
    text: `FREQ=DAILY;INTERVAL=${interval}`,
    naive: { every: 'day', interval, weekdays: [], monthDays: [], nth: null } as const,
  })),
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.uniqueArray(weekday, { minLength: 1, maxLength: 4 }))
    .map(([interval, weekdays]) => ({
      text: `FREQ=WEEKLY;INTERVAL=${interval};BYDAY=${weekdays.map((day) => names[day]).join(',')}`,
      naive: { every: 'week', interval, weekdays, monthDays: [], nth: null } as const,
    })),
  fc
    .tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 3 }),
    )
    .map(([interval, monthDays]) => ({
      text: `FREQ=MONTHLY;INTERVAL=${interval};BYMONTHDAY=${monthDays.join(',')}`,
      naive: { every: 'month', interval, weekdays: [], monthDays, nth: null } as const,
    })),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), weekday, fc.constantFrom(1, 2, 3, 4, 5, -1, -2))
    .map(([interval, day, nth]) => ({
      text: `FREQ=MONTHLY;INTERVAL=${interval};BYDAY=${nth}${names[day]}`,
      naive: { every: 'month', interval, weekdays: [day], monthDays: [], nth } as const,
    })),
);

for (const zone of zones) {
  void t.test(`every day at a time at which clocks change, over two years in ${zone}`, async (t) => {
    const naive: NaiveRule = { every: 'day', interval: 1, weekdays: [], monthDays: [], nth: null };
    let shifted = 0;
    for (const minuteOfDay of [0, 15, 30, 60, 90, 120, 135, 150, 179]) {
      const expected = walkedStarts(naive, minuteOfDay, zone, fromMs, toMs).map(({ ms, isShifted }) => ({
        ms,
        isShifted,
      }));
      const given = schedule('FREQ=DAILY', { startsMs: expected[0]?.ms ?? fromMs, zone });
      const found = [...occurrencesOf(given, fromMs)].map(({ startsMs, isShifted }) => ({ ms: startsMs, isShifted }));
      t.same(
        found.filter(({ ms }) => ms < toMs),
        expected,
        `at minute ${minuteOfDay}`,
      );
      shifted += expected.filter(({ isShifted }) => isShifted).length;
    }
    t.equal(shifted > 0, zone !== 'Asia/Kathmandu', 'the clock leaps, except where there is no daylight saving');
  });

  void t.test(`occurrences equal a reference that walks minutes, over two years in ${zone}`, (t) => {
    fc.assert(
      fc.property(
        ruleAndMeaning,
        // Half of the times are those at which clocks change somewhere.
        fc.oneof(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 0, max: 210 })),
        ({ text, naive }, minuteOfDay) => {
          const expected = walkedStarts(naive, minuteOfDay, zone, fromMs, toMs);
          const first = expected.at(0);
          if (first === undefined) return;
          // The reference counts intervals from the first of January; the schedule from its own first instance, which is in that step.
          const given = schedule(text, { startsMs: first.ms, zone });
          if (wallOf(first.ms, zone) !== first.wallMs) return;
          const found = [...occurrencesOf(given, fromMs)]
            .filter(({ startsMs }) => startsMs < toMs)
            .map(({ startsMs, isShifted }) => ({ ms: startsMs, isShifted }));
          t.same(
            found.slice(0, expected.length + 1),
            expected.map(({ ms, isShifted }) => ({ ms, isShifted })),
          );
          return found.length === expected.length;
        },
      ),
      { numRuns: 10 },
    );
    t.end();
  });
}

void t.test('an instance in the gap is later by its length, and of a doubled time the first counts', async (t) => {
  const berlin = schedule('FREQ=DAILY', { startsMs: Date.parse('2026-03-28T01:30:00Z'), zone: 'Europe/Berlin' });
  t.same(take(occurrencesOf(berlin, berlin.startsMs), 3), [
    { startsMs: Date.parse('2026-03-28T01:30:00Z'), endsMs: Date.parse('2026-03-28T02:30:00Z'), isShifted: false },
    // 02:30 is not on the clock: 03:30 of summer.
    { startsMs: Date.parse('2026-03-29T01:30:00Z'), endsMs: Date.parse('2026-03-29T02:30:00Z'), isShifted: true },
    { startsMs: Date.parse('2026-03-30T00:30:00Z'), endsMs: Date.parse('2026-03-30T01:30:00Z'), isShifted: false },
  ]);
  t.same(instantOf(Date.UTC(2026, 9, 25, 2, 30), 'Europe/Berlin'), {
    ms: Date.parse('2026-10-25T00:30:00Z'),
    isShifted: false,
  });
  // Samoa had no 30 December 2011: the instance of that day is that of the next one, once.
  const samoa = schedule('FREQ=DAILY', { startsMs: Date.parse('2011-12-29T22:00:00Z'), zone: 'Pacific/Apia' });
  t.same(isoStarts(samoa, 3), ['2011-12-29T22:00:00.000Z', '2011-12-30T22:00:00.000Z', '2011-12-31T22:00:00.000Z']);
});

void t.test('examples of RFC 5545 come out as they stand there', async (t) => {
  const start = { startsMs: Date.parse('1997-09-02T13:00:00Z'), zone: 'America/New_York' };
  const days = (rule: string, count: number, startsMs = start.startsMs) =>
    isoStarts(schedule(rule, { ...start, startsMs }), count).map((text) => text.slice(0, 10));
  t.equal(days('FREQ=DAILY;COUNT=10', 99).length, 10);
  t.equal(days('FREQ=DAILY;UNTIL=19971224T000000Z', 999).at(-1), '1997-12-23');
  t.same(days('FREQ=DAILY;INTERVAL=10;COUNT=5', 9), [
    '1997-09-02',
    '1997-09-12',
    '1997-09-22',
    '1997-10-02',
    '1997-10-12',
  ]);
  t.same(days('FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,TH;COUNT=8', 9).slice(0, 5), [
    '1997-09-02',
    '1997-09-04',
    '1997-09-16',
    '1997-09-18',
    '1997-09-30',
  ]);
  // The same rule with another first day of the week gives other days.
  const august = Date.parse('1997-08-05T13:00:00Z');
  t.same(days('FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO', 9, august), [
    '1997-08-05',
    '1997-08-10',
    '1997-08-19',
    '1997-08-24',
  ]);
  t.same(days('FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU', 9, august), [
    '1997-08-05',
    '1997-08-17',
    '1997-08-19',
    '1997-08-31',
  ]);
  const friday = Date.parse('1997-09-05T13:00:00Z');
  t.same(days('FREQ=MONTHLY;COUNT=3;BYDAY=1FR', 9, friday), ['1997-09-05', '1997-10-03', '1997-11-07']);
  t.same(days('FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13', 3, Date.parse('1998-02-13T14:00:00Z')), [
    '1998-02-13',
    '1998-03-13',
    '1998-11-13',
  ]);
  t.same(days('FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3', 9, Date.parse('1997-09-04T13:00:00Z')), [
    '1997-09-04',
    '1997-10-07',
    '1997-11-06',
  ]);
  t.same(days('FREQ=MONTHLY;BYMONTHDAY=-3', 3, Date.parse('1997-09-28T13:00:00Z')), [
    '1997-09-28',
    '1997-10-29',
    '1997-11-28',
  ]);
  t.same(days('FREQ=YEARLY;INTERVAL=3;COUNT=4;BYYEARDAY=1,100,200', 9, Date.parse('1997-01-01T14:00:00Z')), [
    '1997-01-01',
    '1997-04-10',
    '1997-07-19',
    '2000-01-01',
  ]);
  t.same(days('FREQ=YEARLY;BYDAY=20MO', 3, Date.parse('1997-05-19T13:00:00Z')), [
    '1997-05-19',
    '1998-05-18',
    '1999-05-17',
  ]);
  t.same(
    days('FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8', 3, Date.parse('1996-11-05T14:00:00Z')),
    ['1996-11-05', '2000-11-07', '2004-11-02'],
  );
});

void t.test('what overlaps or touches is one, up to 31 days; exceptions are left out', async (t) => {
  const long = schedule('FREQ=DAILY;COUNT=3', { durationMs: 36 * hourMs });
  t.same([...windowsOf(long, fromMs)], [{ startsMs: fromMs, endsMs: fromMs + 84 * hourMs, isShifted: false }]);
  t.same(
    take(windowsOf(long, fromMs + 10 * hourMs), 1).map(({ startsMs }) => startsMs),
    [fromMs + 10 * hourMs],
    'what is under way begins there',
  );
  const endless = take(windowsOf(schedule('FREQ=DAILY', { durationMs: dayMs }), fromMs), 3);
  t.same(
    endless.map(({ startsMs, endsMs }) => [(startsMs - fromMs) / dayMs, (endsMs - fromMs) / dayMs]),
    [
      [0, 31],
      [31, 62],
      [62, 93],
    ],
  );
  const some = schedule('FREQ=DAILY;COUNT=3', { exceptMs: [fromMs + dayMs] });
  t.same(isoStarts(some, 9), ['2026-01-01T00:00:00.000Z', '2026-01-03T00:00:00.000Z'], 'what is left out was counted');
});

void t.test('wherever it is asked from, the windows are the same', (t) => {
  fc.assert(
    fc.property(
      ruleAndMeaning,
      fc.integer({ min: 60, max: 4 * 86_400 }),
      fc.integer({ min: 0, max: 700 * 86_400 }),
      fc.option(fc.integer({ min: 1, max: 40 }), { nil: null }),
      ({ text }, durationSeconds, afterSeconds, count) => {
        const rule = count === null ? text : `${text};COUNT=${count}`;
        const given = schedule(rule, { durationMs: durationSeconds * 1_000, zone: 'Europe/Berlin' });
        const all = [...occurrencesOf(given, fromMs)].filter(({ startsMs }) => startsMs < toMs);
        const afterMs = fromMs + afterSeconds * 1_000;
        const later = [...occurrencesOf(given, afterMs)].filter(({ startsMs }) => startsMs < toMs);
        t.same(
          later,
          all.filter(({ endsMs }) => endsMs > afterMs),
        );
      },
    ),
    { numRuns: 60 },
  );
  t.end();
});

void t.test('a series is thought back in its own rhythm', async (t) => {
  const biweekly = schedule('FREQ=WEEKLY;INTERVAL=2', { startsMs: Date.parse('2026-06-01T10:00:00Z') });
  const past = pastWindows(biweekly, Date.parse('2026-04-25T00:00:00Z'), Date.parse('2026-05-25T00:00:00Z'));
  t.same(
    past.map(({ startsMs }) => new Date(startsMs).toISOString()),
    ['2026-05-04T10:00:00.000Z', '2026-05-18T10:00:00.000Z'],
  );
  t.same(pastWindows({ ...biweekly, rule: null }, fromMs, toMs), []);
});
