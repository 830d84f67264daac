import t from 'tap';
import { z } from 'zod';
import { addMember, defaultWorkspace } from '../../monitoring/testing.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import { sql } from '../../platform/database/pools.ts';
import { forgetOldBadges, removeBadgesOfWorkspace } from './index.ts';
import { badgesApi } from './testing.ts';

const count = sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from badges`;

void t.test('a badge is made once for each subject, listed, read and deleted', async (t) => {
  const api = await badgesApi(t);
  const monitor = { type: 'monitor', id: (await api.monitor({ name: 'shop' })).id } as const;
  const heartbeat = api.heartbeat();
  const body = { workspace_id: api.workspaceId, ...monitor };
  const made = await api.badges('POST', '', body);
  t.equal(made.status, 201, made.text);
  const key = String(made.body['key']);
  t.match(key, /^bdg_[0-9A-Za-z]{38}$/);
  const forms = (kind: string) => ({
    svg: `https://parallax.example/badge/${key}/${kind}.svg`,
    json: `https://parallax.example/badge/${key}/${kind}.json`,
  });
  t.match(made.body, {
    workspace_id: api.workspaceId,
    type: 'monitor',
    subject_id: monitor.id,
    name: 'shop',
    urls: {
      status: forms('status'),
      uptime: forms('uptime'),
      latency: forms('latency'),
      certificate: forms('certificate'),
    },
    rotated_at: null,
  });
  t.equal(made.headers.get('location'), `/api/v1/badges/${String(made.body['id'])}`);
  const again = await api.badges('POST', '', body);
  t.equal(again.status, 200);
  t.same(again.body, made.body, 'the same, key and all');
  t.equal(again.headers.get('location'), made.headers.get('location'));
  const together = await Promise.all(
    Array.from({ length: 4 }, async () => api.badges('POST', '', { ...body, type: 'heartbeat', id: await heartbeat })),
  );
  t.same(
    together.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 200, 201],
    'several at once make one',
  );
  t.equal(new Set(together.map((one) => one.body['key'])).size, 1);
  t.match(together[0]?.body, { urls: { latency: null, certificate: null } });

  await api.badge({ type: 'webhook_check', id: await api.check() });
  await api.badge({ type: 'page', id: await api.page({ is_published: false }) });
  const list = await api.badges('GET', '?page_size=3');
  t.match(list.body, { total: 4, badges: [{ type: 'page' }, { type: 'webhook_check' }, { type: 'heartbeat' }] });
  t.match((await api.badges('GET', `?type=MONITOR&workspace_id=${api.workspaceId}`)).body, {
    total: 1,
    badges: [made.body],
  });
  const path = `/${String(made.body['id'])}`;
  t.same((await api.badges('GET', path)).body, made.body);
  t.equal((await api.shown(key, 'status.svg')).status, 200);
  t.equal((await api.badges('DELETE', path)).status, 204);
  t.equal((await api.badges('GET', path)).status, 404);
  t.equal((await api.badges('DELETE', path)).status, 404);
  t.equal((await api.shown(key, 'status.svg')).status, 404, 'at once, although it was in memory');
  const next = await api.badge(monitor);
  t.not(next.key, key);

  for (const [wrong, status] of [
    [{ ...body, id: 999_999 }, 404],
    [{ ...body, type: 'page', id: monitor.id + 1_000 }, 404],
    [{ ...body, workspace_id: 999_999 }, 404],
    [{ ...body, type: 'group' }, 422],
    [{ ...body, more: 1 }, 422],
    [{ type: 'monitor', id: 1 }, 422],
  ] as const) {
    t.equal((await api.badges('POST', '', wrong)).status, status, JSON.stringify(wrong));
  }
  t.match((await api.badges('POST', '', { ...body, id: 999_999 })).body, {
    errors: [{ in: 'body', path: '/id', code: 'not_found' }],
  });
});

void t.test('a key is exchanged, stored sealed, and recorded', async (t) => {
  const api = await badgesApi(t);
  const { id, key } = await api.badge({ type: 'monitor', id: (await api.monitor()).id });
  t.equal((await api.shown(key, 'status.json')).status, 200);
  const rotated = await api.badges('POST', `/${id}/rotate`);
  t.equal(rotated.status, 200, rotated.text);
  const next = String(rotated.body['key']);
  t.not(next, key);
  t.match(rotated.body, { id, rotated_at: /^20/ });
  t.equal((await api.shown(key, 'status.json')).status, 404, 'the previous one ends at once');
  t.equal((await api.shown(next, 'status.json')).status, 200);
  t.ok(api.broker.hints.includes('badges'), 'other processes are told');
  const stored = await api.database.worker.one(
    sql.type(
      z.object({ key_hash: z.instanceof(Buffer), sealed_key: z.instanceof(Buffer) }),
    )`select key_hash, sealed_key from badges`,
  );
  t.same(stored.key_hash, randomKeyHash(next));
  t.notOk(stored.sealed_key.includes(next));
  await api.badges('DELETE', `/${id}`);
  const log = await api.call('GET', '/api/v1/audit-log?subject_type=badge', { token: api.token });
  const actions = z.object({ events: z.array(z.object({ action: z.string() })) }).parse(log.body).events;
  t.same(
    actions
      .map(({ action }) => action)
      .filter((action) => action.startsWith('badge.'))
      .toSorted(),
    ['badge.created', 'badge.deleted', 'badge.rotated'],
  );
  t.notMatch(log.text, /bdg_/);
});

void t.test('viewers see no keys, others see nothing', async (t) => {
  const api = await badgesApi(t);
  const monitorId = (await api.monitor()).id;
  const { id } = await api.badge({ type: 'monitor', id: monitorId });
  const viewer = await api.account('viewer@example.com');
  const editor = await api.account('editor@example.com');
  const other = await api.account('other@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const as = (token: string) => ({ token });
  const seen = await api.badges('GET', `/${id}`, undefined, as(viewer.accessToken));
  t.match(seen.body, { id, key: null, urls: null });
  t.match((await api.badges('GET', '', undefined, as(viewer.accessToken))).body, {
    badges: [{ key: null, urls: null }],
  });
  t.match((await api.badges('GET', `/${id}`, undefined, as(editor.accessToken))).body, { key: /^bdg_/ });
  const key = await api.call('POST', '/api/v1/auth/tokens', {
    token: editor.accessToken,
    body: { name: 'reads', scopes: ['badges:read'] },
  });
  if (key.status === 201) {
    const token = String(key.body['token']);
    t.match((await api.badges('GET', `/${id}`, undefined, as(token))).body, { key: null }, 'a token that only reads');
    t.equal((await api.badges('POST', `/${id}/rotate`, undefined, as(token))).status, 403);
  }
  const body = { workspace_id: api.workspaceId, type: 'monitor', id: monitorId };
  for (const [method, path, sent] of [
    ['POST', '', body],
    ['POST', `/${id}/rotate`, undefined],
    ['DELETE', `/${id}`, undefined],
  ] as const) {
    t.equal((await api.badges(method, path, sent, as(viewer.accessToken))).status, 403, `${method} ${path}`);
    t.equal((await api.badges(method, path, sent, as(other.accessToken))).status, 404, `${method} ${path}`);
  }
  t.equal((await api.badges('GET', `/${id}`, undefined, as(other.accessToken))).status, 404);
  t.match((await api.badges('GET', '', undefined, as(other.accessToken))).body, { total: 0 });
  const own = await defaultWorkspace(api, other.accessToken);
  const foreign = await api.badges('POST', '', { ...body, workspace_id: own }, as(other.accessToken));
  t.equal(foreign.status, 404, 'a subject of another workspace');
});

void t.test('a badge goes with its subject', async (t) => {
  const api = await badgesApi(t);
  const { worker } = api.database;
  const monitorId = (await api.monitor({ name: 'moves' })).id;
  const made = await api.badge({ type: 'monitor', id: monitorId });
  const target = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'other' } });
  const workspaceId = Number(target.body['id']);
  const moved = await api.call('POST', '/api/v1/monitors/bulk', {
    token: api.token,
    body: { action: 'move', monitor_ids: [monitorId], workspace_id: workspaceId },
  });
  t.equal(moved.status, 200, moved.text);
  t.match((await api.badges('GET', `/${made.id}`)).body, { key: made.key, workspace_id: workspaceId });
  api.clock.ms += 120_000;
  t.equal((await api.shown(made.key, 'status.svg')).status, 200, 'it is shown as before');
  await api.call('DELETE', `/api/v1/monitors/${monitorId}`, { token: api.token });
  t.equal((await api.badges('GET', `/${made.id}`)).status, 404);
  api.clock.ms += 120_000;
  t.equal((await api.shown(made.key, 'status.svg')).status, 404);
  t.equal(await worker.oneFirst(count), 0);

  const heartbeatId = await api.heartbeat();
  const checkId = await api.check();
  const pageId = await api.page();
  const ofHeartbeat = await api.badge({ type: 'heartbeat', id: heartbeatId });
  const ofCheck = await api.badge({ type: 'webhook_check', id: checkId });
  const ofPage = await api.badge({ type: 'page', id: pageId });
  await api.call('DELETE', `/api/v1/heartbeats/${heartbeatId}`, { token: api.token });
  await api.call('DELETE', `/api/v1/webhook-checks/${checkId}`, { token: api.token });
  await api.call('DELETE', `/api/v1/status-pages/${pageId}`, { token: api.token });
  for (const { id, key } of [ofHeartbeat, ofCheck, ofPage]) {
    t.equal((await api.badges('GET', `/${id}`)).status, 404);
    t.equal((await api.badges('POST', `/${id}/rotate`)).status, 404);
    t.equal((await api.shown(key, 'status.svg')).status, 404);
    t.equal((await api.shown(key, 'uptime.json')).status, 404);
  }
  t.match((await api.badges('GET', '')).body, { total: 0 });
  t.equal(await worker.oneFirst(count), 3);
  t.equal(await forgetOldBadges(worker), 3);
  t.equal(await worker.oneFirst(count), 0);

  await api.badge({ type: 'heartbeat', id: await api.heartbeat('another') });
  await removeBadgesOfWorkspace(worker, api.workspaceId);
  t.equal(await worker.oneFirst(count), 0);
});
