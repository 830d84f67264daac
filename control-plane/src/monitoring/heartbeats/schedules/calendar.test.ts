import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { parseCalendar } from './calendar-expression.ts';
import { nextCalendar } from './calendar-next.ts';
import { ScheduleError } from './schedule-error.ts';
import { systemdElapses } from './testing/systemd.ts';
import { zoneClock } from './zone-clock.ts';

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Pacific/Chatham',
  'Asia/Kolkata',
];

const expressions = [
  'hourly',
  'daily',
  'weekly',
  'quarterly',
  '*:0/25',
  '*-*-* 02:30',
  '*-*-* 1..3:15,45',
  'Mon..Fri *-*-* 09:00',
  'Sat,Sun 10:00:30',
  '*-*~01 23:59:59',
  'Mon *-05~07/1',
  '*-*~1..3 00:30',
  '*-*-10..20/3 12:00',
  '2025..2026-02/3-28 0/6:05',
  '*-03,10,11-* 02:00/20',
];

/**
 * In the night in which these zones set their clocks forward, systemd 252 loses a time that the wall shows: it goes on from a time of day that it has
 * normalised by half.
 */
const stumbles = new Set(['*:0/25 America/Santiago', '*:0/25 Pacific/Chatham', '*-*-* 1..3:15,45 Pacific/Chatham']);

const fromMs = Date.UTC(2025, 0, 1);
const toMs = Date.UTC(2027, 0, 1);

/** How often each elapses and the SHA-256 of when, as systemd 252 said; for machines without it. `PARALLAX_PRINT_ELAPSES=1` prints it anew. */
const recorded = JSON.parse(readFileSync(new URL('testing/systemd-elapses.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly [number, string]>
>;
// Without it the expressions are still compared with what systemd 252 said elsewhere.
const isThere = needs(t, 'systemd-analyze');

const digestOf = (times: readonly number[]): readonly [number, string] => [
  times.length,
  createHash('sha256').update(times.join()).digest('hex').slice(0, 16),
];

const printed: Record<string, readonly [number, string]> = {};

for (const zone of zones) {
  void t.test(`two years in ${zone} are those of systemd`, { timeout: 170_000 }, async (t) => {
    for (const expression of expressions) {
      const text = `${expression} ${zone}`;
      if (stumbles.has(text)) continue;
      const all = elapses(text, { mostMs: toMs });
      // systemd takes milliseconds for each: of what comes often, the days around the changes of the clocks.
      const bases = all.length <= 60 ? [fromMs] : changesOf(zone).map((atMs) => atMs - 12 * 3_600_000);
      const count = all.length <= 60 ? all.length : 24;
      const found = bases.flatMap((afterMs) => elapses(text, { afterMs, most: count }));
      if (isThere) {
        const told = bases.flatMap((afterMs) => systemdElapses(text, afterMs, count) ?? []);
        const wrong = told.findIndex((atMs, place) => atMs !== found[place]);
        t.equal(wrong, -1, `${text}: ${new Date(told[wrong] ?? 0).toISOString()} is there`);
        t.equal(found.length, told.length, `${text}: ${told.length} times`);
        printed[text] = digestOf(told);
      }
      t.same(digestOf(found), recorded[text], `${text}: as recorded`);
    }
  });
}

void t.test('both read and refuse the same', async (t) => {
  if (!isThere) return;
  const texts = [
    '',
    'Mon',
    'Mon-Fri',
    'monday 5:0',
    'Wed..Mon',
    'Mon, Wed 10:00',
    'Mon,Wed..Fri 10:00',
    'Sat,Sun 10',
    'Mon..Mon',

    '*:*',
    '* *-*-* *:*:*',
    '24:00',
    '*:60',
    '0..23/5:00',
    '23..1:00',
    '0..59/20:00',
    '*/2:00',
    '5:00:00',
    '1:2:3/4',

    '*-*-0',
    '*-0-1',
    '*-13-01',
    '*-*-31',
    '*-02-30',
    '*-*~31',
    '*-*~28',
    '*-*~3..1',
    '*-*~05,01',
    '*-*-*/5',
    '03-05',

    '26-01-01',
    '70-01-01',
    '2003-*',
    '2003-03-05 05:40',
    '*-*-1..3/1,5 0',
    '*-1/3-1',
    '*-1..3-1,15',
    'anually',
    'nightly',

    '12:30 UTC',
    '12:30 Europe/Berlin',
    '12:30 Nowhere/City',
    '*-*-*T05:00',
    '2026..2027/1-01-01',
    '-1:00',
    '1:-1',
    '1:00:00:00',

    '*-*-1/0',
    '*:0/59',
    '*-*-28..31',
    'Mon *-*-1..7 6:00',
    '*-2-29 0:0',
    'minutely',
    'secondly',
  ];
  for (const text of texts) {
    const told = systemdElapses(text, fromMs, 5);
    let read: readonly number[] | null;
    try {
      read = elapses(text, { most: 5 });
    } catch (error) {
      if (!(error instanceof ScheduleError) && !(error instanceof RangeError)) throw error;
      read = null;
    }
    t.same(read, told, `"${text}"`);
  }
});

void t.test('what is not taken says so', async (t) => {
  for (const text of ['12:34:56.5', '@1700000000', '*-*-* 00:00:00 extra word', '\u0661:00', '9'.repeat(5_000)])
    t.throws(() => parseCalendar(text), ScheduleError, text.slice(0, 40));
});

t.teardown(() => {
  if (process.env['PARALLAX_PRINT_ELAPSES'] === '1') process.stderr.write(`${JSON.stringify(printed, null, 1)}\n`);
});

function elapses(
  text: string,
  {
    afterMs = fromMs,
    most = 100_000,
    mostMs = Number.POSITIVE_INFINITY,
  }: { afterMs?: number; most?: number; mostMs?: number },
): number[] {
  const calendar = parseCalendar(text);
  const zone = zoneClock(calendar.zone ?? 'UTC');
  const found: number[] = [];
  for (
    let atMs = nextCalendar(calendar, zone, afterMs);
    atMs !== undefined && atMs <= mostMs && found.length < most;
  ) {
    found.push(atMs);
    atMs = nextCalendar(calendar, zone, atMs);
  }
  return found;
}

/** When the clocks of a zone are set in the two years; a day in each where they are not. */
function changesOf(zone: string): number[] {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset', hour: '2-digit' });
  const nameAt = (atMs: number) => format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value;
  const found: number[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += 3_600_000)
    if (nameAt(atMs) !== nameAt(atMs - 3_600_000)) found.push(atMs);
  return found.length > 0 ? found : [Date.UTC(2025, 5, 1), Date.UTC(2026, 5, 1)];
}
