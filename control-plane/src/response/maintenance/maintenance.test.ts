import t from 'tap';
import { z } from 'zod';
import { addMember } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, iso, maintenanceApi, minuteMs } from './testing.ts';

void t.test(
  'a maintenance is planned, read, listed, changed and deleted; each write is in the audit log',
  async (t) => {
    const api = await maintenanceApi(t);
    const { id: monitorId } = await api.monitor();
    const group = await api.group({ monitor_ids: [monitorId] });
    const startsMs = Date.now() + hourMs;
    const made = await api.plan('POST', '', {
      workspace_id: api.workspaceId,
      name: '  Database  ',
      description: 'new disks',
      scope: { subjects: [{ type: 'monitor', id: monitorId }], group_ids: [group.id], tags: ['db'] },
      starts_at: iso(startsMs),
      ends_at: iso(startsMs + 2 * hourMs),
    });
    t.equal(made.status, 201, made.text);
    t.equal(made.headers.get('etag'), '"1"');
    const id = Number(made.body['id']);
    t.equal(made.headers.get('location'), `/api/v1/maintenance/${id}`);
    t.match(made.body, {
      name: 'Database',
      status: 'scheduled',
      scope: { all: false, subjects: [{ type: 'monitor', id: monitorId }], group_ids: [group.id], tags: ['db'] },
      starts_at: iso(startsMs),
      ends_at: iso(startsMs + 2 * hourMs),
      duration_seconds: 7_200,
      rrule: null,
      timezone: 'UTC',
      exdates: [],
      current: null,
      next: { starts_at: iso(startsMs), ends_at: iso(startsMs + 2 * hourMs), is_shifted: false },
      version: 1,
    });
    t.same((await api.plan('GET', `/${id}`)).body, made.body);

    const later = await api.maintenance({ starts_at: iso(startsMs + dayMs), scope: { tags: ['else'] } });
    t.match(
      (await api.plan('GET', '')).body,
      { total: 2, maintenance: [{ id }, { id: later.id }] },
      'what comes next first',
    );
    t.match((await api.plan('GET', `?monitor_id=${monitorId}`)).body, { total: 1, maintenance: [{ id }] });
    t.match((await api.plan('GET', '?search=DISKS')).body, { total: 1 });
    t.match((await api.plan('GET', '?status=completed')).body, { total: 0, maintenance: [] });

    const put = await api.plan(
      'PUT',
      `/${id}`,
      { name: 'Disks', description: null, duration_seconds: 3_600 },
      { headers: { 'if-match': '"1"' } },
    );
    t.match(
      put,
      { status: 200, body: { name: 'Disks', description: '', duration_seconds: 3_600, version: 2 } },
      put.text,
    );
    t.match((await api.plan('PUT', `/${id}`, { name: 'Disks' })).body, { version: 2 }, 'nothing changed');
    t.match(await api.plan('PUT', `/${id}`, { name: 'x' }, { headers: { 'if-match': '"1"' } }), { status: 412 });
    t.match(
      (await api.plan('PUT', `/${id}`, { starts_at: iso(startsMs + hourMs) })).body,
      { starts_at: iso(startsMs + hourMs), ends_at: iso(startsMs + 2 * hourMs) },
      'the duration stays when the start moves',
    );
    const { body: whole } = await api.plan('GET', `/${id}`);
    t.match(
      await api.plan('PUT', `/${id}`, { ...whole, duration_seconds: 7_200 }),
      { status: 200, body: { ends_at: iso(startsMs + 3 * hourMs), duration_seconds: 7_200 } },
      'the end that was sent back says nothing beside another duration',
    );
    t.match((await api.plan('PUT', `/${id}`, { scope: { all: true } })).body, {
      scope: { all: true, subjects: [], group_ids: [], tags: [] },
    });
    t.equal((await api.plan('DELETE', `/${id}`)).status, 204);
    t.equal((await api.plan('GET', `/${id}`)).status, 404);
    t.same(await api.news(), [`maintenance.cancelled ${id}`]);
    const actions = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'maintenance' and subject_id = ${String(id)} order by id`);
    t.same(actions, [
      'maintenance.created',
      'maintenance.updated',
      'maintenance.updated',
      'maintenance.updated',
      'maintenance.updated',
      'maintenance.deleted',
    ]);
  },
);

void t.test('what is wrong with a maintenance is told by its place', async (t) => {
  const api = await maintenanceApi(t);
  const startsMs = Date.now() + hourMs;
  const base = {
    workspace_id: api.workspaceId,
    name: 'x',
    scope: { all: true },
    starts_at: iso(startsMs),
    duration_seconds: 3_600,
  };
  const long = { duration_seconds: undefined, ends_at: iso(startsMs + 100 * 366 * dayMs) };
  for (const [what, more, path, code] of [
    [
      'ends before it begins',
      { duration_seconds: undefined, ends_at: iso(Date.now()) },
      '/ends_at',
      'ends_before_start',
    ],
    ['100 years long', long, '/ends_at', 'too_long'],
    ['a second too long', { duration_seconds: 31 * 86_400 + 1 }, '/duration_seconds', 'too_long'],
    ['a second too short', { duration_seconds: 59 }, '/duration_seconds', 'too_short'],
    ['negative', { duration_seconds: -60 }, '/duration_seconds', 'too_short'],
    ['both ends', { ends_at: iso(Date.now() + 2 * hourMs) }, '/ends_at', 'required'],
    ['no end', { duration_seconds: undefined }, '/duration_seconds', 'required'],
    ['six minutes ago', { starts_at: iso(Date.now() - 6 * minuteMs) }, '/starts_at', 'in_the_past'],
    ['six years ahead', { starts_at: iso(Date.now() + 6 * 366 * dayMs) }, '/starts_at', 'too_far'],
    ['no zone', { timezone: 'Mars/Olympus' }, '/timezone', 'unknown_timezone'],
    ['an offset', { timezone: '+03:00' }, '/timezone', 'unknown_timezone'],
    ['hourly', { rrule: 'FREQ=HOURLY' }, '/rrule', 'invalid_rule'],
    ['never', { rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }, '/rrule', 'no_occurrence'],
    ['for ever', { rrule: 'FREQ=DAILY', duration_seconds: 86_400 }, '/duration_seconds', 'overlaps_for_ever'],
    ['nothing left', { rrule: 'FREQ=DAILY;COUNT=1', exdates: [base.starts_at] }, '/starts_at', 'nothing_to_come'],
    ['no scope', { scope: {} }, '/scope', 'scope_is_empty'],
    ['two scopes', { scope: { all: true, tags: ['a'] } }, '/scope', 'scope_contradicts'],
  ] as const) {
    const answer = await api.plan('POST', '', { ...base, ...more });
    t.match(answer, { status: 422, body: { errors: [{ in: 'body', path, code }] } }, `${what}: ${answer.text}`);
  }
  const monday =
    Date.parse('2026-01-05T10:00:00Z') + 7 * dayMs * Math.ceil((Date.now() - Date.parse('2026-01-05')) / (7 * dayMs));
  const tuesdays = await api.plan('POST', '', { ...base, starts_at: iso(monday), rrule: 'FREQ=WEEKLY;BYDAY=TU' });
  t.match(tuesdays.body, { errors: [{ path: '/starts_at', code: 'not_an_occurrence' }] });
  t.match(tuesdays.text, iso(monday + dayMs), 'it says which is the first');
  for (const scope of [
    { subjects: [{ type: 'probe', id: 1 }] },
    { subjects: [{ type: 'monitor', id: 0 }] },
    { group_ids: ['1'] },
    { tags: [''] },
    { everything: true },
  ]) {
    t.equal((await api.plan('POST', '', { ...base, scope })).status, 422, JSON.stringify(scope));
  }
  t.match(await api.plan('POST', '', { ...base, scope: { group_ids: [999] } }), {
    status: 404,
    body: { errors: [{ path: '/scope/group_ids/0' }] },
  });
  t.match(await api.plan('GET', ''), { body: { total: 0 } });
});

void t.test('a viewer reads, an editor writes, to others it does not exist', async (t) => {
  const api = await maintenanceApi(t);
  const { id } = await api.maintenance();
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const as = { token: viewer.accessToken };
  t.equal((await api.plan('GET', `/${id}`, undefined, as)).status, 200);
  t.equal((await api.plan('POST', `/${id}/cancel`, undefined, as)).status, 403);
  t.equal((await api.plan('DELETE', `/${id}`, undefined, as)).status, 403);
  t.equal((await api.plan('GET', `/calendar?workspace_id=${api.workspaceId}`, undefined, as)).status, 403);
  const stranger = { token: (await api.account('stranger@example.com')).accessToken };
  t.equal((await api.plan('GET', `/${id}`, undefined, stranger)).status, 404);
  t.equal((await api.plan('PUT', `/${id}`, { name: 'mine' }, stranger)).status, 404);
});

void t.test('a preview lists what would be, in the gap too, and what it would have held', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor({ tags: ['web'] });
  await api.monitor();
  // Every day at the present time of day: an outage of three days ago lay within, one of twelve hours before that did not.
  const startsMs = Math.floor(Date.now() / minuteMs) * minuteMs + 10 * minuteMs;
  for (const [backMs, lengthMs] of [
    [3 * dayMs - 5 * minuteMs, minuteMs],
    [5 * dayMs - 5 * minuteMs, 3 * hourMs],
    [3 * dayMs + 12 * hourMs, minuteMs],
  ] as const) {
    await api.database.worker.query(sql.unsafe`
      with incident as (
        insert into incidents (workspace_id, title, status, resolution, started_at, resolved_at)
        values (${api.workspaceId}, 'down', 'resolved', 'auto', ${sql.timestamp(new Date(startsMs - backMs))},
          ${sql.timestamp(new Date(startsMs - backMs + lengthMs))}) returning *)
      insert into incident_members (incident_id, workspace_id, subject_type, subject_id, name, title, started_at, ended_at, resolution)
      select id, workspace_id, 'monitor', ${monitorId}, 'm', title, started_at, resolved_at, 'auto' from incident`);
  }
  const body = {
    workspace_id: api.workspaceId,
    scope: { tags: ['web'] },
    starts_at: iso(startsMs),
    duration_seconds: 3_600,
    rrule: 'FREQ=DAILY',
  };
  const answer = await api.plan('POST', '/preview?count=3', body);
  t.match(
    answer,
    { status: 200, body: { monitors: 1, heartbeats: 0, held: { outages: 2, over_before_end: 1, subjects: 1 } } },
    answer.text,
  );
  t.same(
    (answer.body['occurrences'] as { starts_at: string }[]).map((each) => each.starts_at),
    [iso(startsMs), iso(startsMs + dayMs), iso(startsMs + 2 * dayMs)],
  );
  t.match((await api.plan('POST', '/preview', { ...body, rrule: null })).body, { held: { outages: 0 } });
  t.match((await api.plan('GET', '')).body, { total: 0 }, 'nothing is stored');
  // The next spring of Berlin, daily at 02:30 from the day before: the second instance is shifted.
  const spring = nextSpring();
  const shifted = await api.plan('POST', '/preview?count=2', {
    ...body,
    starts_at: iso(spring - 30 * minuteMs - 23 * hourMs),
    timezone: 'Europe/Berlin',
  });
  t.match(shifted.body, { occurrences: [{ is_shifted: false }, { is_shifted: true }] }, shifted.text);
  t.equal((shifted.body['occurrences'] as { starts_at: string }[])[1]?.starts_at, iso(spring + 30 * minuteMs));
});

/** When daylight saving begins in Berlin the next time: the last Sunday of March, 01:00 UTC. */
function nextSpring(): number {
  for (let year = new Date().getUTCFullYear(); ; year += 1) {
    const last = new Date(Date.UTC(year, 2, 31, 1));
    const ms = last.getTime() - last.getUTCDay() * dayMs;
    if (ms > Date.now() + 3 * dayMs) return ms;
  }
}

void t.test('a maintenance whose scope has become empty says so, and is sent back as it is', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const { id } = await api.maintenance({ scope: { subjects: [{ type: 'monitor', id: monitorId }] } });
  t.match(await api.read(id), { disabled_reason: null });
  const empty = { all: false, subjects: [], group_ids: [], tags: [] };
  t.match(await api.plan('PUT', `/${id}`, { scope: empty }), { status: 422 }, 'nobody empties it');
  t.equal((await api.call('DELETE', `/api/v1/monitors/${monitorId}`, { token: api.token })).status, 204);
  const emptied = await api.read(id);
  t.match(emptied, { disabled_reason: 'scope_empty', scope: empty, status: 'scheduled' });
  t.match((await api.plan('GET', '')).body, { maintenance: [{ id, disabled_reason: 'scope_empty' }] });
  const same = await api.plan('PUT', `/${id}`, { name: emptied.name, scope: emptied.scope });
  t.match(same, { status: 200, body: { version: emptied.version } }, same.text);
  const renamed = await api.plan('PUT', `/${id}`, { name: 'Renamed', scope: emptied.scope });
  t.match(renamed, { status: 200, body: { name: 'Renamed', disabled_reason: 'scope_empty' } }, renamed.text);
  const filled = await api.plan('PUT', `/${id}`, { scope: { tags: ['web'] } });
  t.match(filled, { status: 200, body: { disabled_reason: null } }, filled.text);
});

void t.test(
  'what status pages tell of a maintenance is set with it, changed, and goes back to its default',
  async (t) => {
    const api = await maintenanceApi(t);
    const starts = new Date(Date.now() + 3_600_000).toISOString();
    const body = {
      workspace_id: api.workspaceId,
      name: 'db-7 disks',
      scope: { all: true },
      starts_at: starts,
      duration_seconds: 3_600,
    };
    const send = async (method: string, path: string, given: object) =>
      (await api.call(method, `/api/v1/maintenance${path}`, { token: api.token, body: given })).body;
    const plain = await send('POST', '', body);
    t.match(plain, { is_public: true, public_title: null, public_text: null });
    const made = await send('POST', '', { ...body, public_title: 'New disks', public_text: 'Orders wait.' });
    t.match(made, { is_public: true, public_title: 'New disks', public_text: 'Orders wait.', notify: true });
    const path = `/${String(made['id'])}`;
    const changed = await send('PUT', path, { is_public: false, public_title: null });
    t.match(changed, {
      is_public: false,
      public_title: null,
      public_text: 'Orders wait.',
      version: Number(made['version']) + 1,
    });
    t.match(await send('PUT', path, { is_public: false }), { version: changed['version'] }, 'nothing changes');
    t.match(await send('PUT', path, { is_public: null }), { is_public: true });
    t.match(await send('PUT', path, { notify: false }), { notify: false });
    t.match(await send('PUT', path, { notify: null }), { notify: true });
  },
);
