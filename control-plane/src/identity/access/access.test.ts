import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testApi } from '../testing.ts';
import type { TestApi } from '../testing.ts';
import { whoRoutes } from './testing.ts';

async function makeKey(
  api: TestApi,
  token: string,
  body: Record<string, unknown> = {},
): Promise<{ id: number; key: string }> {
  const made = await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'ci', ...body } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return { id: Number(made.body['id']), key: String(made.body['key']) };
}

void t.test('each route takes exactly the credentials of its contract', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const { accessToken: token } = await api.account('ada@example.com');
  const { key } = await makeKey(api, token);
  const { id: revokedId, key: revoked } = await makeKey(api, token);
  t.equal((await api.call('DELETE', `/api/v1/api-keys/${revokedId}`, { token })).status, 204);
  const { key: readOnly } = await makeKey(api, token, { read_only: true });
  const { id: expiredId, key: expired } = await makeKey(api, token, { expires_at: '2999-01-01T00:00:00Z' });
  await api.database.worker.query(sql.unsafe`update api_keys set expires_at = now() where id = ${expiredId}`);
  const basic = { authorization: `Basic ${Buffer.from('proxy:password').toString('base64')}` };
  const mistyped = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  const table: [
    who: string,
    credentials: { token?: string; key?: string; headers?: Record<string, string> },
    none: number,
    bearer: number,
    both: number,
    optional: number,
  ][] = [
    ['nobody', {}, 200, 401, 401, 200],
    ['a user', { token }, 200, 200, 200, 200],
    ['a bad token', { token: 'x' }, 200, 401, 401, 401],
    ['an API key', { key }, 200, 403, 200, 403],
    ['a token and an API key', { token, key }, 200, 200, 200, 200],
    ['a bad token and an API key', { token: 'x', key }, 200, 401, 401, 401],
    ['an API key beside the password of a proxy', { key, headers: basic }, 200, 403, 200, 403],
    ['a revoked key beside it', { key: revoked, headers: basic }, 200, 401, 401, 401],
    ['the password of a proxy alone', { headers: basic }, 200, 401, 401, 401],
    ['a revoked key', { key: revoked }, 200, 401, 401, 401],
    ['an expired key', { key: expired }, 200, 401, 401, 401],
    ['a mistyped key', { key: mistyped }, 200, 401, 401, 401],
    ['a key as a token', { token: key }, 200, 401, 401, 401],
    ['a token as a key', { key: token }, 200, 401, 401, 401],
  ];
  for (const [who, credentials, ...statuses] of table) {
    for (const [index, kind] of ['none', 'bearer', 'key-or-bearer', 'bearer-or-none'].entries()) {
      for (const method of ['GET', 'POST']) {
        const got = await api.call(method, `/who/${kind}`, credentials);
        t.equal(got.status, statuses[index], `${who}, ${method} ${kind}: ${JSON.stringify(got.body)}`);
      }
    }
  }
  t.match(await api.call('GET', '/who/key-or-bearer', { key }), {
    body: { kind: 'api_key', user_id: 1, roles: { 1: 'owner' } },
  });
  t.match(await api.call('GET', '/who/bearer', { token }), { body: { kind: 'user', user_id: 1 } });
  t.equal((await api.call('GET', '/who/key-or-bearer', { key: readOnly })).status, 200, 'a read-only key reads');
  t.match(await api.call('POST', '/who/key-or-bearer', { key: readOnly }), {
    status: 403,
    body: { code: 'read_only_key' },
  });
});

void t.test('role and workspaces are those of the moment, and those that a key is limited to', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const { key: whole } = await makeKey(api, ada.accessToken);
  const { key: limited } = await makeKey(api, ada.accessToken, { workspace_ids: [1] });
  const roles = async (credentials: { token?: string; key?: string }) =>
    (await api.call('GET', '/who/key-or-bearer', credentials)).body['roles'];
  await api.database.worker.query(
    sql.unsafe`insert into workspace_members (workspace_id, user_id, role) values (2, ${ada.id}, 'viewer')`,
  );
  t.same(await roles({ token: ada.accessToken }), { 1: 'owner', 2: 'viewer' });
  t.same(await roles({ key: whole }), { 1: 'owner', 2: 'viewer' });
  t.same(await roles({ key: limited }), { 1: 'owner' });
  t.match(await api.call('GET', '/api/v1/workspaces/2', { token: ada.accessToken }), {
    status: 200,
    body: { role: 'viewer', ping_key: null },
  });
  t.match(await api.call('GET', '/api/v1/workspaces/1', { token: eve.accessToken }), {
    status: 404,
    body: { code: 'not_found' },
  });
  await api.database.worker.query(
    sql.unsafe`delete from workspace_members where workspace_id = 2 and user_id = ${ada.id}`,
  );
  t.same(await roles({ token: ada.accessToken }), { 1: 'owner' }, 'at once');
});

void t.test('API keys are shown once, listed, and revoked by their owner only', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const made = await api.call('POST', '/api/v1/api-keys', {
    token: ada.accessToken,
    body: { name: ' CI ', expires_at: '2999-01-01T02:00:00+02:00' },
  });
  t.match(made, {
    status: 201,
    body: {
      name: 'CI',
      read_only: false,
      expires_at: '2999-01-01T00:00:00.000Z',
      last_used_at: null,
      workspace_ids: null,
      key: /^plk_[0-9A-Za-z]{38}$/,
    },
  });
  const stored = await api.database.worker.one(
    sql.type(z.object({ all: z.string() }))`select row_to_json(api_keys)::text as all from api_keys`,
  );
  t.notOk(stored.all.includes(String(made.body['key']).slice(12)), 'only its hash is stored');
  const list = await api.call('GET', '/api/v1/api-keys', { token: ada.accessToken });
  t.match(list.body, {
    total: 1,
    page: 1,
    page_size: 20,
    api_keys: [{ prefix: String(made.body['key']).slice(0, 12) }],
  });
  t.notOk(JSON.stringify(list.body).includes(String(made.body['key'])), 'never again');
  const path = `/api/v1/api-keys/${String(made.body['id'])}`;
  t.equal((await api.call('DELETE', path, { token: eve.accessToken })).status, 404, 'not by another');
  t.match((await api.call('GET', '/api/v1/api-keys', { token: eve.accessToken })).body, { total: 0, api_keys: [] });
  t.equal((await api.call('DELETE', path, { token: ada.accessToken })).status, 204);
  t.equal((await api.call('DELETE', path, { token: ada.accessToken })).status, 404);
  const refused: [body: unknown, status: number, path: string][] = [
    [{}, 422, '/name'],
    [{ name: 'a', expires_at: '2001-01-01T00:00:00Z' }, 422, '/expires_at'],
    [{ name: 'a', expires_at: 'tomorrow' }, 422, '/expires_at'],
    [{ name: 'a', read_only: 'yes' }, 422, '/read_only'],
    [{ name: 'a', workspace_ids: [] }, 422, '/workspace_ids'],
    [{ name: 'a\u0007' }, 422, '/name'],
    [{ name: 'a'.repeat(201) }, 422, '/name'],
  ];
  for (const [body, status, pointer] of refused) {
    t.match(await api.call('POST', '/api/v1/api-keys', { token: ada.accessToken, body }), {
      status,
      body: { errors: [{ path: pointer }] },
    });
  }
  const foreign = await api.call('POST', '/api/v1/api-keys', {
    token: ada.accessToken,
    body: { name: 'a', workspace_ids: [2] },
  });
  t.equal(foreign.status, 404, 'a foreign workspace');
  const audit = await api.database.worker.any(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where user_id = ${ada.id} and action like 'api_key.%' order by id`);
  t.same(
    audit.map((row) => row.action),
    ['api_key.created', 'api_key.revoked'],
  );
});

void t.test('the use of a key is noted, at most once a minute', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const { accessToken } = await api.account('ada@example.com');
  const { key } = await makeKey(api, accessToken);
  const lastUse = () =>
    api.database.worker.oneFirst(
      sql.type(z.object({ at: z.number().nullable() }))`select last_used_at as at from api_keys`,
    );
  const use = () => api.call('GET', '/who/key-or-bearer', { key });
  await use();
  const first = await lastUse();
  t.type(first, 'number');
  await Promise.all([use(), use()]);
  t.equal(await lastUse(), first);
  await api.database.worker.query(sql.unsafe`update api_keys set last_used_at = now() - interval '61 seconds'`);
  await use();
  t.ok(Number(await lastUse()) >= Number(first));
});

void t.test('requests are counted against the plan, by user, over all of its credentials', async (t) => {
  const api = await testApi(t, { routes: whoRoutes, context: { defaultPlan: 'free' } });
  const { accessToken: token } = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const { key } = await makeKey(api, token);
  await api.database.worker.query(sql.unsafe`delete from rate_limits`);
  const first = await api.call('GET', '/who/bearer', { token });
  t.equal(first.headers.get('ratelimit-policy'), '"hour";q=100;w=3600, "minute";q=10;w=60');
  t.match(first.headers.get('ratelimit'), /^"minute";r=9;t=([1-9]|[1-5]\d|60)$/);
  await api.database.worker.query(sql.unsafe`update rate_limits set used = 9 where key = ${'user:1 minute'}`);
  const last = await api.call('GET', '/who/key-or-bearer', { key });
  t.equal(last.status, 200, 'the tenth');
  const refused = await api.call('GET', '/who/key-or-bearer', { key });
  t.match(refused, { status: 429, body: { code: 'rate_limited' } });
  t.match(refused.headers.get('ratelimit'), /^"minute";r=0;t=\d+$/);
  t.match(refused.headers.get('retry-after'), /^([1-9]|[1-5]\d|60)$/);
  t.equal(
    (await api.call('GET', '/who/bearer', { token: eve.accessToken })).status,
    200,
    'another user is not concerned',
  );
  const hour = await api.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`select used as n from rate_limits where key = ${'user:1 hour'}`,
  );
  t.equal(hour, 2, 'what the minute refused does not use up the hour');
  await api.database.worker.query(
    sql.unsafe`update rate_limits set used = case key when 'user:1 hour' then 100 else 0 end`,
  );
  t.match((await api.call('GET', '/who/bearer', { token })).headers.get('ratelimit'), /^"hour";r=0;t=\d+$/);
  await api.database.worker.query(
    sql.unsafe`update rate_limits set window_started_at = window_started_at - interval '1 hour'`,
  );
  t.equal((await api.call('GET', '/who/bearer', { token })).status, 200, 'a new window begins at nothing');
});

void t.test('a self-hosted plan has no caps and costs no statement', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const { accessToken: token } = await api.account('ada@example.com');
  const answers = await Promise.all(Array.from({ length: 30 }, () => api.call('GET', '/who/bearer', { token })));
  t.same([...new Set(answers.map((answer) => answer.status))], [200]);
  t.equal(answers[0]?.headers.get('ratelimit-policy'), null);
  const keys = await api.database.worker.any(
    sql.type(z.object({ key: z.string() }))`select key from rate_limits where key like 'user:%'`,
  );
  t.same(keys, []);
});

void t.test('the ways past row-level security are a closed list', async (t) => {
  const api = await testApi(t);
  const found = await api.database.worker.any(sql.type(
    z.object({ name: z.string(), api: z.boolean(), worker: z.boolean(), anybody: z.boolean(), path: z.boolean() }),
  )`
    select proname as name,
           has_function_privilege('parallax_api', oid, 'execute') as api,
           has_function_privilege('parallax_worker', oid, 'execute') as worker,
           coalesce((select bool_or(grantee = 0) from aclexplode(proacl)), true) as anybody,
           'search_path=public, pg_temp' = any (proconfig) as path
    from pg_proc
    where pronamespace = 'public'::regnamespace and prosecdef and proname like 'identity%'
    order by proname`);
  t.same(
    found,
    [
      'identity_accept_invite',
      'identity_account_token',
      'identity_alert_link',
      'identity_badge',
      'identity_begin_challenge',
      'identity_begin_sign_in',
      'identity_calendar',
      'identity_caller_of_access_token',
      'identity_caller_of_api_key',
      'identity_caller_of_session',
      'identity_challenge',
      'identity_credential_is_limited',
      'identity_feedback_addresses',
      'identity_forget_status_page_slug',
      'identity_has_accounts',
      'identity_heartbeats_addressed',
      'identity_invite_verdict',
      'identity_is_administrator',
      'identity_is_last_administrator',
      'identity_keep_proof',
      'identity_login',
      'identity_login_failed',
      'identity_mail_target',
      'identity_members',
      'identity_of_outside',
      'identity_of_person',
      'identity_page_subscriber',
      'identity_passkey',
      'identity_proof_owner',
      'identity_public_profile',
      'identity_refresh',
      'identity_register',
      'identity_register_invited',
      'identity_release_push_subscription',
      'identity_report_reader',
      'identity_scopes_of_access_token',
      'identity_session_salt',
      'identity_shown_invite',
      'identity_status_page',
      'identity_status_page_slug_is_free',
      'identity_status_page_versions',
      'identity_take_challenge',
      'identity_take_sign_in',
      'identity_take_team_chat_request',
      'identity_unconfirmed_owners',
      'identity_use_proof',
      'identity_webhook_check',
    ].map((name) => ({ name, api: true, worker: false, anybody: false, path: true })),
  );
  const others = await api.database.worker.any(sql.type(z.object({ name: z.string() }))`
    select proname as name from pg_proc
    where pronamespace = 'public'::regnamespace and prosecdef and proname not like 'identity%'
      and has_function_privilege('parallax_api', oid, 'execute')`);
  t.same(others, [], 'no other function runs with more rights than the request has');
});
