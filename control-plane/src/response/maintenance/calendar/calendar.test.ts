import t from 'tap';
import { z } from 'zod';
import { addMember } from '../../../monitoring/testing.ts';
import { instantText } from '../../../platform/calendar-text.ts';
import { sql } from '../../../platform/database/pools.ts';
import { dayMs, hourMs, iso, maintenanceApi, minuteMs } from '../testing.ts';
import type { MaintenanceApi } from '../testing.ts';
import { unfold } from './lines.ts';
import { wallText } from './times.ts';

/** The address of the workspace's calendar, below the origin. */
async function rotate(api: MaintenanceApi): Promise<string> {
  const made = await api.plan('POST', '/calendar/rotate', { workspace_id: api.workspaceId });
  return new URL(String(made.body['url'])).pathname;
}

/** Sends a file for everything of the workspace. */
function send(api: MaintenanceApi, file: string, query = '') {
  return api.plan('POST', `/import/ics?workspace_id=${api.workspaceId}&all=true${query}`, file, {
    headers: { 'content-type': 'text/calendar' },
  });
}

/** A calendar of events that are given by their lines. */
const calendar = (...events: readonly (readonly string[])[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...events.flatMap((lines) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']),
    'END:VCALENDAR',
    '',
  ].join('\r\n');

const inAnHour = () => Math.ceil(Date.now() / minuteMs) * minuteMs + hourMs;

/** A second Sunday of an October at 00:30 UTC, which is 02:30 in Berlin, at least a week ahead: the clock changes between it and spring. */
function autumn(): number {
  for (let year = new Date().getUTCFullYear(); ; year += 1) {
    const ms = Date.UTC(year, 9, 14, 0, 30);
    if (ms > Date.now() + 7 * dayMs) return ms - new Date(ms).getUTCDay() * dayMs;
  }
}

void t.test('the calendar of a workspace is read by its address alone, which the owner changes', async (t) => {
  const api = await maintenanceApi(t);
  t.match(await api.plan('GET', `/calendar?workspace_id=${api.workspaceId}`), { status: 200, body: { url: null } });
  const first = await rotate(api);
  t.match(first, /^\/api\/v1\/public\/maintenance\/[\w-]{43}\.ics$/);
  const shown = await api.plan('GET', `/calendar?workspace_id=${api.workspaceId}`);
  t.equal(new URL(String(shown.body['url'])).pathname, first, 'it is shown again');
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const as = { token: editor.accessToken };
  t.equal((await api.plan('GET', `/calendar?workspace_id=${api.workspaceId}`, undefined, as)).status, 200);
  t.equal((await api.plan('POST', '/calendar/rotate', { workspace_id: api.workspaceId }, as)).status, 403);

  const { name } = await api.maintenance({ name: 'Disks; and, more\\' });
  const feed = await api.call('GET', first);
  t.equal(feed.status, 200);
  t.equal(feed.headers.get('content-type'), 'text/calendar; charset=utf-8');
  t.match(feed.text, String.raw`SUMMARY:Disks\; and\, more\\`, name);
  t.equal((await api.call('GET', first.replace('.ics', ''))).status, 200);

  const second = await rotate(api);
  t.equal((await api.call('GET', second)).status, 200);
  const gone = await api.call('GET', first);
  const unknown = await api.call('GET', '/api/v1/public/maintenance/nobody');
  t.equal(gone.status, 404);
  t.same(
    { ...gone.body, request_id: '' },
    { ...unknown.body, request_id: '' },
    'one that was is as one that never was',
  );
  const plain = await api.database.worker.oneFirst(sql.type(z.object({ row: z.string() }))`
    select c::text as row from calendar_tokens c`);
  const token = second.split('/').at(-1)?.replace('.ics', '') ?? '';
  t.notOk(
    plain.includes(token) || plain.includes(Buffer.from(token).toString('hex')),
    'the token stands nowhere plain',
  );
});

void t.test(
  'a series stands there by the clock of its zone; what daylight saving shifts is a date of its own',
  async (t) => {
    const api = await maintenanceApi(t);
    const path = await rotate(api);
    const startsMs = autumn();
    await api.maintenance({
      starts_at: iso(startsMs),
      duration_seconds: 1_800,
      rrule: 'FREQ=WEEKLY;COUNT=30',
      timezone: 'Europe/Berlin',
      exdates: [iso(startsMs + 7 * dayMs)],
    });
    const { text } = await api.call('GET', path);
    t.ok(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75));
    const lines = unfold(text);
    t.ok(lines.includes(`DTSTART;TZID=Europe/Berlin:${wallText(startsMs + 2 * hourMs)}`));
    t.ok(lines.includes('DURATION:PT1800S'));
    t.ok(lines.includes(`EXDATE;TZID=Europe/Berlin:${wallText(startsMs + 2 * hourMs + 7 * dayMs)}`));
    const year = new Date(startsMs).getUTCFullYear() + 1;
    const march = new Date(Date.UTC(year, 2, 31));
    const spring = wallText(march.getTime() - march.getUTCDay() * dayMs + 3.5 * hourMs);
    t.ok(lines.includes(`RDATE;TZID=Europe/Berlin:${spring}`), `02:30 of the last Sunday of March is 03:30: ${spring}`);
    // Counted without the one that is shifted, the series would be a week longer in a calendar.
    const lastMs = startsMs + 29 * 7 * dayMs;
    t.ok(
      lines.includes(`RRULE:FREQ=WEEKLY;UNTIL=${instantText(lastMs)}`),
      lines.find((line) => line.startsWith('RRULE')) ?? 'no rule',
    );
    t.ok(
      lines.includes('TZID:Europe/Berlin') && lines.includes('TZOFFSETTO:+0200') && lines.includes('TZOFFSETTO:+0100'),
    );
  },
);

void t.test('a calendar that is imported elsewhere makes the same maintenance', async (t) => {
  const api = await maintenanceApi(t);
  const path = await rotate(api);
  const startsMs = autumn();
  const series = { starts_at: iso(startsMs), rrule: 'FREQ=WEEKLY;BYDAY=SU', timezone: 'Europe/Berlin' };
  await api.maintenance({
    ...series,
    name: 'Weekly ünï\ncode'.replace('\n', ' '),
    description: 'line one\nline two; end',
  });
  await api.maintenance({ name: 'Once' });
  const { text } = await api.call('GET', path);
  const other = await maintenanceApi(t);
  const dry = await send(other, text, '&dry_run=true');
  t.match(dry.body, { dry_run: true, total: 2, created: 2, skipped: 0, failed: 0 }, dry.text);
  t.match((await other.plan('GET', '')).body, { total: 0 }, 'a dry run makes nothing');
  const report = await send(other, text);
  t.match(report.body, { created: 2, events: [{ warnings: [] }, { warnings: [] }] }, report.text);
  const fields = (from: unknown) =>
    (from as Record<string, unknown>[])
      .map(({ name, description, starts_at, duration_seconds, rrule, timezone, exdates, next }) => ({
        name,
        description,
        starts_at,
        duration_seconds,
        rrule,
        timezone,
        exdates,
        next,
      }))
      .toSorted((one, two) => String(one.name).localeCompare(String(two.name)));
  t.same(
    fields((await other.plan('GET', '')).body['maintenance']),
    fields((await api.plan('GET', '')).body['maintenance']),
  );
  t.match(
    (await send(other, text)).body,
    { created: 0, skipped: 2, events: [{ code: 'known_uid' }, {}] },
    'again: nothing',
  );
  const actions = await other.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where action like 'maintenance.%' order by id`);
  t.same(actions, ['maintenance.created', 'maintenance.created', 'maintenance.imported']);
});

void t.test('each event is reported, and a bad one does not stop the others', async (t) => {
  const api = await maintenanceApi(t);
  const startsMs = inAnHour();
  const start = `DTSTART:${instantText(startsMs)}`;
  const end = `DTEND:${instantText(startsMs + hourMs)}`;
  const wall = wallText(startsMs + 3 * dayMs);
  const cases: readonly (readonly [string, readonly string[], object])[] = [
    ['plain', ['UID:1', 'SUMMARY:Plain', start, end], { status: 'created', name: 'Plain' }],
    ['the same UID', ['UID:1', 'SUMMARY:Plain', start, end], { status: 'skipped', code: 'doubled_uid' }],
    ['a whole day', ['UID:2', `DTSTART;VALUE=DATE:${wall.slice(0, 8)}`], { status: 'created', name: 'Maintenance' }],
    [
      'a path before the zone',
      ['UID:3', `DTSTART;TZID=/x.org/1/Europe/Berlin:${wall}`, 'DURATION:PT1H'],
      { status: 'created' },
    ],
    [
      'a zone of Windows',
      ['UID:4', `DTSTART;TZID=W. Europe Standard Time:${wall}`, 'DURATION:PT1H'],
      { code: 'unknown_timezone' },
    ],
    [
      'over',
      ['UID:5', 'DTSTART:20200101T000000Z', 'DTEND:20200101T010000Z'],
      { status: 'skipped', code: 'in_the_past' },
    ],
    ['cancelled', ['UID:6', 'STATUS:CANCELLED', start, end], { status: 'skipped', code: 'cancelled' }],
    ['a moved instance', ['UID:7', `RECURRENCE-ID:${instantText(startsMs)}`, start, end], { code: 'moved_instance' }],
    ['no start', ['UID:8', end], { status: 'failed', code: 'no_start' }],
    ['two starts', ['UID:9', start, start, end], { status: 'failed', code: 'doubled' }],
    ['no end', ['UID:10', start], { status: 'failed', code: 'no_end' }],
    ['end before start', ['UID:11', start, `DTEND:${instantText(startsMs - hourMs)}`], { code: 'ends_before_start' }],
    ['a hundred years', ['UID:12', start, 'DURATION:P36525D'], { code: 'too_long' }],
    ['hourly', ['UID:13', start, end, 'RRULE:FREQ=HOURLY'], { status: 'failed', code: 'invalid_rule' }],
    ['no such time', ['UID:14', 'DTSTART:20260231T000000Z', 'DURATION:PT1H'], { code: 'no_time' }],
    [
      'further dates and an alarm',
      [
        'UID:15',
        'SUMMARY:More',
        start,
        end,
        `RDATE:${instantText(startsMs + dayMs)}`,
        'BEGIN:VALARM',
        'TRIGGER:-PT15M',
        'DTSTART:1',
        'END:VALARM',
      ],
      { status: 'created', warnings: ['1 additional dates (RDATE) are left out; plan them by themselves'] },
    ],
    ['no UID', ['SUMMARY:Nameless', start, end], { status: 'created', uid: null }],
  ];
  const report = await send(api, calendar(...cases.map(([, lines]) => lines)));
  t.equal(report.status, 200, report.text);
  const events = report.body['events'] as object[];
  for (const [index, [what, , expected]] of cases.entries())
    t.match(events[index], { event: index + 1, ...expected }, what);
  t.match(report.body, { total: cases.length, created: 5 });
  t.match((await api.plan('GET', '')).body, { total: 5 });
  const bare = await api.plan('POST', `/import/ics?workspace_id=${api.workspaceId}`, calendar(), {
    headers: { 'content-type': 'text/calendar' },
  });
  t.match(bare, { status: 422, body: { errors: [{ in: 'query', code: 'scope_is_empty' }] } });
});

void t.test('a file that is no calendar is refused whole, and quickly', async (t) => {
  const api = await maintenanceApi(t);
  const event = ['UID:x', `DTSTART:${instantText(inAnHour())}`, 'DURATION:PT1H'];
  for (const [what, file] of [
    ['empty', ' '],
    ['another thing', '<html></html>'],
    ['cut off', calendar(event).slice(0, -30)],
    ['crossed', 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n'],
    ['deep', `BEGIN:VCALENDAR\n${'BEGIN:VEVENT\n'.repeat(5_000)}`],
    ['501 events', calendar(...Array.from({ length: 501 }, () => event))],
    ['an endless event', calendar(Array.from({ length: 2_100 }, () => 'X-A:b'))],
  ] as const) {
    t.equal((await send(api, file)).status, 422, what);
  }
  t.equal((await send(api, `BEGIN:VCALENDAR\r\nX:${'a'.repeat(1_200_000)}\r\nEND:VCALENDAR\r\n`)).status, 413);
  const json = { headers: { 'content-type': 'application/json' } };
  t.equal((await api.plan('POST', `/import/ics?workspace_id=${api.workspaceId}&all=true`, '{}', json)).status, 415);
  // Half a million characters in one folded line, parameters without end, a rule that never comes.
  const folded = `SUMMARY:${'a\r\n '.repeat(100_000)}`;
  const parameters = `X${';A=1'.repeat(50_000)}:v`;
  const odd = [
    'UID:a\u0000\u0007b',
    `SUMMARY:${'x'.repeat(199)}😀`,
    `DESCRIPTION:\u0000${'y'.repeat(1_999)}😀`,
    ...event.slice(1),
  ];
  t.match(
    (await send(api, calendar(odd))).body,
    { created: 1, events: [{ uid: 'ab' }] },
    'no NUL, no half of a character',
  );
  const never = 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYSETPOS=1';
  const report = await send(api, calendar([...event, folded], [...event, parameters], [...event.slice(1), never]));
  t.match(report.body, { created: 1, skipped: 1, failed: 1 }, report.text.slice(0, 500));
});
