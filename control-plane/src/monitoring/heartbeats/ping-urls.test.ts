import t from 'tap';
import { heartbeatsApi } from './testing.ts';
import type { HeartbeatsApi } from './testing.ts';

const token = 'Abcdef0123456789Abcdef0123456789';

/** Imports a push monitor of Uptime Kuma, so that it has a URL of each kind. */
async function imported(api: HeartbeatsApi): Promise<Record<string, unknown>> {
  const file = { monitorList: [{ type: 'push', name: 'pushed', interval: 60, pushToken: token, active: 1 }] };
  await api.make('POST', `/api/v1/heartbeats/import?workspace_id=${api.workspaceId}`, file);
  const list = (await api.make('GET', '/api/v1/heartbeats?search=pushed')).body['heartbeats'];
  return (list as Record<string, unknown>[])[0] ?? {};
}

const pathOf = (url: unknown): string => new URL(String(url)).pathname;
const urlsOf = (one: Record<string, unknown>): string[] => [pathOf(one['ping_url']), pathOf(one['ping_url_by_uuid'])];

async function statuses(api: HeartbeatsApi, paths: readonly string[]): Promise<Record<string, number>> {
  const asked = paths.map(async (path) => [path, (await api.ping(path)).status] as const);
  return Object.fromEntries(await Promise.all(asked));
}
const all = (paths: readonly string[], status: number) => Object.fromEntries(paths.map((path) => [path, status]));

void t.test('a new secret comes with a new uuid and a new push token, and the old ones are nobody’s', async (t) => {
  const api = await heartbeatsApi(t);
  const before = await imported(api);
  const other = await api.heartbeat();
  const old = [pathOf(before['ping_url_by_uuid']), `/api/push/${token}`];
  t.same(await statuses(api, old), all(old, 200));
  const path = `/api/v1/heartbeats/${String(before['id'])}`;
  const { body } = await api.make('POST', `${path}/regenerate-secret`);
  t.match(body, { secret: /^plb_/, push_url: /\/api\/push\/[\w-]{32}$/, version: Number(before['version']) + 1 });
  t.not(body['uuid'], before['uuid']);
  t.same(await statuses(api, old), all(old, 404), 'no old URL works');
  const now = [...urlsOf(body), pathOf(body['push_url'])];
  t.same(await statuses(api, now), all(now, 200), 'every new one does');
  t.match((await api.make('GET', path)).body, { uuid: body['uuid'], ping_url_by_uuid: body['ping_url_by_uuid'] });
  const untouched = urlsOf(other);
  t.same(await statuses(api, untouched), all(untouched, 200), 'the URLs of another heartbeat stay');
  const without = (await api.make('POST', `/api/v1/heartbeats/${String(other['id'])}/regenerate-secret`)).body;
  t.equal(without['push_url'], null, 'where no push token was imported, none is made');
});

void t.test('a new ping key exchanges every URL of the workspace', async (t) => {
  const api = await heartbeatsApi(t);
  const push = await imported(api);
  const first = await api.heartbeat();
  const elsewhere = (await api.make('POST', '/api/v1/workspaces', { name: 'elsewhere' })).body['id'];
  const kept = (await api.make('POST', `/api/v1/heartbeats?workspace_id=${String(elsewhere)}`, { name: 'kept' })).body;
  const gone = await api.heartbeat();
  await api.make('DELETE', `/api/v1/heartbeats/${String(gone['id'])}`);
  const old = [...urlsOf(push), ...urlsOf(first), `/api/push/${token}`];
  t.same(await statuses(api, old), all(old, 200));
  const workspace = `/api/v1/workspaces/${api.workspaceId}`;
  const { body } = await api.make('POST', `${workspace}/regenerate-ping-key`);
  t.match(body, {
    ping_key: /^[\w-]{32}$/,
    version: 2,
    exchanged_heartbeats: 2,
    push_urls: [{ heartbeat_id: push['id'], name: 'pushed', push_url: /\/api\/push\/[\w-]{32}$/ }],
  });
  t.not(body['ping_key'], api.pingKey);
  t.same(await statuses(api, old), all(old, 404), 'no old URL works');
  const read = async (one: Record<string, unknown>) =>
    (await api.make('GET', `/api/v1/heartbeats/${String(one['id'])}`)).body;
  const [pushUrl] = body['push_urls'] as { push_url: string }[];
  const now = [...urlsOf(await read(push)), ...urlsOf(await read(first)), pathOf(pushUrl?.push_url)];
  t.same(await statuses(api, now), all(now, 200), 'every new one does');
  const untouched = urlsOf(kept);
  t.same(await statuses(api, untouched), all(untouched, 200), 'those of another workspace stay');
  const secret = { method: 'POST', headers: { 'x-secret': String(first['secret']) } };
  const signal = `${pathOf((await read(first))['ping_url'])}/log`;
  t.equal((await api.ping(signal, secret)).status, 200, 'the secret is no URL and stays');
  const log = (await api.make('GET', `/api/v1/audit-log?workspace_id=${api.workspaceId}`)).text;
  t.match(log, '"workspace.ping_key_regenerated"');
  for (const each of [String(body['ping_key']), ...now.map((url) => url.split('/').at(-1) ?? '')].filter(
    (text) => text.length > 30,
  )) {
    t.notOk(log.includes(each), 'the log does not know it');
  }
});

void t.test('only the owner of a workspace exchanges its ping key', async (t) => {
  const api = await heartbeatsApi(t);
  const path = `/api/v1/workspaces/${api.workspaceId}/regenerate-ping-key`;
  for (const [role, status] of [
    ['stranger', 404],
    ['viewer', 403],
    ['editor', 403],
  ] as const) {
    const { id, accessToken } = await api.account(`${role}@example.com`);
    if (role !== 'stranger') {
      await api.database.raw.query('insert into workspace_members (workspace_id, user_id, role) values ($1, $2, $3)', [
        api.workspaceId,
        id,
        role,
      ]);
    }
    t.equal((await api.call('POST', path, { token: accessToken })).status, status, role);
  }
  for (const limit of [{ workspace_ids: [api.workspaceId] }, { scopes: ['heartbeats:write'] }]) {
    const { body } = await api.make('POST', '/api/v1/auth/tokens', { name: 'limited', ...limit });
    const answer = await api.call('POST', path, { token: String(body['token']) });
    t.equal(answer.status, 403, `a token of ${JSON.stringify(limit)}`);
  }
  t.equal((await api.make('GET', '/api/v1/workspaces/default')).body['ping_key'], api.pingKey);
});

void t.test('what outlives a token is shown to tokens that may use it only', async (t) => {
  const api = await heartbeatsApi(t);
  const { id } = await api.heartbeat();
  const seen = async (scopes: readonly string[]) => {
    const { body } = await api.make('POST', '/api/v1/auth/tokens', { name: scopes.join(), scopes });
    return (await api.call('GET', `/api/v1/heartbeats/${String(id)}`, { token: String(body['token']) })).body;
  };
  t.match(await seen(['heartbeats:read']), { uuid: null, ping_url: null });
  t.match(await seen(['heartbeats:write']), { uuid: /^[0-9a-f-]{36}$/, ping_url: null }, 'it may send signals itself');
  t.match((await api.make('GET', `/api/v1/heartbeats/${String(id)}`)).body, { ping_url: RegExp(api.pingKey) });
});
