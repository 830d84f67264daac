import type { Maintenance } from '@parallax/api-contract';
import fc from 'fast-check';
import t from 'tap';
import { escapeText, foldLine, readLines, unescapeText } from './lines.ts';
import { readCalendar } from './read.ts';
import { writeCalendar } from './write.ts';

const window = (more: Partial<Maintenance> = {}): Maintenance => ({
  id: 7,
  workspace_id: 1,
  title: 'Upgrade; of "db", now',
  description: 'Line one\nline two \\ with a very long text that goes on beyond the 75 octets of a line: äöü 😀😀😀',
  status: 'scheduled',
  scope: { all: true, monitor_ids: [], heartbeat_ids: [], webhook_check_ids: [], group_ids: [], tags: [] },
  starts_at: '2026-03-27T01:30:00.000Z',
  ends_at: '2026-03-27T02:30:00.000Z',
  duration_seconds: 3_600,
  rrule: null,
  timezone: 'UTC',
  exdates: [],
  next_occurrence: null,
  occurrences: [],
  created_at: '2026-03-01T00:00:00.000Z',
  updated_at: '2026-03-01T00:00:00.000Z',
  version: 3,
  ...more,
});
const nowMs = Date.parse('2026-03-01T00:00:00Z');
const write = (...windows: Maintenance[]): string => writeCalendar(windows, 'status.example', nowMs);

const calendar = (...event: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'BEGIN:VEVENT', ...event, 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
const only = (...event: string[]) => readCalendar(calendar(...event))[0];

void t.test('a calendar has lines of at most 75 octets that end by CR LF, and is read as it was written', async (t) => {
  const text = write(window(), window({ id: 8, status: 'cancelled' }));
  t.ok(text.endsWith('END:VCALENDAR\r\n'));
  for (const line of text.split('\r\n')) t.ok(Buffer.byteLength(line) <= 75, line);
  t.notMatch(text, /[^\r]\n/);
  t.match(text, /UID:maintenance-7@status\.example\r\n/);
  t.match(text, /DTSTART:20260327T013000Z\r\nDURATION:PT3600S\r\n/);
  const { title, description } = window();
  t.match(readCalendar(text), [
    {
      uid: 'maintenance-7@status.example',
      title,
      description,
      isCancelled: false,
      durationSeconds: 3_600,
      rrule: null,
      startsMs: Date.parse('2026-03-27T01:30:00Z'),
    },
    { isCancelled: true },
  ]);
});

void t.test('any text comes back whole, and no line of it becomes one of the calendar', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (given) => {
      const text = given.toWellFormed().replaceAll(/[^\P{Cc}\n]/gu, ' ');
      const lines = readLines(foldLine(`SUMMARY:${escapeText(text)}`));
      return lines.length === 1 && unescapeText(lines[0]?.value ?? '') === text;
    }),
    { numRuns: 500 },
  );
  t.equal(escapeText('a\r\nEND:VEVENT\rb'), 'a\\nEND:VEVENT\\nb');
});

void t.test('a series recurs in its zone; an instance in the gap is an RDATE in place of its own', async (t) => {
  const series = window({
    rrule: 'freq=daily;count=4',
    timezone: 'Europe/Berlin',
    exdates: ['2026-03-28T01:30:00.000Z'],
  });
  const text = write(series);
  t.match(text, /DTSTART;TZID=Europe\/Berlin:20260327T023000\r\n/);
  t.match(text, /RRULE:FREQ=DAILY;COUNT=4\r\n/);
  t.match(text, /EXDATE:20260328T013000Z\r\nEXDATE;TZID=Europe\/Berlin:20260329T023000\r\nRDATE:20260329T013000Z\r\n/);
  t.match(readCalendar(text), [
    {
      zone: 'Europe/Berlin',
      rrule: 'FREQ=DAILY;COUNT=4',
      problem: null,
      exceptMs: [Date.parse('2026-03-28T01:30:00Z')],
    },
  ]);
});

void t.test('events of other programs are read', async (t) => {
  t.match(only('UID:a', 'SUMMARY:All day', 'DTSTART;VALUE=DATE:20260401', 'DTEND;VALUE=DATE:20260403'), {
    startsMs: Date.parse('2026-04-01T00:00:00Z'),
    durationSeconds: 2 * 86_400,
  });
  t.match(only('DTSTART;VALUE=DATE:20260401'), { uid: null, title: 'Maintenance', durationSeconds: 86_400 });
  t.match(only('DTSTART;TZID="America/New_York":20260401T220000', 'DURATION:P1DT2H30M'), {
    startsMs: Date.parse('2026-04-02T02:00:00Z'),
    durationSeconds: 86_400 + 9_000,
  });
  t.match(
    only(
      'SUMMARY;LANGUAGE=en;X-A="b:c;d":Fol',
      ' ded',
      'DTSTART:20260401T000000Z',
      'DTEND:20260401T010000Z',
      'BEGIN:VALARM',
      'DURATION:PT5M',
      'SUMMARY:alarm',
      'END:VALARM',
    ),
    { title: 'Folded', durationSeconds: 3_600 },
    'an alarm within it is not the event',
  );
  t.match(readCalendar(`\ufeff${calendar('DTSTART:20260401T000000Z').replaceAll('\r\n', '\n')}`), [{ problem: null }]);
});

void t.test('what a window cannot be is said of the event', async (t) => {
  const problems: readonly (readonly [readonly string[], RegExp])[] = [
    [['SUMMARY:x'], /no DTSTART/],
    [['DTSTART:tomorrow'], /no date/],
    [['DTSTART;TZID=Mars:20260401T000000'], /none of IANA/],
    [['DTSTART:20260401T000000Z', 'DURATION:1 hour'], /DURATION is none/],
    [['DTSTART:20260401T000000Z', 'RECURRENCE-ID:20260401T000000Z'], /RECURRENCE-ID/],
    [['DTSTART:20260401T000000Z', 'RRULE:FREQ=DAILY', 'RDATE:20260501T000000Z'], /RDATE/],
  ];
  for (const [event, problem] of problems) t.match(only(...event)?.problem ?? '', problem, event.join());
  t.match(only('DTSTART:20260401T000000Z', 'SUMMARY:a\u0000b\u0007c')?.title, 'a b c');
});

void t.test('what is no calendar, or too many events, is refused; hostile text harms nothing', async (t) => {
  t.throws(() => readCalendar('hello'), { name: 'CalendarError', message: /no calendar/ });
  t.throws(() => readCalendar(''), { name: 'CalendarError' });
  const many = [
    'BEGIN:VCALENDAR',
    ...Array.from({ length: 501 }, () => 'BEGIN:VEVENT\r\nEND:VEVENT'),
    'END:VCALENDAR',
  ].join('\r\n');
  t.throws(() => readCalendar(many), { name: 'CalendarError', message: /501 events/ });
  t.same(readCalendar('BEGIN:VCALENDAR\nEND:VEVENT\nEND:X\nDTSTART:1'), []);
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (text) => {
      readCalendar(`BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n${text}\r\nEND:VEVENT\r\n`);
      return true;
    }),
    { numRuns: 500 },
  );
  const long = `X${';A=b'.repeat(50_000)}`;
  t.same(readLines(long), [], 'a line of many parameters');
});
