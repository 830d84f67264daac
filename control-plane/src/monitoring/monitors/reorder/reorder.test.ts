import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, defaultWorkspace, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const path = '/api/v1/monitors/reorder';

async function monitors(api: MonitorsApi, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await api.monitor({ name: `m${index}` })).id);
  return ids;
}

async function shown(api: MonitorsApi): Promise<number[]> {
  const list = await api.call('GET', `/api/v1/monitors?sort=manual&page_size=100&workspace_id=${api.workspaceId}`, {
    token: api.token,
  });
  return (list.body['monitors'] as { id: number }[]).map(({ id }) => id);
}

function put(api: MonitorsApi, monitorIds: readonly number[], more: { token?: string; workspaceId?: number } = {}) {
  return api.call('PUT', path, {
    token: more.token ?? api.token,
    body: { workspace_id: more.workspaceId ?? api.workspaceId, monitor_ids: monitorIds },
  });
}

function audited(api: MonitorsApi): Promise<number> {
  return api.database.worker.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count from audit_log where action = 'workspace.monitors_reordered'`);
}

void t.test('the listed come first, the others keep their order behind them', async (t) => {
  const api = await monitorsApi(t);
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = await monitors(api, 5);
  const first = await put(api, [d, b]);
  t.match(first, { status: 200, body: { workspace_id: api.workspaceId, monitor_ids: [d, b, a, c, e] } });
  t.same(await shown(api), [d, b, a, c, e]);
  t.match((await put(api, [e])).body, { monitor_ids: [e, d, b, a, c] });
  t.match((await put(api, [c, d])).body, { monitor_ids: [c, d, e, b, a] });
  t.same(await shown(api), [c, d, e, b, a]);
  t.equal(await audited(api), 3);
  t.match((await put(api, [c, d])).body, { monitor_ids: [c, d, e, b, a] }, 'the same again changes nothing');
  t.match((await put(api, [])).body, { monitor_ids: [c, d, e, b, a] });
  t.equal(await audited(api), 3, 'and is no change in the log');
});

void t.test('version and ETag stay, so that nobody’s edit is refused because of an order', async (t) => {
  const api = await monitorsApi(t);
  const [a = 0, b = 0] = await monitors(api, 2);
  const before = await api.call('GET', `/api/v1/monitors/${b}`, { token: api.token });
  await put(api, [b, a]);
  const after = await api.call('GET', `/api/v1/monitors/${b}`, { token: api.token });
  t.same({ ...after.body, position: null }, before.body, 'nothing but the place has changed');
  t.equal(after.body['position'], 1);
  const edit = await api.call('PATCH', `/api/v1/monitors/${b}`, {
    token: api.token,
    body: { description: 'edited' },
    headers: { 'if-match': String(before.headers.get('etag')) },
  });
  t.equal(edit.status, 200);
});

void t.test(
  'what is not there, deleted, foreign or doubled is named by its place, and nothing is changed',
  async (t) => {
    const api = await monitorsApi(t);
    const [a = 0, b = 0, gone = 0] = await monitors(api, 3);
    await api.call('DELETE', `/api/v1/monitors/${gone}`, { token: api.token });
    const stranger = await api.account('stranger@example.com');
    const strangers = await defaultWorkspace(api, stranger.accessToken);
    const foreign = await api.call('POST', '/api/v1/monitors', {
      token: stranger.accessToken,
      body: { workspace_id: strangers, url: 'https://example.com/' },
    });
    const second = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
    const elsewhere = await api.monitor({ workspace_id: second.body['id'] });
    for (const [what, id] of [
      ['a deleted one', gone],
      ['a foreign one', Number(foreign.body['id'])],
      ['one of another workspace of the same owner', elsewhere.id],
      ['one that never was', 2_147_483_647],
    ] as const) {
      const answer = await put(api, [b, id, a]);
      t.match(
        answer,
        { status: 404, body: { code: 'not_found', errors: [{ in: 'body', path: '/monitor_ids/1' }] } },
        what,
      );
    }
    t.match(await put(api, [b, a, b, a]), {
      status: 422,
      body: { errors: [{ path: '/monitor_ids/2' }, { path: '/monitor_ids/3' }] },
    });
    t.equal((await put(api, [0])).status, 422);
    t.match(await put(api, [a], { workspaceId: strangers }), { status: 404 });
    t.match(await put(api, [a], { workspaceId: 2_147_483_647 }), { status: 404 });
    const many = Array.from({ length: 10_001 }, (_, index) => index + 1);
    t.match(await put(api, many), { status: 422, body: { errors: [{ path: '/monitor_ids' }] } });
    t.match(await put(api, many.slice(1)), { status: 404 }, 'ten thousand are taken, and looked up');
    t.same(await shown(api), [a, b]);
  },
);

void t.test('an editor may, a viewer may not; a key may', async (t) => {
  const api = await monitorsApi(t);
  const [a = 0, b = 0] = await monitors(api, 2);
  for (const [role, status] of [
    ['editor', 200],
    ['viewer', 403],
  ] as const) {
    const member = await api.account(`${role}@example.com`);
    await addMember(api.database, api.workspaceId, member.id, role);
    t.equal((await put(api, [b, a], { token: member.accessToken })).status, status, role);
  }
  const key = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  const body = { workspace_id: api.workspaceId, monitor_ids: [a, b] };
  t.equal((await api.call('PUT', path, { key: String(key.body['key']), body })).status, 200);
});

void t.test('of fifty orders at once the last one stands, whole', async (t) => {
  const api = await monitorsApi(t);
  const ids = await monitors(api, 30);
  const orders = Array.from({ length: 50 }, (_, index) => [...ids.slice(index % 30), ...ids.slice(0, index % 30)]);
  for (let index = 1; index < orders.length; index += 2) orders[index]?.reverse();
  const switching = ids.map((id) => api.call('POST', `/api/v1/monitors/${id}/pause`, { token: api.token }));
  const answers = await Promise.all(orders.map((order) => put(api, order)));
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]), 'none waits for another in a circle');
  for (const [index, answer] of answers.entries()) t.same(answer.body['monitor_ids'], orders[index]);
  t.same(new Set((await Promise.all(switching)).map(({ status }) => status)), new Set([200]));
  const final = JSON.stringify(await shown(api));
  t.ok(
    orders.some((order) => JSON.stringify(order) === final),
    'no mixture',
  );
});
