import {
  incidentReportSchema,
  incidentStatsSchema,
  listIncidentsRoute,
  mostIncidentUpdates,
} from '@parallax/api-contract';
import t from 'tap';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { z } from 'zod';
import { incidentsApi } from '../testing.ts';
import type { IncidentsApi } from '../testing.ts';

const minute = 60_000;
const iso = (ms: number): string => new Date(ms).toISOString();

const byHand = (api: IncidentsApi, more: object = {}) =>
  api.incidents('POST', '', { workspace_id: api.workspaceId, title: 'Payments fail', ...more });

const audited = (api: IncidentsApi) =>
  api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'incident' order by id`);

const kinds = async (api: IncidentsApi) =>
  (await api.messages()).map(({ kind, reason }) =>
    reason === undefined ? kind : `${kind} ${JSON.stringify(reason).slice(1, -1)}`,
  );

void t.test('an incident by hand is opened, described, acknowledged and resolved by people', async (t) => {
  const api = await incidentsApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const startedMs = api.clock.nowMs - 10 * minute;
  const made = await byHand(api, {
    severity: 'critical',
    started_at: iso(startedMs),
    assignee_id: api.owner.id,
    monitor_ids: [monitorId],
    update: { kind: 'investigating', body: 'We look at it.', is_public: true },
  });
  t.ok(incidentReportSchema.safeParse(made).success);
  t.match(made, {
    title: 'Payments fail',
    status: 'open',
    severity: 'critical',
    is_manual: true,
    started_at: iso(startedMs),
    assignee: { id: api.owner.id },
    members: [{ type: 'monitor', id: monitorId, name: 'Shop', is_manual: true, ended_at: null, cause: null }],
    updates: [{ kind: 'investigating', body: 'We look at it.', is_public: true, author: { id: api.owner.id } }],
  });
  const path = `/${String(made['id'])}`;
  const acknowledged = await api.incidents('POST', `${path}/acknowledge`);
  t.match(acknowledged, { status: 'acknowledged', acknowledged_by: { id: api.owner.id } });
  t.match(await api.incidents('POST', `${path}/acknowledge`), { version: acknowledged['version'] }, 'again: nothing');
  await api.incidents('POST', `${path}/updates`, { kind: 'identified', body: 'The disk is full.' });
  const changed = await api.incidents('PUT', path, {
    severity: 'minor',
    assignee_id: null,
    postmortem: 'Disks fill.\nWe watch them.',
  });
  t.match(changed, {
    severity: 'minor',
    assignee: null,
    postmortem: 'Disks fill.\nWe watch them.',
    title: 'Payments fail',
  });
  api.clock.nowMs += minute;
  const resolved = await api.incidents('POST', `${path}/resolve`, { body: 'There is room again.', is_public: true });
  t.match(resolved, {
    status: 'resolved',
    resolution: 'manual',
    resolved_at: iso(api.clock.nowMs),
    resolved_by: { id: api.owner.id },
    members: [{ ended_at: iso(api.clock.nowMs), resolution: 'manual' }],
    updates: [{}, { kind: 'identified', is_public: false }, { kind: 'resolved', is_public: true }],
  });
  t.match(await api.incidents('POST', `${path}/resolve`), { version: resolved['version'] }, 'again: nothing');
  const late = await api.call('POST', `/api/v1/incidents${path}/acknowledge`, { token: api.token });
  t.match(late, { status: 409, body: { code: 'conflict' } });
  t.same(await kinds(api), [
    'incident.opened',
    'incident.acknowledged',
    'incident.updated update',
    'incident.updated changed',
    'incident.resolved',
  ]);
  t.same(
    (await api.messages()).map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  );
  t.same(await audited(api), [
    'incident.created',
    'incident.acknowledged',
    'incident.update_added',
    'incident.updated',
    'incident.resolved',
  ]);
});

void t.test('what is resolved by hand while it fails opens no other incident, and its recovery is told', async (t) => {
  const api = await incidentsApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const atMs = api.clock.nowMs - minute;
  await api.turns(monitorId, 'DOWN', atMs);
  const [opened] = await api.messages();
  const path = `/${opened?.incident_id}`;
  await api.incidents('POST', `${path}/updates`, { kind: 'resolved', body: 'Known, ignore.' });
  await api.turns(monitorId, 'TIMEOUT', atMs + 1_000);
  await api.turns(monitorId, 'DOWN', atMs + 2_000);
  t.match(await api.incidents('GET'), {
    total: 1,
    incidents: [{ status: 'resolved', resolution: 'manual', members: [{ ended_at: null }] }],
  });
  await api.turns(monitorId, 'UP', atMs + 3_000);
  t.same(await kinds(api), ['incident.opened', 'incident.resolved', 'incident.recovered']);
  t.match(await api.incidents('GET', path), {
    resolution: 'manual',
    members: [{ resolution: 'auto', ended_at: iso(atMs + 3_000) }],
  });
  await api.turns(monitorId, 'DOWN', atMs + 4_000);
  t.match(await api.incidents('GET'), { total: 2 }, 'another outage is another incident');
});

void t.test('a deleted incident is gone, and its outage opens no other', async (t) => {
  const api = await incidentsApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const atMs = api.clock.nowMs - minute;
  await api.turns(monitorId, 'DOWN', atMs);
  const path = `/${(await api.messages())[0]?.incident_id}`;
  await api.incidents('POST', `${path}/updates`, { body: 'private words' });
  await api.incidents('DELETE', path);
  t.equal((await api.call('GET', `/api/v1/incidents${path}`, { token: api.token })).status, 404);
  t.equal((await api.call('DELETE', `/api/v1/incidents${path}`, { token: api.token })).status, 404);
  await api.turns(monitorId, 'TIMEOUT', atMs + 1_000);
  await api.turns(monitorId, 'UP', atMs + 2_000);
  t.match(await api.incidents('GET'), { total: 0 });
  t.match(await api.incidents('GET', '/stats'), { total: 0 });
  t.same(
    await kinds(api),
    ['incident.opened', 'incident.updated update', 'incident.deleted', 'incident.recovered'],
    'who was told of it is told that it has recovered',
  );
  t.notOk(await api.database.worker.exists(sql.unsafe`select from incident_updates`), 'what people wrote is removed');
});

void t.test(
  'what people do before the first message is told after it, and nothing of what nobody knows of',
  async (t) => {
    const api = await incidentsApi(t);
    const { id: monitorId } = await api.monitor({ name: 'Shop' });
    const cause = { code: 'connect_refused', evidence: { address: '192.0.2.1' } } as const;
    await api.turns(monitorId, 'DOWN', api.clock.nowMs, cause);
    const { incidents } = (await api.incidents('GET')) as { incidents: { id: number }[] };
    t.same(await kinds(api), [], 'it waits for company');
    await api.incidents('POST', `/${incidents[0]?.id}/acknowledge`);
    await api.passes(5_000);
    t.same(await kinds(api), ['incident.opened', 'incident.acknowledged']);
    await api.call('POST', `/api/v1/monitors/${monitorId}/reset-stats`, { token: api.token, body: { confirm: true } });
    t.same((await kinds(api)).slice(2), ['incident.deleted reset'], 'a reset ends it where an alarm is open');
    await api.database.worker.query(sql.unsafe`
    insert into incidents (workspace_id, title, started_at, detected_late) values (${api.workspaceId}, 'late', now(), true)`);
    const late = (await api.incidents('GET')) as { incidents: { id: number }[] };
    await api.incidents('PUT', `/${late.incidents[0]?.id}`, { severity: 'minor' });
    t.equal((await kinds(api)).length, 3);
  },
);

void t.test('an own title stays while others join, and null makes it from the members again', async (t) => {
  const api = await incidentsApi(t);
  const { id: a } = await api.monitor({ name: 'a' });
  const { id: b } = await api.monitor({ name: 'b' });
  const cause = { code: 'connect_refused', evidence: { address: '192.0.2.1' } } as const;
  await api.turns(a, 'DOWN', api.clock.nowMs, cause);
  const { incidents } = (await api.incidents('GET')) as { incidents: { id: number }[] };
  const path = `/${incidents[0]?.id}`;
  await api.incidents('PUT', path, { title: 'The rack is dark' });
  await api.turns(b, 'DOWN', api.clock.nowMs, cause);
  t.match(await api.incidents('GET', path), { title: 'The rack is dark', member_count: 2 });
  t.match(await api.incidents('PUT', path, { title: null }), { title: 'a is down, and 1 more' });
});

void t.test('an incident that is sent back as it was read is as before, and nobody is told', async (t) => {
  const api = await incidentsApi(t);
  const [{ id: a }, { id: b }] = [await api.monitor({ name: 'a' }), await api.monitor({ name: 'b' })];
  const cause = { code: 'connect_refused', evidence: { address: '192.0.2.1' } } as const;
  await api.turns(a, 'DOWN', api.clock.nowMs, cause);
  const { incidents } = (await api.incidents('GET')) as { incidents: { id: number }[] };
  const path = `/${incidents[0]?.id}`;
  const read = await api.incidents('GET', path);
  const before = [await kinds(api), await audited(api)];
  t.match(await api.incidents('PUT', path, read), { title: read['title'], version: read['version'] });
  t.same([await kinds(api), await audited(api)], before);
  await api.turns(b, 'DOWN', api.clock.nowMs, cause);
  const both = await api.incidents('GET', path);
  t.match(both, { title: 'a is down, and 1 more' }, 'its title is made from its members on');
  const changed = await api.incidents('PUT', path, { ...both, severity: 'minor' });
  t.match(changed, { severity: 'minor', title: both['title'] });
  t.ok(Number(changed['version']) > Number(both['version']), 'and what differs is a change');
});

void t.test('the list is filtered, and counted over a window', async (t) => {
  const api = await incidentsApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const hour = 60 * minute;
  const now = api.clock.nowMs;
  await api.turns(monitorId, 'DOWN', now - 5 * hour);
  await api.turns(monitorId, 'UP', now - 4 * hour);
  await byHand(api, {
    title: '100% of ÄPFEL_',
    severity: 'minor',
    started_at: iso(now - 2 * hour),
    assignee_id: api.owner.id,
  });
  await byHand(api, { title: 'other', started_at: iso(now - 800 * hour) });
  const titles = async (query: string) => {
    const list = await api.incidents('GET', query);
    t.ok(listIncidentsRoute.success.answer?.safeParse(list).success, query);
    return (list['incidents'] as { title: string }[]).map(({ title }) => title.split(' ')[0]);
  };
  t.same(await titles(''), ['100%', 'Shop', 'other']);
  t.same(await titles('?is_ongoing=true'), ['100%', 'other']);
  t.same(await titles('?severity=minor'), ['100%']);
  t.same(await titles('?is_manual=false'), ['Shop']);
  t.same(await titles(`?monitor_id=${monitorId}`), ['Shop']);
  t.same(await titles(`?subject_type=monitor&subject_id=${monitorId}`), ['Shop']);
  t.same(await titles(`?assignee_id=${api.owner.id}`), ['100%']);
  t.same(await titles(`?search=${encodeURIComponent('äpfel_')}`), ['100%']);
  t.same(await titles(`?search=${encodeURIComponent('%')}`), ['100%']);
  t.same(await titles(`?search=_pfel`), []);
  t.same(await titles(`?start_time=${iso(now - 3 * hour)}`), ['100%', 'other']);
  t.same(await titles(`?end_time=${iso(now - 3 * hour)}`), ['Shop', 'other']);
  t.same(await titles('?page_size=1&page=2'), ['Shop']);
  const stats = await api.incidents('GET', '/stats?hours=24');
  t.ok(incidentStatsSchema.safeParse(stats).success);
  t.match(stats, { total: 3, ongoing: 2, resolved: 1, mttr_seconds: 3_600 });
  t.match(await api.incidents('GET', '/stats?hours=3'), { total: 2, ongoing: 2, resolved: 0, mttr_seconds: null });
  for (const query of [
    '?subject_id=1',
    '?status=closed',
    '?is_ongoing=yes',
    '?start_time=yesterday',
    '/stats?hours=0',
    '/stats?hours=2161',
  ]) {
    t.equal((await api.call('GET', `/api/v1/incidents${query}`, { token: api.token })).status, 422, query);
  }
});

void t.test('hostile input is refused, and names its field', async (t) => {
  const api = await incidentsApi(t);
  const made = await byHand(api);
  const path = `/api/v1/incidents/${String(made['id'])}`;
  const place = { workspace_id: api.workspaceId, title: 'x' };
  const refused: readonly (readonly [string, string, unknown, string])[] = [
    ['POST', '/api/v1/incidents', { ...place, title: ' ' }, '/title'],
    ['POST', '/api/v1/incidents', { ...place, title: 'a\u0000' }, '/title'],
    ['POST', '/api/v1/incidents', { ...place, started_at: iso(api.clock.nowMs + minute) }, '/started_at'],
    ['POST', '/api/v1/incidents', { ...place, assignee_id: 999_999 }, '/assignee_id'],
    ['POST', '/api/v1/incidents', { ...place, update: { kind: 'resolved', body: 'x' } }, '/update/kind'],
    ['POST', '/api/v1/incidents', { ...place, monitor_ids: [1, 1] }, '/monitor_ids/1'],
    ['PUT', path, { severity: 'fatal' }, '/severity'],
    ['PUT', path, { postmortem: 'x'.repeat(50_001) }, '/postmortem'],
    ['PUT', path, { status: 'resolved' }, '/status'],
    ['POST', `${path}/updates`, { body: '' }, '/body'],
    ['POST', `${path}/updates`, { body: 'x'.repeat(10_001) }, '/body'],
    ['POST', `${path}/updates`, { body: 'x', kind: 'fixed' }, '/kind'],
  ];
  for (const [method, to, body, field] of refused) {
    const answer = await api.call(method, to, { token: api.token, body });
    t.equal(answer.status, 422, `${method} ${JSON.stringify(body).slice(0, 80)}: ${answer.text.slice(0, 200)}`);
    t.match(answer.body, { errors: [{ path: field }] });
  }
  const stale = await api.call('PUT', path, {
    token: api.token,
    body: { severity: 'minor' },
    headers: { 'if-match': '"0"' },
  });
  t.equal(stale.status, 412);
  await api.database.worker.query(sql.unsafe`
    insert into incident_updates (workspace_id, incident_id, kind, body, is_public)
    select ${api.workspaceId}, ${Number(made['id'])}, 'note', 'x', false from generate_series(1, ${mostIncidentUpdates})`);
  const full = await api.call('POST', `${path}/updates`, { token: api.token, body: { body: 'one more' } });
  t.match(full, { status: 409, body: { code: 'conflict' } });
});

void t.test('a viewer reads, an editor writes, a stranger sees nothing', async (t) => {
  const api = await incidentsApi(t);
  const path = `/api/v1/incidents/${String((await byHand(api))['id'])}`;
  const eve = await api.account('eve@example.com');
  const as = async (method: string, suffix = '', body?: unknown) =>
    (await api.call(method, `${path}${suffix}`, { token: eve.accessToken, ...(body === undefined ? {} : { body }) }))
      .status;
  t.equal(await as('GET'), 404);
  t.equal(await as('POST', '/resolve'), 404);
  await addMember(api.database, api.workspaceId, eve.id, 'viewer');
  t.equal(await as('GET'), 200);
  for (const [method, suffix, body] of [
    ['PUT', '', { severity: 'minor' }],
    ['POST', '/updates', { body: 'x' }],
    ['POST', '/acknowledge'],
    ['POST', '/resolve'],
    ['DELETE', ''],
  ] as const) {
    t.equal(await as(method, suffix, body), 403, `${method} ${suffix}`);
  }
  await api.database.worker.query(
    sql.unsafe`update workspace_members set role = 'editor' where user_id = ${eve.id} and workspace_id = ${api.workspaceId}`,
  );
  t.equal(await as('POST', '/acknowledge'), 200);
});
