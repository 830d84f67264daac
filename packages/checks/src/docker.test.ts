import { createServer, type Server, type Socket } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lateness } from '@parallax/testkit/time-taken';
import t, { type Test } from 'tap';
import { runCheck } from './run.ts';
import { docker } from './docker.ts';
import { dockerSettings } from './docker/settings.ts';
import { issue } from './testing/certificates.ts';
import { ownFolder } from './testing/real-server.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';
import {
  containerSecret,
  fakeDocker,
  type FakeContainer,
  listenDocker,
  listenDockerAt,
} from './testing/docker-peer.ts';

/** A daemon on a socket, which checks may ask. */
async function onSocket(t: Test, containers: Readonly<Record<string, FakeContainer>>) {
  const daemon = fakeDocker(containers);
  const path = join(await ownFolder(t, 'docker'), 'docker.sock');
  const stop = await listenDockerAt(daemon, path);
  t.teardown(stop);
  const steps: string[] = [];
  const trace = (step: string, detail: string) => void steps.push(`${step}: ${detail}`);
  const check = (settings: object, overrides: object = {}, url = `unix://${path}`) =>
    runCheck('docker', { url }, settings, testContext({ dockerSockets: [path], trace, ...overrides }));
  return { ...daemon, path, check, steps, stop };
}

/** A raw peer on a socket of the file system. */
async function rawSocket(t: Test, handler: (socket: Socket) => void) {
  const path = join(await ownFolder(t, 'docker'), 'raw.sock');
  const server: Server = createServer(handler);
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const check = (timeoutMs = 2000) =>
    runCheck(
      'docker',
      { url: `unix://${path}` },
      { container: 'web' },
      testContext({ dockerSockets: [path], timeoutMs }),
    );
  return { check, open };
}

void t.test('a running container is up, with its facts and without its secrets', async (t) => {
  const { check, requests, steps, path } = await onSocket(t, {
    web: { health: 'healthy', restarts: 2, startedAt: '2026-01-02T03:04:05.678901234Z' },
  });
  const outcome = await check({
    container: 'web',
    max_restarts: 2,
    min_uptime_seconds: 60,
    expected_health: 'healthy',
  });
  t.match(outcome, {
    outcome: 'ok',
    evidence: {
      status: 200,
      details: {
        socket: path,
        container: 'web',
        state: 'running',
        health: 'healthy',
        exit_code: 0,
        restarts: 2,
        image: 'nginx:1.27',
        started_at: '2026-01-02T03:04:05.678Z',
        id: '8f3c1d0e9b7a',
        api_version: '1.47',
        server: 'Docker/27.3.1 (linux)',
      },
    },
  });
  t.same(Object.keys(outcome.phases), ['connect', 'first_byte', 'transfer']);
  t.same(requests, ['GET /containers/web/json'], 'one question, which changes nothing');
  t.match(
    steps.join('\n'),
    /connect: .*\nrequest: GET \/containers\/web\/json\nanswer: 200.*\ncontainer: running.*\nverdict: ok/,
  );
  t.notMatch(JSON.stringify([outcome, steps]), /environment-of|PASSWORD/, containerSecret);
  await check({ container: 'web', api_version: '1.44' });
  t.equal(requests[1], 'GET /v1.44/containers/web/json');
});

void t.test('what is wrong with a container is said with its code', async (t) => {
  const { check, containers } = await onSocket(t, {});
  const cases: [string, FakeContainer | undefined, object, string | undefined, RegExp][] = [
    ['missing', undefined, {}, 'container_missing', /no container web/],
    [
      'ended',
      { status: 'exited', exitCode: 137, outOfMemory: true },
      {},
      'container_not_running',
      /exited with exit code 137, for want of memory; expected is running/,
    ],
    [
      'never started',
      { status: 'created', startedAt: '0001-01-01T00:00:00Z', error: 'no such image' },
      {},
      'container_not_running',
      /created \(no such image\)/,
    ],
    ['wanted ended', { status: 'exited' }, { expected_state: 'exited' }, undefined, /^$/],
    [
      'wanted ended, with the last word of its health check',
      { status: 'exited', health: 'unhealthy' },
      { expected_state: 'exited' },
      undefined,
      /^$/,
    ],
    ['paused', { status: 'paused' }, {}, 'container_not_running', /is paused/],
    [
      'unhealthy',
      { health: 'unhealthy' },
      {},
      'container_unhealthy',
      /unhealthy by its own health check \(4 failures in a row\)/,
    ],
    ['unhealthy, which is taken', { health: 'unhealthy' }, { expected_health: 'any' }, undefined, /^$/],
    ['starting', { health: 'starting' }, {}, undefined, /^$/],
    [
      'starting, which is not enough',
      { health: 'starting' },
      { expected_health: 'healthy' },
      'container_unhealthy',
      /"starting"/,
    ],
    ['no health check', {}, { expected_health: 'healthy' }, 'container_unhealthy', /no health check/],
    ['restarted', { restarts: 4 }, { max_restarts: 3 }, 'container_restarted', /4 times; at most 3/],
    [
      'young',
      { startedAt: new Date(Date.now() - 30_000).toISOString() },
      { min_uptime_seconds: 600 },
      'container_restarted',
      /\d+ s; expected are at least 600 s/,
    ],
    [
      'old enough',
      { startedAt: new Date(Date.now() - 700_000).toISOString() },
      { min_uptime_seconds: 600 },
      undefined,
      /^$/,
    ],
    [
      'not running, and its uptime matters',
      { status: 'exited' },
      { expected_state: 'exited', min_uptime_seconds: 1 },
      'container_restarted',
      /does not run/,
    ],
  ];
  for (const [what, container, settings, code, message] of cases) {
    if (container === undefined) containers.delete('web');
    else containers.set('web', container);
    const outcome = await check({ container: 'web', ...settings });
    t.equal(outcome.code, code, what);
    t.match(outcome.message ?? '', message, what);
    t.equal(outcome.source, code === undefined ? undefined : 'target', what);
  }
});

void t.test('assertions see the facts of a container', async (t) => {
  const { check } = await onSocket(t, { web: { restarts: 1 } });
  const assertions = (value: number) => ({ subject: 'details', name: 'restarts', comparison: 'at_most', value });
  t.equal((await check({ container: 'web', assertions: assertions(1) })).outcome, 'ok');
  t.match(await check({ container: 'web', assertions: assertions(0) }), { code: 'assertion_failed' });
});

void t.test('a socket that the operator has not named is not touched', async (t) => {
  const { check, path, requests } = await onSocket(t, { web: {} });
  const denied = {
    outcome: 'probe_error',
    source: 'probe',
    code: 'probe_capability',
    message: /PARALLAX_PROBE_DOCKER_SOCKETS/,
  };
  for (const dockerSockets of [undefined, [], [`${path}x`], [join(path, '..')]])
    t.match(await check({ container: 'web' }, { dockerSockets }), denied);
  t.match(await check({ container: 'web' }, {}, `unix://${path.replace('docker.sock', './other/../docker.sock')}`), {
    outcome: 'ok',
  });
  t.match(await check({ container: 'web' }, {}, `unix://${path}/../../etc/passwd`), denied);
  t.equal(requests.length, 1);
});

void t.test('a daemon that does not run is the fault of the target, what this machine forbids is not', async (t) => {
  const { check, stop } = await onSocket(t, { web: {} });
  await stop();
  t.match(await check({ container: 'web' }), {
    outcome: 'fail',
    source: 'target',
    code: 'connect_refused',
    message: /does not run/,
  });
  t.equal((await check({ container: 'web', inverted: true })).outcome, 'ok');
  const other = join(await ownFolder(t, 'docker'), 'file');
  await writeFile(other, 'x');
  t.match(await check({ container: 'web' }, { dockerSockets: [other] }, `unix://${other}`), {
    code: 'connect_refused',
  });
});

void t.test('names and targets that cannot be are refused', async (t) => {
  for (const container of [
    '',
    'a',
    '../x',
    'a/b',
    'a b',
    'a%2fb',
    'a?b',
    'a#b',
    '-a',
    '.aa',
    'a\r\nX: y',
    'ä'.repeat(3),
    'x'.repeat(256),
  ])
    t.equal(dockerSettings().safeParse({ container }).success, false, JSON.stringify(container));
  for (const container of ['web', 'my_app-1.x', '8f3c1d0e9b7a', 'Ab'])
    t.equal(dockerSettings().safeParse({ container }).success, true, container);
  const wrong = (url: string, more: object = { container: 'web' }) =>
    docker.validateTarget({ url }, dockerSettings().parse(more));
  for (const url of [
    '',
    'web',
    'host:2375',
    'ftp://a',
    'unix://relative',
    'unix://',
    'unix:///a/',
    'unix:///a\0b',
    `unix:///${'a'.repeat(200)}`,
    'tcp://',
    'tcp://a/b',
    'https://u:p@host',
    'tcp://a:0',
    'https://a:99999',
    'http://a?x',
  ])
    t.type(wrong(url), 'string', url);
  for (const url of [
    'unix:///run/docker.sock',
    'tcp://docker.test',
    'https://[::1]:2376/',
    'tcp://[::1]:1',
    'http://127.1',
  ])
    t.equal(wrong(url), undefined, url);
  t.match(wrong('tcp://a', {}), /container is needed/);
  t.same(docker.requiresFor({ url: 'unix:///a' }), ['docker']);
  t.same(docker.requiresFor({ url: 'tcp://a' }), []);
});

void t.test(
  'over the network the daemon is asked like any server, with a certificate that both sides verify',
  async (t) => {
    const authority = await issue({ name: 'Authority', authority: true });
    const own = await issue({ name: 'docker', addresses: ['127.0.0.1'], by: authority });
    const client = await issue({ name: 'client', by: authority });
    const daemon = fakeDocker({ web: {} });
    const secure = await listenDocker(daemon, {
      cert: own.cert,
      key: own.key,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    t.teardown(secure.stop);
    const url = `https://127.0.0.1:${secure.port}`;
    const trusting = { container: 'web', ca_certificates: authority.cert };
    const known = { ...trusting, client_certificate: client.cert, client_key: client.key };
    const context = testContext({ trace: () => undefined });
    t.match(await runCheck('docker', { url }, known, context), {
      outcome: 'ok',
      phases: { tls: Number },
      evidence: { certificate: { subject: /docker/ }, details: { state: 'running' } },
    });
    t.match(await runCheck('docker', { url }, trusting, context), { code: 'tls_client_certificate' });
    t.match(await runCheck('docker', { url }, { container: 'web' }, context), {
      code: /^tls_(untrusted|incomplete_chain)$/,
    });
    t.match(await runCheck('docker', { url: `tcp://127.0.0.1:${secure.port}` }, known, context), {
      code: 'target_invalid',
      message: /over TLS only/,
    });
    t.match(await runCheck('docker', { url: `tcp://127.0.0.1:${secure.port}` }, { container: 'web' }, context), {
      outcome: 'fail',
    });
    const soon = { ...known, warn_days_before_expiry: 365 };
    t.match(await runCheck('docker', { url }, soon, context), { outcome: 'warn', code: 'tls_expires_soon' });

    const plain = await listenDocker(daemon);
    t.teardown(plain.stop);
    t.match(await runCheck('docker', { url: `tcp://127.0.0.1:${plain.port}` }, { container: 'web' }, testContext()), {
      outcome: 'ok',
    });
    const strict = testContext({ addresses: { judge: () => ({ reason: 'test', code: 'private' }) } as never });
    t.match(await runCheck('docker', { url: `tcp://127.0.0.1:${plain.port}` }, { container: 'web' }, strict), {
      code: 'address_denied',
    });
  },
);

void t.test('what is no answer of Docker is told', async (t) => {
  const answers: [string, string, number, string, RegExp][] = [
    ['an error', '{"message":"layer does not exist\\n"}', 500, 'http_status', /answered 500: layer does not exist\./],
    ['an error that names it', '{"message":"no such container in the store"}', 500, 'http_status', /answered 500/],
    ['an unknown path', '{"message":"page not found"}', 404, 'http_status', /404: page not found/],
    ['another version', '{"message":"client version 1.24 is too old"}', 400, 'http_status', /too old/],
    ['no words', '', 503, 'http_status', /answered 503\./],
    ['text', 'hello', 200, 'http_json', /not the description/],
    ['other JSON', '{"State":{}}', 200, 'http_json', /not the description/],
    ['a list', '[]', 200, 'http_json', /not the description/],
    ['null', 'null', 200, 'http_json', /not the description/],
    ['a huge document', `{"a":"${'x'.repeat(1_100_000)}"}`, 200, 'http_too_large', /too large/],
    [
      'Podman',
      '{"cause":"no such container","message":"no container with name or ID \\"web\\" found: no such container","response":404}',
      404,
      'container_missing',
      /no container web/,
    ],
  ];
  let next = 0;
  const peer = await listenRaw((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        const [, body = '', status = 200] = answers[next] ?? [];
        socket.end(`HTTP/1.1 ${status} Said\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      });
  });
  t.teardown(peer.stop);
  for (const [what, , , code, message] of answers) {
    const outcome = await runCheck(
      'docker',
      { url: `tcp://127.0.0.1:${peer.port}` },
      { container: 'web' },
      testContext(),
    );
    t.match(outcome, { outcome: 'fail', code, message }, what);
    t.notOk(outcome.evidence?.body, 'the body is no evidence');
    next += 1;
  }
  const hostile = `{"Id":7,"RestartCount":1e300,"State":{"Status":"running\\u0000\\u202e","ExitCode":"0","StartedAt":"${'9'.repeat(50)}","Health":[]},"Config":null}`;
  answers.push(['hostile fields', hostile, 200, '', /x/]);
  next = answers.length - 1;
  const outcome = await runCheck(
    'docker',
    { url: `tcp://127.0.0.1:${peer.port}` },
    { container: 'web', min_uptime_seconds: 1 },
    testContext(),
  );
  t.match(outcome, {
    code: 'container_restarted',
    message: /does not run/,
    evidence: { details: { state: 'running', health: 'none' } },
  });
});

void t.test('hostile peers on a socket cost no more than the deadline and leave nothing behind', async (t) => {
  const peers: [string, (socket: Socket) => void, string | RegExp][] = [
    ['closes at once', (socket) => socket.destroy(), /^(http_closed|connect_reset)$/],
    ['never answers', (socket) => socket.resume(), 'http_timeout'],
    ['speaks another protocol', (socket) => socket.resume().write('SSH-2.0-x\r\n'), 'http_protocol'],
    [
      'streams headers',
      (socket) => socket.resume().write(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(10_000)}`),
      'http_headers_too_large',
    ],
  ];
  for (const [what, handler, code] of peers) {
    await t.test(what, async (t) => {
      const { check, open } = await rawSocket(t, handler);
      const { result, late } = await lateness(200, () => check(200));
      t.match(result, { code, source: 'target' });
      t.ok(late < 1300);
      await until(() => open.size === 0, 'the connection is gone');
    });
  }
});

void t.test('a run that is stopped before the socket was asked says so', async (t) => {
  const peer = await listen(createServer());
  t.teardown(peer.stop);
  const { check } = await onSocket(t, { web: {} });
  t.match(await check({ container: 'web' }, { signal: AbortSignal.abort() }), {
    outcome: 'skipped',
    code: 'cancelled',
  });
});
