import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { addMember } from '../../../monitoring/testing.ts';
import { alertsApi } from '../rules/testing.ts';
import { distinctTargets } from './distinct-targets.ts';

/** A receiver of webhooks on loopback. */
async function receiver(t: TestContext) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      bodies.push(body);
      response.statusCode = request.url === '/gone' ? 410 : 200;
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

void t.test('each target is told once, in the order of the steps', async (t) => {
  const of = (target: string) => ({ channel: 'sms', config_id: 1, target, locale: 'en', timezone: 'UTC' }) as const;
  const steps = [
    { after_seconds: 0, targets: [of('a'), of('b'), of('a')] },
    { after_seconds: 60, targets: [of('B'), of('c')] },
  ];
  const targets = distinctTargets({ steps, failover: of('d') }, ({ target }) => target.toLowerCase());
  t.same(
    targets.map(({ target }) => target),
    ['a', 'b', 'c', 'd'],
  );
});

void t.test('a test sends to every target, and says what came of each', async (t) => {
  const { bodies, url } = await receiver(t);
  const api = await alertsApi(t, [], { allowedPrivateHooks: ['127.0.0.0/8'] });
  const made = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: {
      channel: 'webhook',
      settings: {
        destinations: [
          { key: 'good', name: 'Good', url: `${url}/good` },
          { key: 'gone', name: 'Gone', url: `${url}/gone` },
        ],
      },
    },
  });
  t.equal(made.status, 201, made.text);
  const configId = Number(made.body['id']);
  const webhook = (target: string) => ({ channel: 'webhook', config_id: configId, target });
  const { id } = await api.alert({
    is_active: false,
    steps: [{ targets: [webhook('good'), { channel: 'email' }] }, { after_seconds: 60, targets: [webhook('good')] }],
    failover: webhook('gone'),
  });
  const tested = await api.alerts('POST', `/${id}/test`);
  t.match(
    tested,
    {
      status: 200,
      body: {
        ok: false,
        results: [
          { channel: 'webhook', target_masked: 'good', ok: true, error_code: null },
          // The own address is not verified.
          { channel: 'email', ok: false, error_code: 'target_not_confirmed' },
          { channel: 'webhook', target_masked: 'gone', ok: false },
        ],
      },
    },
    tested.text,
  );
  t.notMatch(tested.text, api.owner.email);
  t.equal(bodies.length, 2);
  const unknown = await api.alerts('PATCH', `/${id}`, { steps: [{ targets: [webhook('none')] }] });
  t.match(unknown, { status: 422, body: { errors: [{ path: '/steps/0/targets/0/target' }] } });
  // Somebody else has no right to the configuration, and is told the same as of one that is not there.
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const body = { workspace_id: api.workspaceId, name: 'theirs', steps: [{ targets: [webhook('good')] }] };
  const foreign = await api.alerts('POST', '', body, { token: editor.accessToken });
  t.match(foreign, { status: 422, body: { errors: [{ path: '/steps/0/targets/0/config_id', code: 'not_found' }] } });
});

void t.test('what checks may reach, messages may not', async (t) => {
  const { bodies, url } = await receiver(t);
  const api = await alertsApi(t, [], { allowedPrivateTargets: ['127.0.0.0/8'] });
  const made = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'webhook', settings: { destinations: [{ key: 'own', name: 'Own', url }] } },
  });
  const target = { channel: 'webhook', config_id: Number(made.body['id']), target: 'own' };
  const { id } = await api.alert({ is_active: false, steps: [{ targets: [target] }] });
  const tested = await api.alerts('POST', `/${id}/test`);
  t.match(tested, { status: 200, body: { ok: false, results: [{ ok: false, error_code: 'address_denied' }] } });
  t.same(bodies, [], 'nothing arrived');
});

void t.test('tests are limited for each account and each target', async (t) => {
  const { bodies, url } = await receiver(t);
  const api = await alertsApi(t, [], { allowedPrivateHooks: ['127.0.0.0/8'] });
  const made = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'webhook', settings: { destinations: [{ key: 'a', name: 'A', url }] } },
  });
  const target = { channel: 'webhook', config_id: Number(made.body['id']), target: 'a' };
  const { id } = await api.alert({ steps: [{ targets: [target] }] });
  const fromMs = Date.now();
  const answers = [];
  for (let n = 0; n < 11; n += 1) answers.push(await api.alerts('POST', `/${id}/test`));
  const refused = answers.filter(({ status }) => status === 429);
  for (const { headers, body } of refused) {
    const seconds = Number(headers.get('retry-after'));
    t.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 3_600, `retry-after ${seconds}`);
    t.ok(String(body['detail']).endsWith(`try again in ${seconds} s`), String(body['detail']));
  }
  // An hour may end meanwhile: then both limits begin anew.
  if (hourOf(fromMs) !== hourOf(Date.now())) return t.ok(bodies.length <= 6);
  t.equal(bodies.length, 3);
  t.same(
    answers.map(({ status }) => status),
    [...Array.from({ length: 3 }, () => 200), ...Array.from({ length: 8 }, () => 429)],
  );
  t.match(String(refused[0]?.body['detail']), 'each target of this alert');
  t.match(String(refused.at(-1)?.body['detail']), 'more than 10 test messages per hour of this account');
});

const hourOf = (ms: number): number => Math.floor(ms / 3_600_000);

void t.test('a target that has had its tests says when to try again, and the others are tried', async (t) => {
  const { bodies, url } = await receiver(t);
  const api = await alertsApi(t, [], { allowedPrivateHooks: ['127.0.0.0/8'] });
  const destinations = ['a', 'b'].map((key) => ({ key, name: key, url }));
  const made = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'webhook', settings: { destinations } },
  });
  const target = (key: string) => ({ channel: 'webhook', config_id: Number(made.body['id']), target: key });
  const { id } = await api.alert({ steps: [{ targets: [target('a'), target('b')] }] });
  const fromMs = Date.now();
  const send = () => api.call('POST', '/api/v1/alerts/test-send', { token: api.token, body: target('a') });
  for (let n = 0; n < 3; n += 1) t.equal((await send()).status, 200);
  const refused = await send();
  const tested = await api.alerts('POST', `/${id}/test`);
  // An hour may end meanwhile: then the limit begins anew.
  if (hourOf(fromMs) !== hourOf(Date.now())) return;
  t.equal(refused.status, 429, refused.text);
  const wait = Number(refused.headers.get('retry-after'));
  t.match(refused.body['detail'], `more than 3 test messages per hour to this target; try again in ${wait} s`);
  t.equal(tested.status, 200, tested.text);
  const results = tested.body['results'] as readonly Record<string, unknown>[];
  const [first] = results;
  const seconds = Number(first?.['retry_after_seconds']);
  t.ok(seconds >= 1 && seconds <= 3_600, tested.text);
  t.match(results, [
    { error_code: 'rate_limited', error: `3 test messages an hour go to one target; try again in ${seconds} s` },
    { ok: true, retry_after_seconds: null },
  ]);
  t.equal(bodies.length, 4);
});
