import t from 'tap';
import { testApi } from '../testing.ts';

const path = '/api/v1/auth/tokens';

void t.test('a token with scopes reads and writes what they name, and nothing else', async (t) => {
  const api = await testApi(t);
  const { accessToken: session } = await api.account('ada@example.com');
  const make = (scopes: unknown) => api.call('POST', path, { token: session, body: { name: 'ci', scopes } });
  const tokenOf = async (scopes: readonly string[]) => {
    const made = await make(scopes);
    t.match(made, { status: 201, body: { scopes } });
    return String(made.body['token']);
  };
  const refused = (needed: string) => ({ status: 403, body: { code: 'scope_missing', detail: new RegExp(needed) } });

  const reader = await tokenOf(['workspaces:read']);
  t.equal((await api.call('GET', '/api/v1/workspaces', { token: reader })).status, 200);
  const body = { name: 'made by a script' };
  t.match(await api.call('POST', '/api/v1/workspaces', { token: reader, body }), refused('workspaces:write'));
  t.match(await api.call('GET', '/api/v1/api-keys', { token: reader }), refused('api-keys:read'));
  t.match(await api.call('GET', '/api/v1/auth/me', { token: reader }), refused('auth:read'));

  const writer = await tokenOf(['workspaces:write', 'auth:read']);
  t.equal((await api.call('POST', '/api/v1/workspaces', { token: writer, body })).status, 201);
  t.equal((await api.call('GET', '/api/v1/workspaces', { token: writer })).status, 200, 'writing includes reading');
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: writer })).status, 200);
  const locale = { token: writer, body: { locale: 'ru' } };
  t.match(await api.call('PATCH', '/api/v1/auth/me', locale), refused('auth:write'));
  t.match(
    await api.call('POST', '/api/v1/api-keys', { token: await tokenOf(['api-keys:write']), body: { name: 'wider' } }),
    { status: 403, body: { code: 'wrong_credential_kind' } },
    'no scope makes a credential',
  );

  const { token: whole } = (await make(null)).body;
  t.equal((await api.call('GET', '/api/v1/api-keys', { token: String(whole) })).status, 200, 'null limits nothing');
  t.match((await api.call('GET', path, { token: session })).body, {
    tokens: [{ scopes: null }, {}, { scopes: ['workspaces:write', 'auth:read'] }, { scopes: ['workspaces:read'] }],
  });
  for (const scopes of [[], ['workspaces'], ['monitors:delete'], ['*'], 'monitors:read']) {
    t.match(await make(scopes), { status: 422, body: { errors: [{ in: 'body' }] } }, JSON.stringify(scopes));
  }
  const key = await api.call('POST', '/api/v1/api-keys', { token: session, body: { name: 'k', scopes: null } });
  t.match(key, { status: 422, body: { errors: [{ path: '/scopes', code: 'unrecognized_keys' }] } }, 'keys have none');
});
