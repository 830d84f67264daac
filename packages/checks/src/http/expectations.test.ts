import t from 'tap';
import { runCheck } from '../run.ts';
import { listenRaw, testContext } from '../testing/context.ts';
import { site } from '../testing/site.ts';
import { httpSettings } from './settings.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('http', { url }, settings, testContext(overrides));

void t.test('a value of a JSON body is compared by kind and value', async (t) => {
  const documents: Record<string, string> = {
    '/ok': '\ufeff{"status":"up","deep":[{"n":1,"none":null}],"__proto__":{"x":1}}',
    '/html': '<html></html>',
    '/large': `["${'x'.repeat(1024 * 1024)}"]`,
  };
  const { url } = await site(t, (request, response) => response.end(documents[request.url ?? '']));
  const query = (path: string, equals?: unknown) =>
    check(url('/ok'), { json_query: { path, ...(equals !== undefined && { equals }) } });
  t.equal((await query('$.status', 'up')).outcome, 'ok');
  t.equal((await query('$.deep[0].n', 1)).outcome, 'ok');
  t.equal((await query('$.deep[0].none', null)).outcome, 'ok');
  t.equal((await query('$.deep')).outcome, 'ok');
  t.match(await query('$.deep[0].n', '1'), {
    outcome: 'fail',
    source: 'target',
    code: 'response_mismatch',
    message: 'At $.deep[0].n stands 1; expected is "1".',
  });
  t.match(await query('$.deep[1]'), { code: 'response_mismatch' });
  t.match(await query('$.constructor'), { code: 'response_mismatch' });
  t.match(await check(url('/html'), { json_query: { path: '$' } }), { outcome: 'fail', code: 'http_json' });
  t.match(await check(url('/large'), { json_query: { path: '$' } }), { outcome: 'fail', code: 'http_too_large' });
  for (const bad of [{ path: 'status' }, { path: '$..x' }, { equals: 1 }, { path: '$', equals: [] }])
    t.notOk(httpSettings().safeParse({ json_query: bad }).success);
  t.notOk(httpSettings().safeParse({ method: 'HEAD', json_query: { path: '$' } }).success);
});

void t.test('a body has to be as large as it should be', async (t) => {
  const { url } = await site(t, (request, response) => response.end('x'.repeat(Number(request.url?.slice(1)))));
  const bounds = { min_body_bytes: 10, max_body_bytes: 1000 };
  for (const size of [10, 1000]) t.equal((await check(url(`/${size}`), bounds)).outcome, 'ok');
  for (const size of [0, 9, 1001, 3_000_000])
    t.match(await check(url(`/${size}`), bounds), { outcome: 'fail', code: 'http_body_size' }, String(size));
  t.notOk(httpSettings().safeParse({ min_body_bytes: 2, max_body_bytes: 1 }).success);
});

void t.test('redirects have to lead where they should, in as many steps as they may take', async (t) => {
  const { url } = await site(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end();
    else response.writeHead(302, { Location: `/${left - 1}` }).end();
  });
  t.equal((await check(url('/2'), { expected_final_url: url('/0') })).outcome, 'ok');
  t.equal((await check(url('/2'), { expected_final_url: { pattern: '/0$' } })).outcome, 'ok');
  t.match(await check(url('/2'), { expected_final_url: url('/') }), {
    outcome: 'fail',
    code: 'http_final_url',
    evidence: { final_url: url('/0'), redirects: 2 },
  });
  t.equal((await check(url('/2'), { max_redirects: 2 })).outcome, 'ok');
  t.match(await check(url('/2'), { max_redirects: 1 }), { code: 'http_redirect', message: 'More than 1 redirects.' });
  t.notOk(httpSettings().safeParse({ max_redirects: 6 }).success);
});

void t.test('the version of HTTP can be asked for', async (t) => {
  const old = await listenRaw((socket) => socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nold')));
  t.teardown(old.stop);
  const url = `http://127.0.0.1:${old.port}/`;
  t.equal((await check(url, { expected_http_version: '1.0' })).outcome, 'ok');
  t.match(await check(url, { expected_http_version: '1.1' }), {
    outcome: 'fail',
    code: 'http_version',
    evidence: { http_version: '1.0' },
  });
});

void t.test(
  'assertions see the whole answer as it came; the evidence beside it has no secret of the monitor',
  async (t) => {
    const { http } = await import('../http.ts');
    const { url } = await site(t, (request, response) => {
      if (request.url === '/from') return response.writeHead(301, { Location: '/to' }).end();
      response.setHeader('X-Echo', String(request.headers.authorization));
      return response.end(`${'x'.repeat(20_000)} ${String(request.headers.authorization)}`);
    });
    const wanted = new Set(['body'] as const);
    const settings = httpSettings().parse({ bearer_token: 'canarytoken' });
    const result = await http.run({ url: url('/from') }, settings, testContext({ wanted }));
    t.match(result, {
      outcome: 'ok',
      evidence: { status: 200, final_url: url('/to'), redirects: 1 },
      facts: {
        status: 200,
        finalUrl: url('/to'),
        redirects: 1,
        version: '1.1',
        bodyBytes: 20_019,
        bodyTruncated: false,
      },
    });
    const { facts, ...outcome } = result;
    t.equal(facts?.body, `${'x'.repeat(20_000)} Bearer canarytoken`, 'or else a short secret would change the verdict');
    t.notMatch(JSON.stringify(outcome), 'canary');
  },
);
