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
  const api = await alertsApi(t, [], { allowedPrivateTargets: ['127.0.0.0/8'] });
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

void t.test('tests are limited for each account and each target', async (t) => {
  const { bodies, url } = await receiver(t);
  const api = await alertsApi(t, [], { allowedPrivateTargets: ['127.0.0.0/8'] });
  const made = await api.call('POST', '/api/v1/alert-channel-configs', {
    token: api.token,
    body: { channel: 'webhook', settings: { destinations: [{ key: 'a', name: 'A', url }] } },
  });
  const target = { channel: 'webhook', config_id: Number(made.body['id']), target: 'a' };
  const { id } = await api.alert({ steps: [{ targets: [target] }] });
  const answers = [];
  for (let n = 0; n < 11; n += 1) answers.push(await api.alerts('POST', `/${id}/test`));
  // An hour may end meanwhile: then both limits begin anew.
  const refused = answers.filter(({ status }) => status === 429);
  const limited = answers.filter(({ text }) => text.includes('rate_limited') && !text.includes('problems#'));
  if (bodies.length === 3) {
    t.equal(limited.length, 7);
    t.equal(refused.length, 1);
    t.ok(refused[0]?.headers.get('retry-after'));
  } else {
    t.ok(bodies.length <= 6);
  }
});
