import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { readLines } from './api/lines.ts';
import { movedSecrets } from './api/destinations.ts';
import { settingsSchema } from './registry.ts';
import { runCheck } from './run.ts';
import { listen, testContext } from './testing/context.ts';

type Asked = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** A server that notes what it is asked. */
async function serve(t: Test, answer: (asked: Asked, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString('utf8') };
      asked.push(one);
      answer(one, response);
    });
  });
  const peer = await listen(server);
  t.teardown(() => peer.stop());
  return { url: `http://127.0.0.1:${peer.port}`, asked };
}

const run = (url: string, settings: object, more = {}) => runCheck('api', { url }, settings, testContext(more));

void t.test('a login whose cookie and token go into the next steps', async (t) => {
  const password = 'hush "hush" & more';
  const { url, asked } = await serve(t, (one, response) => {
    if (one.url === '/login') {
      response.setHeader('set-cookie', ['session=s-12345678; Path=/; HttpOnly', 'elsewhere=1; Path=/other']);
      response.setHeader('x-region', 'eu');
      response.end(JSON.stringify({ token: 'tok-abcdefgh', user: { id: 42 } }));
    } else response.end('order number A-77 of today');
  });
  const trace: string[] = [];
  const settings = {
    steps: [
      {
        name: 'login',
        method: 'POST',
        url: '/login',
        json: { user: '{{user}}', password: '{{password}}' },
        extract: [
          { name: 'token', from: 'json', path: '$.token' },
          { name: 'id', from: 'json', path: '$.user.id' },
          { name: 'region', from: 'header', path: 'X-Region' },
          { name: 'session', from: 'cookie', path: 'session' },
          { name: 'code', from: 'status' },
          { name: 'absent', from: 'header', path: 'x-none', default: 'a b&c' },
        ],
      },
      {
        name: 'orders',
        method: 'POST',
        url: '/users/{{id}}/orders?region={{region}}&none={{absent}}',
        headers: { Authorization: 'Bearer {{token}}', 'X-Session': '{{session}}' },
        json: { id: '{{id}}', text: 'no {{id}}', code: '{{code}}' },
        assertions: { subject: 'body', comparison: 'contains', value: 'A-77' },
        extract: [{ name: 'order', from: 'regex', path: 'number (\\S+)' }],
      },
      { url: '/orders/{{order}}', method: 'PUT', form: { a: '{{absent}}' } },
    ],
    variables: { user: 'watcher' },
    secrets: { password },
  };
  const outcome = await run(url, settings, {
    trace: (step: string, detail: string) => trace.push(`${step} ${detail}`),
  });
  t.equal(outcome.outcome, 'ok', outcome.message ?? '');
  t.same(JSON.parse(asked[0]?.body ?? ''), { user: 'watcher', password }, 'escaped as JSON');
  t.match(asked[1], {
    url: '/users/42/orders?region=eu&none=a%20b%26c',
    headers: { authorization: 'Bearer tok-abcdefgh', 'x-session': 's-12345678', cookie: 'session=s-12345678' },
    body: '{"id":42,"text":"no 42","code":200}',
  });
  t.match(asked[2], { url: '/orders/A-77', body: 'a=a+b%26c' });
  const steps = readLines(outcome.evidence?.details ?? {});
  t.match(steps, [
    { number: 1, name: 'login', result: 'ok', status: 200 },
    { number: 2, name: 'orders', result: 'ok', status: 200 },
    { number: 3, name: 'step 3', result: 'ok', status: 200 },
  ]);
  t.same(
    trace.filter((line) => /^(extract|assert) /.test(line)),
    [
      ...['token', 'id', 'region', 'session', 'code', 'absent'].map((name) => `extract ${name}`),
      'assert holds',
      'extract order',
    ],
    'what was taken is told by its names, and each assertion',
  );
  const shown = JSON.stringify([outcome, trace]);
  for (const secret of ['hush', 'tok-abcdefgh', 's-12345678']) t.notOk(shown.includes(secret), secret);
  t.ok((outcome.phases.connect ?? 0) > 0 && outcome.total >= (outcome.phases.first_byte ?? 0), 'phases are summed');
});

void t.test('the step that fails is named, and those after it are not made', async (t) => {
  const { url, asked } = await serve(t, (one, response) => {
    response.statusCode = one.url === '/bad' ? 500 : 200;
    response.end('{"state":"degraded"}');
  });
  const second = (step: object) => ({ steps: [{ url: '/a' }, { name: 'two', ...step }, { url: '/c' }] });
  const cases: [object, object][] = [
    [{ url: '/bad' }, { outcome: 'fail', source: 'target', code: 'http_status', message: /^Step 2 "two": .*500/ }],
    [
      { assertions: { subject: 'json', name: '$.state', comparison: 'equals', value: 'fine' } },
      { outcome: 'fail', code: 'assertion_failed', message: /^Step 2 "two": .*degraded/ },
    ],
    [{ url: '/{{nothing}}' }, { outcome: 'fail', code: 'variable_missing', message: /nothing/ }],
    [{ extract: [{ name: 'x', from: 'json', path: '$.none' }] }, { outcome: 'fail', code: 'extract_failed' }],
    [{ url: 'http://127.0.0.1:1/' }, { outcome: 'fail', code: 'connect_refused' }],
    [{ url: 'http://10.0.0.1/' }, { outcome: 'fail', code: 'address_denied' }],
  ];
  for (const [step, expected] of cases) {
    asked.length = 0;
    const outcome = await run(url, second(step));
    t.match(outcome, expected, JSON.stringify(outcome));
    t.notOk(asked.some((one) => one.url === '/c'));
    t.match(readLines(outcome.evidence?.details ?? {}), [
      { result: 'ok' },
      { result: 'failed' },
      { result: 'skipped' },
    ]);
  }
  const on = { url: '/bad', continue_on_failure: true };
  asked.length = 0;
  const both = await run(url, { steps: [on, on, { url: '/c' }] });
  t.match(both, { outcome: 'fail', code: 'step_failed', message: /^Step 1 .*1 more failed\.$/ });
  t.equal(asked.length, 3, 'went on');
  const degraded = { subject: 'json', name: '$.state', comparison: 'equals', value: 'fine', severity: 'degraded' };
  t.match(await run(url, { steps: [{ assertions: degraded }, { url: '/c' }] }), { outcome: 'slow' });
});

void t.test('a step has a time of its own', async (t) => {
  const { url } = await serve(t, () => undefined);
  const outcome = await run(url, { steps: [{ timeout_seconds: 1 }] });
  t.match(outcome, { outcome: 'timeout', code: 'http_timeout' });
  t.ok(outcome.total < 3_000_000);
});

void t.test('a redirect to another host drops credentials, and a line end gets into no header', async (t) => {
  const other = await serve(t, (_one, response) => response.end('fine'));
  const { url } = await serve(t, (one, response) => {
    if (one.url === '/moved') response.writeHead(302, { location: other.url });
    response.end(JSON.stringify({ evil: 'a\r\nX-Injected: 1' }));
  });
  const secrets = { token: 'very-secret-token' };
  const auth = { type: 'bearer', token: '{{token}}' };
  t.match(await run(url, { secrets, steps: [{ url: '/moved', auth, headers: { 'x-own': '{{token}}' } }] }), {
    outcome: 'ok',
  });
  t.equal(other.asked.length, 1);
  t.notMatch(JSON.stringify(other.asked), 'very-secret-token');
  const extract = [{ name: 'evil', from: 'json', path: '$.evil' }];
  const injected = await run(url, { steps: [{ extract }, { headers: { 'x-a': '{{evil}}' } }] });
  t.match(injected, { outcome: 'fail', code: 'variable_unusable' });
});

void t.test('settings: no credential in the open, no host from a secret', (t) => {
  const schema = settingsSchema('api');
  const bad = [
    { steps: [] },
    { steps: [{ headers: { authorization: 'Bearer abc' } }] },
    { steps: [{ auth: { type: 'bearer', token: 'abc' } }] },
    { steps: [{ url: 'https://{{host}}/' }], secrets: { host: 'a.test' } },
    { steps: [{ url: 'https://{{host}}/' }], variables: { host: 'a.test/x' } },
    { steps: [{ url: '//a.test/' }] },
    { steps: [{ url: 'ftp://a.test/' }] },
    { steps: [{ url: 'a.test' }] },
    { steps: [{ body: 'a', json: 1 }] },
    { steps: Array.from({ length: 21 }, () => ({})) },
    { variables: { a: '1' }, secrets: { a: '2' } },
    { variables: { 'a b': '1' } },
    { steps: [{ extract: [{ name: 'a', from: 'json', path: 'x' }] }] },
  ];
  for (const each of bad) t.equal(schema.safeParse(each).success, false, JSON.stringify(each).slice(0, 100));
  t.ok(schema.safeParse({ steps: [{ url: 'https://{{host}}:81/a' }], variables: { host: 'a.test' } }).success);
  t.end();
});

void t.test('a secret moves when a step that names it goes elsewhere', (t) => {
  const at = (host: string, variables = {}) => ({
    url: 'https://a.test',
    steps: [{ url: `https://${host}/`, headers: { authorization: '{{key}}' } }, { url: '/x' }],
    variables,
  });
  t.same(movedSecrets(at('a.test'), at('a.test'), ['key', 'other']), []);
  t.same(movedSecrets(at('a.test'), at('b.test'), ['key', 'other']), ['key']);
  const own = at('{{host}}', { host: 'a.test' });
  t.same(movedSecrets(own, at('{{host}}', { host: 'b.test' }), ['key']), ['key'], 'by a variable');
  t.end();
});
