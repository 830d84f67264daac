import t from 'tap';
import { z } from 'zod';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { incidentsApi } from '../../incidents/testing.ts';
import { maintenanceCapability } from '../index.ts';

const hour = 3_600_000;
const stamp = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');

const calendarApi = async (t: Parameters<typeof incidentsApi>[0]) => {
  const api = await incidentsApi(t, { more: [maintenanceCapability] });
  const call = (method: string, path: string, body?: unknown, token = api.token) =>
    api.call(method, `/api/v1/maintenance${path}`, { token, ...(body === undefined ? {} : { body }) });
  const upload = (text: string, query = '', token = api.token, workspaceId = api.workspaceId) =>
    api.call('POST', `/api/v1/maintenance/import/ics?workspace_id=${workspaceId}${query}`, {
      token,
      body: text,
      headers: { 'content-type': 'text/calendar' },
    });
  return { ...api, call, upload };
};

void t.test('whoever has the token reads the calendar of the workspace, and nobody else', async (t) => {
  const api = await calendarApi(t);
  const startsMs = api.clock.nowMs + hour;
  await api.call('POST', '', {
    workspace_id: api.workspaceId,
    title: 'Upgrade',
    scope: { all: true },
    starts_at: new Date(startsMs).toISOString(),
    duration_seconds: 600,
  });
  const made = await api.call('POST', '/calendar-token', { workspace_id: api.workspaceId });
  t.equal(made.status, 201);
  const { token, url } = z.object({ token: z.string(), url: z.string() }).parse(made.body);
  t.ok(url.endsWith(`/api/v1/maintenance/calendar.ics?token=${token}`));
  const read = (given: string) => api.call('GET', `/calendar.ics?token=${given}`, undefined, '');
  const calendar = await api.call('GET', `/calendar.ics?token=${token}`);
  t.match(calendar.headers.get('content-type'), /^text\/calendar/);
  t.match(calendar.text, new RegExp(`DTSTART:${stamp(startsMs)}\r\nDURATION:PT600S\r\n`));
  t.equal((await read('x')).status, 404);
  const stored = await api.database.worker.anyFirst(
    sql.type(z.object({ row: z.string() }))`select c::text as row from calendar_tokens c`,
  );
  t.notOk(stored.join().includes(token), 'its hash alone is kept');
  const audited = await api.database.worker.anyFirst(sql.type(z.object({ row: z.string() }))`
    select a::text as row from audit_log a where action like 'maintenance.calendar%'`);
  t.equal(audited.length, 1);
  t.notOk(audited.join().includes(token));
  const again = await api.call('POST', '/calendar-token', { workspace_id: api.workspaceId });
  t.equal((await read(token)).status, 404, 'the one before is void');
  t.equal((await api.call('DELETE', `/calendar-token?workspace_id=${api.workspaceId}`)).status, 204);
  t.equal((await read(String(again.body['token']))).status, 404);
});

void t.test('an export is imported elsewhere alike, and once', async (t) => {
  const api = await calendarApi(t);
  const body = { workspace_id: api.workspaceId, scope: { all: true }, duration_seconds: 600 };
  const starts = new Date(api.clock.nowMs + hour).toISOString();
  await api.call('POST', '', { ...body, title: 'once', starts_at: starts });
  await api.call('POST', '', {
    ...body,
    title: 'series',
    starts_at: starts,
    rrule: 'FREQ=DAILY',
    timezone: 'Europe/Berlin',
  });
  const { body: made } = await api.call('POST', '/calendar-token', { workspace_id: api.workspaceId });
  const { text } = await api.call('GET', `/calendar.ics?token=${String(made['token'])}`);
  t.match((await api.upload(text)).body, { created: 0, skipped: 2 }, 'where it comes from: nothing');
  const place = await api.call('POST', '/../workspaces', { name: 'second' });
  const to = `&workspace_id=${String(place.body['id'])}`;
  const other = (query = '') => api.upload(text, query, api.token, Number(place.body['id']));
  t.match((await other('&dry_run=true')).body, { total: 2, created: 2, events: [{ maintenance_id: null }, {}] });
  t.match((await api.call('GET', `?page=1${to}`)).body, { total: 0 }, 'nothing was written');
  t.match((await other('&tags=db&tags=web')).body, { created: 2, skipped: 0, failed: 0 });
  const list = (await api.call('GET', `?search=series${to}`)).body['maintenance'];
  const scope = { all: false, tags: ['db', 'web'] };
  t.match(list, [{ rrule: 'FREQ=DAILY', timezone: 'Europe/Berlin', scope, next_occurrence: {} }]);
  t.match((await other()).body, { created: 0, skipped: 2 }, 'again: nothing');
});

void t.test('of a file each event is reported, and what is none is refused', async (t) => {
  const api = await calendarApi(t);
  const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n');
  const soon = stamp(api.clock.nowMs + hour);
  const past = stamp(api.clock.nowMs - 48 * hour);
  const file = [
    'BEGIN:VCALENDAR',
    event('UID:good', `DTSTART:${soon}`, 'DURATION:PT1H'),
    event('UID:past', `DTSTART:${past}`, 'DURATION:PT1H'),
    event('UID:under way', `DTSTART:${past}`, 'DURATION:P10D'),
    event('UID:cancelled', `DTSTART:${soon}`, 'DURATION:PT1H', 'STATUS:CANCELLED'),
    event('UID:short', `DTSTART:${soon}`, 'DURATION:PT1S'),
    event('UID:hourly', `DTSTART:${soon}`, 'DURATION:PT1H', 'RRULE:FREQ=HOURLY'),
    event('UID:series', `DTSTART:${past}`, 'DURATION:PT1H', 'RRULE:FREQ=DAILY'),
    'END:VCALENDAR',
  ].join('\r\n');
  const report = await api.upload(file);
  t.match(report.body, {
    total: 7,
    created: 2,
    skipped: 3,
    failed: 2,
    events: [
      { result: 'created' },
      { result: 'skipped' },
      { result: 'skipped' },
      { result: 'skipped' },
      { result: 'failed' },
      { result: 'failed' },
      { result: 'created' },
    ],
  });
  t.equal((await api.upload('hello')).status, 422);
  t.equal((await api.upload(`BEGIN:VCALENDAR${'\r\nX:y'.repeat(300_000)}`)).status, 413);
  t.equal((await api.upload(file, '&monitor_ids=999999')).status, 404);
  const eve = await api.account('eve@example.com');
  t.equal((await api.upload(file, '', eve.accessToken)).status, 404);
  await addMember(api.database, api.workspaceId, eve.id, 'viewer');
  t.equal((await api.upload(file, '', eve.accessToken)).status, 403);
});
