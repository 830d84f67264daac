import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { passwordHasher, setPasswordHasher } from '../../auth/index.ts';
import { limitsWith } from '../../plans/index.ts';
import { totpCode } from '../../sign-in/testing/totp-code.ts';
import { testApi } from '../../testing.ts';
import type { TestApi } from '../../testing.ts';
import { takeMails, tokenIn } from '../testing.ts';

const path = '/api/v1/auth';
const password = 'a rather long phrase 7';
const other = 'another long phrase 8';

const login = async (api: TestApi, email: string, given: string) =>
  (await api.call('POST', `${path}/login`, { body: { email, password: given } })).status;
const me = async (api: TestApi, token: string) => (await api.call('GET', `${path}/me`, { token })).status;
const forget = (api: TestApi, email: unknown, from?: string) =>
  api.call('POST', `${path}/forgot-password`, { body: { email }, ...(from === undefined ? {} : { from }) });
const reset = (api: TestApi, token: unknown, newPassword: unknown = other) =>
  api.call('POST', `${path}/reset-password`, { body: { token, new_password: newPassword } });

/** Asks for a link and reads its token from the mail. */
async function mailedToken(api: TestApi, email: string): Promise<string> {
  await forget(api, email);
  return tokenIn((await takeMails(api)).at(-1));
}

async function secondSession(api: TestApi, email: string, given = password): Promise<string> {
  const answer = await api.call('POST', `${path}/login`, { body: { email, password: given } });
  return String(answer.body['access_token']);
}

t.test('a password is changed by whoever knows it; other sessions end and a mail tells', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  const elsewhere = await secondSession(api, ada.email);
  const change = (body: unknown) => api.call('POST', `${path}/change-password`, { token: ada.accessToken, body });
  t.match(await change({ current_password: 'wrong phrase 1', new_password: other }), {
    status: 422,
    body: { errors: [{ path: '/current_password', code: 'wrong_password' }] },
  });
  t.match(await change({ new_password: other }), { status: 422, body: { errors: [{ path: '/current_password' }] } });
  t.match(await change({ current_password: password, new_password: 'P@ssw0rd123' }), {
    status: 422,
    body: { errors: [{ path: '/new_password', code: 'common_password' }] },
  });
  t.equal(await me(api, elsewhere), 200, 'nothing has happened so far');
  const done = await change({ current_password: password, new_password: other });
  t.match(done, { status: 200, body: { message: /changed/ } });
  t.equal(await me(api, ada.accessToken), 200, 'this session goes on');
  t.equal(await me(api, elsewhere), 401, 'the others do not');
  t.equal(await login(api, ada.email, password), 401);
  t.equal(await login(api, ada.email, other), 200);
  t.match(await takeMails(api), [{ to: ada.email, subject: 'Your password was changed' }]);
  const audit = await api.database.worker.any(sql.type(z.object({ action: z.string(), detail: z.unknown() }))`
    select action, detail from audit_log where action like 'password.%'`);
  t.same(audit, [{ action: 'password.changed', detail: { ended_sessions: 1 } }]);
});

t.test('a stolen access token does not find out the password by trying', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await api.database.worker.query(sql.unsafe`
    insert into rate_limits (key, window_started_at, used)
    values (${`password-again:${ada.id} hour`}, date_trunc('hour', now()), 19)`);
  const tried = (current: string) =>
    api.call('POST', `${path}/change-password`, {
      token: ada.accessToken,
      body: { current_password: current, new_password: other },
    });
  t.equal((await tried('wrong phrase 1')).status, 422);
  t.match(await tried(password), { status: 429, body: { code: 'rate_limited' } }, 'not even with the right one');
});

t.test('a login that raced a reset of the password loses', async (t) => {
  const api = await testApi(t, { context: { limits: limitsWith({ forgot_password_account: 10 }) } });
  const ada = await api.account('ada@example.com');
  const hasher = passwordHasher(api.context);
  /** Has the password changed between the comparison of the old one and what follows from it. */
  const racing = async (given: string, wanted: string, more: object = {}) => {
    const token = await mailedToken(api, ada.email);
    setPasswordHasher(api.context, {
      ...hasher,
      verify: async (...compared) => {
        const matches = await hasher.verify(...compared);
        setPasswordHasher(api.context, hasher);
        t.ok(matches, 'the old password was right');
        t.equal((await reset(api, token, wanted)).status, 200);
        return matches;
      },
    });
    return api.call('POST', `${path}/login`, { body: { email: ada.email, password: given, ...more } });
  };
  const lost = { status: 401, body: { code: 'invalid_credentials' } };
  t.match(await racing(password, other), lost);
  t.equal(await login(api, ada.email, other), 200);
  const token = await secondSession(api, ada.email, other);
  const begun = await api.call('POST', `${path}/mfa/totp`, { token, body: { password: other } });
  const code = totpCode(String(begun.body['secret']), Date.now());
  t.equal((await api.call('POST', `${path}/mfa/totp/confirm`, { token, body: { code } })).status, 200);
  t.match(await racing(other, password), lost, 'nor is it asked for a second factor');
  t.match(await racing(password, other, { totp_code: code }), lost, 'nor by one that came with it');
  const asked = await api.call('POST', `${path}/login`, { body: { email: ada.email, password: other } });
  t.match(asked, { status: 401, body: { code: 'mfa_required' } });
  t.equal((await reset(api, await mailedToken(api, ada.email), password)).status, 200);
  const body = {
    mfa_token: asked.body['mfa_token'],
    totp_code: totpCode(String(begun.body['secret']), Date.now() + 30_000),
  };
  t.match(await api.call('POST', `${path}/mfa/verify`, { body }), lost, 'what waited for a factor has ended');
});

t.test('two changes at once: one is done', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const answers = await Promise.all(
    [other, 'yet another phrase 9'].map((wanted) =>
      api.call('POST', `${path}/change-password`, {
        token: ada.accessToken,
        body: { current_password: password, new_password: wanted },
      }),
    ),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  // One may have been compared with the password that the other had set already.
  t.ok(statuses[0] === 200 && (statuses[1] === 409 || statuses[1] === 422), String(statuses));
});

t.test('passwords are bytes: none is cut, trimmed or composed', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  let current = password;
  const change = (wanted: string) =>
    api.call('POST', `${path}/change-password`, {
      token: ada.accessToken,
      body: { current_password: current, new_password: wanted },
    });
  const taken: [what: string, wanted: string][] = [
    ['8 bytes', 'q7#kz!vb'],
    ['8 bytes in five characters', 'üä7ö#'],
    ['spaces around it', '  spaced out 7  '],
    ['composed characters', 'caf\u00e9 au lait 7'],
    ['the same decomposed', 'cafe\u0301 au lait 7'],
    ['1,024 bytes', `${'ü'.repeat(508)}zyx13579`],
  ];
  for (const [what, wanted] of taken) {
    t.equal((await change(wanted)).status, 200, what);
    current = wanted;
    t.equal(await login(api, ada.email, wanted), 200, `${what} logs in`);
  }
  t.equal(await login(api, ada.email, current.slice(0, -1)), 401, 'every byte counts');
  await change('  spaced out 7  ');
  current = '  spaced out 7  ';
  t.equal(await login(api, ada.email, 'spaced out 7'), 401, 'spaces count');
  await change('cafe\u0301 au lait 7');
  current = 'cafe\u0301 au lait 7';
  t.equal(await login(api, ada.email, 'caf\u00e9 au lait 7'), 401, 'bytes are not composed');
  const refused: [what: string, wanted: string][] = [
    ['7 bytes', 'q7#kz!v'],
    ['7 bytes with a character of two', 'q7#kzü'],
    ['1,025 bytes', 'x1'.repeat(512) + 'y'],
    ['1,025 bytes in fewer characters', `${'ü'.repeat(512)}y`],
    ['a NUL', 'with a \u0000 in it 7'],
    ['nothing', ''],
  ];
  for (const [what, wanted] of refused) t.equal((await change(wanted)).status, 422, what);
  const token = await mailedToken(api, ada.email);
  for (const [what, wanted] of refused) t.equal((await reset(api, token, wanted)).status, 422, `${what} by a link`);
  t.equal((await reset(api, token)).status, 200, 'which used up nothing');
});

t.test('a forgotten password is chosen anew by a mailed link, once', async (t) => {
  const api = await testApi(t, { context: { publicUrl: 'https://monitor.example/' } });
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  const asked = await forget(api, ' ADA@example.com ');
  t.equal(asked.status, 200);
  const [mail] = await takeMails(api);
  t.match(mail, { to: ada.email, subject: 'Choose a new password' });
  t.match(mail?.text, 'https://monitor.example/auth/reset-password#token=');
  const token = tokenIn(mail);
  const stored = await api.database.worker.oneFirst(sql.type(z.object({ text: z.string() }))`
    select (select jsonb_agg(to_jsonb(a)) from account_tokens a)::text || (select jsonb_agg(to_jsonb(o)) from outbox o)::text as text`);
  t.notMatch(stored, token, 'it stands nowhere in plain');
  const done = await reset(api, token);
  t.match(done, { status: 200, body: { message: /all sessions have ended/ } });
  t.equal(await me(api, ada.accessToken), 401, 'all sessions are revoked');
  t.equal((await api.call('POST', `${path}/refresh`, { body: { refresh_token: ada.refreshToken } })).status, 401);
  t.equal(await login(api, ada.email, password), 401);
  t.equal(await login(api, ada.email, other), 200);
  t.match(await takeMails(api), [{ to: ada.email, subject: 'Your password was changed' }]);
  t.match(await reset(api, token), { status: 422, body: { code: 'invalid_token' } }, 'once');
});

t.test('every token that is not good is told alike', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const [verification] = await takeMails(api);
  const used = await mailedToken(api, ada.email);
  t.equal((await reset(api, used)).status, 200);
  const old = await mailedToken(api, ada.email);
  await api.database.worker.query(sql.unsafe`
    update account_tokens set expires_at = now() where used_at is null and user_id = ${ada.id}`);
  const evesOwn = await mailedToken(api, eve.email);
  const voided = evesOwn;
  await api.call('POST', `${path}/change-password`, {
    token: eve.accessToken,
    body: { current_password: password, new_password: other },
  });
  const table: [what: string, token: string][] = [
    ['used', used],
    ['too old', old],
    ['made void by a change of the password', voided],
    ['for another purpose', tokenIn(verification)],
    ['altered', `${used.slice(0, -1)}${used.endsWith('A') ? 'B' : 'A'}`],
    ['unknown', 'A'.repeat(43)],
    ['too short', 'A'.repeat(42)],
    ['too long', 'A'.repeat(44)],
    ['an access token', eve.accessToken.slice(0, 200)],
    ['with a NUL escaped', `${'A'.repeat(42)}%00`],
    ['markup', '<script>alert(1)</script>'],
    ['SQL', "' or 1=1 --"],
  ];
  const answers = new Set<string>();
  for (const [what, token] of table) {
    const answer = await reset(api, token, 'yet another phrase 9');
    t.match(answer, { status: 422, body: { code: 'invalid_token', detail: /forgot-password/ } }, what);
    answers.add(String(answer.body['detail']));
  }
  t.equal(answers.size, 1);
  for (const token of ['', 'x'.repeat(201), 7, null, ['a']]) {
    t.equal((await reset(api, token)).status, 422, JSON.stringify(token).slice(0, 20));
  }
  t.equal(await login(api, eve.email, other), 200, 'and no password was changed');
});

t.test('of many resets with one link one is done, and two links at once leave one password', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const token = await mailedToken(api, ada.email);
  const wanted = Array.from({ length: 5 }, (_, index) => `phrase number ${index} of five`);
  const answers = await Promise.all(wanted.map((one) => reset(api, token, one)));
  const done = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
  t.equal(done.length, 1);
  t.equal(await login(api, ada.email, wanted[done[0] ?? 0] ?? ''), 200, 'and that is the password');
  const links = [await mailedToken(api, ada.email), await mailedToken(api, ada.email)];
  t.equal(new Set(links).size, 2);
  const both = await Promise.all(links.map((one, index) => reset(api, one, wanted[index])));
  t.same(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 422],
    'the first that is used voids the other',
  );
});

t.test('asking tells nothing, mails at most three links an hour, and takes no hostile address', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  const known = await forget(api, ada.email);
  const unknown = await forget(api, 'nobody@example.com');
  t.equal(known.status, 200);
  t.same(known.body, unknown.body);
  const shown = ({ headers }: Awaited<ReturnType<typeof forget>>) =>
    [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit'].includes(name));
  t.same(shown(known), shown(unknown));
  t.equal((await takeMails(api)).length, 1, 'one mail for the one that exists');
  for (let again = 0; again < 4; again += 1) t.equal((await forget(api, ada.email)).status, 200);
  t.equal((await takeMails(api)).length, 2, 'three in all, silently');
  await api.database.worker.query(sql.unsafe`update account_tokens set created_at = now() - interval '61 minutes'`);
  await forget(api, ada.email);
  t.equal((await takeMails(api)).length, 1, 'an hour later again');
  const from = '203.0.113.7';
  const statuses: number[] = [];
  for (let count = 0; count < 7; count += 1) statuses.push((await forget(api, `u${count}@example.com`, from)).status);
  t.ok(statuses.includes(429), 'three a minute from one address');
  const longest = `a@${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(57)}.de`;
  const hostile = [
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com\u0000',
    '"ada"@example.com',
    'ada@example.com, eve@example.com',
    `a${longest}`,
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.de`,
    'ada@example-.com',
    'ada',
    7,
    null,
  ];
  t.equal(longest.length, 254);
  t.equal((await forget(api, longest)).status, 200, '254 characters');
  for (const email of hostile) t.equal((await forget(api, email)).status, 422, JSON.stringify(email).slice(0, 60));
  t.same(await takeMails(api), []);
});

t.test('the link proves the address; who made the account without it keeps no key', async (t) => {
  const api = await testApi(t);
  const thief = await api.account('ada@example.com');
  const made = await api.call('POST', '/api/v1/api-keys', { token: thief.accessToken, body: { name: 'for later' } });
  const key = String(made.body['key']);
  const isTaken = () =>
    api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from api_keys where revoked_at is null`);
  t.match(key, /^plk_/);
  t.equal(await isTaken(), 1);
  t.equal((await reset(api, await mailedToken(api, thief.email))).status, 200);
  t.equal(await isTaken(), 0);
  const answer = await api.call('POST', `${path}/login`, { body: { email: thief.email, password: other } });
  const token = String(answer.body['access_token']);
  t.match((await api.call('GET', `${path}/me`, { token })).body, { email_verified: true });
  await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'own' } });
  t.equal((await reset(api, await mailedToken(api, thief.email), password)).status, 200);
  t.equal(await isTaken(), 1, 'keys of an owner who proved the address stay');
});

t.test('the answer and the mail of a reset say what was really revoked', async (t) => {
  const api = await testApi(t);
  const { worker } = api.database;
  const told = async (email: string, wanted: string) => {
    const token = await mailedToken(api, email);
    await takeMails(api);
    const { status, body } = await reset(api, token, wanted);
    t.equal(status, 200);
    const [mail, ...others] = await takeMails(api);
    t.same(others, []);
    t.match(mail, { to: email, subject: 'Your password was changed' });
    return { answer: String(body['message']), mail: mail?.text.replace(/\s+/g, ' ') ?? '' };
  };
  const unconfirmed = await api.account('unconfirmed@example.com');
  const { accessToken: token } = unconfirmed;
  for (const route of ['api-keys', 'api-keys', 'auth/tokens']) {
    const made = await api.call('POST', `/api/v1/${route}`, { token, body: { name: 'for later' } });
    t.equal(made.status, 201, made.text);
  }
  await worker.query(sql.unsafe`
    insert into identities (user_id, way, issuer, subject)
    values (${unconfirmed.id}, 'identity_provider_a', 'https://id.example', 'thief')`);
  const first = await told(unconfirmed.email, other);
  for (const text of Object.values(first)) {
    t.match(text, /all sessions/);
    t.match(text, /2 API keys, 1 access token/);
    t.match(text, /1 linked identity/);
    t.notMatch(text, /stay|other sessions|passkey|authenticator/);
  }
  t.match(first.mail, /never been confirmed/, 'and why');

  const next = await api.call('POST', `${path}/login`, { body: { email: unconfirmed.email, password: other } });
  await api.call('POST', '/api/v1/api-keys', { token: String(next.body['access_token']), body: { name: 'own' } });
  const second = await told(unconfirmed.email, 'yet another phrase 9');
  t.match(second.answer, /all sessions have ended; API keys and access tokens stay valid/);
  t.match(second.mail, /all sessions were ended\..*API keys and access tokens stay valid until you revoke them/);

  const bare = await told((await api.account('bare@example.com')).email, other);
  t.notMatch(bare.answer + bare.mail, /revoked|removed|stay/, 'where there was nothing, nothing is said of it');
});

t.test('an account without a password proves itself by a recent sign-in and may set one', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await api.database.worker.query(sql.unsafe`update users set password_hash = null`);
  const change = () =>
    api.call('POST', `${path}/change-password`, { token: ada.accessToken, body: { new_password: other } });
  await api.database.worker.query(sql.unsafe`update sessions set created_at = now() - interval '11 minutes'`);
  t.match(await change(), { status: 403, body: { code: 'recent_sign_in_required' } });
  await api.database.worker.query(sql.unsafe`update sessions set created_at = now() - interval '9 minutes'`);
  t.equal((await change()).status, 200);
  t.equal(await login(api, ada.email, other), 200);
});
