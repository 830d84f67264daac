import { inviteTokenHeader } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import type { TestAnswer, TestApi } from '../../testing.ts';
import { inviteToken, mailsOf, newWorkspace, tokenIn as mailedToken } from '../../workspaces/testing.ts';
import { actionsOf } from '../testing/audit.ts';
import { botToken, signWebapp, signWidget } from './testing.ts';

const signIn = { identityProviders: {}, messengerBotToken: botToken };
const seconds = () => Math.floor(Date.now() / 1_000);
let lastPerson = 100;
const person = (more: Record<string, string | number> = {}) => ({
  id: (lastPerson += 1),
  first_name: 'Ada',
  auth_date: seconds(),
  ...more,
});
const login = (api: TestApi, body: unknown) => api.call('POST', '/api/v1/auth/messenger/login', { body });
const webapp = (api: TestApi, init_data: string) =>
  api.call('POST', '/api/v1/auth/messenger/webapp', { body: { init_data } });

void t.test('the widget and the mini app open the same account, which has no address', async (t) => {
  const api = await testApi(t, { context: { signIn } });
  await api.account('ada@example.com');
  const first = await login(api, signWidget(person({ id: 42 })));
  t.match(first, { status: 200, body: { token_type: 'Bearer', expires_in: 900 } });
  const token = String(first.body['access_token']);
  const me = await api.call('GET', '/api/v1/auth/me', { token });
  t.match(me.body, { email: null, email_verified: false, display_name: null, is_administrator: false });
  const workspaces = await api.call('GET', '/api/v1/workspaces', { token });
  t.match(workspaces.body, { total: 1, workspaces: [{ role: 'owner', is_default: true }] });
  const user = JSON.stringify({ id: 42, first_name: 'Ada' });
  const second = await webapp(api, signWebapp({ user, auth_date: String(seconds()) }));
  t.equal(second.status, 200);
  const again = await api.call('GET', '/api/v1/auth/me', { token: String(second.body['access_token']) });
  t.equal(again.body['id'], me.body['id']);
  t.same(await actionsOf(api, Number(me.body['id'])), [
    'user.registered',
    'identity.linked',
    'session.started',
    'session.started',
  ]);
  const identities = await api.call('GET', '/api/v1/auth/identities', { token });
  t.match(identities.body, { identities: [{ way: 'messenger', issuer: 'https://telegram.org', email: null }] });
  const [identity] = identities.body['identities'] as { id: number }[];
  t.match(await api.call('DELETE', `/api/v1/auth/identities/${identity?.id}`, { token }), {
    status: 409,
    body: { code: 'last_way_in' },
  });
  t.match(await api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: first.body['refresh_token'] } }), {
    status: 200,
  });
});

const initData = (user: Record<string, unknown>, signedAt = seconds()) =>
  signWebapp({ user: JSON.stringify(user), auth_date: String(signedAt) });

void t.test('a mini app sends its data again for an hour, for one account and no longer', async (t) => {
  const api = await testApi(t, { context: { signIn } });
  const ada = await api.account('ada@example.com');
  const idOf = async (answer: TestAnswer) =>
    (await api.call('GET', '/api/v1/auth/me', { token: String(answer.body['access_token']) })).body['id'];
  const data = initData({ id: 50 }, seconds() - 3_500);
  const answers = await Promise.all(Array.from({ length: 4 }, () => webapp(api, data)));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  t.equal(new Set(await Promise.all(answers.map(idOf))).size, 1);
  t.equal((await webapp(api, initData({ id: 50 }, seconds() - 3_602))).status, 401, 'older than an hour');
  t.equal((await webapp(api, initData({ id: 51 }, seconds() + 120))).status, 401, 'of the future');

  const taken = initData({ id: 52 });
  t.equal((await webapp(api, taken)).status, 200);
  await api.database.worker.query(sql.unsafe`delete from identities where subject = '52'`);
  const link = await api.call('POST', '/api/v1/auth/messenger/webapp', {
    token: ada.accessToken,
    body: { init_data: taken },
  });
  t.match(link, { status: 401, body: { code: 'invalid_credentials' } }, 'the data of one account links no other');
  const users = () =>
    api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from users`);
  const before = await users();
  t.equal((await webapp(api, taken)).status, 401, 'nor does it make another');
  t.equal(await users(), before);
  t.equal((await webapp(api, initData({ id: 52 }, seconds() - 30))).status, 200, 'new data does');
});

void t.test('an account that a mini app makes has the name and the language of the person', async (t) => {
  const api = await testApi(t, { context: { signIn } });
  await api.account('ada@example.com');
  const cases: [user: Record<string, unknown>, name: string | null, locale: string][] = [
    [{ first_name: 'Ада', last_name: 'Лавлейс', language_code: 'ru' }, 'Ада Лавлейс', 'ru'],
    [{ first_name: 'Ada', last_name: '', language_code: 'en' }, 'Ada', 'en'],
    [{ first_name: ' Ada ', language_code: 'RU-ru' }, 'Ada', 'ru'],
    [{ first_name: 'Ada', language_code: 'de' }, 'Ada', 'en'],
    [{ first_name: 'x'.repeat(64), last_name: '😀'.repeat(40) }, `${'x'.repeat(64)} ${'😀'.repeat(7)}`, 'en'],
    [{ first_name: 'A\u0000d\u202ea', language_code: 7 }, 'Ada', 'en'],
    [{ first_name: { a: 1 }, last_name: ['b'] }, null, 'en'],
    [{ first_name: '\ud83d' }, null, 'en'],
  ];
  for (const [user, display_name, locale] of cases) {
    const id = (lastPerson += 1);
    const answer = await webapp(api, initData({ id, ...user }));
    t.equal(answer.status, 200, answer.text);
    const token = String(answer.body['access_token']);
    t.match((await api.call('GET', '/api/v1/auth/me', { token })).body, { display_name, locale }, JSON.stringify(user));
  }
  const changed = await webapp(api, initData({ id: lastPerson, first_name: 'Eve', language_code: 'ru' }));
  const { body } = await api.call('GET', '/api/v1/auth/me', { token: String(changed.body['access_token']) });
  t.match(body, { display_name: null, locale: 'en' }, 'an account that exists keeps its own');
});

void t.test('data of the widget counts once, whoever sends it and in whatever letters', async (t) => {
  const api = await testApi(t, { context: { signIn } });
  await api.account('ada@example.com');
  const data = signWidget(person());
  const answers = await Promise.all(Array.from({ length: 8 }, () => login(api, data)));
  t.same(
    answers.map((answer) => answer.status).toSorted((one, other) => one - other),
    [200, ...Array.from({ length: 7 }, () => 401)],
  );
  t.equal((await login(api, { ...data, hash: String(data['hash']).toUpperCase() })).status, 401);
});

void t.test('what does not hold is refused, and makes nothing', async (t) => {
  const api = await testApi(t, { context: { signIn } });
  await api.account('ada@example.com');
  const data = signWidget(person());
  const cases: [what: string, body: unknown, status: number][] = [
    ['altered', { ...data, id: 1 }, 401],
    ['a field added', { ...data, language_code: 'en' }, 401],
    ['an hour old', signWidget(person({ auth_date: seconds() - 3_600 })), 401],
    ['a field that is an object', { ...data, user: { id: 1 } }, 422],
    ['a field that is null', { ...data, last_name: null }, 422],
    ['a list', [data], 422],
    ['nothing', {}, 401],
    ['a fraction', { ...data, id: 1.5 }, 422],
    ['the init data of a mini app', { init_data: signWebapp({ user: '{"id":1}', auth_date: String(seconds()) }) }, 401],
  ];
  for (const [what, body, status] of cases) t.equal((await login(api, body)).status, status, what);
  t.equal(
    (await webapp(api, new URLSearchParams(signWidget(person()) as never).toString())).status,
    401,
    'of the widget',
  );
  const users = await api.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from users`,
  );
  t.equal(users, 1);
});

void t.test(
  'without a bot there is no such way in; new accounts are made only where registration is open',
  async (t) => {
    const none = await testApi(t);
    t.match(await login(none, signWidget(person())), { status: 404, body: { code: 'not_found' } });
    t.match((await none.call('GET', '/api/v1/auth/ways')).body, { messenger: false, registration: 'open' });
    const fresh = await testApi(t, { context: { signIn } });
    t.match(await login(fresh, signWidget(person())), { status: 403, body: { code: 'setup_token_required' } });
    for (const registration of ['invite', 'closed'] as const) {
      const { database } = fresh;
      const api = await testApi(t, { database, context: { signIn, registration } });
      if (registration === 'invite') await fresh.account('ada@example.com');
      t.match(await login(api, signWidget(person())), { status: 403, body: { code: 'registration_closed' } });
    }
    const open = await login(fresh, signWidget(person({ id: 7 })));
    t.equal(open.status, 200);
    const closed = await testApi(t, {
      database: fresh.database,
      context: { signIn, registration: 'closed', sealer: fresh.context.sealer },
    });
    t.equal(
      (await login(closed, signWidget(person({ id: 7, first_name: 'again' })))).status,
      200,
      'who has an account comes in',
    );
  },
);

void t.test('with a token the person is linked to that account, and to no second one', async (t) => {
  const api = await testApi(t, { context: { signIn } });
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const link = (token: string) =>
    api.call('POST', '/api/v1/auth/messenger/login', {
      token,
      body: signWidget(person({ id: 9, username: token.slice(-9) })),
    });
  t.equal((await link('x')).status, 401, 'a token that is none is no invitation to go without');
  t.equal((await link(ada.accessToken)).status, 200);
  t.match(await link(eve.accessToken), { status: 409, body: { code: 'identity_taken' } });
  const entered = await login(api, signWidget(person({ id: 9 })));
  const me = await api.call('GET', '/api/v1/auth/me', { token: String(entered.body['access_token']) });
  t.match(me.body, { id: ada.id, email: 'ada@example.com' });
  t.ok((await actionsOf(api, ada.id)).includes('identity.linked'));
});

void t.test('by invitation only: one in the header lets a person in, into its workspace too, once', async (t) => {
  const api = await testApi(t, { context: { signIn, registration: 'invite' } });
  const owner = await api.account('owner@example.com');
  const workspaceId = await newWorkspace(api, owner, 'shared');
  const invite = await inviteToken(api, workspaceId, owner, 'viewer');
  const post = (invited: string, way: 'login' | 'webapp' = 'login') => {
    const fresh = person();
    const init_data = () => signWebapp({ user: JSON.stringify({ id: fresh.id }), auth_date: String(fresh.auth_date) });
    const body = way === 'login' ? signWidget(fresh) : { init_data: init_data() };
    return api.call('POST', `/api/v1/auth/messenger/${way}`, { body, headers: { [inviteTokenHeader]: invited } });
  };
  t.match(
    await login(api, signWidget(person())),
    { status: 403, body: { code: 'registration_closed' } },
    'not without',
  );
  for (const [what, none] of [
    ['of another form', 'x'],
    ['unknown', 'x'.repeat(43)],
  ] as const) {
    t.match(await post(none), { status: 404, body: { code: 'invite_unknown' } }, what);
  }
  const answer = await post(invite);
  t.equal(answer.status, 200);
  const { body } = await api.call('GET', '/api/v1/workspaces', { token: String(answer.body['access_token']) });
  t.match(body, { total: 2, workspaces: [{ role: 'owner' }, { name: 'shared', role: 'viewer' }] });
  t.match(await post(invite, 'webapp'), { status: 409, body: { code: 'invite_used' } });
  const another = await inviteToken(api, workspaceId, owner);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => post(another, index % 2 === 0 ? 'login' : 'webapp')),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 1, 'of eight at once one');
  await api.call('POST', `/api/v1/workspaces/${workspaceId}/members`, {
    token: owner.accessToken,
    body: { email: 'ada@example.com', role: 'viewer' },
  });
  t.match(
    await post(mailedToken((await mailsOf(api)).at(-1))),
    { status: 403, body: { code: 'invite_other_address' } },
    'the messenger vouches for no address',
  );
  t.equal(
    await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from users`),
    3,
  );
});
