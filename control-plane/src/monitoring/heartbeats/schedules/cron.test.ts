import t from 'tap';
import { parseCron } from './cron-expression.ts';
import { nextCron } from './cron-next.ts';
import { ScheduleError } from './schedule-error.ts';
import { runCron } from './testing/cron-daemon.ts';
import { zoneClock } from './zone-clock.ts';

// Changes of half an hour and at midnight, offsets of half and quarter hours, the southern half of the world, and no change at all.
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Pacific/Chatham',
  'Asia/Kolkata',
];

const expressions = [
  '* * * * *',
  '*/15 * * * *',
  '30 * * * *',
  '30 2 * * *',
  '0,30 1-3 * * *',
  '15 */2 * * *',
  '*/20 2 * * *',
  '0 0 * * *',
  '59 23 * * sat',
  '5 4 1,15 * mon',
  '5 4 */2 * mon-fri',
  '0 2 29 2 *',
  '30 1 * 3,10,11 0',
  '0 12 31 * *',
  '@weekly',
  '@hourly',
];

const firstMinute = Date.UTC(2025, 0, 1) / 60_000;
const lastMinute = Date.UTC(2027, 0, 1) / 60_000;

for (const name of zones) {
  void t.test(`two years in ${name} are those of Debian's cron`, { timeout: 170_000 }, async (t) => {
    const zone = zoneClock(name);
    // Of the wall itself, not of the clock that is tried.
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: name, timeZoneName: 'longOffset', hour: '2-digit' });
    const offsets = new Map<number, number>();
    const offsetAt = (minute: number): number => {
      const quarter = Math.floor(minute / 15);
      const offset = offsets.get(quarter) ?? offsetOf(format, quarter * 15);
      offsets.set(quarter, offset);
      return offset;
    };
    const crons = expressions.map(parseCron);
    const runs = runCron(crons, offsetAt, firstMinute, lastMinute);
    for (const [index, cron] of crons.entries()) {
      const expected = (runs[index] ?? []).map((minute) => minute * 60_000);
      const found: number[] = [];
      for (let atMs = nextCron(cron, zone, firstMinute * 60_000); atMs !== undefined && atMs <= lastMinute * 60_000; ) {
        found.push(atMs);
        atMs = nextCron(cron, zone, atMs);
      }
      const wrong = expected.findIndex((atMs, place) => found[place] !== atMs);
      t.equal(found.length, expected.length, `${expressions[index]}: ${expected.length} runs`);
      t.equal(wrong, -1, `${expressions[index]}: ${new Date(expected[wrong] ?? 0).toISOString()} is there`);
    }
  });
}

void t.test('from any moment the next run is the one that follows it', async (t) => {
  const zone = zoneClock('Europe/Berlin');
  // Around both changes of 2026, from moments between the runs.
  for (const start of [Date.UTC(2026, 2, 28, 22), Date.UTC(2026, 9, 24, 22)]) {
    for (const text of ['30 2 * * *', '*/15 * * * *', '0,30 1-3 * * *', '15 */2 * * *']) {
      const cron = parseCron(text);
      let expected: number | undefined;
      for (let atMs = start + 10 * 3_600_000; atMs >= start; atMs -= 7 * 60_000 + 13_000) {
        const next = nextCron(cron, zone, atMs);
        t.ok(next !== undefined && next > atMs, 'after it');
        if (expected !== undefined && next !== undefined && next > expected) t.fail(`${text}: it goes backwards`);
        expected = next;
      }
    }
  }
});

void t.test('what is no cron expression is refused with a reason', async (t) => {
  const wrong = [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    '1,,2 * * * *',
    'a * * * *',
    '1e1 * * * *',
    '-1 * * * *',
    '* * * foo *',
    '@reboot',
    '@fortnightly',
    '\u0661 * * * *',
  ];
  for (const text of wrong) t.throws(() => parseCron(text), ScheduleError, text.slice(0, 40));
});

void t.test('a date that never comes has no next run', async (t) => {
  t.equal(nextCron(parseCron('0 0 30 2 *'), zoneClock('UTC'), 0), undefined);
  t.equal(nextCron(parseCron('0 0 29 2 *'), zoneClock('UTC'), Date.UTC(2096, 2, 1)), Date.UTC(2104, 1, 29));
});

function offsetOf(format: Intl.DateTimeFormat, minute: number): number {
  const name = format.formatToParts(minute * 60_000).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const match = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name);
  if (match === null) throw new Error(`an offset of ${name}`);
  return (match[1] === '-' ? -1 : 1) * (Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0));
}
