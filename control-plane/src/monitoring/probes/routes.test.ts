import { Problem } from '@parallax/api-contract';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { buildHttpServer } from '../../platform/http/server.ts';
import { parsePresentedToken } from './join-token.ts';
import { probeRoutes } from './routes.ts';
import { makeProbes, makeWorkspace, memoryBus, testContext } from '../../testing/probes.ts';

const { database } = await testDatabase(t);
const bus = memoryBus();
const context = testContext(database, bus, {
  addresses: { session: '127.0.0.1:9443', enrolment: 'probes.example.org:9444', broker: '203.0.114.9:4222' },
});
const owner = await makeWorkspace(database);
const stranger = await makeWorkspace(database);

function caller(userId: number, more: Partial<Caller>): Caller {
  return {
    kind: 'user',
    userId,
    isAdministrator: false,
    workspaces: new Map(),
    plan: 'self_hosted',
    readOnly: false,
    isLimited: false,
    ...more,
  };
}
const callers: Record<string, Caller> = {
  administrator: caller(stranger.userId, { isAdministrator: true }),
  owner: caller(owner.userId, { workspaces: new Map([[owner.workspaceId, 'owner']]) }),
  editor: caller(owner.userId, { workspaces: new Map([[owner.workspaceId, 'editor']]) }),
  stranger: caller(stranger.userId, { workspaces: new Map([[stranger.workspaceId, 'owner']]) }),
};
const app = await buildHttpServer(probeRoutes(context), {
  log: quietLog,
  publicUrl: context.publicUrl,
  trustedProxies: [],
  authenticate: async (request, { credentials: accepts }) => {
    const known = callers[request.headers.authorization ?? ''];
    if (known === undefined && accepts !== 'none') throw new Problem('unauthenticated', 'who is it?');
    return known;
  },
  limit: async () => undefined,
});
t.teardown(() => app.close());

type Answer = { status: number; body: Record<string, unknown>; text: string; headers: Record<string, unknown> };
async function call(
  who: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  more: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await app.inject({
    method,
    url,
    headers: {
      authorization: who,
      ...(more.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more.headers,
    },
    ...(more.body === undefined ? {} : { payload: JSON.stringify(more.body) }),
  });
  const isJson = String(response.headers['content-type']).includes('json');
  return {
    status: response.statusCode,
    body: isJson ? response.json() : {},
    text: response.body,
    headers: response.headers,
  };
}

const [shared = 0, own = 0, foreign = 0] = await makeProbes(database, [
  { name: 'shared', region: 'eu' },
  { name: 'own', region: 'us', workspaceId: owner.workspaceId, hasConnected: false },
  { name: 'foreign', region: 'asia', workspaceId: stranger.workspaceId },
]);

t.test('a list shows the public probes and the own private ones', async (t) => {
  const { status, body } = await call('owner', 'GET', '/api/v1/probes');
  t.equal(status, 200);
  t.match(body, { total: 2, page: 1, page_size: 20 });
  t.same(
    (body['probes'] as { name: string }[]).map((probe) => probe.name),
    ['own', 'shared'],
  );
  t.match((body['probes'] as object[])[0], {
    id: own,
    workspace_id: owner.workspaceId,
    health: { status: 'never_connected' },
  });
  t.equal((await call('owner', 'GET', '/api/v1/probes?page=2&page_size=1')).body['total'], 2);
  t.equal((await call('owner', 'GET', `/api/v1/probes?workspace_id=${stranger.workspaceId}`)).status, 404);
  t.equal((await call('nobody', 'GET', '/api/v1/probes')).status, 401);
});

t.test("another workspace's probe does not exist; a public one belongs to administrators", async (t) => {
  t.equal((await call('owner', 'GET', `/api/v1/probes/${foreign}`)).status, 404);
  t.equal((await call('owner', 'PATCH', `/api/v1/probes/${foreign}`, { body: { name: 'x' } })).status, 404);
  t.equal((await call('owner', 'DELETE', `/api/v1/probes/${foreign}`)).status, 404);
  t.equal((await call('owner', 'GET', `/api/v1/probes/${shared}`)).status, 200);
  t.equal((await call('owner', 'PATCH', `/api/v1/probes/${shared}`, { body: { name: 'x' } })).status, 403);
  t.equal((await call('owner', 'DELETE', `/api/v1/probes/${shared}`)).status, 403);
  t.equal((await call('editor', 'PATCH', `/api/v1/probes/${own}`, { body: { name: 'x' } })).status, 403);
  t.equal((await call('owner', 'GET', '/api/v1/probes/2147483648')).status, 422);
});

t.test('a probe is renamed, moved and paused, with its version watched and the agent told', async (t) => {
  const url = `/api/v1/probes/${own}`;
  const renamed = await call('owner', 'PATCH', url, {
    body: { name: 'mine', region: 'eu' },
    headers: { 'if-match': '"1"' },
  });
  t.match(renamed, { status: 200, body: { name: 'mine', region: 'eu', version: 2 }, headers: { etag: '"2"' } });
  t.equal((await call('owner', 'PATCH', url, { body: { name: 'late' }, headers: { 'if-match': '"1"' } })).status, 412);
  const before = await call('owner', 'GET', url);
  bus.hints.length = 0;
  const paused = await call('owner', 'PATCH', url, { body: { is_paused: true } });
  t.match(paused.body, { is_paused: true, name: 'mine' });
  t.match(bus.hints[0], { subject: `dispatch.${own}`, message: { type: 'assignments' } });
  t.ok(before.status === 200);
  await makeProbes(database, [{ name: 'taken', region: 'eu', workspaceId: owner.workspaceId }]);
  t.match(await call('owner', 'PATCH', url, { body: { name: 'taken' } }), {
    status: 409,
    body: { code: 'name_taken' },
  });
  for (const body of [
    { name: '' },
    { name: 'a b' },
    { name: '$(x)' },
    { region: 'x'.repeat(64) },
    { is_paused: 'yes' },
    { color: 1 },
    null,
  ]) {
    t.equal((await call('owner', 'PATCH', url, { body })).status, 422, JSON.stringify(body));
  }
});

t.test('a join token is shown once with the command to paste, and stored as a hash', async (t) => {
  const body = { name: 'new', region: 'eu', workspace_id: owner.workspaceId };
  const made = await call('owner', 'POST', '/api/v1/probes/join-tokens', { body });
  t.equal(made.status, 201);
  const token = String(made.body['token']);
  const [id = '', secret = '', fingerprint = ''] = token.split('.');
  t.ok(parsePresentedToken(`${id}.${secret}`));
  t.match(fingerprint, /^[0-9a-f]{64}$/u);
  t.equal(made.body['command'], `probe-agent register --control-plane probes.example.org:9444 --join-token ${token}`);
  const livesMs = Date.parse(String(made.body['expires_at'])) - Date.now();
  t.ok(livesMs > 9 * 60_000 && livesMs <= 10 * 60_000);
  t.notOk(
    await database.worker.exists(
      sql.unsafe`select 1 from join_tokens where secret_hash = ${sql.binary(Buffer.from(secret, 'base64url'))}`,
    ),
  );
  t.equal((await call('editor', 'POST', '/api/v1/probes/join-tokens', { body })).status, 403);
  t.equal((await call('stranger', 'POST', '/api/v1/probes/join-tokens', { body })).status, 404);
  t.equal(
    (await call('owner', 'POST', '/api/v1/probes/join-tokens', { body: { name: 'n', region: 'eu' } })).status,
    403,
  );
  t.equal(
    (await call('administrator', 'POST', '/api/v1/probes/join-tokens', { body: { name: 'n', region: 'eu' } })).status,
    201,
  );
  t.equal(
    (await call('administrator', 'POST', '/api/v1/probes/join-tokens', { body: { name: 'shared', region: 'eu' } }))
      .status,
    409,
  );
  for (const minutes of [0, 1_441, 1.5]) {
    t.equal(
      (await call('owner', 'POST', '/api/v1/probes/join-tokens', { body: { ...body, expires_in_minutes: minutes } }))
        .status,
      422,
    );
  }
});

t.test('a revoked probe is gone, and its name is free', async (t) => {
  const [gone = 0] = await makeProbes(database, [{ name: 'gone', region: 'eu', workspaceId: owner.workspaceId }]);
  bus.hints.length = 0;
  t.equal((await call('owner', 'DELETE', `/api/v1/probes/${gone}`)).status, 204);
  t.match(bus.hints[0], { subject: `dispatch.${gone}`, message: { type: 'revoked' } });
  t.equal((await call('owner', 'GET', `/api/v1/probes/${gone}`)).status, 404);
  t.equal((await call('owner', 'DELETE', `/api/v1/probes/${gone}`)).status, 404);
  const body = { name: 'gone', region: 'eu', workspace_id: owner.workspaceId };
  t.equal((await call('owner', 'POST', '/api/v1/probes/join-tokens', { body })).status, 201);
  t.ok(
    await database.worker.exists(
      sql.unsafe`select 1 from audit_log where action = 'probe.revoked' and subject_id = ${String(gone)}`,
    ),
  );
});

t.test(
  'addresses of public probes and of the control plane are told to anybody, never those of private probes',
  async (t) => {
    await database.worker.query(sql.unsafe`
    update probes set public_addresses = '{198.51.100.7,2001:db8::7}' where id = ${shared}`);
    await database.worker.query(sql.unsafe`update probes set public_addresses = '{198.51.100.99}' where id = ${own}`);
    const [routed = 0] = await makeProbes(database, [{ name: 'routed', region: 'eu' }]);
    await database.worker.query(sql.unsafe`
      update probes set source_addresses = case when id = ${routed} then '{192.0.2.44,2001:db8::44}' else '{192.0.2.55}' end::text[]
      where id in (${routed}, ${own}, ${shared})`);
    await database.worker.query(sql.unsafe`
      insert into replicas (name, roles, listeners, source_addresses) values ('here', '{api}', '[]', '{192.0.2.66}')`);
    await database.worker.query(sql.unsafe`
    insert into probe_sessions (probe_id, boot_id, replica, remote_address) values (${shared}, 'b', 'r', '8.8.4.4'), (${own}, 'b', 'r', '8.8.8.8')`);
    for (const path of ['/probe/ips', '/api/v1/probe/ips']) {
      const { status, body } = await call('nobody', 'GET', path);
      t.equal(status, 200);
      const addresses = body['addresses'] as string[];
      for (const address of '198.51.100.7 2001:db8::7 8.8.4.4 203.0.114.9 192.0.2.44 2001:db8::44 192.0.2.66'.split(
        ' ',
      ))
        t.ok(addresses.includes(address), address);
      for (const address of ['198.51.100.99', '8.8.8.8', '127.0.0.1', '192.0.2.55'])
        t.notOk(addresses.includes(address), address);
      t.ok((body['cidrs'] as string[]).includes('2001:db8::7/128'));
      const text = await call('nobody', 'GET', path, { headers: { accept: 'text/plain' } });
      t.match(text.headers['content-type'], /^text\/plain/u);
      t.ok(text.text.split('\n').includes('198.51.100.7'));
      const cidr = await call('nobody', 'GET', `${path}?format=cidr`);
      t.ok(cidr.text.split('\n').includes('198.51.100.7/32'));
      const json = await call('nobody', 'GET', `${path}?format=json`, { headers: { accept: 'text/plain' } });
      t.ok(Array.isArray(json.body['addresses']));
      t.equal((await call('nobody', 'GET', `${path}?format=xml`)).status, 422);
    }
  },
);

t.test('a quarantine is shown, and ended by whom the probe belongs to', async (t) => {
  const [mine = 0] = await makeProbes(database, [{ name: 'judged', region: 'eu', workspaceId: owner.workspaceId }]);
  const url = `/api/v1/probes/${mine}`;
  t.match((await call('owner', 'GET', url)).body, { quarantine: null, quarantines: [] });
  t.equal((await call('owner', 'DELETE', `${url}/quarantine`)).status, 404, 'it is in none');
  for (const probeId of [mine, shared]) {
    await database.worker.query(sql.unsafe`
      insert into quarantines (probe_id, started_at, reason, clean_since) values (${probeId}, now() - interval '1 minute', 'it fails alone', now())`);
  }
  await database.worker.query(sql.unsafe`
    insert into quarantines (probe_id, started_at, ended_at, reason)
    values (${mine}, now() - interval '2 days', now() - interval '1 day', 'earlier')`);
  const shown = (await call('owner', 'GET', url)).body;
  t.match(shown, {
    quarantine: { reason: 'it fails alone', ended_at: null, clean_since: /^\d{4}-.*Z$/, is_lifted: false },
    quarantines: [{ reason: 'it fails alone' }, { reason: 'earlier', ended_at: /Z$/, clean_since: null }],
  });
  const list = (await call('owner', 'GET', '/api/v1/probes')).body['probes'] as { id: number; quarantine: unknown }[];
  t.match(list.find(({ id }) => id === mine)?.quarantine, { reason: 'it fails alone' });

  t.equal((await call('stranger', 'DELETE', `${url}/quarantine`)).status, 404, 'not visible');
  t.equal((await call('editor', 'DELETE', `${url}/quarantine`)).status, 403);
  t.equal((await call('owner', 'DELETE', `/api/v1/probes/${shared}/quarantine`)).status, 403, 'a public one');
  t.equal((await call('nobody', 'DELETE', `${url}/quarantine`)).status, 401);
  bus.hints.length = 0;
  t.equal((await call('owner', 'DELETE', `${url}/quarantine`)).status, 204);
  t.ok(
    bus.hints.some(({ subject }) => subject === 'config.0'),
    'the ingest is told',
  );
  t.match((await call('owner', 'GET', url)).body, { quarantine: null, quarantines: [{ is_lifted: true }, {}] });
  t.equal((await call('owner', 'DELETE', `${url}/quarantine`)).status, 404);
  t.equal((await call('administrator', 'DELETE', `/api/v1/probes/${shared}/quarantine`)).status, 204);
  const { rows } = await database.raw.query<{ n: string }>(
    `select count(*) as n from audit_log where action = 'probe.quarantine_lifted'`,
  );
  t.equal(Number(rows[0]?.n), 2);
});
