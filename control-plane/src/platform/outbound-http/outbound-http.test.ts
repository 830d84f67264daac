import { createServer, type RequestListener } from 'node:http';
import https from 'node:https';
import { gzipSync } from 'node:zlib';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import type { Test } from 'tap';
import { createResolver } from '@parallax/checks';
import { issue } from '../../../../packages/checks/src/testing/certificates.ts';
import { listen } from '../../../../packages/checks/src/testing/context.ts';
import { hostilePeerNames, openHostile, openPeer } from '../../../../packages/checks/src/testing/hostile-peers.ts';
import { answerInTurns } from '../../../../packages/checks/src/testing/name-server.ts';
import { createOutboundClients, OutboundError } from './index.ts';
import type { OutboundOptions, OutboundRequest, OutboundStep } from './index.ts';

t.setTimeout(300_000);

const clients = (more: Partial<OutboundOptions> = {}) =>
  createOutboundClients({
    allowedPrivateTargets: ['127.0.0.0/8'],
    deniedListeners: () => [],
    now: Date.now,
    version: '1.2.3',
    resolver: createResolver({ servers: ['127.0.0.1:9'] }),
    ...more,
  });
const { guarded } = clients();
const post = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({ method: 'POST', url, ...more });

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const peer = await listen(createServer(listener));
  t.teardown(() => peer.stop());
  return `http://127.0.0.1:${peer.port}`;
}

async function failure(work: Promise<unknown>): Promise<OutboundError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OutboundError) return error;
  throw new Error(`no OutboundError: ${String(error)}`);
}

void t.test('bodies are sent as what they are, and an answer is read', async (t) => {
  const seen: { type: string | undefined; agent: string | undefined; text: string }[] = [];
  const url = await serve(t, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      seen.push({ type: request.headers['content-type'], agent: request.headers['user-agent'], text });
      response
        .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-two': ['1', '2'] })
        .end('{"a":[1]}');
    });
  });
  const answer = await guarded(post(url, { body: { ä: 1 } }), { timeoutMs: 5_000 });
  t.match(answer, { status: 200, text: '{"a":[1]}', json: { a: [1] }, headers: { 'x-two': '1, 2' } });
  t.notOk('set-cookie' in answer.headers, 'no cookies');
  await guarded(post(url, { body: new URLSearchParams({ a: 'ü&' }) }), { timeoutMs: 5_000 });
  await guarded(post(url, { body: 'plain' }), { timeoutMs: 5_000 });
  await guarded(post(url, { body: Buffer.from([65]), headers: { 'Content-Type': 'x/y' } }), { timeoutMs: 5_000 });
  await guarded({ method: 'GET', url }, { timeoutMs: 5_000 });
  t.same(
    seen.map(({ type, text }) => [type, text]),
    [
      ['application/json', '{"ä":1}'],
      ['application/x-www-form-urlencoded', 'a=%C3%BC%26'],
      ['text/plain; charset=utf-8', 'plain'],
      ['x/y', 'A'],
      [undefined, ''],
    ],
  );
  t.ok(seen.every(({ agent }) => agent === 'Parallax/1.2.3'));
});

void t.test('every hostile peer ends in an error with a code, in time, and leaves no connection', async (t) => {
  for (const what of hostilePeerNames) {
    const peer = await openHostile(what);
    const request = post(`http://127.0.0.1:${peer.port}/`, { body: {} });
    const { result: error, late } = await lateness(300, () => failure(guarded(request, { timeoutMs: 300 })));
    t.ok(late < 4_700, `${what} was over in time`);
    t.not(error.code, 'internal', `${what}: ${error.code} ${error.message}`);
    while (peer.connections.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await peer.stop();
  }
});

void t.test('an answer that trickles, or has no end, takes neither time nor memory', async (t) => {
  const slow = await serve(t, (_request, response) => {
    response.writeHead(200).write('a');
    const timer = setInterval(() => response.write('a'), 50);
    response.on('close', () => clearInterval(timer));
  });
  t.equal((await failure(guarded(post(slow), { timeoutMs: 400 }))).code, 'answer_too_slow');
  const piece = Buffer.alloc(65_536, 'x');
  const endless = await serve(t, (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.writeHead(200).on('drain', more);
    more();
  });
  const before = process.memoryUsage().rss;
  for (let n = 0; n < 30; n += 1) {
    const answer = await guarded(post(endless), { timeoutMs: 10_000 });
    t.equal(answer.text.length, 65_536);
  }
  const grown = process.memoryUsage().rss - before;
  t.ok(grown < 100_000_000, `${Math.round(grown / 1_000_000)} MB more`);
});

void t.test('an answer that is compressed, which nobody asked for, is not opened', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const url = await serve(t, (request, response) => {
    t.equal(request.headers['accept-encoding'], 'identity');
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  });
  t.match(await guarded(post(url), { timeoutMs: 5_000 }), { status: 200, text: '', json: undefined });
});

void t.test('redirects are refused, and huge headers', async (t) => {
  let followed = 0;
  const url = await serve(t, (request, response) => {
    if (request.url === '/there') followed += 1;
    if (request.url === '/huge') response.writeHead(200, { 'x-huge': 'h'.repeat(30_000) }).end();
    else response.writeHead(302, { location: '/there' }).end();
  });
  t.equal((await failure(guarded(post(`${url}/`), { timeoutMs: 5_000 }))).code, 'redirected');
  t.equal(followed, 0);
  t.equal((await failure(guarded(post(`${url}/huge`), { timeoutMs: 5_000 }))).code, 'unexpected_answer');
});

void t.test('what is no address, and headers that break out, are refused before anything is dialled', async (t) => {
  let asked = 0;
  const url = await serve(t, (_request, response) => {
    asked += 1;
    response.end();
  });
  for (const wrong of [
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'not a url',
    url.replace('http://', 'http://user:secret@'),
  ]) {
    const error = await failure(guarded(post(wrong), { timeoutMs: 1_000 }));
    t.equal(error.code, 'invalid_request', wrong);
    t.notMatch(error.message, 'secret');
  }
  const header = { headers: { 'x-a': 'b\r\nx-injected: yes' } };
  t.equal((await failure(guarded(post(url, header), { timeoutMs: 1_000 }))).code, 'invalid_request');
  t.equal(asked, 0);
});

void t.test('tenants reach nothing that is denied, however it is written; the operator does', async (t) => {
  let asked = 0;
  const url = await serve(t, (_request, response) => {
    asked += 1;
    response.end('ok');
  });
  const port = Number(new URL(url).port);
  const strict = clients({ allowedPrivateTargets: [] });
  const spellings = [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '[::ffff:127.0.0.1]',
    'localhost',
    '[::1]',
    '0.0.0.0',
  ];
  for (const host of spellings) {
    const error = await failure(strict.guarded(post(`http://${host}:${port}/`), { timeoutMs: 2_000 }));
    t.match(error.code, /^(address_denied|dns_failed)$/, `${host}: ${error.message}`);
  }
  t.equal(asked, 0);
  t.match(await strict.trusted(post(url), { timeoutMs: 5_000 }), { status: 200 });
  const own = clients({ deniedListeners: () => [{ address: '127.0.0.1', port }] });
  t.equal((await failure(own.guarded(post(url), { timeoutMs: 2_000 }))).code, 'address_denied', 'an own listener');
});

void t.test('a name is resolved once, and what was judged is what is dialled', async (t) => {
  const peer = await openPeer((socket) => socket.resume().end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  t.teardown(() => peer.stop());
  const names = await answerInTurns(() => [['127.0.0.2'], ['10.0.0.1']]);
  t.teardown(() => names.stop());
  const asking = clients({ resolver: createResolver({ servers: [names.server], hasIpv4: true }) });
  const before = names.asked();
  const error = await failure(asking.guarded(post(`http://rebind.test:${peer.port}/`), { timeoutMs: 2_000 }));
  t.equal(error.code, 'connect_failed', 'nobody listens at 127.0.0.2, and the name was not asked again');
  t.equal(names.asked() - before, 1);
});

void t.test('TLS: a certificate that is trusted and of this name, and nothing else', async (t) => {
  const authority = await issue({ name: 'authority', authority: true });
  const good = await issue({ name: 'good', by: authority, addresses: ['127.0.0.1'] });
  const other = await issue({ name: 'other', by: authority, dnsNames: ['other.test'] });
  const old = await issue({ name: 'old', by: authority, addresses: ['127.0.0.1'], fromDays: -20, untilDays: -10 });
  const mine = clients({ caCertificates: authority.cert });
  const at = async (identity: { cert: string; key: string }, maxVersion?: 'TLSv1.1') => {
    const options = {
      cert: identity.cert,
      key: identity.key,
      ...(maxVersion && { maxVersion, minVersion: 'TLSv1' as const, ciphers: 'DEFAULT:@SECLEVEL=0' }),
    };
    const peer = await listen(https.createServer(options, (_request, response) => response.end('ok')));
    t.teardown(() => peer.stop());
    return `https://127.0.0.1:${peer.port}/`;
  };
  const steps: OutboundStep[] = [];
  t.match(await mine.guarded(post(await at(good)), { timeoutMs: 5_000, onStep: (step) => steps.push(step) }), {
    text: 'ok',
  });
  t.same(
    steps.map(({ name, ok }) => [name, ok]),
    ['resolve', 'connect', 'tls', 'request', 'response'].map((name) => [name, true]),
  );
  t.equal((await failure(mine.guarded(post(await at(other)), { timeoutMs: 5_000 }))).code, 'tls_failed');
  t.equal((await failure(mine.guarded(post(await at(old)), { timeoutMs: 5_000 }))).code, 'tls_failed');
  t.equal(
    (await failure(guarded(post(await at(good)), { timeoutMs: 5_000 }))).code,
    'tls_failed',
    'an authority that nobody knows',
  );
  t.equal((await failure(mine.guarded(post(await at(good, 'TLSv1.1')), { timeoutMs: 5_000 }))).code, 'tls_failed');
});

void t.test('a server that speaks before it is asked, or answers only with interim answers', async (t) => {
  const peer = await openPeer((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'), 5);
    socket.resume().on('close', () => clearInterval(timer));
  });
  t.teardown(() => peer.stop());
  const error = await failure(guarded(post(`http://127.0.0.1:${peer.port}/`), { timeoutMs: 400 }));
  t.match(error.code, /^(timeout|unexpected_answer|connect_failed)$/, error.message);
});
