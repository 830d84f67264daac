import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Test } from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import type { TestAccount, TestAnswer, TestApi } from '../../testing.ts';
import { botToken, signWidget } from '../messenger/testing.ts';
import { actionsOf } from '../testing/audit.ts';
import { authenticator } from '../testing/authenticator.ts';
import type { Authenticator, How } from '../testing/authenticator.ts';

const publicUrl = 'http://localhost:8080';
// Of every account that the tests make.
const password = 'a rather long phrase 7';

async function begin(
  api: TestApi,
  token: string,
): Promise<{ registration_token: string; options: Record<string, unknown> }> {
  const begun = await api.call('POST', '/api/v1/auth/mfa/passkeys/begin', { token, body: { password } });
  if (begun.status !== 200) throw new Error(begun.text);
  return begun.body as never;
}

async function register(
  api: TestApi,
  token: string,
  key: Authenticator,
  how?: How,
  name?: string,
): Promise<TestAnswer> {
  const { registration_token, options } = await begin(api, token);
  const body = { registration_token, passkey: key.register(options, how), ...(name === undefined ? {} : { name }) };
  return api.call('POST', '/api/v1/auth/mfa/passkeys', { token, body });
}

async function signInAlone(api: TestApi, key: Authenticator, how?: How): Promise<TestAnswer> {
  const begun = await api.call('POST', '/api/v1/auth/passkey/begin');
  const { sign_in_token, options } = begun.body as { sign_in_token: string; options: Record<string, unknown> };
  return api.call('POST', '/api/v1/auth/passkey/finish', {
    body: { sign_in_token, passkey: key.answer(options, how) },
  });
}

type World = TestApi & { readonly ada: TestAccount; readonly key: Authenticator };

async function withPasskey(t: Test): Promise<World> {
  const api = await testApi(t, {
    context: { publicUrl, signIn: { identityProviders: {}, messengerBotToken: botToken } },
  });
  const ada = await api.account('ada@example.com');
  const key = authenticator(publicUrl);
  const made = await register(api, ada.accessToken, key, {}, ' Telephone ');
  if (made.status !== 201) throw new Error(made.text);
  return { ...api, ada, key };
}

void t.test('a passkey is registered, and lets its owner in alone', async (t) => {
  const api = await testApi(t, { context: { publicUrl } });
  const ada = await api.account('ada@example.com');
  const { accessToken: token } = ada;
  const key = authenticator(publicUrl);
  t.match(
    await api.call('POST', '/api/v1/auth/mfa/passkeys/begin', { token }),
    { status: 422 },
    'with the password only',
  );
  t.match((await begin(api, token)).options, {
    rp: { id: 'localhost', name: 'Parallax' },
    user: { name: 'ada@example.com' },
    authenticatorSelection: { residentKey: 'preferred' },
    attestation: 'none',
  });
  const made = await register(api, token, key, {}, 'Telephone');
  t.match(made, { status: 201, body: { passkey: { name: 'Telephone', backed_up: false, last_used_at: null } } });
  t.equal((made.body['recovery_codes'] as string[]).length, 10, 'the first factor brings recovery codes');
  const listed = await begin(api, token);
  t.match(listed.options, { excludeCredentials: [{ type: 'public-key' }] }, 'the same device is not asked again');
  t.match(await register(api, token, key), { status: 409 }, 'and not taken again');
  const entered = await signInAlone(api, key);
  t.match(entered, { status: 200, body: { token_type: 'Bearer' } });
  const me = await api.call('GET', '/api/v1/auth/me', { token: String(entered.body['access_token']) });
  t.equal(me.body['id'], ada.id);
  t.match((await api.call('GET', '/api/v1/auth/mfa', { token })).body, {
    passkeys: [{ name: 'Telephone', last_used_at: /Z$/ }],
  });
  t.ok((await actionsOf(api, ada.id)).includes('passkey.registered'));
});

void t.test('a registration that is not for this page and this account is refused', async (t) => {
  const api = await testApi(t, { context: { publicUrl } });
  const { accessToken: token } = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const cases: [what: string, how: How][] = [
    ['another origin', { origin: 'http://localhost.example' }],
    ['another port', { origin: 'http://localhost:8081' }],
    ['another party', { rpId: 'example.com' }],
    ['another challenge', { challenge: randomBytes(32).toString('base64url') }],
    ['an answer in its place', { type: 'webauthn.get' }],
  ];
  for (const [what, how] of cases) {
    t.match(
      await register(api, token, authenticator(publicUrl), how),
      { status: 422, body: { errors: [{ path: '/passkey' }] } },
      what,
    );
  }
  const { registration_token, options } = await begin(api, token);
  const passkey = authenticator(publicUrl).register(options);
  const finish = (body: unknown, as = token) => api.call('POST', '/api/v1/auth/mfa/passkeys', { token: as, body });
  t.equal((await finish({ registration_token, passkey }, eve.accessToken)).status, 404, 'begun by another');
  const broken = { ...passkey, response: { ...(passkey['response'] as object), attestationObject: 'ff'.repeat(40) } };
  t.equal((await finish({ registration_token, passkey: broken })).status, 422, 'bytes that are no CBOR');
  t.equal((await finish({ registration_token, passkey: { id: 'x' } })).status, 422);
  t.equal((await finish({ registration_token, passkey })).status, 201);
  t.equal((await finish({ registration_token, passkey })).status, 404, 'once');
  const keyWithoutPin = authenticator(publicUrl);
  t.equal(
    (await register(api, token, keyWithoutPin, { verifiesUser: false })).status,
    201,
    'a second factor needs no PIN',
  );
  t.match(await signInAlone(api, keyWithoutPin, { verifiesUser: false }), { status: 401 }, 'but lets nobody in alone');
});

void t.test('an answer that does not hold lets nobody in, and all look the same', async (t) => {
  const { key, ada, ...api } = await withPasskey(t);
  const cases: [what: string, key: Authenticator, how: How][] = [
    ['an unknown passkey', authenticator(publicUrl), { userHandle: 'AAAA' }],
    ['another origin', key, { origin: 'https://localhost:8080' }],
    ['another party', key, { rpId: 'example.com' }],
    ['another challenge', key, { challenge: randomBytes(32).toString('base64url') }],
    ['a registration in its place', key, { type: 'webauthn.create' }],
    ['no PIN', key, { verifiesUser: false }],
    ['a signature by another', key, { signature: randomBytes(70) }],
    ['another user', key, { userHandle: Buffer.from('user 2').toString('base64url') }],
  ];
  for (const [what, by, how] of cases) {
    const answer = await signInAlone(api, by, how);
    t.match(answer, { status: 401, body: { code: 'invalid_credentials', detail: /^the passkey/ } }, what);
  }
  t.equal((await signInAlone(api, key, { counter: 50 })).status, 200);
  t.equal((await signInAlone(api, key, { counter: 50 })).status, 401, 'a counter that stands still is a copy');
  t.equal((await signInAlone(api, key, { counter: 49 })).status, 401, 'and so is one that goes back');
  const begun = await api.call('POST', '/api/v1/auth/passkey/begin');
  const { sign_in_token, options } = begun.body as { sign_in_token: string; options: Record<string, unknown> };
  const body = { sign_in_token, passkey: key.answer(options, { counter: 60 }) };
  const finish = (given: unknown) => api.call('POST', '/api/v1/auth/passkey/finish', { body: given });
  const statuses = (await Promise.all([finish(body), finish(body), finish(body)])).map(({ status }) => status);
  t.same(
    statuses.toSorted((one, other) => one - other),
    [200, 401, 401],
    'the same answer counts once',
  );
  // One that does not count cannot be told from a copy, so its challenge must be what counts once.
  const still = authenticator(publicUrl);
  t.equal((await register(api, ada.accessToken, still, { counter: 0 })).status, 201);
  t.equal((await signInAlone(api, still, { counter: 0 })).status, 200);
  const stillBegun = (await api.call('POST', '/api/v1/auth/passkey/begin')).body;
  const stillBody = {
    sign_in_token: stillBegun['sign_in_token'],
    passkey: still.answer(stillBegun['options'] as Record<string, unknown>, { counter: 0 }),
  };
  const stillAnswers = await Promise.all(Array.from({ length: 6 }, () => finish(stillBody)));
  t.equal(stillAnswers.filter(({ status }) => status === 200).length, 1, 'nor one that does not count');
  const late = await api.call('POST', '/api/v1/auth/passkey/begin');
  await api.database.worker.query(sql.unsafe`update sign_in_challenges set expires_at = now()`);
  const passkey = key.answer(late.body['options'] as Record<string, unknown>);
  t.equal((await finish({ sign_in_token: late.body['sign_in_token'], passkey })).status, 401, 'after 5 minutes');
});

void t.test('as a second factor it answers the challenge of its own sign-in', async (t) => {
  const { key, ada, ...api } = await withPasskey(t);
  const { email } = ada;
  const login = async () => {
    const answer = await api.call('POST', '/api/v1/auth/login', { body: { email, password } });
    t.match(answer, { status: 401, body: { code: 'mfa_required', factors: ['passkey', 'recovery_code'] } });
    return String(answer.body['mfa_token']);
  };
  const ask = async (mfa_token: string) => {
    const asked = await api.call('POST', '/api/v1/auth/mfa/passkey-options', { body: { mfa_token } });
    t.match(asked, { status: 200, body: { options: { allowCredentials: [{ type: 'public-key' }] } } });
    return asked.body['options'] as Record<string, unknown>;
  };
  const verify = (mfa_token: string, passkey: unknown) =>
    api.call('POST', '/api/v1/auth/mfa/verify', { body: { mfa_token, passkey } });
  const first = await login();
  const second = await login();
  const answer = key.answer(await ask(first), { verifiesUser: false });
  t.match(await verify(second, answer), { status: 401, body: { code: 'invalid_second_factor' } }, 'of another sign-in');
  t.equal((await verify(first, answer)).status, 200);
  t.equal((await verify(first, answer)).status, 401, 'once');
  const eve = await api.account('eve@example.com');
  const hers = authenticator(publicUrl);
  t.equal((await register(api, eve.accessToken, hers)).status, 201);
  t.match(await verify(second, hers.answer(await ask(second))), { status: 401 }, 'of another account');
  t.equal((await verify(second, key.answer(await ask(second)))).status, 200);
  t.equal((await api.call('POST', '/api/v1/auth/mfa/passkey-options', { body: { mfa_token: second } })).status, 401);
});

void t.test('a passkey is removed with the password, and never the last way in', async (t) => {
  const { key, ada, ...api } = await withPasskey(t);
  const idOf = async (token: string) =>
    ((await api.call('GET', '/api/v1/auth/mfa', { token })).body['passkeys'] as { id: number }[])[0]?.id;
  const remove = (token: string, id: unknown, body?: unknown) =>
    api.call('DELETE', `/api/v1/auth/mfa/passkeys/${String(id)}`, { token, ...(body === undefined ? {} : { body }) });
  const { accessToken: token } = ada;
  const id = await idOf(token);
  const eve = await api.account('eve@example.com');
  t.equal((await remove(eve.accessToken, id, { password })).status, 404, 'not by another');
  t.equal((await remove(token, id)).status, 422);
  t.equal((await remove(token, id, { password })).status, 204);
  t.equal((await signInAlone(api, key)).status, 401);

  // An account that came by the messenger has no password to show.
  const widget = signWidget({ id: 5, auth_date: Math.floor(Date.now() / 1_000) });
  const bob = String((await api.call('POST', '/api/v1/auth/messenger/login', { body: widget })).body['access_token']);
  const his = authenticator(publicUrl);
  t.equal((await register(api, bob, his)).status, 201);
  const [identity] = (await api.call('GET', '/api/v1/auth/identities', { token: bob })).body['identities'] as {
    id: number;
  }[];
  t.equal(
    (await api.call('DELETE', `/api/v1/auth/identities/${identity?.id}`, { token: bob })).status,
    204,
    'the passkey is left',
  );
  t.match(await remove(bob, await idOf(bob)), { status: 409, body: { code: 'last_way_in' } });
  await api.database.worker.query(sql.unsafe`update sessions set created_at = now() - interval '11 minutes'`);
  t.match(await remove(bob, await idOf(bob)), { status: 403, body: { code: 'recent_sign_in_required' } });
  t.equal((await signInAlone(api, his)).status, 200, 'and still lets him in');
});

void t.test('where the public URL has an address there are no passkeys', async (t) => {
  const api = await testApi(t, { context: { publicUrl: 'http://192.0.2.1:8080' } });
  const { accessToken: token } = await api.account('ada@example.com');
  t.match(await api.call('POST', '/api/v1/auth/mfa/passkeys/begin', { token }), { status: 404 });
  t.match(await api.call('POST', '/api/v1/auth/passkey/begin'), {
    status: 404,
    body: { detail: /PARALLAX_PUBLIC_URL/ },
  });
  t.match((await api.call('GET', '/api/v1/auth/ways')).body, { passkeys: false });
});
