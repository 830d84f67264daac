import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { databaseCluster } from '@parallax/testkit';
import pg from 'pg';
import t from 'tap';
import { createCanaries, filesBelow } from '../harness/canaries.ts';
import { eventually, runNode, startNode } from '../harness/processes.ts';
import { watchCommandLines } from '../harness/process-tree.ts';
import { startProduct } from '../harness/product.ts';

type Answer = { readonly route: string; readonly status: number; readonly text: string };

/** A server that sends back all that it was sent, as an error: what it says becomes evidence. */
async function echoingTarget() {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    const said = [request.url, ...request.rawHeaders].join('\n');
    heard.push(said);
    response.writeHead(500, { 'x-echo': request.headers.authorization ?? '', 'set-cookie': 'a=b' }).end(said);
  });
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/`, heard, close: () => server.close() };
}

t.test('no secret is seen where it does not belong', { timeout: 180_000 }, async (t) => {
  const canaries = createCanaries();
  const key = randomBytes(32);
  canaries.watch('key-encryption key', key.toString('base64'));
  canaries.watch('key-encryption key', key.toString('hex'));
  const target = await echoingTarget();
  t.teardown(target.close);
  const product = await startProduct({
    PARALLAX_LOG_LEVEL: 'debug',
    PARALLAX_LOCAL_PROBES: '1',
    PARALLAX_KEY_ENCRYPTION_KEY: key.toString('base64'),
  });
  t.teardown(product.stop);
  const watched = watchCommandLines(product.supervisor.pid);
  t.teardown(() => void watched.stop());

  const answers: Answer[] = [];
  /** A request whose answer is kept for later, unless it is the one that shows a secret by design. */
  async function ask<Body = Record<string, unknown>>(
    method: string,
    route: string,
    options: { body?: unknown; headers?: Record<string, string>; shows?: boolean } = {},
  ): Promise<Body> {
    const response = await fetch(product.baseUrl + route, {
      method,
      headers: { ...options.headers, ...(options.body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await response.text();
    const headers = JSON.stringify([...response.headers]);
    if (options.shows !== true)
      answers.push({ route: `${method} ${route}`, status: response.status, text: headers + text });
    return (text.startsWith('{') ? JSON.parse(text) : {}) as Body;
  }

  const account = { email: 'first@example.org', password: canaries.make('account password') };
  await ask('POST', '/api/v1/auth/register', { body: account });
  type Pair = { access_token: string; refresh_token: string };
  const first = await ask<Pair>('POST', '/api/v1/auth/login', { body: account, shows: true });
  const pair = await ask<Pair>('POST', '/api/v1/auth/refresh', {
    body: { refresh_token: first.refresh_token },
    shows: true,
  });
  for (const one of [first, pair]) {
    canaries.watch('access token', one.access_token);
    canaries.watch('refresh token', one.refresh_token);
  }
  const bearer = { authorization: `Bearer ${pair.access_token}` };
  const created = await ask<{ key: string }>('POST', '/api/v1/api-keys', {
    headers: bearer,
    body: { name: 'k' },
    shows: true,
  });
  const apiKey = { 'x-api-key': canaries.watch('API key', created.key) };
  const joined = await ask<{ token: string }>('POST', '/api/v1/probes/join-tokens', {
    headers: bearer,
    body: { name: 'second', region: 'there' },
    shows: true,
  });
  canaries.watch('join token', joined.token.split('.')[1] ?? '');

  const secretHeaders = { 'X-Internal': canaries.make('secret header'), Cookie: `session=${canaries.make('cookie')}` };
  const basic = { username: 'probe', password: canaries.make('HTTP password'), secret_headers: secretHeaders };
  const withToken = {
    bearer_token: canaries.make('bearer token'),
    headers: { Authorization: canaries.make('moved header') },
  };
  canaries.watch('HTTP password', Buffer.from(`probe:${basic.password}`).toString('base64'));

  const monitorIds: number[] = [];
  await t.test('everything is used once', async (t) => {
    for (const settings of [basic, { bearer_token: withToken.bearer_token }, { headers: withToken.headers }]) {
      const monitor = await ask<{ id: number }>('POST', '/api/v1/monitors', {
        headers: apiKey,
        body: { workspace_id: 1, url: target.url, interval_seconds: 1, settings },
      });
      monitorIds.push(monitor.id);
    }
    t.ok(monitorIds.every(Number.isInteger));
    const stateDir = path.join(product.dataDir, 'probes/second');
    const agent = startNode(
      ['probe-agent/src/main.ts', 'run', '--control-plane', product.enrolmentAddress, '--state-dir', stateDir],
      {
        PARALLAX_PROBE_JOIN_TOKEN: joined.token,
        PARALLAX_PROBE_LOG_LEVEL: 'trace',
        PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      },
      path.join(product.dataDir, 'agent.log'),
    );
    t.teardown(() => agent.stop());
    await eventually('the second probe online', async () => {
      const { probes } = await ask<{ probes: { health: { status: string } }[] }>('GET', '/api/v1/probes', {
        headers: bearer,
      });
      return probes.filter(({ health }) => health.status === 'online').length === 2;
    });
    await eventually('an outage of each monitor', async () => {
      const { incidents } = await ask<{ incidents: { members: { id: number }[] }[] }>(
        'GET',
        '/api/v1/incidents?workspace_id=1',
        {
          headers: bearer,
        },
      );
      // What fails for one cause is one incident.
      const failing = incidents.flatMap(({ members }) => members.map(({ id }) => id));
      return new Set(failing).size === monitorIds.length;
    });
    for (const id of monitorIds) {
      for (const route of ['', '/results', '/status-ranges', '/timeline', '/timeline?probe_id=1']) {
        await ask('GET', `/api/v1/monitors/${id}${route}`, { headers: apiKey });
      }
      await ask('POST', `/api/v1/monitors/${id}/check`, { headers: bearer });
      await ask('POST', `/api/v1/monitors/${id}/pause`, { headers: apiKey });
      await ask('POST', `/api/v1/monitors/${id}/check`, { headers: bearer });
      await ask('POST', `/api/v1/monitors/${id}/resume`, { headers: apiKey });
      await ask('PATCH', `/api/v1/monitors/${id}`, { headers: apiKey, body: { description: 'changed' } });
    }
    for (const route of ['auth/me', 'workspaces', 'monitors', 'probes', 'api-keys', 'probe/ips']) {
      await ask('GET', `/api/v1/${route}`, { headers: bearer });
    }
    for (const route of ['/health', '/health/deep', '/version', '/openapi.json'])
      await ask('GET', route, { headers: bearer });
    const heard = target.heard.join('\n');
    for (const name of ['HTTP password', 'bearer token', 'secret header', 'cookie', 'moved header']) {
      t.ok(canaries.namesIn(heard).includes(name), `the target was sent the ${name}`);
    }
  });

  await t.test('wrong uses are refused without repeating what was sent', async (t) => {
    const bad = (settings: object, url = target.url) => ({ workspace_id: 1, url, protocol: 'http', settings });
    const wrong: [string, object, Record<string, string>?][] = [
      ['auth/register', account],
      ['auth/register', { ...account, email: account.password }],
      ['auth/login', { ...account, password: `${account.password}!` }],
      ['auth/login', { ...account, totp_code: { nested: account.password } }],
      ['auth/refresh', { refresh_token: first.refresh_token.slice(0, -1) }],
      ['auth/refresh', { refresh_token: [pair.refresh_token] }],
      ['monitors', bad({ bearer_token: `${withToken.bearer_token} with spaces` })],
      ['monitors', bad({ ...basic, password: `${basic.password}\u0007` })],
      ['monitors', bad({ ...basic, bearer_token: withToken.bearer_token })],
      ['monitors', bad({ secret_headers: { 'X-Internal': `${secretHeaders['X-Internal']}\n` } })],
      ['monitors', bad({}, `http://probe:${basic.password}@localhost/`)],
    ];
    for (const [route, body, headers = bearer] of wrong) {
      await ask('POST', `/api/v1/${route}`, { body, headers });
      t.ok((answers.at(-1)?.status ?? 0) >= 400, `${route} is refused`);
    }
    await ask('GET', '/api/v1/auth/me', { headers: { authorization: `Bearer ${pair.access_token.slice(0, -2)}` } });
    await ask('GET', '/api/v1/monitors', { headers: { 'x-api-key': `${created.key}x` } });
    t.equal(answers.at(-1)?.status, 401);
  });

  await t.test('no answer shows one, but for those that do once by design', (t) => {
    t.ok(answers.length > 50);
    const shown = answers.flatMap(({ route, text }) =>
      canaries.namesIn(text).map((name) => `${route} shows the ${name}`),
    );
    t.same([...new Set(shown)], []);
    t.end();
  });

  await t.test('no command line shows one', (t) => {
    const lines = watched.stop();
    t.ok(lines.some((line) => line.includes('nats-server')) && lines.some((line) => line.includes('postgres')));
    t.same(
      lines.flatMap((line) => canaries.namesIn(line).map((name) => `${line} shows the ${name}`)),
      [],
    );
    t.end();
  });

  await t.test('no log and no other file of the data folder holds one', async (t) => {
    await product.supervisor.stop(15_000);
    let files = 0;
    const held: string[] = [];
    for (const { file, content } of filesBelow(product.dataDir)) {
      files += 1;
      held.push(...canaries.namesIn(content).map((name) => `${file} holds the ${name}`));
    }
    t.same(held, []);
    t.ok(files > 500, 'PostgreSQL and nats-server keep their files there');
    const log = readFileSync(path.join(product.dataDir, 'output.log'), 'utf8');
    t.match(log, '"level":"debug"', 'the log was a detailed one');
    t.match(readFileSync(path.join(product.dataDir, 'agent.log'), 'utf8'), 'the session with the control plane stands');
  });
});

t.test('the password of a database elsewhere is kept nowhere', { timeout: 90_000 }, async (t) => {
  const canaries = createCanaries();
  const password = canaries.make('database password');
  const name = `secrets_${process.pid}`;
  const cluster = await databaseCluster();
  await asAdministrator(cluster.url('postgres'), `create database ${name}`);
  t.teardown(() => asAdministrator(cluster.url('postgres'), `drop database if exists ${name} with (force)`));
  const url = cluster.url(name).replace(/\/\/([^@]+)@/, `//$1:${password}@`);
  const product = await startProduct({
    PARALLAX_LOG_LEVEL: 'debug',
    PARALLAX_DATABASE_URL: url,
    PARALLAX_LOCAL_PROBES: '1',
  });
  t.teardown(product.stop);
  const watched = watchCommandLines(product.supervisor.pid);
  t.teardown(() => void watched.stop());
  await eventually('the URL', async () => product.supervisor.output().includes('Parallax is running'));

  const { PARALLAX_DATABASE_URL: _, ...withoutDatabase } = product.environment;
  const create = ['control-plane/src/main.ts', 'join-token', 'create', '--name', 'p', '--region', 'r'];
  const lost = startNode(create, withoutDatabase);
  t.equal(await lost.ended, 1);
  t.match(lost.errors(), /has its database elsewhere: set PARALLAX_DATABASE_URL/);
  t.match(await runNode(create, product.environment), `--control-plane ${product.enrolmentAddress} --join-token `);
  const wrong = startNode(create, { ...product.environment, PARALLAX_DATABASE_URL: `${url}_that_is_not_there` });
  t.equal(await wrong.ended, 1);
  t.same(canaries.namesIn(lost.output() + wrong.output()), [], 'errors do not show it');

  const lines = watched.stop();
  for (const { file, content } of filesBelow(path.join(product.dataDir, 'run')))
    t.same(canaries.namesIn(content), [], file);
  await product.supervisor.stop(15_000);
  t.same(
    lines.flatMap((line) => canaries.namesIn(line)),
    [],
    'no command line shows it',
  );
  t.same(canaries.namesIn(product.supervisor.output()), [], 'no log shows it');
  for (const { file, content } of filesBelow(product.dataDir)) {
    if (canaries.namesIn(content).length > 0) t.fail(`${file} holds it`);
  }
});

async function asAdministrator(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
