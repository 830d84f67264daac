import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { capabilities } from '../../../capabilities.ts';
import { testApi } from '../../../identity/testing.ts';
import type { TestApi, TestCall } from '../../../identity/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { memoryBus } from '../../../testing/probes.ts';

const path = '/api/v1/alert-channel-configs';
const secret = `whsec_${Buffer.from('a secret of thirty-two bytes 012').toString('base64')}`;
const place = (more: Record<string, unknown> = {}) => ({
  key: 'ops',
  name: 'Operations',
  url: 'https://hooks.example.com/one-credential',
  headers: { authorization: 'Bearer header-credential' },
  secret,
  ...more,
});
const webhookBody = { channel: 'webhook', settings: { destinations: [place()] } };

async function start(t: Test, plan = 'self_hosted') {
  const api = await testApi(t, { capabilities, context: { bus: memoryBus() } });
  const ada = await api.account('ada@example.com');
  await api.database.worker.query(sql.unsafe`update users set plan = ${plan} where id = ${ada.id}`);
  const call = (method: string, route: string, more: TestCall = {}) =>
    api.call(method, route, { token: ada.accessToken, ...more });
  return { api, ada, call };
}

const sqlText = z.object({ text: z.string() });
const stored = (api: TestApi) =>
  api.database.worker.oneFirst(
    sql.type(sqlText)`select coalesce(jsonb_agg(to_jsonb(c))::text, '') as text from channel_configs c`,
  );

void t.test('a configuration is made, read and listed, and its credentials are shown to nobody', async (t) => {
  const { api, call } = await start(t);
  const made = await call('POST', path, { body: webhookBody });
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    channel: 'webhook',
    name: 'Webhook',
    is_active: true,
    disabled_reason: null,
    failures_in_row: 0,
    version: 1,
    settings: { destinations: [{ key: 'ops', has_url: true, has_headers: true, has_secret: true, method: 'POST' }] },
  });
  t.equal(made.headers.get('location'), `${path}/${String(made.body['id'])}`);
  t.equal(made.headers.get('etag'), '"1"');
  const read = await call('GET', `${path}/${String(made.body['id'])}`);
  const list = await call('GET', path);
  const active = await call('GET', `${path}/channels/webhook`);
  t.same(read.body, made.body);
  t.same(active.body, made.body);
  t.match(list.body, { total: 1, page: 1, page_size: 20 });
  for (const text of [made.text, read.text, list.text, active.text, await stored(api)]) {
    for (const word of ['one-credential', 'header-credential', secret]) t.notOk(text.includes(word), word);
  }
});

void t.test('an alias is accepted and the neutral word answered; one configuration for each channel', async (t) => {
  const { call } = await start(t);
  const destinations = [{ key: 'a', name: 'A', url: 'https://hooks.slack.com/services/T0/B0/x' }];
  const made = await call('POST', path, { body: { channel: 'slack', name: 'Ours', settings: { destinations } } });
  t.match(made, { status: 201, body: { channel: 'team-chat', name: 'Ours' } }, made.text);
  const again = await call('POST', path, { body: { channel: 'team-chat', settings: { destinations } } });
  t.match(again, { status: 409, body: { code: 'channel_configured' } });
  t.match(await call('GET', `${path}/channels/slack`), { status: 200, body: { channel: 'team-chat' } });
  t.match(await call('GET', `${path}/channels/webhook`), { status: 404 });
});

void t.test('what is wrong is named by its place', async (t) => {
  const { call } = await start(t);
  t.match(await call('POST', path, { body: { channel: 'pigeon' } }), {
    status: 422,
    body: { errors: [{ path: '/channel', code: 'unknown_channel' }] },
  });
  const wrong = { destinations: [place({ url: 'ftp://example.com/', method: 'GET', template: '{{tittle}}' })] };
  const answer = await call('POST', path, { body: { channel: 'webhook', settings: wrong } });
  t.equal(answer.status, 422);
  t.match(answer.text, '/settings/destinations/0/url');
  t.notMatch(answer.text, 'credential');
  const unknown = await call('POST', path, {
    body: { channel: 'webhook', settings: { destinations: [place({ zzz: 1 })] } },
  });
  t.equal(unknown.status, 422);
});

void t.test(
  'a change keeps what it does not name, and another host loses the credentials of the old one',
  async (t) => {
    const { call } = await start(t);
    const made = await call('POST', path, { body: webhookBody });
    const own = `${path}/${String(made.body['id'])}`;
    const named = await call('PATCH', own, { body: { name: 'Renamed' }, headers: { 'if-match': '"1"' } });
    t.match(named, { status: 200, body: { name: 'Renamed', version: 2 } });
    t.equal((await call('PATCH', own, { body: { name: 'Late' }, headers: { 'if-match': '"1"' } })).status, 412);
    const change = (item: Record<string, unknown>) =>
      call('PATCH', own, { body: { settings: { destinations: [{ key: 'ops', name: 'Operations', ...item }] } } });
    t.match((await change({ method: 'PUT' })).body, {
      settings: { destinations: [{ method: 'PUT', has_url: true, has_headers: true, has_secret: true }] },
    });
    t.match((await change({ url: 'https://hooks.example.com/two' })).body, {
      settings: { destinations: [{ has_headers: true, has_secret: true }] },
    });
    const cleared = await change({ secret: null });
    t.match(cleared.body, { settings: { destinations: [{ has_headers: true, has_secret: false }] } });
    t.notOk('warnings' in cleared.body, 'what was asked for needs no warning');
    const moved = await change({ url: 'https://elsewhere.example.com/' });
    t.match(moved.body, {
      settings: { destinations: [{ has_url: true, has_headers: false, has_secret: false }] },
    });
    t.match(moved.body['warnings'], [{ code: 'secret_dropped', path: '/settings/destinations/0/headers' }]);
    t.equal((moved.body['warnings'] as unknown[]).length, 1);
    const other = await call('PATCH', own, { body: { settings: { destinations: [{ key: 'new', name: 'New' }] } } });
    t.match(other, { status: 422 }, 'a new destination needs its address');
    const same = await call('PATCH', own, { body: {} });
    t.equal(same.body['version'], (await call('GET', own)).body['version'], 'nothing changed');
  },
);

void t.test('it is switched off and on, and deleted', async (t) => {
  const { call } = await start(t);
  const made = await call('POST', path, { body: webhookBody });
  const own = `${path}/${String(made.body['id'])}`;
  t.match(await call('POST', `${own}/deactivate`), { status: 200, body: { is_active: false, disabled_reason: null } });
  t.equal((await call('GET', `${path}/channels/webhook`)).status, 404, 'it is not active');
  t.match(await call('POST', `${own}/activate`), { status: 200, body: { is_active: true, disabled_at: null } });
  t.match(await call('PATCH', own, { body: { is_active: false } }), { status: 200, body: { is_active: false } });
  t.equal((await call('DELETE', own, { headers: { 'if-match': '"1"' } })).status, 412);
  t.equal((await call('DELETE', own)).status, 204);
  t.equal((await call('GET', own)).status, 404);
  t.equal((await call('POST', path, { body: webhookBody })).status, 201, 'and may be made again');
});

void t.test("somebody else's configuration is not there", async (t) => {
  const { api, call } = await start(t);
  const made = await call('POST', path, { body: webhookBody });
  const own = `${path}/${String(made.body['id'])}`;
  const eve = await api.account('eve@example.com');
  for (const [method, route] of [
    ['GET', own],
    ['PATCH', own],
    ['DELETE', own],
    ['POST', `${own}/activate`],
    ['POST', `${own}/deactivate`],
    ['POST', `${own}/test`],
    ['GET', `${path}/channels/webhook`],
  ] as const) {
    const body = method === 'PATCH' ? { body: { name: 'Mine' } } : {};
    t.equal((await api.call(method, route, { token: eve.accessToken, ...body })).status, 404, `${method} ${route}`);
  }
  t.match((await api.call('GET', path, { token: eve.accessToken })).body, { total: 0 });
  const send = { channel: 'webhook', target: 'ops', config_id: made.body['id'] };
  t.equal((await api.call('POST', '/api/v1/alerts/test-send', { token: eve.accessToken, body: send })).status, 422);
});

void t.test('fifty at once make one, and the free plan has two channels whoever comes first', async (t) => {
  const { api, ada, call } = await start(t);
  const at = await Promise.all(Array.from({ length: 50 }, () => call('POST', path, { body: webhookBody })));
  t.equal(at.filter(({ status }) => status === 201).length, 1);
  t.equal(at.filter(({ status }) => status === 409).length, 49);
  await call('DELETE', `${path}/${String(at.find(({ status }) => status === 201)?.body['id'])}`);
  await api.database.worker.query(sql.unsafe`update users set plan = 'free' where id = ${ada.id}`);
  await api.database.worker.query(sql.unsafe`delete from rate_limits`);
  const bodies = [
    webhookBody,
    { channel: 'email' },
    { channel: 'messenger' },
    {
      channel: 'team-chat',
      settings: { destinations: [{ key: 'a', name: 'A', url: 'https://hooks.slack.com/services/T0/B0/x' }] },
    },
  ];
  const answers = await Promise.all(bodies.map((body) => call('POST', path, { body })));
  t.same(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 201, 409, 409],
  );
  for (const { status, body } of answers) if (status === 409) t.equal(body['code'], 'too_many_channels');
});

void t.test('what there is, and what the caller has of it', async (t) => {
  const { call } = await start(t);
  await call('POST', path, { body: webhookBody });
  const { channels } = z
    .object({ channels: z.array(z.looseObject({ channel: z.string() })) })
    .parse((await call('GET', '/api/v1/alerts/channels/availability')).body);
  const of = (name: string) => channels.find(({ channel }) => channel === name);
  t.match(of('webhook'), { available: true, configured: true, is_active: true, needs_config: true });
  t.match(of('email'), { available: true, configured: false, config_id: null, needs_config: false });
  t.match(of('messenger'), { available: true, needs_config: true }, 'the installation has no bot of its own');
});

void t.test('what is wrong with settings is told with its place', async (t) => {
  const { call } = await start(t);
  const settings = { url: 'https://hooks.example.com/', 'a/b': 1 };
  t.match(await call('POST', path, { body: { channel: 'webhook', settings } }), {
    status: 422,
    body: {
      detail: 'body /settings/destinations: is required (and 2 more)',
      errors: [
        { in: 'body', path: '/settings/destinations', message: 'is required' },
        { in: 'body', path: '/settings/url', message: 'there is no such field' },
        { in: 'body', path: '/settings/a~1b', message: 'there is no such field' },
      ],
    },
  });
});
