import { createServer } from 'node:http';
import t from 'tap';
import { z } from 'zod';
import { capabilities } from '../../capabilities.ts';
import { takeMails } from '../../identity/accounts/testing.ts';
import { testApi } from '../../identity/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { memoryBus } from '../../testing/probes.ts';
import { deliver, isUsable } from './gateway.ts';
import type { DeliverRequest } from './gateway.ts';
import { createReachedKeys } from './sending/reached-keys.ts';
import { maskTarget, targetKeyOf, unusableTargets, usableTargets } from './targets/gateway.ts';
import { sampleMessage } from './testing/messages.ts';

/*
 * Deliveries over one database and one receiver, whose answer is set by each test. Tests come one after the other.
 */

let status = 200;
let arrived = 0;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    arrived += 1;
    response.writeHead(status, status === 429 ? { 'retry-after': '9' } : {}).end();
  });
});
await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
t.teardown(() => receiver.close());
const address = receiver.address();
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/hook-credential`;

const sent: Mail[] = [];
const api = await testApi(t, {
  capabilities,
  context: {
    bus: memoryBus(),
    allowedPrivateHooks: ['127.0.0.0/8'],
    publicUrl: 'https://monitor.example.com',
    mailer: { send: async (mail) => void sent.push(mail) },
  },
});
const ada = await api.account('ada@example.com');
await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${ada.id}`);
const call = (method: string, route: string, body?: unknown) =>
  api.call(method, `/api/v1${route}`, { token: ada.accessToken, ...(body === undefined ? {} : { body }) });
const made = await call('POST', '/alert-channel-configs', {
  channel: 'webhook',
  settings: {
    destinations: [
      { key: 'a', name: 'A', url },
      { key: 'b', name: 'B', url },
    ],
  },
});
const configId = Number(made.body['id']);
const config = async () => (await call('GET', `/alert-channel-configs/${configId}`)).body;
let count = 0;
const send = (more: Partial<DeliverRequest> = {}) => {
  count += 1;
  return deliver(api.context, {
    ownerId: ada.id,
    workspaceId: 1,
    channel: 'webhook',
    configId,
    target: 'a',
    message: sampleMessage({ id: `n-${count}` }),
    ...more,
  });
};
await takeMails(api);

void t.test('a message arrives, and the configuration notes when', async (t) => {
  status = 200;
  const before = arrived;
  t.match(await send(), { ok: true });
  t.equal(arrived, before + 1);
  t.match(await config(), { failures_in_row: 0, last_success_at: /^2/ });
});

void t.test('what passes changes nothing until it is the last attempt, and a success ends the streak', async (t) => {
  status = 429;
  t.match(await send(), { ok: false, code: 'rate_limited', fault: 'passing', retryAfterMs: 9_000 });
  t.match(await config(), { failures_in_row: 0, last_error: null });
  t.match(await send({ isLastAttempt: true }), { ok: false });
  t.match(await config(), { failures_in_row: 1, last_error: { code: 'rate_limited' } });
  status = 200;
  t.match(await send(), { ok: true });
  t.match(await config(), { failures_in_row: 0, is_active: true });
});

void t.test(
  'ten messages that failed in a row switch it off once, however many come together; its owner is told',
  async (t) => {
    status = 400;
    await Promise.all(Array.from({ length: 30 }, () => send()));
    t.match(await config(), { is_active: false, disabled_reason: 'failures_in_row', failures_in_row: 10 });
    const mails = await takeMails(api);
    t.match(mails, [{ to: 'ada@example.com', subject: 'An alert channel was switched off' }]);
    t.equal(mails.length, 1);
    t.notMatch(JSON.stringify(mails), 'hook-credential');
    const before = arrived;
    t.match(await send(), { ok: false, code: 'not_configured' });
    t.equal(arrived, before, 'nothing is sent');
    t.match((await call('POST', `/alert-channel-configs/${configId}/activate`)).body, {
      is_active: true,
      failures_in_row: 0,
    });
    status = 200;
    t.match(await send(), { ok: true });
  },
);

void t.test(
  'a failure with settings of before does not switch off those of now, nor gives up their targets',
  async (t) => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = createServer((request, response) => {
      request.resume();
      void held.then(() => response.writeHead(request.url === '/gone' ? 410 : 400).end());
    });
    await new Promise<void>((resolve) => void slow.listen(0, '127.0.0.1', resolve));
    t.teardown(() => slow.close());
    const at = slow.address();
    const port = typeof at === 'object' && at !== null ? at.port : 0;
    const change = (target: string) =>
      call('PATCH', `/alert-channel-configs/${configId}`, {
        settings: {
          destinations: [
            { key: 'a', name: 'A', url: target },
            { key: 'b', name: 'B', url },
          ],
        },
      });
    await change(`http://127.0.0.1:${port}/`);
    const under = Array.from({ length: 10 }, () => send());
    const waiting = () =>
      new Promise<number>((resolve, reject) =>
        slow.getConnections((error, n) => (error === null ? resolve(n) : reject(error))),
      );
    const arrive = async (number: number) => {
      while ((await waiting()) < number) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await arrive(10);
    await change(`http://127.0.0.1:${port}/gone`);
    const gone = send();
    await arrive(11);
    t.equal((await change(url)).status, 200);
    release();
    for (const result of await Promise.all(under)) t.match(result, { ok: false, fault: 'message' });
    t.match(await gone, { ok: false, fault: 'target' });
    t.match(await config(), { is_active: true, failures_in_row: 0, disabled_targets: [] });
    t.same(await takeMails(api), [], 'and nobody is told of it');
  },
);

void t.test(
  'a target that is gone is given up alone, its owner is told once, and a test that arrives brings it back',
  async (t) => {
    status = 410;
    const both = await Promise.all([send({ target: 'b' }), send({ target: 'b' })]);
    for (const result of both) t.match(result, { ok: false, code: 'unknown_target', fault: 'target' });
    t.match(await config(), { is_active: true, failures_in_row: 0, disabled_targets: [{ target: 'b' }] });
    t.match(await takeMails(api), [{ subject: 'Alerts do not reach one of your targets' }]);
    const before = arrived;
    t.match(await send({ target: 'b' }), { ok: false, code: 'unknown_target' });
    t.equal(arrived, before);
    t.match(await isUsable(api.context, { ownerId: ada.id, channel: 'webhook', configId, target: 'b' }), { ok: false });
    status = 200;
    t.match(await send(), { ok: true }, 'the other one is reached');
    const tested = await call('POST', `/alert-channel-configs/${configId}/test`, { target: 'b' });
    t.match(
      tested.body,
      {
        ok: true,
        steps: [
          { name: 'resolve' },
          { name: 'connect' },
          { name: 'request' },
          { name: 'response' },
          { name: 'result' },
        ],
      },
      tested.text,
    );
    t.notMatch(tested.text, 'hook-credential');
    t.match(await send({ target: 'b' }), { ok: true });
    status = 410;
    t.match(await send({ target: 'b' }), { ok: false, code: 'unknown_target' });
    status = 200;
    t.match(await send({ target: 'b' }), { ok: false }, 'it was given up again');
    const destinations = [
      { key: 'a', name: 'A' },
      { key: 'b', name: 'B', url: `${url}/new` },
    ];
    t.match((await call('PATCH', `/alert-channel-configs/${configId}`, { settings: { destinations } })).body, {
      disabled_targets: [],
    });
    t.match(await send({ target: 'b' }), { ok: true }, 'another address behind the same key is another one');
    await takeMails(api);
    t.match(await call('POST', `/alert-channel-configs/${configId}/test`, {}), { status: 422 }, 'which of the two?');
  },
);

void t.test('credentials that are refused switch the configuration off at once', async (t) => {
  const bot = await call('POST', '/alert-channel-configs', {
    channel: 'telegram',
    settings: { bot_token: '123:abcdefghijklmnopqrstuvwxyz' },
  });
  const id = Number(bot.body['id']);
  const refusing = {
    ...api.context,
    channels: { ...api.context.channels, baseUrls: { messenger: url.replace('/hook-credential', '') } },
  };
  status = 401;
  const result = await deliver(refusing, {
    ownerId: ada.id,
    workspaceId: 1,
    channel: 'messenger',
    configId: id,
    target: '42',
    message: sampleMessage(),
  });
  t.match(result, { ok: false, code: 'refused_credentials', fault: 'configuration' });
  t.match((await call('GET', `/alert-channel-configs/${id}`)).body, {
    is_active: false,
    disabled_reason: 'refused_credentials',
  });
  t.match(await takeMails(api), [{ subject: 'An alert channel was switched off' }]);
});

void t.test(
  'mail goes to the own address, to others when their reader has agreed, and to nobody who took it back',
  async (t) => {
    const mail = (target: string) => send({ channel: 'email', configId: null, target });
    t.match(await mail('Ada@Example.com'), { ok: true });
    const first = sent.at(-1);
    t.equal(first?.to, 'ada@example.com');
    const link =
      /<(https:\/\/monitor\.example\.com\/api\/v1\/public\/mail-alerts\/plmu_[0-9A-Za-z]+)>/.exec(
        first?.headers?.['List-Unsubscribe'] ?? '',
      )?.[1] ?? '';
    t.equal(first?.headers?.['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click');
    t.ok(first?.html.includes(link) === true && first.text.includes(link), 'and in the mail itself');
    t.match(await mail('bob@example.com'), { ok: false, code: 'target_not_confirmed', fault: 'target' });
    t.match(await call('POST', '/alert-channel-configs/mail-confirmations', { target: 'bob@example.com' }), {
      status: 202,
      body: { status: 'asked' },
    });
    const [letter] = await takeMails(api);
    t.equal(letter?.to, 'bob@example.com');
    const token = /mail-alerts\/(plmc_[0-9A-Za-z]+)/.exec(letter?.text ?? '')?.[1] ?? 'none';
    const page = await api.call('GET', `/api/v1/public/mail-alerts/${token}`);
    t.match(page, { status: 200, text: /<form method="post">/ });
    t.match(page.headers.get('content-security-policy'), "default-src 'none'");
    t.match(await mail('bob@example.com'), { ok: false }, 'opening it changes nothing');
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' };
    t.match(await api.call('POST', `/api/v1/public/mail-alerts/${token}`, form), {
      status: 200,
      text: /Alerts are sent here/,
    });
    t.match(await mail('bob@example.com'), { ok: true });
    t.match((await call('POST', '/alert-channel-configs/mail-confirmations', { target: 'bob@example.com' })).body, {
      status: 'confirmed',
    });
    const unsubscribe = link.replace('https://monitor.example.com', '');
    t.match(await api.call('GET', unsubscribe), { status: 200, text: /No more alerts/ });
    t.match(await mail('ada@example.com'), { ok: true });
    const oneClick = {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    };
    t.equal((await api.call('POST', unsubscribe, oneClick)).status, 200);
    t.equal((await api.call('POST', unsubscribe, oneClick)).status, 200, 'twice is once');
    t.match(await mail('ada@example.com'), { ok: false, code: 'target_not_confirmed', message: /unsubscribed/ });
    // Another last character, whichever it has.
    const unknown = `/api/v1/public/mail-alerts/${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`;
    const none = await api.call('GET', unknown);
    t.match(none, { status: 404, text: /This link does not work any more/ });
    t.equal(none.headers.get('content-type'), 'text/html; charset=utf-8');
    t.equal((await api.call('POST', unknown, form)).status, 404);
    const inRussian = { headers: { 'accept-language': 'ru-RU,ru;q=0.9' } };
    t.match(await api.call('GET', unknown, inRussian), { text: /Ссылка больше не действует/ });
    t.match(await call('POST', '/alert-channel-configs/mail-confirmations', { target: 'ada@example.com' }), {
      status: 202,
      body: { status: 'asked' },
    });
    const [own] = await takeMails(api);
    t.equal(own?.to, 'ada@example.com', 'who ended alerts to their own address is asked again');
    const back = /mail-alerts\/(plmc_[0-9A-Za-z]+)/.exec(own?.text ?? '')?.[1] ?? 'none';
    t.equal((await api.call('POST', `/api/v1/public/mail-alerts/${back}`, form)).status, 200);
    t.match(await mail('ada@example.com'), { ok: true });
    t.equal((await api.call('POST', unsubscribe, oneClick)).status, 200);
    await api.database.worker.query(sql.unsafe`
      update channel_targets set confirm_until = now() - interval '1 second' where target = 'ada@example.com'`);
    const past = await api.call('POST', `/api/v1/public/mail-alerts/${back}`, form);
    t.match(past, { status: 404, text: none.text }, 'what is over is answered as what never was');
    t.match(await mail('ada@example.com'), { ok: false }, 'and does nothing');
    const users = await api.database.worker.anyFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from channel_targets where disabled_at is not null and channel = 'email'`);
    t.same(users, [0], 'lack of consent is no fault of the target');
  },
);

void t.test('an address that nobody has confirmed is not who asks', async (t) => {
  const eve = await api.account('boss@example.com');
  await takeMails(api);
  const target = 'staff@example.com';
  const asked = await api.call('POST', '/api/v1/alert-channel-configs/mail-confirmations', {
    token: eve.accessToken,
    body: { target },
  });
  t.equal(asked.status, 202);
  const [letter] = await takeMails(api);
  t.match(letter, { to: target, text: new RegExp(`user ${eve.id} wants`) });
  t.notMatch(JSON.stringify(letter), 'boss');
});

void t.test('tests of mail go to nobody who has not agreed, and are counted', async (t) => {
  const before = sent.length;
  const answer = await call('POST', '/alerts/test-send', { channel: 'email', target: 'victim@example.com' });
  t.match(answer, { status: 200, body: { ok: false, error: { code: 'target_not_confirmed' } } });
  t.equal(sent.length, before);
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    statuses.push((await call('POST', '/alerts/test-send', { channel: 'email', target: 'victim@example.com' })).status);
  }
  t.same(statuses, [200, 200, 429], 'three to one target');
});

void t.test('which of many targets can be sent to is one question', async (t) => {
  const { worker } = api.database;
  const workspaceId = await worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    select workspace_id as id from workspace_members where user_id = ${ada.id} limit 1`);
  const bot = (await call('GET', '/alert-channel-configs')).body['alert_channel_configs'] as {
    id: number;
    channel: string;
  }[];
  const botId = bot.find(({ channel }) => channel === 'messenger')?.id ?? 0;
  const of = (channel: string, id: number | null, target: string, more: object = {}) => ({
    ownerId: ada.id,
    workspaceId,
    target: { channel, config_id: id, target },
    ...more,
  });
  await disable('b');
  const asked = new Map([
    ['good', of('webhook', configId, 'a')],
    ['by the channel', of('webhook', null, 'a')],
    ['given up', of('webhook', configId, 'b')],
    ['foreign', of('webhook', configId + 1_000, 'a')],
    ['switched off', of('messenger', botId, '42')],
    ['agreed', of('email', null, 'bob@example.com')],
    ['unsubscribed', of('email', null, 'ada@example.com')],
    ['stranger', of('email', null, 'eve@example.com')],
    ['needs no configuration', of('ntfy', null, 'topic')],
    ['not configured', of('pushover', null, 'a'.repeat(30))],
    ['no channel', of('pigeon', null, 'x')],
    ['no member', of('webhook', configId, 'a', { workspaceId: workspaceId + 1_000 })],
  ]);
  t.same([...(await usableTargets(worker, asked))].toSorted(), [
    'agreed',
    'by the channel',
    'good',
    'needs no configuration',
  ]);
  t.equal((await usableTargets(worker, new Map())).size, 0);
  t.same(
    Object.fromEntries(await unusableTargets(worker, asked)),
    {
      'given up': 'given_up',
      foreign: 'not_configured',
      'switched off': 'not_configured',
      unsubscribed: 'unsubscribed',
      stranger: 'not_asked',
      'not configured': 'not_configured',
      'no member': 'owner_left',
    },
    'and of the others, why not',
  );
  t.equal((await unusableTargets(worker, new Map())).size, 0);
});

const disable = (target: string) =>
  api.database.worker.query(sql.unsafe`
    insert into channel_targets (user_id, channel, target, disabled_at, reason) values (${ada.id}, 'webhook', ${target}, now(), 'gone')
    on conflict (user_id, channel, target) do update set disabled_at = now(), reason = 'gone'`);

void t.test('the same mailbox has one key whoever names it, the own names of two people have two', async (t) => {
  const key = (channel: string, ownerId: number, target: string) =>
    targetKeyOf({ channel, ownerId, target, configId: null });
  t.equal(key('email', 1, 'a@b.c'), key('email', 2, 'a@b.c'));
  t.not(key('webhook', 1, 'ops'), key('webhook', 2, 'ops'));
  t.equal(key('slack', 1, 'ops'), key('team-chat', 1, 'ops'));
  t.ok(key('email', 1, `${'x'.repeat(60)}@example.com`).length <= 100);
  t.equal(maskTarget({ channel: 'email', target: 'ada@example.com' }).includes('ada@'), false);
});

void t.test(
  'a room has one key whoever leads there by a configuration of their own, until that leads elsewhere',
  async (t) => {
    const keysOf = createReachedKeys(api.context);
    const eve = await api.account('eve@example.com');
    const configure = async (token: string, channel: string, settings: object) => {
      const answer = await api.call('POST', '/api/v1/alert-channel-configs', { token, body: { channel, settings } });
      t.equal(answer.status, 201, answer.text);
      return Number(answer.body['id']);
    };
    const places = (key: string, name: string) => [
      { key, name, url: 'https://chat.example.com/hooks/one-room' },
      { key: 'other', name, url: `https://chat.example.com/hooks/${key}` },
    ];
    const config = await configure(ada.accessToken, 'mattermost', { destinations: places('ops', 'Operations') });
    await configure(eve.accessToken, 'mattermost', { destinations: places('shop', 'Shop') });
    await configure(ada.accessToken, 'ntfy', { server_url: 'https://ntfy.example.com/', access_token: 'tk_ada' });
    await configure(eve.accessToken, 'ntfy', { server_url: 'https://ntfy.example.com' });
    const of = (who: { readonly id: number }, channel: string, target: string) => ({
      ownerId: who.id,
      channel,
      target,
    });
    const [opsOfAda, shopOfEve] = [of(ada, 'mattermost', 'ops'), of(eve, 'mattermost', 'shop')];
    const others = [of(ada, 'mattermost', 'other'), of(eve, 'mattermost', 'other'), of(eve, 'mattermost', 'gone')];
    const topics = [of(ada, 'ntfy', 'alerts'), of(eve, 'ntfy', 'alerts')];
    const targets = [opsOfAda, shopOfEve, ...others, ...topics, of(eve, 'chat', 'ops')];
    for (const time of ['first', 'second']) {
      const keyOf = await keysOf(api.database.worker, targets);
      t.equal(keyOf(opsOfAda), keyOf(shopOfEve), `one room, asked for the ${time} time`);
      t.equal(new Set(topics.map(keyOf)).size, 1, 'one topic of one server');
      t.equal(new Set(targets.map(keyOf)).size, targets.length - 2, 'all others are others');
      t.ok(targets.every((each) => !keyOf(each).includes('one-room')));
    }
    const changed = await api.call('PATCH', `/api/v1/alert-channel-configs/${config}`, {
      token: ada.accessToken,
      body: {
        settings: { destinations: [{ key: 'ops', name: 'Operations', url: 'https://chat.example.com/hooks/new' }] },
      },
    });
    t.equal(changed.status, 200, changed.text);
    const keyOf = await keysOf(api.database.worker, targets);
    t.not(keyOf(opsOfAda), keyOf(shopOfEve), 'it leads elsewhere now');
    t.match(await keysOf(api.database.worker, []), Function);
  },
);
