import t from 'tap';
import { daysOf } from './days.ts';
import { readRule, RuleError } from './rule.ts';

const dayMs = 86_400_000;
const dayOf = (text: string): number => Date.parse(`${text}T00:00:00Z`) / dayMs;

function first(rule: string, start: string, count: number): string {
  const found: string[] = [];
  for (const day of daysOf(readRule(rule), dayOf(start))) {
    found.push(new Date(day * dayMs).toISOString().slice(0, 10));
    if (found.length === count) break;
  }
  return found.join(' ');
}

/** Made by another implementation, python-dateutil 2.9. */
const elsewhere = [
  [
    'FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=-1,-31,13;BYSETPOS=1',
    '2025-03-25',
    '2025-04-13 2025-05-01 2025-06-13 2025-07-01 2025-08-01 2025-09-13 2025-10-01 2025-11-13',
  ],
  [
    'FREQ=MONTHLY;INTERVAL=3;BYMONTH=2,4,6,12',
    '2026-11-07',
    '2027-02-07 2028-02-07 2029-02-07 2030-02-07 2031-02-07 2032-02-07 2033-02-07 2034-02-07',
  ],
  [
    'FREQ=MONTHLY;INTERVAL=1',
    '2026-01-29',
    '2026-01-29 2026-03-29 2026-04-29 2026-05-29 2026-06-29 2026-07-29 2026-08-29 2026-09-29',
  ],
  [
    'FREQ=MONTHLY;BYMONTH=8,10',
    '2027-07-09',
    '2027-08-09 2027-10-09 2028-08-09 2028-10-09 2029-08-09 2029-10-09 2030-08-09 2030-10-09',
  ],
  [
    'FREQ=MONTHLY;BYDAY=TU',
    '2027-05-11',
    '2027-05-11 2027-05-18 2027-05-25 2027-06-01 2027-06-08 2027-06-15 2027-06-22 2027-06-29',
  ],
  [
    'FREQ=MONTHLY;BYDAY=2TH,2SA;BYSETPOS=-1,3',
    '2025-11-28',
    '2025-12-13 2026-01-10 2026-02-14 2026-03-14 2026-04-11 2026-05-14 2026-06-13 2026-07-11',
  ],
  [
    'FREQ=MONTHLY;BYDAY=TU,SA',
    '2024-08-27',
    '2024-08-27 2024-08-31 2024-09-03 2024-09-07 2024-09-10 2024-09-14 2024-09-17 2024-09-21',
  ],
  [
    'FREQ=MONTHLY',
    '2025-12-14',
    '2025-12-14 2026-01-14 2026-02-14 2026-03-14 2026-04-14 2026-05-14 2026-06-14 2026-07-14',
  ],
  [
    'FREQ=MONTHLY;BYDAY=WE,MO,SU',
    '2025-03-26',
    '2025-03-26 2025-03-30 2025-03-31 2025-04-02 2025-04-06 2025-04-07 2025-04-09 2025-04-13',
  ],
  [
    'FREQ=MONTHLY;INTERVAL=3;BYDAY=4TH,1SU,1MO;BYSETPOS=-2',
    '2024-09-27',
    '2024-12-02 2025-03-03 2025-06-02 2025-09-07 2025-12-07 2026-03-02 2026-06-07 2026-09-07',
  ],
  [
    'FREQ=WEEKLY;INTERVAL=1',
    '2026-03-26',
    '2026-03-26 2026-04-02 2026-04-09 2026-04-16 2026-04-23 2026-04-30 2026-05-07 2026-05-14',
  ],
  [
    'FREQ=WEEKLY;INTERVAL=2',
    '2027-06-26',
    '2027-06-26 2027-07-10 2027-07-24 2027-08-07 2027-08-21 2027-09-04 2027-09-18 2027-10-02',
  ],
  [
    'FREQ=WEEKLY;BYDAY=SA,SU,TH',
    '2028-01-13',
    '2028-01-13 2028-01-15 2028-01-16 2028-01-20 2028-01-22 2028-01-23 2028-01-27 2028-01-29',
  ],
  [
    'FREQ=WEEKLY',
    '2027-12-14',
    '2027-12-14 2027-12-21 2027-12-28 2028-01-04 2028-01-11 2028-01-18 2028-01-25 2028-02-01',
  ],
  [
    'FREQ=WEEKLY;BYDAY=TU,SU,SA;WKST=TH',
    '2027-08-28',
    '2027-08-28 2027-08-29 2027-08-31 2027-09-04 2027-09-05 2027-09-07 2027-09-11 2027-09-12',
  ],
  [
    'FREQ=WEEKLY;INTERVAL=7;BYMONTH=2,7;BYDAY=TH',
    '2026-05-11',
    '2026-07-02 2027-07-29 2028-02-10 2028-07-06 2030-02-14 2030-07-11 2032-02-19 2032-07-15',
  ],
  [
    'FREQ=WEEKLY;BYDAY=WE,TU;WKST=TU',
    '2025-10-09',
    '2025-10-14 2025-10-15 2025-10-21 2025-10-22 2025-10-28 2025-10-29 2025-11-04 2025-11-05',
  ],
  [
    'FREQ=WEEKLY;INTERVAL=7;BYMONTH=1;BYDAY=TH,MO,FR',
    '2024-03-09',
    '2026-01-19 2026-01-22 2026-01-23 2027-01-01 2028-01-24 2028-01-27 2028-01-28 2029-01-01',
  ],
  [
    'FREQ=WEEKLY',
    '2024-02-04',
    '2024-02-04 2024-02-11 2024-02-18 2024-02-25 2024-03-03 2024-03-10 2024-03-17 2024-03-24',
  ],
  [
    'FREQ=WEEKLY;INTERVAL=5',
    '2028-01-18',
    '2028-01-18 2028-02-22 2028-03-28 2028-05-02 2028-06-06 2028-07-11 2028-08-15 2028-09-19',
  ],
  [
    'FREQ=DAILY;INTERVAL=2;BYMONTHDAY=13,31',
    '2026-12-15',
    '2026-12-31 2027-02-13 2027-03-13 2027-03-31 2027-06-13 2027-07-13 2027-07-31 2027-09-13',
  ],
  [
    'FREQ=DAILY;BYMONTH=3,6;BYMONTHDAY=13,29',
    '2025-08-20',
    '2026-03-13 2026-03-29 2026-06-13 2026-06-29 2027-03-13 2027-03-29 2027-06-13 2027-06-29',
  ],
  [
    'FREQ=DAILY;INTERVAL=2',
    '2025-08-03',
    '2025-08-03 2025-08-05 2025-08-07 2025-08-09 2025-08-11 2025-08-13 2025-08-15 2025-08-17',
  ],
  [
    'FREQ=DAILY;INTERVAL=3;BYDAY=SA,SU,TU',
    '2024-07-26',
    '2024-08-04 2024-08-10 2024-08-13 2024-08-25 2024-08-31 2024-09-03 2024-09-15 2024-09-21',
  ],
  [
    'FREQ=DAILY;BYMONTH=6,9',
    '2025-11-24',
    '2026-06-01 2026-06-02 2026-06-03 2026-06-04 2026-06-05 2026-06-06 2026-06-07 2026-06-08',
  ],
  [
    'FREQ=DAILY;INTERVAL=5;BYMONTHDAY=15,2;WKST=TU',
    '2024-08-04',
    '2024-11-02 2024-12-02 2025-02-15 2025-03-02 2025-06-15 2025-07-15 2025-11-02 2025-12-02',
  ],
  [
    'FREQ=DAILY;BYDAY=TU,TH,FR',
    '2027-01-07',
    '2027-01-07 2027-01-08 2027-01-12 2027-01-14 2027-01-15 2027-01-19 2027-01-21 2027-01-22',
  ],
  [
    'FREQ=DAILY;INTERVAL=1;BYMONTHDAY=-31,-2;BYDAY=TU,SU,SA',
    '2024-08-23',
    '2024-09-29 2024-10-01 2024-12-01 2025-03-01 2025-03-30 2025-04-29 2025-06-29 2025-07-01',
  ],
  [
    'FREQ=DAILY;INTERVAL=5;BYMONTH=2,6,11,12;BYDAY=TH,SU',
    '2025-09-04',
    '2025-11-13 2025-11-23 2025-12-18 2025-12-28 2026-02-01 2026-02-26 2026-06-11 2026-06-21',
  ],
  [
    'FREQ=DAILY;BYMONTHDAY=31,13,-31;BYDAY=MO',
    '2026-06-24',
    '2026-07-13 2026-08-31 2027-03-01 2027-05-31 2027-09-13 2027-12-13 2028-01-31 2028-03-13',
  ],
  [
    'FREQ=YEARLY;INTERVAL=3;BYMONTHDAY=-2;WKST=SA',
    '2024-07-09',
    '2024-07-30 2024-08-30 2024-09-29 2024-10-30 2024-11-29 2024-12-30 2027-01-30 2027-02-27',
  ],
  [
    'FREQ=YEARLY;BYDAY=2TH,4WE',
    '2024-10-19',
    '2025-01-09 2025-01-22 2026-01-08 2026-01-28 2027-01-14 2027-01-27 2028-01-13 2028-01-26',
  ],
  [
    'FREQ=YEARLY;INTERVAL=1',
    '2025-11-29',
    '2025-11-29 2026-11-29 2027-11-29 2028-11-29 2029-11-29 2030-11-29 2031-11-29 2032-11-29',
  ],
  [
    'FREQ=YEARLY;BYDAY=3SA,3TH',
    '2027-11-13',
    '2028-01-15 2028-01-20 2029-01-18 2029-01-20 2030-01-17 2030-01-19 2031-01-16 2031-01-18',
  ],
  [
    'FREQ=YEARLY;BYMONTH=10;BYSETPOS=2,1;WKST=FR',
    '2026-11-30',
    '2027-10-30 2028-10-30 2029-10-30 2030-10-30 2031-10-30 2032-10-30 2033-10-30 2034-10-30',
  ],
  [
    'FREQ=YEARLY;BYMONTHDAY=28,-2;BYDAY=WE,SA;BYSETPOS=2',
    '2024-06-15',
    '2025-06-28 2026-02-28 2027-02-27 2028-06-28 2029-03-28 2030-02-27 2031-06-28 2032-02-28',
  ],
  [
    'FREQ=YEARLY;BYDAY=SU,MO,TU;BYSETPOS=-1',
    '2024-07-11',
    '2024-12-31 2025-12-30 2026-12-29 2027-12-28 2028-12-31 2029-12-31 2030-12-31 2031-12-30',
  ],
  [
    'FREQ=YEARLY;INTERVAL=13;BYMONTHDAY=-1,28,13;BYDAY=MO;WKST=WE',
    '2024-10-28',
    '2024-10-28 2037-04-13 2037-07-13 2037-08-31 2037-09-28 2037-11-30 2037-12-28',
  ],
  [
    'FREQ=YEARLY;INTERVAL=5;BYDAY=SA;WKST=TH',
    '2025-03-28',
    '2025-03-29 2025-04-05 2025-04-12 2025-04-19 2025-04-26 2025-05-03 2025-05-10 2025-05-17',
  ],
  [
    'FREQ=YEARLY;INTERVAL=7;BYMONTHDAY=-2,2,15;BYDAY=MO,TU;BYSETPOS=3',
    '2027-02-05',
    '2027-03-02 2034-02-27 2041-04-15 2048-06-02',
  ],
] as const;

void t.test('rules give the days that another implementation gives', async (t) => {
  for (const [rule, start, days] of elsewhere) t.equal(first(rule, start, days.split(' ').length), days, rule);
});

void t.test('positions are those of the whole week, month or year, also of the first', async (t) => {
  // A Friday; the first of Thursday, Saturday and Sunday of its week was before it.
  t.equal(first('FREQ=WEEKLY;BYDAY=TH,SU,SA;BYSETPOS=1', '2025-04-25', 2), '2025-05-01 2025-05-08');
  t.equal(first('FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', '2026-01-01', 3), '2026-01-30 2026-02-27 2026-03-31');
});

void t.test(
  'a day that a month or year does not have is passed over, and a rule that gives nothing ends',
  async (t) => {
    t.equal(first('FREQ=MONTHLY', '2026-01-31', 3), '2026-01-31 2026-03-31 2026-05-31');
    t.equal(first('FREQ=YEARLY', '2024-02-29', 3), '2024-02-29 2028-02-29 2032-02-29');
    t.equal(first('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', '2026-01-01', 3), '');
    t.equal(first('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', '2026-01-01', 3), '');
  },
);

void t.test('what is no rule of whole days is refused, with the reason', async (t) => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /write a rule/],
    ['FREQ=HOURLY', /DAILY, WEEKLY/],
    ['FREQ=SECONDLY', /DAILY, WEEKLY/],
    ['INTERVAL=2', /FREQ must be/],
    ['FREQ=DAILY;FREQ=WEEKLY', /stands twice/],
    ['FREQ=DAILY;BYHOUR=3', /time of day/],
    ['FREQ=YEARLY;BYWEEKNO=3', /not taken/],
    ['FREQ=DAILY;COLOUR=RED', /no part COLOUR/],
    ['FREQ=DAILY;INTERVAL=0', /INTERVAL must be/],
    ['FREQ=DAILY;INTERVAL=1e9', /INTERVAL must be/],
    ['FREQ=DAILY;COUNT=-1', /COUNT must be/],
    ['FREQ=DAILY;COUNT=2;UNTIL=20270101', /exclude/],
    ['FREQ=DAILY;UNTIL=tomorrow', /UNTIL must be/],
    ['FREQ=DAILY;UNTIL=20271399', /no date/],
    ['FREQ=DAILY;UNTIL=20270101T000000', /in UTC/],
    ['FREQ=WEEKLY;BYDAY=XX', /no day XX/],
    ['FREQ=WEEKLY;BYDAY=2MO', /no 2MO here/],
    ['FREQ=MONTHLY;BYDAY=0MO', /no 0MO/],
    ['FREQ=MONTHLY;BYMONTHDAY=32', /no 32/],
    ['FREQ=MONTHLY;BYMONTHDAY=0', /no 0/],
    ['FREQ=YEARLY;BYMONTH=-1', /no -1/],
    ['FREQ=WEEKLY;BYMONTHDAY=1', /no meaning/],
    ['FREQ=MONTHLY;BYSETPOS=1', /there is none/],
    ['FREQ=DAILY;=', /no NAME=VALUE/],
    [`FREQ=WEEKLY;BYDAY=${'MO,'.repeat(300)}MO`, /write a rule/],
  ];
  for (const [rule, why] of refused) {
    t.throws(() => readRule(rule), { name: 'RuleError', message: why }, rule.slice(0, 40));
  }
  t.ok(new RuleError('x') instanceof Error);
  t.match(readRule('RRULE:freq=daily;count=3;'), { frequency: 'DAILY', count: 3 });
});
