import { createECDH, randomBytes } from 'node:crypto';
import { mostPushSubscriptions } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { accountsCapability } from '../../identity/accounts/index.ts';
import { auditCapability } from '../../identity/audit/index.ts';
import { authCapability } from '../../identity/auth/index.ts';
import { testApi } from '../../identity/testing.ts';
import type { TestCall } from '../../identity/testing.ts';
import { signInCapability } from '../../identity/sign-in/index.ts';
import { workspacesCapability } from '../../identity/workspaces/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { webPush } from '../channels/kinds/web-push.ts';
import { tryChannel } from '../channels/testing/try-channel.ts';
import { createWebPushCapability, subscribedBrowsers, vapidKeys } from './index.ts';
import type { OnSubscribed } from './index.ts';
import { pushService, shownHash } from './testing/push-service.ts';

const row = z.record(z.string(), z.unknown());
const base = '/api/v1/web-push';

/** What a browser gives a page, without a push service behind it. */
function subscription(more: Record<string, unknown> = {}) {
  const keys = {
    p256dh: createECDH('prime256v1').generateKeys().toString('base64url'),
    auth: randomBytes(16).toString('base64url'),
  };
  return {
    endpoint: `https://push.example.com/${randomBytes(12).toString('base64url')}`,
    expirationTime: null,
    keys,
    ...more,
  };
}

async function world(t: TestContext, onSubscribed: readonly OnSubscribed[] = []) {
  const clock = { aheadMs: 0 };
  const api = await testApi(t, {
    capabilities: [
      authCapability,
      accountsCapability,
      auditCapability,
      workspacesCapability,
      signInCapability,
      createWebPushCapability({ onSubscribed }),
    ],
    context: { now: () => Date.now() + clock.aheadMs, allowedPrivateHooks: ['127.0.0.0/8'] },
  });
  const account = await api.account('ada@example.com');
  const as = (token: string) => ({
    subscribe: (body: unknown, more: TestCall = {}) => api.call('POST', `${base}/subscribe`, { token, body, ...more }),
    unsubscribe: (body: unknown) => api.call('POST', `${base}/unsubscribe`, { token, body }),
    list: async (query = '') =>
      z
        .object({ subscriptions: z.array(row), total: z.number() })
        .loose()
        .parse((await api.call('GET', `${base}/subscriptions${query}`, { token })).body),
  });
  return { api, clock, account, as, ...as(account.accessToken) };
}

const count = sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from push_subscriptions`;

void t.test('a browser is subscribed, listed without its secrets, and unsubscribed', async (t) => {
  const { api, subscribe, unsubscribe, list, account } = await world(t);
  const given = subscription({
    name: ' Phone ',
    user_agent: 'Firefox/140.0 (Android)',
    expiration_time: Date.UTC(2100, 0),
  });
  const made = await subscribe(given);
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    name: 'Phone',
    service: 'push.example.com',
    user_agent: 'Firefox/140.0 (Android)',
    endpoint_sha256: shownHash(given.endpoint),
    expires_at: '2100-01-01T00:00:00.000Z',
    last_delivered_at: null,
  });
  t.match(await list(), { subscriptions: [made.body], total: 1, page: 1, page_size: 20 });
  const stored = await api.database.worker.one(sql.type(row)`select * from push_subscriptions`);
  const text = [
    made.text,
    ...Object.values(stored).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
    ),
  ].join();
  for (const secret of [given.keys.auth, given.keys.p256dh, given.endpoint.split('/').at(-1) ?? ''])
    t.notOk(text.includes(secret), 'sealed');
  t.equal((await unsubscribe({ endpoint: given.endpoint })).status, 200);
  t.equal((await unsubscribe({ endpoint: given.endpoint })).status, 404);
  t.match(await list(), { subscriptions: [], total: 0 });
  t.match(
    await api.database.worker.any(sql.type(row)`
      select action, user_id, detail from audit_log where subject_type = 'push_subscription' order by id`),
    [
      {
        action: 'push_subscription.created',
        user_id: account.id,
        detail: { name: 'Phone', service: 'push.example.com' },
      },
      { action: 'push_subscription.deleted', user_id: account.id },
    ],
  );
});

void t.test('what a browser gives is taken as it is, and the browser named by its user agent', async (t) => {
  const { subscribe } = await world(t);
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  t.match((await subscribe(subscription(), { headers })).body, {
    name: 'Firefox on Linux',
    user_agent: headers['user-agent'],
    expires_at: null,
  });
  t.match((await subscribe(subscription({ user_agent: null, name: null }), { headers })).body, {
    name: 'Browser',
    user_agent: null,
  });
  t.match((await subscribe(subscription({ expiration_time: '2100-01-01T02:00:00+02:00' }))).body, {
    expires_at: '2100-01-01T00:00:00.000Z',
  });
  t.match((await subscribe(subscription({ expirationTime: Date.UTC(2100, 0) + 0.5 }))).body, {
    expires_at: '2100-01-01T00:00:00.000Z',
  });
});

void t.test('the same browser again is the same subscription, with what is new of it', async (t) => {
  const { subscribe, list, clock } = await world(t);
  const given = subscription({ name: 'Desk' });
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => subscribe(given)));
  t.same(
    [first, ...others].map((one) => one?.status).toSorted((a, b) => Number(a) - Number(b)),
    [...Array.from({ length: 7 }, () => 200), 201],
  );
  const made = (await list()).subscriptions[0];
  clock.aheadMs += 60_000;
  const keys = subscription().keys;
  const again = await subscribe({
    ...given,
    name: null,
    keys,
    endpoint: given.endpoint.replace('push.', 'PUSH.').replace('.com/', '.com:443/'),
  });
  t.equal(again.status, 200);
  t.match(again.body, { id: made?.['id'], name: 'Desk', created_at: made?.['created_at'] });
  t.ok(Date.parse(String(again.body['seen_at'])) - Date.parse(String(made?.['seen_at'])) >= 60_000);
  t.match(await list(), { total: 1 });
});

void t.test('another account on the same browser takes it over, and nobody else can', async (t) => {
  const { api, subscribe, list, as } = await world(t);
  const other = await api.account('bob@example.com');
  const bob = as(other.accessToken);
  const given = subscription();
  const mine = await subscribe(given);
  t.match(
    await bob.subscribe({ ...given, keys: subscription().keys }),
    { status: 409, body: { code: 'conflict' } },
    'who knows the endpoint alone',
  );
  t.match(await list(), { total: 1 });
  t.equal((await bob.unsubscribe({ endpoint: given.endpoint })).status, 404);
  t.equal((await bob.unsubscribe({ id: mine.body['id'] })).status, 404);
  t.match(await bob.list(), { total: 0 });
  const taken = await bob.subscribe(given);
  t.equal(taken.status, 201);
  t.not(taken.body['id'], mine.body['id']);
  t.match([await list(), await bob.list()], [{ total: 0 }, { total: 1 }]);
  const both = await Promise.all([subscribe(given), bob.subscribe(given), subscribe(given), bob.subscribe(given)]);
  t.ok(
    both.every(({ status }) => [200, 201, 409].includes(status)),
    both.map(({ status }) => status).join(),
  );
  t.equal(await api.database.worker.oneFirst(count), 1, 'it belongs to one of them');
});

void t.test('an account has so many browsers, and the one that was not seen for the longest goes', async (t) => {
  const { api, subscribe, list, clock } = await world(t);
  const first = subscription({ name: 'first' });
  const second = subscription({ name: 'second' });
  await subscribe(first);
  await subscribe(second);
  clock.aheadMs += 1_000;
  await subscribe(first);
  clock.aheadMs += 1_000;
  const made = await Promise.all(Array.from({ length: mostPushSubscriptions - 1 }, () => subscribe(subscription())));
  t.ok(made.every(({ status }) => status === 201));
  const { subscriptions, total } = await list('?page_size=100');
  t.equal(total, mostPushSubscriptions);
  const names = subscriptions.map(({ name }) => name);
  t.ok(names.includes('first') && !names.includes('second'), 'the first was seen again');
  t.equal(names.at(-1), 'first', 'the one seen last stands first, the oldest last');
  t.match(
    await api.database.worker.any(
      sql.type(row)`select detail from audit_log where action = 'push_subscription.displaced'`,
    ),
    [{ detail: { name: 'second' } }],
  );
  // As after a clock that went back: it must not displace the browser that is being subscribed.
  await api.database.worker.query(sql.unsafe`update push_subscriptions set seen_at = seen_at + interval '1 hour'`);
  const late = await subscribe(subscription({ name: 'late' }));
  t.equal(late.status, 201);
  t.ok((await list('?page_size=100')).subscriptions.some(({ id }) => id === late.body['id']));
});

void t.test('what is no subscription is refused, field by field', async (t) => {
  const { subscribe, unsubscribe, list } = await world(t);
  const good = subscription();
  for (const [body, path] of [
    [{ ...good, endpoint: 'http://push.example.com/x' }, '/endpoint'],
    [{ ...good, endpoint: 'https://10.0.0.1/x' }, '/endpoint'],
    [{ ...good, endpoint: 'https://user:password@push.example.com/x' }, '/endpoint'],
    [{ ...good, endpoint: `https://push.example.com/${'x'.repeat(2_048)}` }, '/endpoint'],
    [{ ...good, endpoint: '' }, '/endpoint'],
    [{ ...good, keys: { ...good.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } }, '/keys/p256dh'],
    [{ ...good, keys: { ...good.keys, auth: 'AAAA' } }, '/keys/auth'],
    [{ ...good, keys: { auth: good.keys.auth } }, '/keys/p256dh'],
    [{ ...good, keys: { ...good.keys, more: 'x' } }, '/keys/more'],
    [{ ...good, expiration_time: -1 }, '/expiration_time'],
    [{ ...good, expiration_time: 1e300 }, '/expiration_time'],
    [{ ...good, expiration_time: 'tomorrow' }, '/expiration_time'],
    [{ ...good, name: 'a\nb' }, '/name'],
    [{ ...good, user_agent: 'x'.repeat(501) }, '/user_agent'],
    [{ ...good, user_id: 1 }, '/user_id'],
    [{ keys: good.keys }, '/endpoint'],
  ] as const) {
    t.match(
      await subscribe(body),
      { status: 422, body: { errors: [{ in: 'body', path }] } },
      JSON.stringify(body).slice(0, 100),
    );
  }
  for (const body of [{}, { endpoint: good.endpoint, id: 1 }, { id: 0 }, { id: '1' }])
    t.equal((await unsubscribe(body)).status, 422);
  t.equal((await unsubscribe({ endpoint: 'nonsense' })).status, 404);
  t.match(await list(), { total: 0 });
});

void t.test('the same request under one key subscribes once and is answered alike', async (t) => {
  const { subscribe } = await world(t);
  const given = subscription();
  const headers = { 'idempotency-key': 'k' };
  const [first, again] = [await subscribe(given, { headers }), await subscribe(given, { headers })];
  t.same([first.status, again.status], [201, 201]);
  t.same(again.body, first.body);
});

void t.test('row-level security shows each user their own', async (t) => {
  const { api, subscribe } = await world(t);
  await subscribe(subscription());
  t.equal(await api.database.worker.oneFirst(count), 1);
  t.equal(await api.database.api.oneFirst(count), 0);
});

void t.test('replicas that start together agree on one key, which is sealed and stays', async (t) => {
  const { api, account } = await world(t);
  const keys = await Promise.all(Array.from({ length: 10 }, () => vapidKeys(api.context)));
  t.equal(new Set(keys.map(({ publicKey }) => publicKey)).size, 1);
  const answer = await api.call('GET', `${base}/vapid-public-key`, { token: account.accessToken });
  t.same(answer.body, { public_key: keys[0]?.publicKey });
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(keys[0]?.privateKey ?? '', 'base64url');
  t.equal(ecdh.getPublicKey('base64url'), keys[0]?.publicKey, 'both halves belong together');
  const { sealed } = await api.database.worker.one(sql.type(z.object({ sealed: z.instanceof(Buffer) }))`
    select sealed from sealed_keys where name = 'web push'`);
  t.notOk(sealed.includes(Buffer.from(keys[0]?.privateKey ?? '', 'base64url')));
  t.equal((await api.call('GET', `${base}/vapid-public-key`)).status, 401);
});

void t.test(
  'from the page to the notification: what was subscribed is told, until its service says that it is gone',
  async (t) => {
    const { api, account, subscribe, list, clock, as } = await world(t);
    const service = await pushService(t, 'http');
    const key = String(
      (await api.call('GET', `${base}/vapid-public-key`, { token: account.accessToken })).body['public_key'],
    );
    const [phone, desk, foreign] = [
      service.browser(key, 'phone'),
      service.browser(key, 'desk'),
      service.browser(key, 'foreign'),
    ];
    await subscribe({ endpoint: phone.endpoint, keys: phone.keys });
    const made = await subscribe({ endpoint: desk.endpoint, keys: desk.keys, expiration_time: Date.now() + 3_600_000 });
    t.equal(made.status, 201, made.text);
    await as((await api.account('bob@example.com')).accessToken).subscribe({
      endpoint: foreign.endpoint,
      keys: foreign.keys,
    });
    const send = (target: string) =>
      tryChannel(webPush, { settings: {}, target, browsers: subscribedBrowsers(api.context, account.id) });
    const told = () =>
      service.received
        .splice(0)
        .map(({ browser }) => browser)
        .toSorted();
    t.match(await send('all'), { ok: true });
    t.same(told(), ['desk', 'phone'], 'those of the owner');
    t.match(await send(String(made.body['id'])), { ok: true });
    t.same(told(), ['desk']);
    t.ok((await list()).subscriptions.every((one) => typeof one['last_delivered_at'] === 'string'));
    phone.meet({ status: 410 });
    t.match(await send('all'), { ok: true });
    t.same(told(), ['desk']);
    t.match(await list(), { total: 1, subscriptions: [{ id: made.body['id'] }] });
    clock.aheadMs += 3_600_001;
    t.match(
      await send('all'),
      { ok: false, error: { code: 'unknown_target', fault: 'target' } },
      'one that has expired is not told',
    );
  },
);

void t.test('what hangs on a subscription is told in its transaction, also when it is seen again', async (t) => {
  const seen: number[] = [];
  const { subscribe, api } = await world(t, [
    async (_scope, tx, id) => {
      seen.push(await tx.oneFirst(sql.typeAlias('id')`select id from push_subscriptions where id = ${id}`));
      if (seen.length === 3) throw new Error('the hook fails');
    },
  ]);
  const given = subscription();
  const made = await subscribe(given);
  await subscribe(given);
  t.same(seen, [made.body['id'], made.body['id']]);
  t.equal((await subscribe(subscription())).status, 500);
  t.equal(await api.database.worker.oneFirst(count), 1, 'neither is there without the other');
});
