import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import t from 'tap';
import { runCheck } from '../run.ts';
import { issue } from '../testing/certificates.ts';
import { listenRaw, testContext } from '../testing/context.ts';
import { accepts, freePort, startReal } from '../testing/real-server.ts';
import { site } from '../testing/site.ts';
import { httpSettings } from './settings.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('http', { url }, settings, testContext(overrides));

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** Whether a request answers the challenge for realm `r` and nonce `nonce` as user and password want it. */
function provesDigest({ method, headers }: IncomingMessage, nonce: string, user: string, password: string): boolean {
  const field = headers.authorization ?? '';
  const part = (name: string) => new RegExp(`[ ,]${name}="?([^",]*)`).exec(field)?.[1] ?? '';
  const secret = md5(`${user}:r:${password}`);
  const request = md5(`${method ?? ''}:${part('uri')}`);
  return (
    part('response') === md5(`${secret}:${nonce}:${part('nc')}:${part('cnonce')}:auth:${request}`) &&
    part('nonce') === nonce
  );
}

void t.test('digest: the challenge is answered on a second connection, the body goes along', async (t) => {
  const seen: string[] = [];
  const { url } = await site(t, (request, response, body) => {
    seen.push(`${request.method ?? ''} ${body} ${request.headers.authorization === undefined ? 'bare' : 'proven'}`);
    const isRight = provesDigest(request, 'n1', 'user', 'pass word');
    if (isRight) response.end(`in ${request.headers.authorization ?? ''}`);
    else response.writeHead(401, { 'WWW-Authenticate': 'Digest realm="r", qop="auth", nonce="n1"' }).end('out');
  });
  const settings = { method: 'POST', body: 'b', username: 'user', password: 'pass word', auth_scheme: 'digest' };
  t.match(await check(url('/a?b=c'), { ...settings, keyword: 'in' }), { outcome: 'ok' });
  t.same(seen, ['POST b bare', 'POST b proven']);
  seen.length = 0;
  const wrong = await check(url('/'), { ...settings, password: 'wrong' });
  t.match(wrong, { outcome: 'fail', source: 'target', code: 'http_status', evidence: { status: 401, body: 'out' } });
  t.equal(seen.length, 2, 'a refusal is not tried again');
  const traced = await check(url('/'), { ...settings, keyword_absent: 'in' });
  t.match(traced, { code: 'keyword_present' });
});

void t.test('digest: an old nonce is replaced once, and other schemes are not enough', async (t) => {
  let asked = 0;
  const { url } = await site(t, (request, response) => {
    asked += 1;
    if (request.url === '/basic') return response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="r"' }).end();
    if (request.url === '/stale' || !provesDigest(request, 'n2', 'u', 'pass')) {
      const nonce = asked === 1 ? 'n1' : 'n2';
      const field = `Digest realm="r", qop="auth", nonce="${nonce}"${asked > 1 ? ', stale=true' : ''}`;
      return response.writeHead(401, { 'WWW-Authenticate': field }).end();
    }
    return response.end();
  });
  const settings = { username: 'u', password: 'pass', auth_scheme: 'digest' };
  t.equal((await check(url('/'), settings)).outcome, 'ok');
  t.equal(asked, 3);
  asked = 0;
  t.match(await check(url('/stale'), settings), { code: 'http_status' });
  t.equal(asked, 3, 'a server that calls every nonce old is asked three times');
  t.match(await check(url('/basic'), settings), { outcome: 'fail', source: 'target', code: 'http_challenge' });
});

void t.test('digest: a redirect to another origin gets no answer, one to the same origin its own', async (t) => {
  const fields: Array<string | undefined> = [];
  const other = await site(t, ({ headers }, response) => {
    fields.push(headers.authorization);
    response.writeHead(401, { 'WWW-Authenticate': 'Digest realm="r", qop="auth", nonce="n"' }).end();
  });
  const first = await site(t, (request, response) => {
    if (!provesDigest(request, 'n', 'u', 'pass'))
      return response.writeHead(401, { 'WWW-Authenticate': 'Digest realm="r", qop="auth", nonce="n"' }).end();
    if (request.url === '/end') return response.end('there');
    return response.writeHead(302, { Location: request.url === '/same' ? '/end' : other.url() }).end();
  });
  const settings = { username: 'u', password: 'pass', auth_scheme: 'digest' };
  t.equal((await check(first.url('/same'), { ...settings, keyword: 'there' })).outcome, 'ok');
  t.match(await check(first.url('/other'), settings), { code: 'http_status', evidence: { status: 401 } });
  t.same(fields, [undefined]);
});

/** A token endpoint and a site that takes only its newest token. */
async function tokenSite(t: Parameters<typeof site>[0], answer: (count: number) => { status?: number; json: object }) {
  const asked: Array<{ authorization: string | undefined; body: string }> = [];
  const endpoint = await site(t, ({ headers }, response, body) => {
    asked.push({ authorization: headers.authorization, body });
    const { status = 200, json } = answer(asked.length);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
  });
  const valid = { token: '' };
  const target = await site(t, ({ headers }, response) => {
    const isRight = headers.authorization === `Bearer ${valid.token}`;
    response.writeHead(isRight ? 200 : 401).end(headers.authorization ?? '');
  });
  const settings = { token_url: endpoint.url('/token'), client_id: 'me:1', client_secret: 'client canary' };
  return { asked, valid, target, settings, endpoint };
}

void t.test('OAuth 2: a token is fetched, kept for its life and renewed when it is refused', async (t) => {
  const { asked, valid, target, settings } = await tokenSite(t, (count) => ({
    json: { access_token: `token${count}`, token_type: 'Bearer', expires_in: 3600 },
  }));
  let now = 0;
  const clock = () => now + performance.now();
  valid.token = 'token1';
  const same = { ...settings, scope: 'a b', audience: 'aud' };
  t.equal((await check(target.url(), same, { clock })).outcome, 'ok');
  t.same(asked, [
    {
      authorization: `Basic ${Buffer.from('me%3A1:client+canary').toString('base64')}`,
      body: 'grant_type=client_credentials&scope=a+b&audience=aud',
    },
  ]);
  t.equal((await check(target.url(), same, { clock })).outcome, 'ok');
  t.equal(asked.length, 1, 'the next check uses it again');
  valid.token = 'token2';
  t.equal((await check(target.url(), same, { clock })).outcome, 'ok', 'a refused one is replaced at once');
  t.equal(asked.length, 2);
  now = 3_300_000;
  valid.token = 'token3';
  t.equal((await check(target.url(), same, { clock })).outcome, 'ok', 'it is replaced before its end');
  t.equal(asked.length, 3);
  valid.token = 'none';
  const refused = await check(target.url(), { ...same }, { clock });
  t.match(refused, { outcome: 'fail', code: 'http_status', evidence: { status: 401, body: 'Bearer [redacted]' } });
  t.equal(asked.length, 4, 'a fresh one that is refused is not replaced');
  t.equal((await check(target.url(), { ...settings, client_authentication: 'form' })).code, 'http_status');
  t.match(asked[4], {
    authorization: undefined,
    body: 'grant_type=client_credentials&client_id=me%3A1&client_secret=client+canary',
  });
});

void t.test('OAuth 2: what goes wrong at the token endpoint is said, without a secret', async (t) => {
  const answers: Array<{ status?: number; json: object }> = [
    { status: 401, json: { error: 'invalid_client', error_description: 'client canary' } },
    { json: { token: 'x' } },
    { json: { access_token: 'abc', token_type: 'mac' } },
    { json: { access_token: 'a\r\nb' } },
    { json: [] },
  ];
  const { target, settings, endpoint } = await tokenSite(t, (count) => answers[count - 1] ?? { json: {} });
  for (const [at, words] of [
    'invalid_client',
    'no access_token',
    'not a bearer',
    'no access_token',
    'no acc',
  ].entries()) {
    const outcome = await check(target.url(), { ...settings });
    t.match(outcome, { outcome: 'fail', source: 'target', code: 'oauth2_token', message: words }, String(at));
    t.match(outcome.evidence, { port: endpoint.port });
    t.notMatch(JSON.stringify(outcome), 'canary');
  }
  const closed = await listenRaw(() => undefined);
  await closed.stop();
  const at = (token_url: string) => check(target.url(), { ...settings, token_url }, { timeoutMs: 300 });
  t.match(await at(`http://127.0.0.1:${closed.port}/`), { code: 'oauth2_token', message: /refused the connection/ });
  t.match(await at('http://169.254.169.254/token'), { outcome: 'fail', code: 'address_denied' });
  t.match(await at('http://2852039166/token'), { outcome: 'fail', code: 'address_denied' });
  const silent = await listenRaw(() => undefined);
  t.teardown(silent.stop);
  t.match(await at(`http://127.0.0.1:${silent.port}/`), { outcome: 'timeout', code: 'oauth2_token' });
  const moved = await site(t, (_request, response) => response.writeHead(302, { Location: endpoint.url() }).end());
  t.match(await at(moved.url()), { code: 'oauth2_token', message: /answered 302/ }, 'its redirects are not followed');
});

void t.test('OAuth 2: the secret goes only to an endpoint whose certificate is right', async (t) => {
  const authority = await issue({ name: 'Authority', authority: true });
  const own = await issue({ name: 'token', addresses: ['127.0.0.1'], by: authority });
  let asked = 0;
  const endpoint = await site(
    t,
    (_request, response) => {
      asked += 1;
      response.end(JSON.stringify({ access_token: 'abcd', token_type: 'bearer' }));
    },
    { cert: own.cert, key: own.key },
  );
  const target = await site(t, (_request, response) => response.end());
  const settings = { token_url: endpoint.url(), client_id: 'i', client_secret: 'secret', verify_tls: false };
  t.match(await check(target.url(), settings), { outcome: 'fail', code: 'oauth2_token' });
  t.equal(asked, 0);
  t.equal((await check(target.url(), { ...settings, token_ca_certificates: authority.cert })).outcome, 'ok');
});

void t.test('a client certificate is shown to the own origin and to nobody else', async (t) => {
  const authority = await issue({ name: 'Authority', authority: true });
  const server = await issue({ name: 'server', addresses: ['127.0.0.1'], by: authority });
  const client = await issue({ name: 'client', by: authority });
  const stranger = await issue({ name: 'stranger' });
  const strict = { cert: server.cert, key: server.key, ca: authority.cert, requestCert: true };
  const shown: boolean[] = [];
  const other = await site(
    t,
    (request, response) => {
      const { socket } = request;
      shown.push(
        'getPeerX509Certificate' in socket && typeof socket.getPeerX509Certificate === 'function'
          ? socket.getPeerX509Certificate() !== undefined
          : true,
      );
      response.end('other');
    },
    { ...strict, rejectUnauthorized: false },
  );
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/away') response.writeHead(302, { Location: other.url() }).end();
    else response.end('in');
  };
  const site13 = await site(t, handler, strict);
  const site12 = await site(t, handler, { ...strict, maxVersion: 'TLSv1.2' });
  const trust = { ca_certificates: authority.cert };
  const own = { ...trust, client_certificate: client.cert, client_key: client.key };
  for (const { url } of [site13, site12]) {
    t.equal((await check(url(), { ...own, keyword: 'in' })).outcome, 'ok');
    const foreign = { ...trust, client_certificate: stranger.cert, client_key: stranger.key };
    t.match(await check(url(), foreign), { outcome: 'fail', source: 'target' });
  }
  t.match(await check(site13.url(), trust), { outcome: 'fail', code: 'tls_client_certificate' });
  t.equal((await check(site13.url('/away'), { ...own, keyword: 'other' })).outcome, 'ok');
  t.same(shown, [false]);
  await t.test('the alert of another kind of server is understood', async (t) => {
    const folder = t.testdir({ cert: server.cert, key: server.key, ca: authority.cert });
    const port = await freePort();
    const files = ['-cert', `${folder}/cert`, '-key', `${folder}/key`, '-CAfile', `${folder}/ca`];
    const args = ['s_server', '-accept', `127.0.0.1:${port}`, ...files, '-Verify', '2', '-verify_return_error', '-www'];
    const started = await startReal(t, { program: 'openssl', args, ready: () => accepts(port) });
    if (started === undefined) return;
    const url = `https://127.0.0.1:${port}/`;
    t.equal((await check(url, own)).outcome, 'ok');
    const foreign = { ...trust, client_certificate: stranger.cert, client_key: stranger.key };
    t.match(await check(url, foreign), { outcome: 'fail', source: 'target', code: 'tls_client_certificate' });
    t.match(await check(url, trust), { outcome: 'fail', code: 'tls_client_certificate' });
  });
});

void t.test('credentials that cannot work are refused', async (t) => {
  const one = await issue({ name: 'one' });
  const two = await issue({ name: 'two' });
  const pair = { client_certificate: one.cert, client_key: one.key };
  t.ok(httpSettings().safeParse(pair).success);
  for (const bad of [
    { client_certificate: one.cert },
    { client_key: one.key },
    { client_certificate: one.cert, client_key: two.key },
    { ...pair, client_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' },
    { auth_scheme: 'digest' },
    { token_url: 'https://a.test/' },
    { client_id: 'a', client_secret: 'b' },
    { token_url: 'https://a.test/', client_id: 'a', client_secret: 'b', bearer_token: 'c' },
    { token_url: 'ftp://a.test/', client_id: 'a', client_secret: 'b' },
    { token_url: 'https://u:p@a.test/', client_id: 'a', client_secret: 'b' },
  ])
    t.notOk(httpSettings().safeParse(bad).success, JSON.stringify(bad).slice(0, 60));
});
