import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { takeMails } from '../../accounts/testing.ts';
import { testApi } from '../../testing.ts';
import type { TestApi } from '../../testing.ts';
import { actionsOf } from '../testing/audit.ts';
import { totpCode } from '../testing/totp-code.ts';
import { callback, providerWorld, publicUrl } from './world.ts';

const grace = { sub: 'grace', email: 'Grace@Example.com', email_verified: true } as const;
const me = async (api: TestApi, hash: URLSearchParams) =>
  (await api.call('GET', '/api/v1/auth/me', { token: hash.get('access_token') ?? '' })).body;
const verifyAddress = (api: TestApi, id: number) =>
  api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${id}`);

void t.test('a sign-in ends at the front end that the operator names, whatever the request says', async (t) => {
  const world = await providerWorld(t, { context: { frontendUrl: 'https://console.example/app' } });
  await world.account('ada@example.com');
  const hostile = {
    origin: 'https://evil.example',
    referer: 'https://evil.example/',
    'x-forwarded-host': 'evil.example',
  };
  const aside = '?redirect_uri=https://evil.example&return_to=//evil.example';
  const by = world.browser();
  const login = await by.request(`${publicUrl}/api/v1/auth/identity-provider-a/login${aside}`, hostile);
  world.provider.person = grace;
  const { authorization_url: url } = (await login.json()) as { authorization_url: string };
  const back = await by.open(url, (at) => at.href.startsWith(callback));
  back.url.searchParams.set('return_to', 'https://evil.example');
  const answer = await by.request(back.url.href, hostile);
  const end = new URL(answer.headers.get('location') ?? '');
  t.equal(`${end.origin}${end.pathname}${end.search}`, 'https://console.example/app/auth/complete');
  t.match(await me(world, new URLSearchParams(end.hash.slice(1))), { email: 'grace@example.com' });
  const failed = await world.call('GET', `${new URL(callback).pathname}${aside}`, { headers: hostile });
  t.equal(failed.headers.get('location'), 'https://console.example/app/auth/complete#error=invalid_state');
});

void t.test('who signs in at a provider gets an account, and the same one the next time', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  const by = world.browser();
  const login = await by.request(`${publicUrl}/api/v1/auth/identity-provider-a/login`);
  const [cookie = ''] = login.headers.getSetCookie();
  t.match(
    cookie,
    /^parallax-sign-in=[\w-]{43}; Path=\/api\/v1\/auth\/identity-provider-a\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
  const url = new URL(((await login.json()) as { authorization_url: string }).authorization_url);
  t.match(Object.fromEntries(url.searchParams), {
    client_id: 'parallax',
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: callback,
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
  });
  world.provider.person = grace;
  const back = await by.open(url.href, (at) => at.href.startsWith(callback));
  const answer = await by.request(back.url.href);
  t.equal(answer.status, 307);
  t.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.match(answer.headers.getSetCookie(), [/^parallax-sign-in=; .*Max-Age=0/]);
  const location = answer.headers.get('location') ?? '';
  t.match(location, /^http:\/\/parallax\.example\/auth\/complete#access_token=[\w.-]+&refresh_token=plr_[\w-]+$/);
  const first = await me(world, new URLSearchParams(location.split('#')[1]));
  t.match(first, { email: 'grace@example.com', email_verified: true, is_administrator: false });
  const again = await me(world, await world.signIn(grace));
  t.equal(again['id'], first['id']);
  const moved = await me(world, await world.signIn({ ...grace, email: 'hopper@example.com' }));
  t.match(moved, { id: first['id'], email: 'grace@example.com' }, 'the subject counts, not the address');
  t.same((await actionsOf(world, Number(first['id']))).slice(0, 3), [
    'user.registered',
    'identity.linked',
    'session.started',
  ]);
  const forgot = await world.call('POST', '/api/v1/auth/login', {
    body: { email: 'grace@example.com', password: 'whatever it is' },
  });
  t.equal(forgot.status, 401, 'an account without a password has none');
  const stored = await world.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from pending_sign_ins`);
  t.equal(stored, 0, 'nothing is left over');
});

void t.test('over https the cookie is for https only', async (t) => {
  const world = await providerWorld(t, { context: { publicUrl: 'https://parallax.example' } });
  const login = await world.call('GET', '/api/v1/auth/identity-provider-a/login');
  t.match(login.headers.get('set-cookie'), /^__Secure-parallax-sign-in=.*; HttpOnly; SameSite=Lax; Secure$/);
});

void t.test('an address opens an account only when both sides have verified it', async (t) => {
  const world = await providerWorld(t);
  const ada = await world.account('ada@example.com');
  const identity = (sub: string, email_verified: unknown) =>
    ({ sub, email: 'ada@example.com', email_verified }) as never;
  const outcome = async (sub: string, verified: unknown) => (await world.signIn(identity(sub, verified))).get('error');
  t.equal(
    await outcome('a1', true),
    'account_exists',
    'the account has not verified it: whoever made it may be somebody else',
  );
  await verifyAddress(world, ada.id);
  for (const verified of [false, undefined, 'false', 1, 'TRUE', null]) {
    t.equal(await outcome('a2', verified), 'account_exists', `the provider says ${String(verified)}`);
  }
  t.match(await me(world, await world.signIn(identity('a1', true))), { id: ada.id });
  t.match(
    await me(world, await world.signIn(identity('a1', false))),
    { id: ada.id },
    'known by its subject from then on',
  );
  const eve = await me(world, await world.signIn({ sub: 'e', email: 'eve@example.com', email_verified: false }));
  t.match(eve, { email: null, email_verified: false }, 'an unverified address is not taken into a new account');
  for (const email of ['no address', 'a@b\r\nBcc: c@d', `${'x'.repeat(255)}@example.com`]) {
    t.match(await me(world, await world.signIn({ sub: email.slice(0, 3), email, email_verified: true })), {
      email: null,
    });
  }
});

void t.test('an identity is linked to the account that asks for it, and unlinked again', async (t) => {
  const world = await providerWorld(t);
  const ada = await world.account('ada@example.com');
  const eve = await world.account('eve@example.com');
  t.equal((await world.signIn(grace, ada.accessToken)).get('linked'), 'identity_provider_a');
  t.equal((await world.signIn(grace, ada.accessToken)).get('linked'), 'identity_provider_a', 'again is no harm');
  t.match(await me(world, await world.signIn(grace)), { id: ada.id, email: 'ada@example.com', email_verified: false });
  t.equal((await world.signIn(grace, eve.accessToken)).get('error'), 'identity_taken');
  const list = async (token: string) =>
    (await world.call('GET', '/api/v1/auth/identities', { token })).body['identities'] as {
      id: number;
      email: string;
    }[];
  const [identity] = await list(ada.accessToken);
  t.match(identity, { way: 'identity_provider_a', issuer: world.provider.settings.issuer, email: 'grace@example.com' });
  t.same(await list(eve.accessToken), []);
  const path = `/api/v1/auth/identities/${identity?.id}`;
  t.equal((await world.call('DELETE', path, { token: eve.accessToken })).status, 404);
  t.equal((await world.call('DELETE', path, { token: ada.accessToken })).status, 204);
  t.equal((await world.call('DELETE', path, { token: ada.accessToken })).status, 404);
  t.not((await me(world, await world.signIn(grace)))['id'], ada.id, 'it opens an account of its own now');
  t.same(
    (await actionsOf(world, ada.id)).filter((action) => action.startsWith('identity.')),
    ['identity.linked', 'identity.unlinked'],
  );
  await world.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${ada.id}`);
  await takeMails(world);
  t.equal((await world.signIn({ sub: 'third' }, ada.accessToken)).get('linked'), 'identity_provider_a');
  t.match(await takeMails(world), [{ to: ada.email, subject: 'A new way to sign in' }]);
  const [third] = await list(ada.accessToken);
  const sessionsBegan = (ago: string) =>
    world.database.worker.query(sql.unsafe`update sessions set created_at = now() - ${ago}::interval`);
  await sessionsBegan('11 minutes');
  const old = { status: 403, body: { code: 'recent_sign_in_required' } };
  const begin = '/api/v1/auth/identity-provider-a/login';
  t.match(await world.call('GET', begin, { token: ada.accessToken }), old, 'an old session links nothing');
  const last = `/api/v1/auth/identities/${third?.id}`;
  t.match(await world.call('DELETE', last, { token: ada.accessToken }), old, 'and unlinks nothing');
  t.same(await takeMails(world), []);
  await sessionsBegan('9 minutes');
  t.equal((await world.call('DELETE', last, { token: ada.accessToken })).status, 204);
  t.match(await takeMails(world), [{ to: ada.email, subject: 'A way to sign in was removed' }]);
  const by = world.browser();
  const back = await world.goThere(by, { sub: 'other' }, ada.accessToken);
  await world.call('POST', '/api/v1/auth/logout', { token: ada.accessToken });
  t.equal((await world.comeBack(by, back)).get('error'), 'session_ended', 'not for a session that has ended');
  const bad = await world.call('GET', '/api/v1/auth/identity-provider-a/login', { token: 'x' });
  t.equal(bad.status, 401, 'a token that is none is no invitation to go without');
});

void t.test('an account with a second factor is asked for it', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  const token = (await world.signIn(grace)).get('access_token') ?? '';
  const begun = await world.call('POST', '/api/v1/auth/mfa/totp', { token });
  const secret = String(begun.body['secret']);
  const code = totpCode(secret, Date.now());
  const confirmed = await world.call('POST', '/api/v1/auth/mfa/totp/confirm', { token, body: { code } });
  const [recovery_code] = confirmed.body['recovery_codes'] as string[];
  const hash = await world.signIn(grace);
  t.same([...hash.keys()], ['mfa_token', 'factors']);
  t.equal(hash.get('factors'), 'totp,recovery_code');
  const body = { mfa_token: hash.get('mfa_token'), recovery_code };
  t.match(await world.call('POST', '/api/v1/auth/mfa/verify', { body }), { status: 200, body: { access_token: /./ } });
});

void t.test('what is not set up is not there; new accounts are made only where registration is open', async (t) => {
  const none = await testApi(t);
  for (const letter of ['a', 'b']) {
    for (const step of ['login', 'callback?code=x&state=y', 'callback?error=%3Cb%3E']) {
      const answer = await none.call('GET', `/api/v1/auth/identity-provider-${letter}/${step}`);
      t.match(answer, { status: 404, body: { code: 'not_found' } }, `${letter} ${step}`);
    }
  }
  t.match((await none.call('GET', '/api/v1/auth/ways')).body, { identity_providers: [], messenger: false });
  const fresh = await providerWorld(t);
  t.match((await fresh.call('GET', '/api/v1/auth/ways')).body, {
    identity_providers: [{ id: 'identity-provider-a', name: 'Example ID' }],
  });
  t.equal((await fresh.signIn(grace)).get('error'), 'setup_token_required');
  await fresh.account('ada@example.com');
  for (const registration of ['closed', 'invite'] as const) {
    const { database, provider } = fresh;
    const world = await providerWorld(t, { database, context: { registration } }, provider);
    t.equal((await world.signIn(grace)).get('error'), 'registration_closed', registration);
  }
  const users = await fresh.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from users`,
  );
  t.equal(users, 1);
});
