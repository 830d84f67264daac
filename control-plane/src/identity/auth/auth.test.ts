import { controlPlaneSettings, readSettings } from '@parallax/settings';
import { keptLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { places } from '../../places.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { limitsWith } from '../plans/index.ts';
import { testApi } from '../testing.ts';
import type { TestApi } from '../testing.ts';
import { setupTokenNotice } from './job.ts';
import { setupToken } from './setup-token.ts';

const password = 'a rather long phrase 7';
const countRow = z.object({ n: z.number() });

async function actions(api: TestApi): Promise<readonly string[]> {
  const rows = await api.database.worker.any(
    sql.type(z.object({ action: z.string() }))`select action from audit_log order by id`,
  );
  return rows.map((row) => row.action);
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[3] ?? 0;

const statuses = async (count: number, once: () => Promise<{ status: number }>): Promise<number[]> => {
  const seen: number[] = [];
  for (let index = 0; index < count; index += 1) seen.push((await once()).status);
  return seen;
};

void t.test('an account registers, logs in, reads itself and logs out', async (t) => {
  const api = await testApi(t);
  const made = await api.call('POST', '/api/v1/auth/register', { body: { email: ' Ada@Example.com ', password } });
  t.equal(made.status, 201);
  t.match(made.body, { id: 1, email: 'ada@example.com', is_administrator: true, plan: 'self_hosted', version: 1 });
  t.match(made.body['created_at'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.notOk('password_hash' in made.body, 'no hash');

  const again = await api.call('POST', '/api/v1/auth/register', { body: { email: 'ADA@example.com', password } });
  t.match(again, { status: 409, body: { code: 'email_taken' } });

  const login = await api.call('POST', '/api/v1/auth/login', { body: { email: 'Ada@example.com', password } });
  t.match(login, { status: 200, body: { token_type: 'Bearer', expires_in: 900 } });
  const token = String(login.body['access_token']);
  t.match((await api.call('GET', '/api/v1/auth/me', { token })).body, { email: 'ada@example.com' });

  const workspaces = await api.call('GET', '/api/v1/workspaces', { token });
  t.match(workspaces.body, { total: 1, page: 1, page_size: 20 });
  const [workspace] = workspaces.body['workspaces'] as { id: number }[];
  t.match(workspace, { name: 'Default', is_default: true, role: 'owner', ping_key: /^[\w-]{32}$/ });
  t.match(await api.call('GET', `/api/v1/workspaces/${workspace?.id}`, { token }), {
    status: 200,
    body: { id: workspace?.id },
  });

  const out = await api.call('POST', '/api/v1/auth/logout', {
    token,
    body: { refresh_token: login.body['refresh_token'] },
  });
  t.equal(out.status, 200);
  t.match(
    await api.call('GET', '/api/v1/auth/me', { token }),
    { status: 401, body: { code: 'invalid_credentials' } },
    'at once',
  );
  const refresh = await api.call('POST', '/api/v1/auth/refresh', {
    body: { refresh_token: login.body['refresh_token'] },
  });
  t.equal(refresh.status, 401);
  t.same(await actions(api), ['user.registered', 'session.started', 'session.ended']);
});

void t.test('of twenty accounts that register first at the same time exactly one is the administrator', async (t) => {
  const api = await testApi(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      api.call('POST', '/api/v1/auth/register', { body: { email: `user${index}@example.com`, password } }),
    ),
  );
  t.same(
    answers.map((answer) => answer.status),
    Array.from({ length: 20 }, () => 201),
  );
  t.equal(answers.filter((answer) => answer.body['is_administrator'] === true).length, 1);
});

void t.test('of twenty registrations of one address exactly one wins', async (t) => {
  const api = await testApi(t);
  const body = { email: 'ada@example.com', password };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.call('POST', '/api/v1/auth/register', { body })),
  );
  t.same(
    answers.map((answer) => answer.status).toSorted((a, b) => a - b),
    [201, ...Array.from({ length: 19 }, () => 409)],
  );
});

void t.test('beyond loopback the first account needs the set-up token, which the log tells', async (t) => {
  const { log, lines } = keptLog('info');
  const api = await testApi(t, { context: { needsSetupToken: () => true, registration: 'closed' } });
  const notice = await setupTokenNotice.start(api.context, log);
  await notice.stop();
  const token = /set-up token (\S+)/.exec(JSON.stringify(lines))?.[1]?.replace(/".*/, '') ?? '';
  t.equal(token, setupToken(api.context.sealer));
  const register = (email: string, setup_token?: string) =>
    api.call('POST', '/api/v1/auth/register', {
      body: { email, password, ...(setup_token === undefined ? {} : { setup_token }) },
    });
  t.match(await register('a@example.com'), { status: 403, body: { code: 'setup_token_required' } });
  t.match(await register('a@example.com', `${token}x`), { status: 403, body: { code: 'setup_token_required' } });
  t.match(await register('a@example.com', token), { status: 201, body: { is_administrator: true } });
  t.match(
    await register('b@example.com', token),
    { status: 403, body: { code: 'registration_closed' } },
    'closed to all others',
  );
  const later = keptLog('info');
  await (await setupTokenNotice.start(api.context, later.log)).stop();
  t.same(later.lines, [], 'no notice once an account exists');
});

void t.test('the first account needs the set-up token unless everything about it is on this machine', async (t) => {
  const { database } = await testDatabase(t);
  const stage = (environment: Readonly<Record<string, string>>) => {
    const settings = readSettings(controlPlaneSettings, environment);
    const { isPublished, registration, needsSetupToken } = places(settings);
    const limits = limitsWith({ register: 100 });
    return testApi(t, {
      database,
      trustedProxies: settings.trustedProxies ?? [],
      context: { isPublished, registration, needsSetupToken, limits },
    });
  };
  const register = async (api: TestApi, headers: Readonly<Record<string, string>>, more: object = {}) => {
    const response = await fetch(`${api.url}/api/v1/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email: 'ada@example.com', password, ...more }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const refused = { status: 403, body: { code: 'setup_token_required' } };
  const published: [name: string, environment: Record<string, string>][] = [
    ['a public URL', { PARALLAX_PUBLIC_URL: 'https://parallax.example.org' }],
    ['a listener on every address', { PARALLAX_HTTP_HOST: '0.0.0.0' }],
    ['a name that begins like loopback', { PARALLAX_HTTP_HOST: '127.example.org' }],
    ['a trusted proxy', { PARALLAX_TRUSTED_PROXIES: '127.0.0.1/32' }],
  ];
  for (const [name, environment] of published) t.match(await register(await stage(environment), {}), refused, name);
  const own = await stage({});
  const forwarded: [name: string, value: string][] = [
    ['x-forwarded-for', '203.0.113.5'],
    ['x-forwarded-for', '127.0.0.1'],
    ['forwarded', 'for=203.0.113.5'],
    ['x-real-ip', '203.0.113.5'],
    ['via', '1.1 proxy'],
  ];
  for (const [name, value] of forwarded) t.match(await register(own, { [name]: value }), refused, `a proxy's ${name}`);
  const { log, lines } = keptLog('info');
  await (await setupTokenNotice.start(own.context, log)).stop();
  t.match(JSON.stringify(lines), setupToken(own.context.sealer), 'the log has the token for a proxy nobody named');
  t.match(await register(own, {}), { status: 201, body: { is_administrator: true } }, 'directly it is not asked for');
  const later = { email: 'eve@example.com' };
  const closed = { status: 403, body: { code: 'registration_closed' } };
  for (const [name, environment] of published) {
    t.match(await register(await stage(environment), {}, later), closed, `by invitation with ${name}`);
  }
  t.match(await register(own, {}, later), { status: 201, body: { is_administrator: false } }, 'open on one machine');
  const opened = await stage({ PARALLAX_PUBLIC_URL: 'https://parallax.example.org', PARALLAX_REGISTRATION: 'open' });
  const grace = { email: 'grace@example.com' };
  t.equal((await register(opened, {}, grace)).status, 201, 'and where the operator opens it');
});

void t.test('passwords are judged by bytes and by how common they are', async (t) => {
  const api = await testApi(t);
  const cases: [password: string, code: string][] = [
    ['sh0rt!x', 'custom'],
    ['ü'.repeat(513), 'custom'],
    ['x'.repeat(1_025), 'too_big'],
    ['with a \u0000 in it 7', 'nul'],
    ['P@ssw0rd123', 'common_password'],
    ['ada@example.com', 'common_password'],
  ];
  for (const [given, code] of cases) {
    const answer = await api.call('POST', '/api/v1/auth/register', {
      body: { email: 'ada@example.com', password: given },
    });
    t.match(
      answer,
      { status: 422, body: { errors: [{ in: 'body', path: '/password', code }] } },
      JSON.stringify(given.slice(0, 20)),
    );
  }
  const long = `${'ü'.repeat(508)}zyx13579`;
  t.equal(Buffer.byteLength(long), 1_024);
  await api.account('ada@example.com', { password: long });
  const cut = await api.call('POST', '/api/v1/auth/login', {
    body: { email: 'ada@example.com', password: long.slice(0, -1) },
  });
  t.equal(cut.status, 401, 'every byte counts');
});

void t.test('hostile addresses are refused, and one of 254 characters is one in whatever letters', async (t) => {
  const api = await testApi(t);
  const longest = `a@${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(57)}.de`;
  t.equal(longest.length, 254);
  const hostile = [
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com\nBcc: eve@example.com',
    'ada\r\n@example.com',
    'ada@example.com\u0000',
    '"ada"@example.com',
    '"ada eve"@example.com',
    "ada'--@example.com' or '1'='1",
    'Ada <ada@example.com>',
    'ada@example.com,eve@example.com',
    'ada@@example.com',
    'ada@[127.0.0.1]',
    `a${longest}`,
    `${'a'.repeat(65)}@example.com`,
    'ada',
    '',
    7,
    null,
    ['ada@example.com'],
  ];
  for (const email of hostile) {
    for (const route of ['register', 'login']) {
      const answer = await api.call('POST', `/api/v1/auth/${route}`, { body: { email, password } });
      t.match(
        answer,
        { status: 422, body: { errors: [{ in: 'body' }] } },
        `${route} ${JSON.stringify(email).slice(0, 60)}`,
      );
    }
  }
  t.equal(await api.database.worker.oneFirst(sql.type(countRow)`select count(*)::integer as n from users`), 0);
  await api.account(longest);
  t.match(
    await api.call('POST', '/api/v1/auth/register', { body: { email: ` ${longest.toUpperCase()} `, password } }),
    {
      status: 409,
      body: { code: 'email_taken' },
    },
  );
});

void t.test('an unknown address and a wrong password are told alike and cost alike', async (t) => {
  const api = await testApi(t);
  await api.account('ada@example.com');
  const attempt = async (email: string): Promise<{ answer: Record<string, unknown>; ms: number }> => {
    const started = performance.now();
    const { body } = await api.call('POST', '/api/v1/auth/login', {
      body: { email, password: 'wrong phrase entirely' },
    });
    const { request_id: _ignored, ...answer } = body;
    return { answer, ms: performance.now() - started };
  };
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let round = 0; round < 7; round += 1) {
    const known = await attempt('ada@example.com');
    const unknown = await attempt('nobody@example.com');
    t.same(known.answer, unknown.answer);
    t.match(known.answer, { status: 401, code: 'invalid_credentials' });
    times.known.push(known.ms);
    times.unknown.push(unknown.ms);
  }
  const ratio = median(times.unknown) / median(times.known);
  t.ok(ratio > 0.4 && ratio < 2.5, `unknown takes ${ratio.toFixed(2)} times as long as known`);
  t.equal((await actions(api)).filter((action) => action === 'login.failed').length, 14);
});

void t.test('an access token names no user and no role, and goes in one header', async (t) => {
  const api = await testApi(t);
  const account = await api.account('ada@example.com');
  const payload = account.accessToken.split('.')[1] ?? '';
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  t.same(Object.keys(claims).toSorted(), ['aud', 'exp', 'iss', 'jti', 'nbf', 'sid']);
  for (const header of ['Basic YWRhOng=', 'Bearer', `bearer`, `Bearer ${account.accessToken} x`]) {
    const answer = await api.call('GET', '/api/v1/auth/me', { headers: { authorization: header } });
    t.equal(answer.status, 401, header.slice(0, 20));
  }
  const lower = await api.call('GET', '/api/v1/auth/me', {
    headers: { authorization: `bearer ${account.accessToken}` },
  });
  t.equal(lower.status, 200, 'the scheme is read in any case');
  const none = await api.call('GET', '/api/v1/auth/me');
  t.match(none, { status: 401, body: { code: 'unauthenticated' } });
  t.equal(none.headers.get('www-authenticate'), 'Bearer realm="parallax"');
});

void t.test('a refresh token is taken once, and its predecessor for ten seconds more', async (t) => {
  const api = await testApi(t);
  const account = await api.account('ada@example.com');
  const refresh = (refresh_token: string) => api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token } });
  const first = await refresh(account.refreshToken);
  t.equal(first.status, 200);
  t.not(first.body['refresh_token'], account.refreshToken, 'it rotates');
  const repeated = await refresh(account.refreshToken);
  t.same(repeated.body, first.body, 'within the leeway the same pair');
  await api.database.worker.query(sql.unsafe`update sessions set rotated_at = now() - interval '10.1 seconds'`);
  t.match(
    await refresh(account.refreshToken),
    { status: 401, body: { code: 'invalid_credentials' } },
    'after it: reuse',
  );
  t.equal((await refresh(String(first.body['refresh_token']))).status, 401, 'the family is revoked');
  t.equal(
    (await api.call('GET', '/api/v1/auth/me', { token: String(first.body['access_token']) })).status,
    401,
    'its access tokens too',
  );
  t.match(await actions(api), /session\.reuse_detected/);
  const reason = await api.database.worker.oneFirst(
    sql.type(z.object({ r: z.string() }))`select revoked_reason as r from sessions`,
  );
  t.equal(reason, 'reuse');
});

void t.test('a refresh token from before the predecessor is a reuse even at once', async (t) => {
  const api = await testApi(t);
  const account = await api.account('ada@example.com');
  const refresh = (refresh_token: unknown) => api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token } });
  const second = await refresh(account.refreshToken);
  const third = await refresh(second.body['refresh_token']);
  t.equal((await refresh(account.refreshToken)).status, 401);
  t.equal((await refresh(third.body['refresh_token'])).status, 401);
});

void t.test('fifty refreshes at once get one and the same pair', async (t) => {
  const api = await testApi(t);
  const account = await api.account('ada@example.com');
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: account.refreshToken } }),
    ),
  );
  t.same([...new Set(answers.map((answer) => answer.status))], [200]);
  t.equal(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, 1);
  const counter = await api.database.worker.oneFirst(sql.type(countRow)`select counter as n from sessions`);
  t.equal(counter, 2, 'rotated once');
});

void t.test('a session ends by idling, by age, by logging out everywhere', async (t) => {
  const api = await testApi(t);
  const account = await api.account('ada@example.com');
  const other = await api.call('POST', '/api/v1/auth/login', { body: { email: account.email, password } });
  const refresh = (refresh_token: unknown) => api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token } });
  const life = await api.database.worker.one(sql.type(z.object({ idle: z.number(), absolute: z.number() }))`
    select extract(epoch from max(idle_until - created_at))::integer / 86400 as idle,
           extract(epoch from max(absolute_until - created_at))::integer / 86400 as absolute from sessions`);
  t.same(life, { idle: 14, absolute: 30 });
  const [sid] = JSON.parse(Buffer.from(account.accessToken.split('.')[1] ?? '', 'base64url').toString()).sid.split(' ');
  await api.database.worker.query(
    sql.unsafe`update sessions set idle_until = now() - interval '1 second' where id = ${sid}::uuid`,
  );
  t.equal((await refresh(account.refreshToken)).status, 401, 'idle');
  const third = await api.call('POST', '/api/v1/auth/login', { body: { email: account.email, password } });
  const all = await api.call('POST', '/api/v1/auth/logout/all', { token: String(third.body['access_token']) });
  t.match(all, { status: 200, body: { revoked_sessions: 3 } });
  t.equal((await refresh(other.body['refresh_token'])).status, 401);
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: String(other.body['access_token']) })).status, 401);
});

void t.test('nobody logs out the session of another', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const foreign = await api.call('POST', '/api/v1/auth/logout', {
    token: eve.accessToken,
    body: { refresh_token: ada.refreshToken },
  });
  t.match(foreign, { status: 422, body: { errors: [{ path: '/refresh_token' }] } });
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: ada.accessToken })).status, 200);
  t.equal(
    (await api.call('POST', '/api/v1/auth/logout', { token: eve.accessToken })).status,
    200,
    'without a body: one’s own',
  );
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: eve.accessToken })).status, 401);
});

void t.test('register, login and refresh are limited', async (t) => {
  const api = await testApi(t);
  const account = await api.account('ada@example.com');
  // Two windows may be met where the minute ends in the middle; then one more is let through.
  const limited = (seen: number[], quota: number): void => {
    const refused = seen.filter((status) => status === 429).length;
    t.ok(refused >= 1 && refused <= seen.length - quota, `${quota} a minute: ${seen.join()}`);
  };
  limited(await statuses(7, () => api.call('POST', '/api/v1/auth/login', { from: '2001:db8::1', body: {} })), 5);
  limited(await statuses(5, () => api.call('POST', '/api/v1/auth/register', { from: '203.0.113.9', body: {} })), 3);
  const shared = await api.call('POST', '/api/v1/auth/login', { from: '2001:db8::ffff', body: {} });
  t.equal(shared.status, 429, 'a /64 is one client');
  t.match(shared.headers.get('retry-after'), /^[1-9]\d*$/);
  t.equal(shared.headers.get('ratelimit-policy'), '"minute";q=5;w=60');
  t.equal(
    (await api.call('POST', '/api/v1/auth/login', { from: '2001:db8:0:1::1', body: {} })).status,
    422,
    'another /64 is not',
  );
  let token = account.refreshToken;
  const refreshes = await statuses(40, async () => {
    const answer = await api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: token } });
    if (answer.status === 200) token = String(answer.body['refresh_token']);
    return answer;
  });
  t.ok(refreshes.filter((status) => status === 200).length >= 30, 'thirty refreshes');
  t.ok(refreshes.includes(429), 'and then no more');
});

void t.test('failed logins of an account are counted by address, so that nobody locks out others', async (t) => {
  const api = await testApi(t);
  await api.account('ada@example.com');
  await api.call('POST', '/api/v1/auth/login', {
    from: '203.0.113.7',
    body: { email: 'ada@example.com', password: 'wrong' },
  });
  await api.database.worker.query(sql.unsafe`update rate_limits set used = 20 where key like 'failed-login:%'`);
  const login = (from: string) =>
    api.call('POST', '/api/v1/auth/login', { from, body: { email: 'ada@example.com', password } });
  t.match(await login('203.0.113.7'), { status: 429, body: { code: 'rate_limited' } });
  t.equal((await login('203.0.113.8')).status, 200);
});
