import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { namedLimits } from '../../plans/limits.ts';
import { testApi } from '../../testing.ts';
import type { TestAccount, TestAnswer, TestApi } from '../../testing.ts';
import { actionsOf, withinOneMinute } from '../testing/audit.ts';
import { takeMails } from '../../accounts/testing.ts';
import { pauseSeconds } from './pauses.ts';
import { totpCode } from '../testing/totp-code.ts';

type World = TestApi & {
  readonly ada: TestAccount;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** The code of the present step, or of one after it. */
  readonly code: (stepsAhead?: number) => string;
  /** Goes to the next step. */
  readonly step: () => void;
  readonly login: (more?: Record<string, unknown>) => Promise<TestAnswer>;
  readonly verify: (body: Record<string, unknown>) => Promise<TestAnswer>;
  readonly mfaToken: () => Promise<string>;
};

/** An account with an authenticator app, in the middle of a step. */
async function protectedAccount(t: Test): Promise<World> {
  let aheadMs = (45_000 - (Date.now() % 30_000)) % 30_000;
  const now = () => Date.now() + aheadMs;
  const api = await testApi(t, { context: { now } });
  const ada = await api.account('ada@example.com');
  const { accessToken: token, password } = ada;
  const begun = await api.call('POST', '/api/v1/auth/mfa/totp', { token, body: { password } });
  const secret = String(begun.body['secret']);
  const code = (stepsAhead = 0) => totpCode(secret, now() + stepsAhead * 30_000);
  const confirmed = await api.call('POST', '/api/v1/auth/mfa/totp/confirm', { token, body: { code: code() } });
  if (confirmed.status !== 200) throw new Error(confirmed.text);
  const step = () => {
    aheadMs += 30_000;
  };
  step();
  const { email } = ada;
  const login: World['login'] = (more = {}) =>
    api.call('POST', '/api/v1/auth/login', { body: { email, password, ...more } });
  return {
    ...api,
    ada,
    secret,
    recoveryCodes: confirmed.body['recovery_codes'] as string[],
    code,
    step,
    login,
    verify: (body) => api.call('POST', '/api/v1/auth/mfa/verify', { body }),
    mfaToken: async () => String((await login()).body['mfa_token']),
  };
}

const forgetTries = (api: TestApi) => api.database.worker.query(sql.unsafe`delete from rate_limits`);

void t.test('an authenticator app is confirmed by a code, and asked for from then on', async (t) => {
  const api = await testApi(t);
  const { email, password, id, accessToken: token } = await api.account('ada@example.com');
  const login = () => api.call('POST', '/api/v1/auth/login', { body: { email, password } });
  const confirm = (code: string) => api.call('POST', '/api/v1/auth/mfa/totp/confirm', { token, body: { code } });
  t.match(await confirm('000000'), { status: 404 });
  t.match(await api.call('POST', '/api/v1/auth/mfa/totp', { token }), {
    status: 422,
    body: { errors: [{ path: '/password' }] },
  });
  const begun = await api.call('POST', '/api/v1/auth/mfa/totp', { token, body: { password } });
  t.match(begun, { status: 201, body: { secret: /^[A-Z2-7]{32}$/, otpauth_url: /^otpauth:\/\/totp\/Parallax:ada/ } });
  t.equal((await login()).status, 200, 'what is not confirmed locks nobody out');
  const stale = String(begun.body['secret']);
  const secret = String(
    (await api.call('POST', '/api/v1/auth/mfa/totp', { token, body: { password } })).body['secret'],
  );
  t.not(secret, stale);
  t.match(await confirm(totpCode(stale, Date.now())), { status: 422, body: { errors: [{ path: '/code' }] } });
  t.match(await confirm('12345'), { status: 422 });
  const confirmed = await confirm(totpCode(secret, Date.now()));
  t.equal(confirmed.status, 200);
  t.equal((confirmed.body['recovery_codes'] as string[]).length, 10);
  t.match(await confirm(totpCode(secret, Date.now())), { status: 409 });
  t.match(await api.call('POST', '/api/v1/auth/mfa/totp', { token, body: { password } }), { status: 409 }, 'and stays');
  t.match(await login(), {
    status: 401,
    body: { code: 'mfa_required', mfa_token: /^[\w-]{43}$/, factors: ['totp', 'recovery_code'] },
  });
  t.match((await api.call('GET', '/api/v1/auth/mfa', { token })).body, {
    totp: { confirmed_at: /Z$/ },
    passkeys: [],
    recovery_codes_left: 10,
  });
  t.same((await actionsOf(api, id)).slice(-2), ['totp.begun', 'totp.confirmed'].slice(-2));
  const stored = await api.database.worker.oneFirst(sql.type(z.object({ all: z.string() }))`
    select (select string_agg(row_to_json(totp_factors)::text, '') from totp_factors)
        || (select string_agg(row_to_json(recovery_codes)::text, '') from recovery_codes) as all`);
  t.notOk(stored.includes(secret), 'the secret is sealed');
  for (const code of confirmed.body['recovery_codes'] as string[]) t.notOk(stored.includes(code));
});

void t.test('a code comes with the login or after it, and counts once', async (t) => {
  const world = await protectedAccount(t);
  const { login, verify, code, step, mfaToken } = world;
  const tokens = { status: 200, body: { access_token: /./, refresh_token: /./ } };
  t.match(await login({ totp_code: code() }), tokens, 'with the login');
  t.match(await login({ totp_code: code() }), { status: 401, body: { code: 'invalid_second_factor' } }, 'not again');
  t.match(await login({ password: 'wrong', totp_code: code(1) }), {
    status: 401,
    body: { code: 'invalid_credentials' },
  });
  step();
  await forgetTries(world);
  const token = await mfaToken();
  t.match(await verify({ mfa_token: token, totp_code: '000000' }), { body: { code: 'invalid_second_factor' } });
  t.match(
    await verify({ mfa_token: token, totp_code: ` ${code().slice(0, 3)} ${code().slice(3)}` }),
    tokens,
    'after a slip',
  );
  t.match(
    await verify({ mfa_token: token, totp_code: code(1) }),
    { status: 401, body: { code: 'invalid_credentials' } },
    'the token counts once',
  );
  t.match(
    await verify({ mfa_token: await mfaToken(), totp_code: code(-1) }),
    { status: 401 },
    'a code before the last one',
  );
  step();
  await forgetTries(world);
  const tokenForRace = await mfaToken();
  const other = await mfaToken();
  const raced = await Promise.all([
    verify({ mfa_token: tokenForRace, totp_code: code() }),
    verify({ mfa_token: tokenForRace, totp_code: code() }),
    verify({ mfa_token: other, totp_code: code() }),
  ]);
  t.same(
    raced.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 401, 401],
    'one of many at once',
  );
  t.ok((await actionsOf(world, world.ada.id)).includes('second_factor.failed'));
  const detail = await world.database.worker.oneFirst(sql.type(z.object({ detail: z.unknown() }))`
    select detail from audit_log where action = 'session.started' order by id desc limit 1`);
  t.same(detail, { way: 'password', second_factor: 'totp' });
});

void t.test('a recovery code stands in once, and new ones replace all', async (t) => {
  const world = await protectedAccount(t);
  const { verify, mfaToken, recoveryCodes, ada } = world;
  const [first = '', second = ''] = recoveryCodes;
  const status = async (recovery_code: string) => (await verify({ mfa_token: await mfaToken(), recovery_code })).status;
  t.equal(await status(first.toUpperCase().replaceAll('-', ' ')), 200);
  t.equal(await status(first), 401, 'once');
  t.equal(await status('aaaa-aaaa-aaaa-aaaa'), 401);
  await forgetTries(world);
  const path = '/api/v1/auth/mfa/recovery-codes';
  const { accessToken: token, password } = ada;
  t.match(await world.call('POST', path, { token }), { status: 422, body: { errors: [{ path: '/password' }] } });
  t.match(await world.call('POST', path, { token, body: { password: 'wrong' } }), { status: 422 });
  const made = await world.call('POST', path, { token, body: { password } });
  t.equal((made.body['recovery_codes'] as string[]).length, 10);
  t.equal(await status(second), 401, 'the old ones are void');
  t.equal(await status(String((made.body['recovery_codes'] as string[])[9])), 200);
  t.match((await world.call('GET', '/api/v1/auth/mfa', { token })).body, { recovery_codes_left: 9 });
});

void t.test('five tries a minute from one address, and nobody elsewhere is locked out by them', async (t) => {
  const world = await protectedAccount(t);
  const { call, mfaToken, code, login, recoveryCodes, verify } = world;
  const { email, password } = world.ada;
  const from = '203.0.113.7';
  const there = (body: Record<string, unknown>) => call('POST', '/api/v1/auth/mfa/verify', { body, from });
  const mfa_token = await mfaToken();
  const answers = await withinOneMinute(world, async () => {
    await forgetTries(world);
    const wrong = Array.from({ length: 5 }, () => there({ mfa_token, totp_code: '000000' }));
    return [
      ...(await Promise.all(wrong)),
      await there({ mfa_token, totp_code: code() }),
      await there({ mfa_token: await mfaToken(), recovery_code: recoveryCodes[0] }),
      await call('POST', '/api/v1/auth/login', { body: { email, password, totp_code: code() }, from }),
      await login({ totp_code: code() }),
    ];
  });
  t.same(
    answers.map(({ status }) => status),
    [401, 401, 401, 401, 401, 429, 429, 429, 200],
  );
  t.match(answers[5]?.headers.get('retry-after'), /^\d+$/);
  await forgetTries(world);
  world.step();
  t.equal((await verify({ mfa_token, totp_code: code() })).status, 200, 'nothing was used up by the refused');
});

void t.test('after ten wrong codes the pauses grow, the owner is told, and others go in', async (t) => {
  const world = await protectedAccount(t);
  const { mfaToken, code, verify, ada, database } = world;
  await database.worker.query(sql.unsafe`update users set email_verified = true where id = ${ada.id}`);
  await takeMails(world);
  const mfa_token = await mfaToken();
  // Each from an address of its own: it is the token that they have in common.
  const wrong = async () => {
    await forgetTries(world);
    return verify({ mfa_token, totp_code: '000000' });
  };
  for (let n = 1; n <= 9; n += 1) t.equal((await wrong()).status, 401, `wrong code ${n}`);
  t.same(await takeMails(world), []);
  const both = await Promise.all([
    verify({ mfa_token, totp_code: '000000' }),
    verify({ mfa_token, totp_code: '000001' }),
  ]);
  t.same(
    both.map(({ status }) => status).toSorted((one, other) => one - other),
    [401, 429],
    'of two at once one is judged',
  );
  t.match(await takeMails(world), [{ to: ada.email, subject: /tries to sign in/, text: /10 wrong codes/ }]);
  const paused = await verify({ mfa_token, totp_code: code() });
  t.match(paused, { status: 429, body: { code: 'rate_limited' } }, 'not even the right one');
  const waits = (answer: TestAnswer) => Number(answer.headers.get('retry-after'));
  t.ok(waits(paused) > 20 && waits(paused) <= 30, `waits ${waits(paused)} s`);
  const sleep = (seconds: number) =>
    database.worker.query(sql.unsafe`
      update second_factor_failures set last_failed_at = last_failed_at - make_interval(secs => ${seconds})`);
  await sleep(31);
  t.equal((await wrong()).status, 401);
  const longer = await verify({ mfa_token, totp_code: code() });
  t.ok(waits(longer) > 45 && waits(longer) <= 60, `then ${waits(longer)} s`);
  t.equal(
    (await verify({ mfa_token: await mfaToken(), totp_code: code() })).status,
    200,
    'another sign-in is not held up',
  );
  await sleep(61);
  world.step();
  t.equal((await verify({ mfa_token, totp_code: code() })).status, 200, 'after the pause');
  const left = await database.worker.any(sql.type(z.object({ failures: z.number() }))`
    select failures from second_factor_failures where failures > 1`);
  t.same(left, [], 'a right one forgets');
});

void t.test('pauses double up to an hour', async (t) => {
  t.same([0, 9, 10, 11, 12, 16, 17, 60].map(pauseSeconds), [0, 0, 30, 60, 120, 1_920, 3_600, 3_600]);
});

void t.test('what is not a step of a sign-in is refused', async (t) => {
  const world = await protectedAccount(t);
  const { verify, mfaToken, code, ada } = world;
  const mfa_token = await mfaToken();
  const cases: [what: string, body: Record<string, unknown>, status: number][] = [
    ['another token', { mfa_token: 'x'.repeat(43), totp_code: code() }, 401],
    ['an access token', { mfa_token: ada.accessToken.slice(0, 200), totp_code: code() }, 401],
    ['no factor', { mfa_token }, 422],
    ['two factors', { mfa_token, totp_code: code(), recovery_code: 'x' }, 422],
    ['letters', { mfa_token, totp_code: 'abcdef' }, 422],
    ['digits of another script', { mfa_token, totp_code: '١٢٣٤٥٦' }, 422],
    ['a number', { mfa_token, totp_code: 123_456 }, 422],
  ];
  for (const [what, body, status] of cases) t.equal((await verify(body)).status, status, what);
  await world.database.worker.query(sql.unsafe`update sign_in_challenges set expires_at = now()`);
  t.match(
    await verify({ mfa_token, totp_code: code() }),
    { status: 401, body: { code: 'invalid_credentials' } },
    'after 5 minutes',
  );
  const eve = await world.account('eve@example.com');
  t.equal((await world.call('GET', '/api/v1/auth/mfa', { token: eve.accessToken })).body['totp'], null);
  t.match(
    await world.call('POST', '/api/v1/auth/login', {
      body: { email: eve.email, password: eve.password, totp_code: code() },
    }),
    {
      status: 200,
    },
  );
});

void t.test('the app is removed with the password only, and its recovery codes with it', async (t) => {
  const world = await protectedAccount(t);
  const { login, ada } = world;
  const { accessToken: token, password } = ada;
  const remove = (body?: unknown) =>
    world.call('DELETE', '/api/v1/auth/mfa/totp', { token, ...(body === undefined ? {} : { body }) });
  t.match(await remove(), { status: 422, body: { errors: [{ path: '/password' }] } });
  await forgetTries(world);
  const { quota } = namedLimits.password_again.rate;
  const wrong = await Promise.all(Array.from({ length: quota + 1 }, () => remove({ password: 'not this one' })));
  t.equal(wrong.filter(({ status }) => status === 422).length, quota, 'so many at once are judged');
  t.equal(wrong.filter(({ status }) => status === 429).length, 1, 'and no more');
  await forgetTries(world);
  t.equal((await login()).status, 401);
  t.equal((await remove({ password })).status, 204);
  t.equal((await remove({ password })).status, 404);
  t.equal((await login()).status, 200);
  t.match((await world.call('GET', '/api/v1/auth/mfa', { token })).body, { totp: null, recovery_codes_left: 0 });
  t.match(await world.call('POST', '/api/v1/auth/mfa/recovery-codes', { token, body: { password } }), { status: 409 });
});
