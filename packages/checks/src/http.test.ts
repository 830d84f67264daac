import type { IncomingMessage } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { http, https } from './http.ts';
import { httpSettings } from './http/settings.ts';
import { nextHop } from './http/request.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext } from './testing/context.ts';
import { site } from './testing/site.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('http', { url }, settings, testContext(overrides));

void t.test('a good answer is ok, with its phases', async (t) => {
  const { url, port } = await site(t, (_request, response) => response.end('hello'));
  const outcome = await check(url());
  t.equal(outcome.outcome, 'ok');
  t.same(Object.keys(outcome.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  const sum = Object.values(outcome.phases).reduce((all, each) => all + each, 0);
  t.ok(outcome.total >= sum - 4 && outcome.total < 5_000_000, 'the phases are parts of the whole');
  t.notOk('code' in outcome || 'message' in outcome || 'source' in outcome);
  t.equal((await check(`localhost:${port}`)).outcome, 'ok', 'a missing scheme is that of the protocol');
});

void t.test('the request is as the settings say', async (t) => {
  let seen:
    | { method?: string | undefined; url?: string | undefined; headers: IncomingMessage['headers']; body: string }
    | undefined;
  const { url, port } = await site(t, ({ method, url: path, headers }, response, body) => {
    seen = { method, url: path, headers, body };
    response.end();
  });
  await check(url('/a%20b?q=1#frag'), {
    method: 'POST',
    body: 'ä',
    headers: { 'X-Own': '1', Host: 'other.example' },
    username: 'u',
    password: 'p:w',
  });
  t.match(seen, {
    method: 'POST',
    url: '/a%20b?q=1',
    body: 'ä',
    headers: {
      'x-own': '1',
      host: 'other.example',
      authorization: 'Basic dTpwOnc=',
      'content-length': '2',
      connection: 'close',
      'user-agent': 'Parallax-test/1',
    },
  });
  await check(url(), { bearer_token: 'token', secret_headers: { 'X-Key': 'k' }, method: 'DELETE' });
  t.match(seen, {
    method: 'DELETE',
    headers: { authorization: 'Bearer token', 'x-key': 'k', host: `127.0.0.1:${port}` },
  });
  await check(url(), { method: 'PUT' });
  t.match(seen, { headers: { 'content-length': '0' } });
});

void t.test('a status that is not expected fails, with evidence', async (t) => {
  const { url, port } = await site(t, (request, response) => {
    response
      .writeHead(Number(request.url?.slice(1)), 'As said', { 'X-A': 'b', 'Set-Cookie': 'sid=sessionvalue' })
      .end('x'.repeat(5000));
  });
  const outcome = await check(url('/503'));
  t.match(outcome, {
    outcome: 'fail',
    source: 'target',
    code: 'http_status',
    message: 'The server answered 503 As said; expected is 200-399.',
    evidence: { address: '127.0.0.1', port, status: 503, status_text: 'As said', http_version: '1.1' },
  });
  t.equal(outcome.evidence?.body?.length, 4096);
  t.notMatch(JSON.stringify(outcome), 'sessionvalue');
  t.equal((await check(url('/503'), { expected_status: ['5xx'] })).outcome, 'ok');
  t.equal((await check(url('/503'), { expected_status: [200, 503] })).outcome, 'ok');
  t.equal((await check(url('/301'), {})).outcome, 'ok', 'a redirect without a Location');
  t.equal((await check(url('/201'), { expected_status: ['200', '202-204'] })).code, 'http_status');
});

void t.test('keywords are looked for in the decoded body', async (t) => {
  const text = `${'filler '.repeat(1000)}Grüße needle`;
  const codings: Record<string, (body: Buffer) => Buffer> = {
    gzip: gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
    raw: deflateRawSync,
  };
  const { url } = await site(t, (request, response) => {
    const coding = request.url?.slice(1) ?? '';
    const body = Buffer.from(text, coding === 'latin1' ? 'latin1' : 'utf8');
    if (coding === 'latin1') response.setHeader('Content-Type', 'text/html; charset=ISO-8859-1');
    else if (coding !== '') response.setHeader('Content-Encoding', coding === 'raw' ? 'deflate' : coding);
    response.end(codings[coding]?.(body) ?? body);
  });
  for (const path of ['/', '/gzip', '/br', '/deflate', '/raw', '/latin1', '/none', '/UTF-8']) {
    t.equal((await check(url(path), { keyword: 'Grüße needle' })).outcome, 'ok', path);
    t.match(await check(url(path), { keyword: 'haystack' }), { outcome: 'fail', code: 'keyword_missing' }, path);
    t.match(await check(url(path), { keyword_absent: 'needle' }), { outcome: 'fail', code: 'keyword_present' }, path);
  }
  t.equal((await check(url(), { keyword: { pattern: 'Gr..e\\s+NEEDLE', ignore_case: true } })).outcome, 'ok');
  t.match(await check(url(), { keyword: { pattern: 'NEEDLE' } }), { code: 'keyword_missing' });
  t.equal((await check(url(), { keyword_absent: { pattern: '^needle' } })).outcome, 'ok');
  t.match(
    await check(url('/zstd'), { keyword: 'needle' }),
    { outcome: 'fail', code: 'http_protocol' },
    'a coding that nobody asked for',
  );
});

void t.test('a bomb is cut off', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const { url } = await site(t, (_request, response) => response.setHeader('Content-Encoding', 'gzip').end(bomb));
  t.match(await check(url(), { keyword: 'x' }), { outcome: 'fail', code: 'http_too_large' });
});

void t.test('a body is read up to 1 MiB', async (t) => {
  const { url } = await site(t, (_request, response) => {
    response.write(`early ${'x'.repeat(2 * 1024 * 1024)}`);
    response.end(' late');
  });
  t.equal((await check(url())).outcome, 'ok', 'a large page is a page');
  t.equal((await check(url(), { keyword: 'early' })).outcome, 'ok');
  t.match(await check(url(), { keyword: 'late' }), { outcome: 'fail', code: 'http_too_large' });
  t.match(await check(url(), { keyword_absent: 'late' }), { outcome: 'fail', code: 'http_too_large' });
  t.match(await check(url(), { keyword_absent: 'early' }), { outcome: 'fail', code: 'keyword_present' });
});

void t.test('a pattern searches no more than it has time for', async (t) => {
  const { url } = await site(t, (_request, response) => response.end(`${'a'.repeat(300_000)}needle`));
  const pattern = 'a{60}b';
  const took = await processorMs(async () =>
    t.match(await check(url(), { keyword: { pattern, ignore_case: true } }), {
      code: 'http_too_large',
      message: /first \d+ characters/,
    }),
  );
  t.ok(took < 500, 'it takes tens of milliseconds');
  t.match(await check(url(), { keyword_absent: { pattern } }), { code: 'http_too_large' });
  t.match(await check(url(), { keyword_absent: { pattern: 'a{50}' } }), { code: 'keyword_present' });
});

void t.test('redirects are followed, five at most, and can be left alone', async (t) => {
  const { url } = await site(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, { Location: `/${left - 1}` }).end();
  });
  t.equal((await check(url('/5'), { keyword: 'there' })).outcome, 'ok');
  t.match(await check(url('/6')), { outcome: 'fail', code: 'http_redirect', evidence: { redirects: 5 } });
  t.match(await check(url('/1'), { follow_redirects: false, expected_status: [302] }), { outcome: 'ok' });
  t.match(await check(url('/1'), { expected_status: [302] }), {
    code: 'http_status',
    evidence: { final_url: url('/0'), redirects: 1 },
  });
});

void t.test('each redirect is judged anew', async (t) => {
  const { url } = await site(t, (request, response) => {
    response.writeHead(302, { Location: decodeURIComponent(request.url?.slice(1) ?? '') }).end();
  });
  const to = (location: string) => check(url(`/${encodeURIComponent(location)}`));
  t.match(await to('http://169.254.169.254/latest/meta-data/'), {
    outcome: 'fail',
    code: 'address_denied',
    evidence: { address: '169.254.169.254' },
  });
  t.match(await to('http://2852039166/'), { code: 'address_denied' }, 'also in decimal');
  t.match(await to('//10.0.0.1/'), { code: 'address_denied' });
  t.match(await to('file:///etc/passwd'), { code: 'http_redirect' });
  t.match(await to('http://[::bad'), { code: 'http_redirect' });
});

void t.test('on another origin nothing of the monitor goes along', async (t) => {
  const seen: Array<{ method: string | undefined; headers: IncomingMessage['headers']; body: string }> = [];
  const other = await site(t, ({ method, headers }, response, body) => {
    seen.push({ method, headers, body });
    response.end();
  });
  const first = await site(t, (request, response, body) => {
    seen.push({ method: request.method, headers: request.headers, body });
    const [, status = '302', where] = request.url?.split('/') ?? [];
    if (where === 'end') response.end();
    else response.writeHead(Number(status), { Location: where === 'same' ? '/200/end' : other.url() }).end();
  });
  const settings = {
    method: 'POST',
    body: 'payload',
    headers: { 'X-Own': 'own', 'Accept-Language': 'de', Cookie: 'c=cookievalue' },
    secret_headers: { 'X-Key': 'keyvalue' },
    bearer_token: 'bearervalue',
  };
  await check(first.url('/307/other'), settings);
  t.match(seen[0], {
    method: 'POST',
    body: 'payload',
    headers: { authorization: 'Bearer bearervalue', cookie: 'c=cookievalue', 'x-key': 'keyvalue', 'x-own': 'own' },
  });
  t.match(seen[1], { method: 'POST', body: '', headers: { 'accept-language': 'de', 'content-length': '0' } });
  for (const name of ['authorization', 'cookie', 'x-key', 'x-own']) t.notOk(seen[1]?.headers[name], name);
  seen.length = 0;
  await check(first.url('/307/same'), settings);
  t.match(
    seen[1],
    { method: 'POST', body: 'payload', headers: { authorization: 'Bearer bearervalue', 'x-key': 'keyvalue' } },
    'the same origin gets all',
  );
  seen.length = 0;
  await check(first.url('/302/same'), settings);
  t.match(
    seen[1],
    { method: 'GET', body: '', headers: { authorization: 'Bearer bearervalue' } },
    '302 turns a POST into a GET',
  );
});

void t.test('a server that does not know secure renegotiation is not refused for it', async (t) => {
  // A ServerHello of TLS 1.2 without extensions; the server ends there.
  const hello = Buffer.from(`0303${'5a'.repeat(32)}00c02f00`, 'hex');
  const message = Buffer.concat([Buffer.from([2, 0, 0, hello.length]), hello]);
  const record = Buffer.concat([Buffer.from([22, 3, 3, 0, message.length]), message]);
  const peer = await listenRaw((socket) => void socket.once('data', () => socket.end(record)));
  t.teardown(peer.stop);
  const outcome = await check(`https://127.0.0.1:${peer.port}/`);
  t.match(outcome, { outcome: 'fail', code: 'tls_handshake', message: /closed the connection/ });
});

void t.test(
  'credentials follow a redirect from HTTP to HTTPS on the same host, and no other one to another origin',
  async (t) => {
    const from = (url: string) => ({ url: new URL(url), method: 'POST', trusted: true, withBody: true }) as const;
    const secured = nextHop(from('http://a.test/x'), 308, 'https://a.test/x');
    t.match(secured, { trusted: true, withBody: true, method: 'POST' });
    for (const [first, location] of [
      ['http://a.test/', 'https://b.test/'],
      ['http://a.test/', 'https://www.a.test/'],
      ['http://a.test/', 'https://a.test:8443/'],
      ['http://a.test:8080/', 'https://a.test/'],
      ['https://a.test/', 'http://a.test/'],
      ['http://a.test/', 'http://a.test:8080/'],
    ] as const)
      t.match(nextHop(from(first), 308, location), { trusted: false, withBody: false }, `${first} to ${location}`);
    const back = nextHop({ ...from('https://b.test/'), trusted: false }, 308, 'https://b.test/y');
    t.match(back, { trusted: false }, 'what is lost is lost');
  },
);

void t.test('secrets of the monitor are in no outcome, however the server sends them back', async (t) => {
  const { url } = await site(t, (request, response) => {
    if (request.url === '/moved') {
      response.writeHead(302, { Location: `/?echo=${request.headers.authorization?.slice(7) ?? ''}` }).end();
      return;
    }
    const all = JSON.stringify(request.headers);
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    response.writeHead(500, all.replaceAll('"', "'").slice(0, 200), {
      'X-Echo': all,
      'X-Key': String(request.headers['x-key'] ?? ''),
    });
    response.end(
      `${all} ${basic} ${encodeURIComponent(basic)} ${basic.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}`,
    );
  });
  const steps: string[] = [];
  const trace = (step: string, detail: string) => steps.push(`${step} ${detail}`);
  const canaries = [
    's3cr"et&pass',
    'bearercanary',
    'keycanary',
    'cookiecanary',
    Buffer.from('user:s3cr"et&pass').toString('base64'),
  ];
  const one = await check(
    url(),
    {
      username: 'user',
      password: 's3cr"et&pass',
      secret_headers: { 'X-Key': 'keycanary' },
      headers: { Cookie: 'a=cookiecanary; b=2' },
    },
    { trace },
  );
  const two = await check(url(), { bearer_token: 'bearercanary', headers: { 'x-api-key': 'keycanary' } });
  const moved = await check(url('/moved'), { bearer_token: 'bearercanary' }, { trace });
  const said = JSON.stringify([one, two, moved, steps]);
  t.match(said, /redacted/);
  for (const canary of canaries)
    for (const form of [canary, encodeURIComponent(canary), JSON.stringify(canary).slice(1, -1)])
      t.notOk(said.includes(form), form);
  t.notOk(said.includes('s3cr'), 'nor a part of the password');
});

void t.test('failures of the connection have their own codes', async (t) => {
  const closed = await listenRaw(() => undefined);
  await closed.stop();
  t.match(await check(`http://127.0.0.1:${closed.port}/`), {
    outcome: 'fail',
    code: 'connect_refused',
    source: 'target',
  });
  t.match(await check('http://127.0.0.1/', {}, { sourceAddress: '203.0.113.9' }), {
    outcome: 'probe_error',
    source: 'probe',
    code: 'probe_internal',
  });
  t.match(await check('http://10.1.2.3/'), {
    outcome: 'fail',
    code: 'address_denied',
    evidence: { address: '10.1.2.3' },
  });
  t.match(await check('http://missing.localhost.test/', {}, { timeoutMs: 300 }), { source: 'resolver' });
  const { url } = await site(t, (_request, response) => response.end());
  t.match(await check(url(), { ip_version: 6 }), { code: 'address_family_missing' });
  t.equal((await check(url(), {}, { sourceAddress: '127.0.0.77' })).outcome, 'ok');
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of [
    'http://u:p@example.com/',
    'http://u@example.com/',
    'ftp://example.com/',
    'http://',
    'http://a b/',
    `http://a/${'x'.repeat(2048)}`,
    'http://a..b/',
    'http://exa\nmple..com',
  ]) {
    t.type(http.validateTarget({ url }), 'string', url);
  }
  t.equal(http.validateTarget({ url: 'https://example.com' }), undefined);
  t.type(https.validateTarget({ url: 'http://example.com' }), 'string');
  t.equal(https.validateTarget({ url: 'example.com:8443/x' }), undefined);
  for (const bad of [
    { method: 'TRACE' },
    { headers: { 'A B': 'c' } },
    { headers: { A: 'b\r\nC: d' } },
    { headers: { 'Content-Length': '3' } },
    { headers: { 'transfer-encoding': 'chunked' } },
    { bearer_token: 'a b' },
    { username: 'a:b' },
    { username: 'a', bearer_token: 'b' },
    { expected_status: [] },
    { expected_status: ['20'] },
    { expected_status: [999] },
    { keyword: '' },
    { keyword: { pattern: '(' } },
    { keyword: { pattern: '(?=x)' } },
    { keyword: { pattern: '((a{30}){30}){30}' } },
    { method: 'HEAD', keyword: 'x' },
    { unknown: 1 },
    { ca_certificates: 'x' },
  ]) {
    t.equal(httpSettings().safeParse(bad).success, false, JSON.stringify(bad));
  }
});

void t.test('credential headers are moved to the secret ones', async (t) => {
  const parsed = httpSettings().parse({ headers: { Authorization: 'Basic x', 'X-Plain': '1', cookie: 'a=b' } });
  t.same(parsed.headers, { 'X-Plain': '1' });
  t.same(parsed.secret_headers, { Authorization: 'Basic x', cookie: 'a=b' });
  t.same(httpSettings().parse(parsed), parsed, 'reading again changes nothing');
});
