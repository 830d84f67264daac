import t from 'tap';
import { limitsWith } from '../../identity/plans/index.ts';
import { addMember } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { reportsApi } from './testing.ts';

void t.test('a report is made, read, changed and deleted', async (t) => {
  const api = await reportsApi(t);
  const made = await api.reports('POST', '', { workspace_id: api.workspaceId, name: 'Shop' });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  t.match(made.body, {
    owner_id: api.owner.id,
    status: 'active',
    disabled_reason: null,
    scope: { all: true, subjects: [], group_ids: [], tags: [] },
    slo_target: null,
    locale: 'en',
    frequency: 'weekly',
    timezone: 'UTC',
    week_starts: 1,
    send_at: '08:00',
    recipients: [{ address: 'owner@example.com', locale: 'en', state: 'active' }],
    formats: ['pdf'],
    compare: true,
    version: 1,
  });
  const due = new Date(String(made.body['next_run_at']));
  t.equal(due.getUTCDay(), 1, 'on Monday');
  t.equal(due.toISOString().slice(11), '08:00:00.000Z');
  const read = await api.reports('GET', `/${id}`);
  t.equal(read.headers.get('etag'), '"1"');
  t.same(read.body, made.body);
  t.match((await api.reports('PUT', `/${id}`, read.body)).status, 200, 'an answer may be sent back');
  t.match((await api.reports('GET', `/${id}`)).body, { version: 1 }, 'and changes nothing');
  const changed = await api.reports('PUT', `/${id}`, {
    frequency: 'daily',
    timezone: 'Europe/Berlin',
    send_at: '06:30',
    slo_target: 99.9,
    formats: ['pdf', 'csv'],
    compare: false,
  });
  t.match(changed.body, { version: 2, frequency: 'daily', send_at: '06:30', slo_target: 99.9, compare: false });
  t.match(String(changed.body['next_run_at']), /T0[45]:30:00/);
  t.equal((await api.reports('PUT', `/${id}`, { name: 'x' }, { headers: { 'if-match': '"1"' } })).status, 412);
  t.match((await api.reports('GET', '?search=sho&status=active')).body, { scheduled_reports: [{ id }], total: 1 });
  t.match((await api.reports('GET', '?status=paused')).body, { total: 0 });
  t.equal((await api.reports('DELETE', `/${id}`)).status, 204);
  t.equal((await api.reports('GET', `/${id}`)).status, 404);
});

void t.test('a report is paused, resumed and toggled', async (t) => {
  const api = await reportsApi(t);
  const { id, next_run_at: nextRun } = await api.report();
  const paused = await api.reports('POST', `/${id}/pause`);
  t.match(paused, { status: 200, body: { status: 'paused', next_run_at: null, version: 2 } });
  t.match((await api.reports('POST', `/${id}/pause`)).body, { version: 2 }, 'again changes nothing');
  t.match((await api.reports('PUT', `/${id}`, { frequency: 'daily' })).body, { status: 'paused', next_run_at: null });
  t.match((await api.reports('PUT', `/${id}`, { frequency: 'weekly' })).body, { next_run_at: null });
  t.match((await api.reports('POST', `/${id}/resume`)).body, { status: 'active', next_run_at: nextRun });
  t.match((await api.reports('POST', `/${id}/toggle`)).body, { status: 'paused' });
  t.match((await api.reports('POST', `/${id}/toggle`)).body, { status: 'active' });
});

void t.test('what cannot be is refused by its place', async (t) => {
  const api = await reportsApi(t);
  const base = { workspace_id: api.workspaceId, name: 'x' };
  for (const [more, path] of [
    [{ frequency: 'yearly' }, '/frequency'],
    [{ send_at: '24:00' }, '/send_at'],
    [{ timezone: 'Mars/Base' }, '/timezone'],
    [{ week_starts: 3 }, '/week_starts'],
    [{ slo_target: 10 }, '/slo_target'],
    [{ formats: [] }, '/formats'],
    [{ scope: {} }, '/scope'],
    [{ recipients: [{ address: 'nobody' }] }, '/recipients/0/address'],
    [{ recipients: [{ address: 'a@b.example' }, { address: 'A@b.example' }] }, '/recipients/1/address'],
    [{ recipients: [{ address: 'a@b.example\r\nBcc: x@y.example' }] }, '/recipients/0/address'],
    [{ recipients: Array.from({ length: 21 }, (_, index) => ({ address: `r${index}@b.example` })) }, '/recipients'],
  ] as const) {
    const answer = await api.reports('POST', '', { ...base, ...more });
    t.equal(answer.status, 422, JSON.stringify(more));
    t.match(answer.body, { errors: [{ path }] }, answer.text);
  }
  const missing = { ...base, scope: { subjects: [{ type: 'monitor', id: 999 }] } };
  t.match(await api.reports('POST', '', missing), {
    status: 404,
    body: { errors: [{ path: '/scope/subjects/0/id' }] },
  });
  const { id } = await api.report();
  for (const [body, path] of [
    [{ to: '2026-01-01T00:00:00Z' }, '/to'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, '/from'],
    [{ from: '2020-01-02T00:00:00Z' }, '/from'],
    [{ from: '2026-01-02T00:00:00Z', to: '2999-01-01T00:00:00Z' }, '/to'],
  ] as const) {
    t.match(await api.reports('POST', `/${id}/run`, body), { status: 422, body: { errors: [{ path }] } });
  }
});

void t.test('viewers see masked addresses and change nothing, others see nothing', async (t) => {
  const api = await reportsApi(t);
  const { id } = await api.report();
  await api.reports('POST', `/${id}/run`, {});
  await api.make();
  const run = await api.lastRun(id);
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const asViewer = { token: viewer.accessToken };
  t.match((await api.reports('GET', `/${id}`, undefined, asViewer)).body, {
    recipients: [{ address: 'o…@example.com' }],
  });
  t.match((await api.reports('GET', `/${id}/runs`, undefined, asViewer)).body, {
    runs: [{ recipients: [{ address: 'o…@example.com', state: 'active' }] }],
  });
  for (const [method, path] of [
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/run'],
  ] as const) {
    const body = method === 'PUT' ? { name: 'x' } : undefined;
    t.equal((await api.reports(method, `/${id}${path}`, body, asViewer)).status, 403, `${method} ${path}`);
  }
  const stranger = { token: (await api.account('stranger@example.com')).accessToken };
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/toggle'],
    ['POST', '/run'],
    ['GET', '/runs'],
    ['GET', `/runs/${String(run['id'])}/pdf`],
    ['GET', `/runs/${String(run['id'])}/csv`],
  ] as const) {
    const body = method === 'PUT' ? { name: 'x' } : undefined;
    t.equal((await api.reports(method, `/${id}${path}`, body, stranger)).status, 404, `${method} ${path}`);
  }
});

void t.test('a scope that has become empty says so and may be sent back', async (t) => {
  const api = await reportsApi(t);
  const monitor = await api.monitor();
  const { id } = await api.report({ scope: { subjects: [{ type: 'monitor', id: monitor.id }] } });
  await api.call('DELETE', `/api/v1/monitors/${monitor.id}`, { token: api.token });
  const emptied = await api.reports('GET', `/${id}`);
  t.match(emptied.body, { disabled_reason: 'scope_empty', next_run_at: null, scope: { all: false, subjects: [] } });
  t.match(await api.reports('PUT', `/${id}`, emptied.body), { status: 200, body: { version: 1 } });
  t.match((await api.reports('PUT', `/${id}`, { scope: { all: true } })).body, { disabled_reason: null });
});

void t.test('a report whose owner has left is disabled until an editor takes it over', async (t) => {
  const api = await reportsApi(t);
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const asEditor = { token: editor.accessToken };
  const made = await api.reports('POST', '', { workspace_id: api.workspaceId, name: 'of the editor' }, asEditor);
  const id = Number(made.body['id']);
  t.match(made.body, { owner_id: editor.id, recipients: [{ address: 'editor@example.com', state: 'asked' }] });
  const added = { recipients: [{ address: 'editor@example.com' }, { address: 'other@example.com' }] };
  t.match(await api.reports('PUT', `/${id}`, added), { status: 403 }, 'readers agree to mail of the owner');
  t.match(await api.reports('PUT', `/${id}`, { recipients: [] }), { status: 200 }, 'anybody may take them out');
  await api.reports('PUT', `/${id}`, { recipients: [{ address: 'editor@example.com' }] }, asEditor);
  await api.database.worker.query(
    sql.unsafe`delete from workspace_members where user_id = ${editor.id} and role = 'editor'`,
  );
  t.match((await api.reports('GET', `/${id}`)).body, { disabled_reason: 'owner_left', next_run_at: null });
  await api.reports('POST', `/${id}/run`, {});
  await api.make();
  t.match(await api.lastRun(id), { status: 'skipped', error: 'owner_left' });
  t.match((await api.reports('POST', `/${id}/resume`)).body, {
    owner_id: api.owner.id,
    disabled_reason: null,
    recipients: [{ address: 'owner@example.com', state: 'active' }],
  });
});

void t.test('readers of other addresses are asked first', async (t) => {
  const api = await reportsApi(t);
  const { id } = await api.report({
    recipients: [{ address: 'Owner@example.com' }, { address: 'reader@example.com', locale: 'ru' }],
  });
  t.match((await api.reports('GET', `/${id}`)).body, {
    recipients: [
      { address: 'owner@example.com', locale: 'en', state: 'active' },
      { address: 'reader@example.com', locale: 'ru', state: 'asked' },
    ],
  });
  const letter = (await api.send()).find(({ to }) => to.includes('reader@example.com'));
  const link = /\/api\/v1\/public\/mail-alerts\/\S+/.exec(letter?.parsed.text ?? '')?.[0] ?? '';
  t.equal((await api.call('POST', link, {})).status, 200);
  t.match((await api.reports('GET', `/${id}`)).body, { recipients: [{ state: 'active' }, { state: 'active' }] });
});

void t.test('an account whose address is not confirmed has reports mailed to nobody else', async (t) => {
  const api = await reportsApi(t, { isPublished: true, limits: limitsWith() });
  await api.database.worker.query(sql.unsafe`update users set email_verified = false, is_administrator = false`);
  const named = { workspace_id: api.workspaceId, name: 'x', recipients: [{ address: 'reader@example.com' }] };
  t.match(await api.reports('POST', '', named), { status: 403, body: { code: 'address_unconfirmed' } });
  const { id } = await api.report();
  t.match((await api.reports('GET', `/${id}`)).body, {
    recipients: [{ address: 'owner@example.com', state: 'asked' }],
  });
  t.match(await api.reports('PUT', `/${id}`, { recipients: named.recipients }), { status: 403 });
});
