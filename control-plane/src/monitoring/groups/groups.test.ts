import { monitorGroupSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { addMember, addResults } from '../testing.ts';
import { groupsApi } from './testing.ts';

const row = z.record(z.string(), z.unknown());

void t.test('a group is created with its members and tags, answered whole, read and listed', async (t) => {
  const api = await groupsApi(t);
  const [a, b] = [await api.monitor(), await api.monitor()];
  const made = await api.groups('POST', '', {
    workspace_id: api.workspaceId,
    name: ' Cafe\u0301 ',
    description: 'all of it',
    monitor_ids: [b.id, a.id, b.id],
    tags: ['x', 'x', 'y'],
  });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  t.equal(made.headers.get('location'), `/api/v1/monitor-groups/${id}`);
  t.equal(made.headers.get('etag'), '"1"');
  t.ok(monitorGroupSchema.strict().safeParse(made.body).success, 'no field but those of the contract');
  t.match(made.body, {
    workspace_id: api.workspaceId,
    name: 'Caf\u00e9',
    description: 'all of it',
    is_paused: false,
    monitor_ids: [a.id, b.id],
    tags: ['x', 'y'],
    version: 1,
  });
  const read = await api.groups('GET', `/${id}`);
  t.same(read.body, made.body);
  t.equal(read.headers.get('etag'), '"1"');
  t.same((await api.groups('GET', '')).body, { monitor_groups: [made.body], total: 1, page: 1, page_size: 20 });
  const audit = await api.database.worker.any(sql.type(row)`
    select action, subject_id, workspace_id from audit_log where subject_type = 'monitor_group'`);
  t.same(audit, [{ action: 'monitor_group.created', subject_id: String(id), workspace_id: api.workspaceId }]);
});

void t.test('a name is unique within a workspace, in NFC, and free again after a deletion', async (t) => {
  const api = await groupsApi(t);
  const first = await api.group({ name: 'Caf\u00e9' });
  const again = { workspace_id: api.workspaceId, name: 'Cafe\u0301' };
  t.match(await api.groups('POST', '', again), { status: 409, body: { code: 'name_taken' } });
  const other = await api.group({ name: 'other' });
  t.match(await api.groups('PUT', `/${other.id}`, { name: 'Caf\u00e9' }), {
    status: 409,
    body: { code: 'name_taken' },
  });
  const second = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const there = await api.groups('POST', '', { ...again, workspace_id: Number(second.body['id']) });
  t.equal(there.status, 201, 'another workspace has names of its own');
  t.equal((await api.groups('DELETE', `/${first.id}`)).status, 204);
  t.equal((await api.groups('GET', `/${first.id}`)).status, 404);
  t.equal((await api.groups('POST', '', again)).status, 201);
});

void t.test('of fifty creations with one name one succeeds', async (t) => {
  const api = await groupsApi(t);
  const body = { workspace_id: api.workspaceId, name: 'one' };
  const all = await Promise.all(Array.from({ length: 50 }, () => api.groups('POST', '', body)));
  t.equal(all.filter(({ status }) => status === 201).length, 1);
  t.equal(all.filter(({ status }) => status === 409).length, 49);
});

void t.test('PUT keeps what is absent, null clears the description, and nothing changed is no version', async (t) => {
  const api = await groupsApi(t);
  const group = await api.group({ description: 'old' });
  const path = `/${group.id}`;
  t.match(await api.groups('PUT', path, { name: 'new' }), {
    status: 200,
    body: { name: 'new', description: 'old', version: 2 },
  });
  t.match((await api.groups('PUT', path, { description: null })).body, { name: 'new', description: '', version: 3 });
  const same = await api.groups('PUT', path, { name: 'new', description: '', is_paused: false });
  t.match(same.body, { version: 3 });
  t.equal(same.headers.get('etag'), '"3"');
  t.match((await api.groups('PUT', path, {})).body, { version: 3 });
  t.equal(
    await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
      select count(*)::integer as n from audit_log where action = 'monitor_group.updated'`),
    2,
    'and no row of the audit log',
  );
});

void t.test('a version that is stale is refused by every write', async (t) => {
  const api = await groupsApi(t);
  const monitor = await api.monitor();
  const group = await api.group({ monitor_ids: [monitor.id], tags: ['a'] });
  for (const [method, suffix, body] of [
    ['PUT', '', { name: 'new' }],
    ['DELETE', '', undefined],
    ['POST', '/monitors', { monitor_ids: [monitor.id] }],
    ['DELETE', '/monitors', { monitor_ids: [monitor.id] }],
    ['POST', '/tags', { tags: ['b'] }],
    ['DELETE', '/tags', { tags: ['a'] }],
    ['PUT', '/status', { status: 'paused' }],
  ] as const) {
    const stale = await api.groups(method, `/${group.id}${suffix}`, body, { headers: { 'if-match': '"7"' } });
    t.match(stale, { status: 412, body: { code: 'version_mismatch' } }, `${method} ${suffix}`);
  }
  t.same((await api.groups('GET', `/${group.id}`)).body, group);
  const fresh = await api.groups('PUT', `/${group.id}`, { name: 'new' }, { headers: { 'if-match': '"1"' } });
  t.equal(fresh.status, 200);
});

void t.test('lists are by name, narrowed by workspace and search, in pages', async (t) => {
  const api = await groupsApi(t);
  const second = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  await api.group({ name: 'beta', description: 'ÄRGER 100%' });
  await api.group({ name: 'Alpha' });
  await api.group({ name: 'gamma', workspace_id: Number(second.body['id']) });
  const names = async (query: string) => {
    const answer = await api.groups('GET', query);
    t.equal(answer.status, 200, answer.text);
    const { monitor_groups, total } = z
      .object({ monitor_groups: z.array(monitorGroupSchema), total: z.number() })
      .parse(answer.body);
    return [monitor_groups.map(({ name }) => name).join(), total];
  };
  t.same(await names(''), ['Alpha,beta,gamma', 3]);
  t.same(await names(`?workspace_id=${api.workspaceId}`), ['Alpha,beta', 2]);
  t.same(await names('?search=ALPH'), ['Alpha', 1]);
  t.same(await names('?search=%C3%A4rger'), ['beta', 1], 'also in the description, beyond ASCII');
  t.same(await names('?search=100%25'), ['beta', 1]);
  t.same(await names('?search=%25'), ['beta', 1], 'a per cent sign stands for itself');
  t.same(await names('?page_size=2&page=2'), ['gamma', 3]);
  for (const bad of ['page=0', 'page=10001', 'page_size=0', 'page_size=101', `search=${'x'.repeat(201)}`, 'search=%00'])
    t.equal((await api.groups('GET', `?${bad}`)).status, 422, bad);
  t.equal((await api.groups('GET', '?page=10000&page_size=100')).status, 200);
  t.equal((await api.groups('GET', '?workspace_id=999')).status, 404);
});

void t.test('hostile bodies are 422 and change nothing', async (t) => {
  const api = await groupsApi(t);
  const group = await api.group();
  const good = { workspace_id: api.workspaceId, name: 'fine' };
  for (const body of [
    undefined,
    null,
    [],
    { ...good, name: '' },
    { ...good, name: 'x'.repeat(201) },
    { ...good, name: 'a\u0000b' },
    { ...good, name: null },
    { ...good, description: 'x'.repeat(2_001) },
    { ...good, is_paused: 'yes' },
    { ...good, workspace_id: '1' },
    { ...good, tags: Array.from({ length: 21 }, (_, n) => String(n)) },
    { ...good, tags: ['x'.repeat(51)] },
    { ...good, monitor_ids: Array.from({ length: 1_001 }, (_, n) => n + 1) },
    { ...good, monitor_ids: ['1'] },
    { ...good, monitor_ids: [1.5] },
    { ...good, monitor_ids: { length: 1 } },
    { ...good, version: 3 },
    '{"workspace_id": 1, "__proto__": {"name": "x"}}',
  ]) {
    t.equal((await api.groups('POST', '', body)).status, 422, JSON.stringify(body)?.slice(0, 80));
  }
  for (const body of [null, { name: null }, { is_paused: 'no' }, { tags: ['x'] }, { monitor_ids: [1] }]) {
    t.equal((await api.groups('PUT', `/${group.id}`, body)).status, 422, JSON.stringify(body));
  }
  for (const body of [undefined, {}, { status: 'PAUSED' }, { status: null }]) {
    t.equal((await api.groups('PUT', `/${group.id}/status`, body)).status, 422, JSON.stringify(body));
  }
  const longest = { ...good, name: 'x'.repeat(200), description: 'y'.repeat(2_000) };
  t.equal((await api.groups('POST', '', longest)).status, 201);
  t.same((await api.groups('GET', `/${group.id}`)).body, group);
});

void t.test('viewers read, editors write, to strangers there is nothing, and keys are not taken', async (t) => {
  const api = await groupsApi(t);
  const group = await api.group();
  const [viewer, editor, stranger] = [
    await api.account('viewer@example.com'),
    await api.account('editor@example.com'),
    await api.account('stranger@example.com'),
  ];
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const put = (token: string) => api.groups('PUT', `/${group.id}/status`, { status: 'paused' }, { token });
  t.equal((await api.groups('GET', `/${group.id}`, undefined, { token: viewer.accessToken })).status, 200);
  t.equal((await put(viewer.accessToken)).status, 403);
  t.equal((await put(stranger.accessToken)).status, 404);
  t.match((await api.groups('GET', '', undefined, { token: stranger.accessToken })).body, { total: 0 });
  t.match((await api.groups('GET', '/stats', undefined, { token: stranger.accessToken })).body, { total: 0 });
  t.equal((await put(editor.accessToken)).status, 200);
  const key = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'key' } });
  const byKey = await api.call('GET', '/api/v1/monitor-groups', { key: String(key.body['key']) });
  t.match(byKey, { status: 403, body: { code: 'wrong_credential_kind' } });
});

void t.test('status and stats count members by category, and the health is the worst of the active ones', async (t) => {
  const api = await groupsApi(t);
  const [up, down, off, fresh] = [
    await api.monitor(),
    await api.monitor(),
    await api.monitor({ is_active: false }),
    await api.monitor(),
  ];
  await addResults(api.database, [{ monitorId: up.id, probeId: 1, atMs: Date.now() }]);
  const { worker } = api.database;
  await worker.query(sql.unsafe`update monitors set status = 'UP' where id = ${up.id}`);
  await worker.query(sql.unsafe`update monitors set status = 'TIMEOUT' where id in (${down.id}, ${off.id})`);
  const one = await api.group({ monitor_ids: [up.id, down.id, off.id, fresh.id] });
  const two = await api.group({ monitor_ids: [up.id, off.id] });
  const empty = await api.group();
  const status = async (id: number) => (await api.groups('GET', `/${id}/status`)).body;
  t.same(await status(one.id), {
    status: 'active',
    health: 'down',
    counts: { total: 4, up: 1, down: 1, degraded: 0, unknown: 1, paused: 1 },
  });
  t.match(await status(two.id), { health: 'up', counts: { total: 2, up: 1, paused: 1 } });
  t.same(await status(empty.id), {
    status: 'active',
    health: 'unknown',
    counts: { total: 0, up: 0, down: 0, degraded: 0, unknown: 0, paused: 0 },
  });
  t.same((await api.groups('GET', '/stats')).body, {
    total: 3,
    active: 3,
    paused: 0,
    monitors: 4,
    health: { down: 1, degraded: 0, unknown: 1, up: 1 },
  });
  const paused = await api.groups('PUT', `/${one.id}/status`, { status: 'paused' });
  t.match(paused, { status: 200, body: { status: 'paused', health: 'unknown', counts: { total: 4, paused: 4 } } });
  t.match(await status(two.id), { status: 'active', health: 'unknown', counts: { paused: 2 } }, 'shared members too');
  t.match((await api.groups('GET', '/stats')).body, { active: 2, paused: 1, health: { down: 0, unknown: 2 } });
  t.match((await api.groups('GET', `/stats?workspace_id=${api.workspaceId}`)).body, { total: 3 });
  t.equal((await api.groups('GET', '/stats?workspace_id=999')).status, 404);
  const listed = await api.call('GET', `/api/v1/monitors?group_id=${two.id}`, { token: api.token });
  t.match(listed.body, { total: 2 }, 'the list of monitors is narrowed by group');
  t.match((await api.call('GET', '/api/v1/monitors?group_id=999', { token: api.token })).body, { total: 0 });
});
