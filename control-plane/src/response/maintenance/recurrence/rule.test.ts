import t from 'tap';
import { readRule, RuleError } from './rule.ts';

void t.test('a rule is read with its parts, in any case, with and without its name', async (t) => {
  t.match(readRule('rrule:freq=monthly;interval=2;byday=-1fr,2MO;bymonth=1,12;wkst=su;until=20301231'), {
    frequency: 'MONTHLY',
    interval: 2,
    byDay: [
      { weekday: 4, nth: -1 },
      { weekday: 0, nth: 2 },
    ],
    byMonth: [1, 12],
    weekStart: 6,
    until: { kind: 'wall', ms: Date.UTC(2030, 11, 31, 23, 59, 59, 999) },
  });
  t.match(readRule('FREQ=DAILY;UNTIL=20301231T100000Z').until, { kind: 'instant' });
});

for (const [text, about] of [
  ['', 'no part'],
  ['DAILY', 'no part'],
  ['INTERVAL=2', 'FREQ is missing'],
  ['FREQ=HOURLY', 'daily or slower'],
  ['FREQ=SECONDLY;COUNT=1', 'daily or slower'],
  ['FREQ=SOMETIMES', 'one of'],
  ['FREQ=DAILY;FREQ=WEEKLY', 'twice'],
  ['FREQ=DAILY;BYHOUR=1,2,3', 'BYHOUR'],
  ['FREQ=YEARLY;BYWEEKNO=20', 'BYWEEKNO is not supported'],
  ['FREQ=DAILY;X-MINE=1', 'X-MINE is not supported'],
  ['FREQ=DAILY;INTERVAL=0', 'INTERVAL'],
  ['FREQ=DAILY;INTERVAL=-1', 'INTERVAL'],
  ['FREQ=DAILY;INTERVAL=1e3', 'INTERVAL'],
  ['FREQ=DAILY;COUNT=99999999999', 'COUNT'],
  ['FREQ=DAILY;COUNT=2;UNTIL=20301231', 'exclude'],
  ['FREQ=DAILY;UNTIL=20300231', 'UNTIL'],
  ['FREQ=DAILY;UNTIL=20301231T250000Z', 'UNTIL'],
  ['FREQ=WEEKLY;BYDAY=XX', 'BYDAY'],
  ['FREQ=WEEKLY;BYDAY=', 'no part'],
  ['FREQ=WEEKLY;BYDAY=1MO', 'numbers only with'],
  ['FREQ=MONTHLY;BYDAY=54MO', '1 to 53'],
  ['FREQ=MONTHLY;BYDAY=0MO', '1 to 53'],
  ['FREQ=MONTHLY;BYMONTHDAY=32', 'BYMONTHDAY'],
  ['FREQ=MONTHLY;BYMONTHDAY=0', 'BYMONTHDAY'],
  ['FREQ=YEARLY;BYMONTH=-1', 'BYMONTH'],
  ['FREQ=WEEKLY;BYMONTHDAY=1', 'does not go with'],
  ['FREQ=MONTHLY;BYYEARDAY=1', 'YEARLY only'],
  ['FREQ=DAILY;BYSETPOS=1', 'needs another'],
  [`FREQ=DAILY;BYMONTH=${'1,'.repeat(300)}1`, '500 characters'],
  ['FREQ=DAILY\nX:Y', 'no part'],
] as const) {
  void t.test(`refused, saying so: ${JSON.stringify(text.slice(0, 60))}`, async (t) => {
    try {
      readRule(text);
      t.fail('was taken');
    } catch (error) {
      t.ok(error instanceof RuleError);
      t.match((error as Error).message, about);
    }
  });
}
