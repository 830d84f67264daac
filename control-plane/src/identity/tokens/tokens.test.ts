import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { takeMails } from '../accounts/testing.ts';
import { whoRoutes } from '../access/testing.ts';
import { testApi } from '../testing.ts';
import type { TestApi } from '../testing.ts';
import { takesPersonalTokens } from './index.ts';

const tokensPath = '/api/v1/auth/tokens';

async function makeToken(api: TestApi, session: string, body: Record<string, unknown> = {}) {
  const made = await api.call('POST', tokensPath, { token: session, body: { name: 'ci', ...body } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return { id: Number(made.body['id']), token: String(made.body['token']) };
}

void t.test('a personal access token is taken wherever a bearer token is, as long as it lives', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const ada = await api.account('ada@example.com');
  const { id, token } = await makeToken(api, ada.accessToken);
  for (const [path, kind] of [
    ['/who/bearer', 'access_token'],
    ['/who/key-or-bearer', 'access_token'],
    ['/who/bearer-or-none', 'access_token'],
    ['/who/none', null],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      t.match(await api.call(method, path, { token }), { status: 200, body: { kind } }, `${method} ${path}`);
    }
  }
  const { token: readOnly } = await makeToken(api, ada.accessToken, { read_only: true });
  t.equal((await api.call('GET', '/who/bearer', { token: readOnly })).status, 200);
  t.match(await api.call('POST', '/who/bearer', { token: readOnly }), { status: 403, body: { code: 'read_only_key' } });
  const { id: expiring, token: expired } = await makeToken(api, ada.accessToken, {
    expires_at: '2999-01-01T00:00:00Z',
  });
  await api.database.worker.query(sql.unsafe`update access_tokens set expires_at = now() where id = ${expiring}`);
  t.equal((await api.call('DELETE', `${tokensPath}/${id}`, { token: ada.accessToken })).status, 204);
  const refused: [what: string, sent: Parameters<TestApi['call']>[2]][] = [
    ['revoked', { token }],
    ['expired', { token: expired }],
    ['mistyped', { token: readOnly.slice(0, -1) + (readOnly.endsWith('A') ? 'B' : 'A') }],
    ['cut', { token: readOnly.slice(0, -1) }],
    ['longer', { token: `${readOnly}0` }],
    ['its prefix alone', { token: 'plx_' }],
    ['its hash', { token: `plx_${'0'.repeat(38)}` }],
    ['as an API key', { key: readOnly }],
    ['in another scheme', { headers: { authorization: `Basic ${readOnly}` } }],
  ];
  for (const [what, sent] of refused) {
    const answer = await api.call('GET', '/who/key-or-bearer', sent);
    t.match(answer, { status: 401, body: { code: 'invalid_credentials' } }, what);
    t.match(answer.headers.get('www-authenticate'), /error="invalid_token"/, what);
    t.notOk(answer.text.includes(readOnly.slice(12)), 'and says nothing of it');
  }
});

void t.test('it changes no credentials, and a new route below /auth does not take it', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const { id, token } = await makeToken(api, ada.accessToken);
  t.equal((await api.call('GET', '/api/v1/auth/me', { token })).status, 200);
  t.equal((await api.call('GET', '/api/v1/workspaces', { token })).status, 200);
  t.equal((await api.call('GET', '/api/v1/api-keys', { token })).status, 200);
  for (const [method, path, body] of [
    ['GET', tokensPath],
    ['POST', tokensPath, { name: 'another' }],
    ['DELETE', `${tokensPath}/${id}`],
    ['POST', '/api/v1/api-keys', { name: 'another' }],
    ['DELETE', '/api/v1/api-keys/1'],
    ['POST', '/api/v1/auth/logout'],
    ['POST', '/api/v1/auth/logout/all'],
  ] as const) {
    const answer = await api.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    t.match(answer, { status: 403, body: { code: 'wrong_credential_kind' } }, `${method} ${path}`);
  }
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: ada.accessToken })).status, 200, 'nothing was ended');
  for (const path of ['/api/v1/auth/change-password', '/api/v1/auth/not-thought-of', '/api/v1/auth/mfa/totp']) {
    t.notOk(takesPersonalTokens({ method: 'POST', path }), path);
  }
  t.notOk(takesPersonalTokens({ method: 'GET', path: '/api/v1/auth/identity-provider-a/login' }), 'which links');
  t.notOk(takesPersonalTokens({ method: 'DELETE', path: '/api/v1/auth/me' }));
  t.ok(takesPersonalTokens({ method: 'DELETE', path: '/api/v1/monitors/:monitor_id' }));
});

void t.test(
  'one that is limited or read-only sees its workspaces, no ping key and nothing of the account',
  async (t) => {
    const api = await testApi(t);
    // The first account is the administrator's.
    const ada = await api.account('ada@example.com');
    const second = await api.call('POST', '/api/v1/workspaces', { token: ada.accessToken, body: { name: 'second' } });
    const { token: whole } = await makeToken(api, ada.accessToken);
    const { token: limited } = await makeToken(api, ada.accessToken, { workspace_ids: [1] });
    const { token: reader } = await makeToken(api, ada.accessToken, { read_only: true });
    const get = (token: string, path: string) => api.call('GET', path, { token });
    const names = async (token: string, path: string) =>
      ((await get(token, path)).body['workspaces'] as { name: string }[]).map(({ name }) => name);
    for (const path of ['/api/v1/workspaces', '/api/v1/workspaces/summary']) {
      t.same(await names(whole, path), ['Default', 'second'], path);
      t.same(await names(limited, path), ['Default'], path);
      t.same(await names(reader, path), ['Default', 'second'], path);
    }
    t.match((await get(limited, '/api/v1/workspaces')).body, { total: 1 });
    const { token: other } = await makeToken(api, ada.accessToken, { workspace_ids: [Number(second.body['id'])] });
    t.equal((await get(other, '/api/v1/workspaces/default')).status, 404, 'the default one is another');
    const withKeys = ['/api/v1/workspaces', '/api/v1/workspaces/1', '/api/v1/workspaces/default'];
    const pingKey = String((await get(whole, '/api/v1/workspaces/1')).body['ping_key']);
    t.match(pingKey, /^[\w-]{32}$/);
    for (const path of withKeys) {
      t.match((await get(whole, path)).text, pingKey, path);
      for (const token of [limited, reader]) t.notMatch((await get(token, path)).text, pingKey, path);
    }
    const ofAccount = ['/api/v1/auth/me', '/api/v1/api-keys'];
    for (const path of ofAccount) {
      t.equal((await get(whole, path)).status, 200, path);
      for (const token of [limited, reader]) {
        t.match(await get(token, path), { status: 403, body: { code: 'wrong_credential_kind' } }, path);
      }
    }
    for (const [method, path, body] of [
      ['POST', '/api/v1/workspaces', { name: 'third' }],
      ['POST', '/api/v1/workspaces/1/leave', undefined],
      ['POST', '/api/v1/workspaces/1/set-default', undefined],
      ['PATCH', '/api/v1/auth/me', { display_name: 'Eve' }],
    ] as const) {
      const answer = await api.call(method, path, { token: limited, ...(body === undefined ? {} : { body }) });
      t.match(answer, { status: 403, body: { code: 'wrong_credential_kind' } }, `${method} ${path}`);
    }
    await api.call('PUT', '/api/v1/workspaces/1', { token: limited, body: { name: 'first' } });
    const actions = async (token: string) => {
      const events = (await get(token, '/api/v1/audit-log')).body['events'] as { workspace_id: number | null }[];
      return [...new Set(events.map((event) => event.workspace_id))];
    };
    t.ok((await actions(whole)).includes(null), 'the log of the account');
    t.same(await actions(limited), [1]);
    t.notOk((await actions(reader)).includes(null));
  },
);

void t.test('a key or token is made by who has just signed in or knows the password, and told by mail', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${ada.id}`);
  await takeMails(api);
  for (const [path, subject] of [
    [tokensPath, 'A new access token'],
    ['/api/v1/api-keys', 'A new API key'],
  ] as const) {
    const make = (body: object) =>
      api.call('POST', path, { token: ada.accessToken, body: { name: '<b>deploy</b>', ...body } });
    const sessionsBegan = (ago: string) =>
      api.database.worker.query(sql.unsafe`update sessions set created_at = now() - ${ago}::interval`);
    await sessionsBegan('9 minutes');
    t.equal((await make({})).status, 201, 'shortly after the sign-in');
    t.match(await takeMails(api), [{ to: ada.email, subject, text: /<b>deploy<\/b>/ }], path);
    await sessionsBegan('11 minutes');
    t.match(await make({}), { status: 403, body: { code: 'recent_sign_in_required' } }, path);
    const wrong = await make({ password: 'not this one' });
    t.match(wrong, { status: 422, body: { errors: [{ path: '/password', code: 'wrong_password' }] } });
    t.same(await takeMails(api), [], 'nothing was made');
    t.equal((await make({ password: ada.password })).status, 201);
    t.equal((await takeMails(api)).length, 1);
  }
  const kept = await api.database.worker.any(sql.type(z.object({ all: z.string() }))`
    select row_to_json(audit_log)::text as all from audit_log`);
  for (const row of kept) t.notOk(row.all.includes(ada.password), 'the password is not kept');
});

void t.test('the rights of an administrator are not those of a limited token', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const ada = await api.account('ada@example.com');
  const isAdministrator = async (token: string) =>
    (await api.call('GET', '/who/bearer', { token })).body['is_administrator'];
  t.equal(await isAdministrator((await makeToken(api, ada.accessToken)).token), true);
  t.equal(await isAdministrator((await makeToken(api, ada.accessToken, { workspace_ids: [1] })).token), false);
});

void t.test('it is shown once, kept as a hash, listed, and revoked by its owner only', async (t) => {
  const api = await testApi(t, { routes: whoRoutes });
  const [ada, eve] = [await api.account('ada@example.com'), await api.account('eve@example.com')];
  const made = await api.call('POST', tokensPath, {
    token: ada.accessToken,
    body: { name: ' deploy ', workspace_ids: [1, 1], expires_at: '2999-01-01T02:00:00+02:00' },
  });
  t.match(made, {
    status: 201,
    body: {
      name: 'deploy',
      read_only: false,
      workspace_ids: [1],
      expires_at: '2999-01-01T00:00:00.000Z',
      last_used_at: null,
      token: /^plx_[0-9A-Za-z]{38}$/,
    },
  });
  const token = String(made.body['token']);
  const stored = await api.database.worker.any(sql.type(z.object({ all: z.string() }))`
    select row_to_json(access_tokens)::text as all from access_tokens
    union all select row_to_json(audit_log)::text from audit_log`);
  for (const row of stored) t.notOk(row.all.includes(token.slice(12)), 'only its hash is stored');
  const list = await api.call('GET', tokensPath, { token: ada.accessToken });
  t.match(list.body, { total: 1, page: 1, page_size: 20, tokens: [{ prefix: token.slice(0, 12) }] });
  t.notOk(list.text.includes(token));
  t.match((await api.call('GET', tokensPath, { token: eve.accessToken })).body, { total: 0, tokens: [] });
  await api.database.worker.query(
    sql.unsafe`insert into workspace_members (workspace_id, user_id, role) values (2, ${ada.id}, 'viewer')`,
  );
  t.same((await api.call('GET', '/who/bearer', { token })).body['roles'], { 1: 'owner' }, 'limited to its workspaces');
  const path = `${tokensPath}/${String(made.body['id'])}`;
  t.equal((await api.call('DELETE', path, { token: eve.accessToken })).status, 404, 'not by another');
  t.equal((await api.call('DELETE', path, { token: ada.accessToken })).status, 204);
  t.equal((await api.call('DELETE', path, { token: ada.accessToken })).status, 404);
  const refused: [body: unknown, status: number][] = [
    [{}, 422],
    [{ name: 'a', expires_at: '2001-01-01T00:00:00Z' }, 422],
    [{ name: 'a', read_only: 1 }, 422],
    [{ name: 'a', workspace_ids: [] }, 422],
    [{ name: 'a', workspace_ids: ['1'] }, 422],
    [{ name: 'a\u0000' }, 422],
    [{ name: 'a', workspace_ids: [3] }, 404],
  ];
  for (const [body, status] of refused) {
    t.equal(
      (await api.call('POST', tokensPath, { token: ada.accessToken, body })).status,
      status,
      JSON.stringify(body),
    );
  }
  const audit = await api.database.worker.any(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'access_token' order by id`);
  t.same(
    audit.map((row) => row.action),
    ['access_token.created', 'access_token.revoked'],
  );
});

void t.test('a user has at most a hundred, however many are asked for at once; so it is with API keys', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  for (const [path, table] of [
    [tokensPath, 'access_tokens'],
    ['/api/v1/api-keys', 'api_keys'],
  ] as const) {
    const hash = table === 'api_keys' ? 'key_hash' : 'token_hash';
    await api.database.worker.query(sql.unsafe`
      insert into ${sql.identifier([table])} (user_id, name, prefix, ${sql.identifier([hash])})
      select ${ada.id}, 'n', 'p', int4send(n) from generate_series(1, 97) n`);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => api.call('POST', path, { token: ada.accessToken, body: { name: 'one more' } })),
    );
    t.equal(answers.filter((answer) => answer.status === 201).length, 3, path);
    t.equal(answers.filter((answer) => answer.body['code'] === 'conflict').length, 9, path);
  }
});

void t.test('its use is noted at most once a minute, and counts against the plan of its user', async (t) => {
  const api = await testApi(t, { routes: whoRoutes, context: { defaultPlan: 'free' } });
  const ada = await api.account('ada@example.com');
  const { token } = await makeToken(api, ada.accessToken);
  const lastUse = () =>
    api.database.worker.oneFirst(
      sql.type(z.object({ at: z.number().nullable() }))`select last_used_at as at from access_tokens`,
    );
  const first = await api.call('GET', '/who/bearer', { token });
  t.match(first.headers.get('ratelimit'), /^"minute";r=\d;/);
  const at = await lastUse();
  t.type(at, 'number');
  await Promise.all([api.call('GET', '/who/bearer', { token }), api.call('GET', '/who/bearer', { token })]);
  t.equal(await lastUse(), at);
  await api.database.worker.query(sql.unsafe`update rate_limits set used = 10 where key = ${`user:${ada.id} minute`}`);
  t.equal((await api.call('GET', '/who/bearer', { token })).status, 429, 'over all credentials of the user');
});

void t.test('row-level security shows a request no tokens outside its scope', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await makeToken(api, ada.accessToken);
  const seen = await api.database.api.any(sql.type(z.object({ id: z.number() }))`select id from access_tokens`);
  t.same(seen, []);
});
