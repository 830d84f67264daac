import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { testApi } from '../../testing.ts';
import type { TestApi } from '../../testing.ts';
import { takeMails } from '../testing.ts';
import { isLastAdministrator } from './queries.ts';

const path = '/api/v1/auth/me';
const password = 'a rather long phrase 7';

const remove = (api: TestApi, token: string, body: unknown = { password }) => api.call('DELETE', path, { token, body });
const count = (api: TestApi, what: ReturnType<typeof sql.fragment>) =>
  api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from ${what}`);

/** With an account that administers it, so that all others may go. */
async function administratedApi(t: Test): Promise<TestApi> {
  const api = await testApi(t);
  await api.account('administrator@example.com');
  return api;
}

t.test('an account is deleted by whoever knows its password, and nothing of it can be used', async (t) => {
  const api = await testApi(t);
  const eve = await api.account('eve@example.com');
  const ada = await api.account('ada@example.com');
  const token = ada.accessToken;
  await takeMails(api);
  await api.call('PATCH', path, { token, body: { display_name: 'Ada' } });
  await api.call('POST', '/api/v1/workspaces', { token, body: { name: 'Second' } });
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (1, ${ada.id}, 'viewer')`);
  await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'ci' } });
  await api.call('POST', '/api/v1/auth/forgot-password', { body: { email: ada.email } });
  await takeMails(api);
  t.equal((await remove(api, token, null)).status, 422, 'not without the password');
  t.match(await remove(api, token, { password: 'wrong phrase 1' }), { status: 422 });
  t.equal((await api.call('GET', path, { token })).status, 200);
  const gone = await remove(api, token);
  t.equal(gone.status, 204);
  t.equal(gone.text, '');
  t.equal((await api.call('GET', path, { token })).status, 401, 'at once');
  t.equal((await api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: ada.refreshToken } })).status, 401);
  t.equal((await api.call('POST', '/api/v1/auth/login', { body: { email: ada.email, password } })).status, 401);
  t.equal((await api.call('GET', `/api/v1/users/${ada.id}`)).status, 404);
  t.equal(await count(api, sql.fragment`api_keys where revoked_at is null`), 0);
  t.equal(await count(api, sql.fragment`workspaces where owner_id = ${ada.id} and deleted_at is null`), 0);
  t.equal(await count(api, sql.fragment`workspaces where owner_id = ${ada.id} and deleted_at is not null`), 2);
  t.match(await takeMails(api), [{ to: ada.email, subject: 'Your account was deleted' }]);
  for (const table of ['sessions', 'api_keys', 'account_tokens', 'workspace_members']) {
    t.equal(await count(api, sql.fragment`${sql.identifier([table])} where user_id = ${ada.id}`), 0, table);
  }
  const left = await api.database.worker.oneFirst(sql.type(z.object({ text: z.string() }))`
    select (select jsonb_agg(to_jsonb(u)) from users u)::text || (select jsonb_agg(to_jsonb(w)) from workspaces w)::text
      || (select jsonb_agg(to_jsonb(a)) from audit_log a where a.user_id = ${ada.id})::text as text`);
  for (const word of ['ada@example.com', 'Ada', 'Second', '198.18.']) t.notMatch(left, word, `${word} is gone`);
  const audit = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where user_id = ${ada.id}`);
  t.same(audit, ['user.deleted']);
  t.equal((await api.call('GET', path, { token: eve.accessToken })).status, 200, 'others are not concerned');
  t.match((await api.call('GET', '/api/v1/workspaces', { token: eve.accessToken })).body, { total: 1 });
  const again = await api.account(ada.email);
  t.not(again.id, ada.id, 'the address is free');
  t.match((await api.call('GET', path, { token: again.accessToken })).body, { is_administrator: false });
});

t.test('who owns a workspace that others are members of is told what to transfer first', async (t) => {
  const api = await administratedApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const made = await api.call('POST', '/api/v1/workspaces', { token: ada.accessToken, body: { name: 'Team' } });
  const id = Number(made.body['id']);
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${id}, ${eve.id}, 'editor')`);
  t.match(await remove(api, ada.accessToken), {
    status: 409,
    body: {
      code: 'owns_shared_workspaces',
      errors: [{ path: `/workspaces/${id}`, code: 'shared_workspace', message: 'Team: 1 other member' }],
    },
  });
  t.equal((await api.call('GET', path, { token: ada.accessToken })).status, 200, 'nothing has happened');
  t.equal(await count(api, sql.fragment`workspaces where deleted_at is not null`), 0);
  t.equal((await remove(api, eve.accessToken)).status, 204, 'the member may go');
  t.equal((await remove(api, ada.accessToken)).status, 204, 'and then the owner');
});

t.test('somebody who joins at the same moment does not lose what they joined', async (t) => {
  const api = await administratedApi(t);
  for (let round = 0; round < 5; round += 1) {
    const ada = await api.account(`ada${round}@example.com`);
    const eve = await api.account(`eve${round}@example.com`);
    const made = await api.call('POST', '/api/v1/workspaces', { token: ada.accessToken, body: { name: 'Team' } });
    const id = Number(made.body['id']);
    const invite = await api.call('POST', `/api/v1/workspaces/${id}/invites`, { token: ada.accessToken, body: {} });
    const [removed, joined] = await Promise.all([
      remove(api, ada.accessToken),
      api.call('POST', '/api/v1/workspaces/invites/accept', {
        token: eve.accessToken,
        body: { token: invite.body['token'] },
      }),
    ]);
    const outcome = `${removed.status} and ${joined.status}`;
    t.ok((removed.status === 204) !== (joined.status === 200), `${outcome}: one of the two`);
    const alive = await count(api, sql.fragment`workspaces where id = ${id} and deleted_at is null`);
    t.equal(alive, joined.status === 200 ? 1 : 0);
  }
});

t.test('a member whose joining has not committed is waited for', async (t) => {
  const api = await administratedApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const joining = await api.database.raw.connect();
  await joining.query('begin');
  await joining.query('select from workspaces where id = 2 for no key update');
  await joining.query(`insert into workspace_members (workspace_id, user_id, role) values (2, $1, 'viewer')`, [eve.id]);
  const removing = remove(api, ada.accessToken);
  const waiting = sql.fragment`pg_locks l join pg_stat_activity a on a.pid = l.pid
    where not l.granted and a.datname = current_database()`;
  while ((await count(api, waiting)) === 0);
  await joining.query('commit');
  joining.release();
  t.match(await removing, { status: 409, body: { code: 'owns_shared_workspaces' } });
});

t.test('an account without a password is deleted soon after a sign-in only', async (t) => {
  const api = await administratedApi(t);
  const ada = await api.account('ada@example.com');
  await api.database.worker.query(sql.unsafe`update users set password_hash = null`);
  await api.database.worker.query(sql.unsafe`update sessions set created_at = now() - interval '11 minutes'`);
  t.match(await remove(api, ada.accessToken, null), { status: 403, body: { code: 'recent_sign_in_required' } });
  await api.database.worker.query(sql.unsafe`update sessions set created_at = now()`);
  t.equal((await remove(api, ada.accessToken, null)).status, 204);
});

t.test('deleted many times at once it is deleted once', async (t) => {
  const api = await administratedApi(t);
  const ada = await api.account('ada@example.com');
  const answers = await Promise.all(Array.from({ length: 4 }, () => remove(api, ada.accessToken)));
  t.equal(answers.filter(({ status }) => status === 204).length, 1);
  t.same(
    answers.map(({ status }) => status).filter((status) => ![204, 401, 404, 422, 403].includes(status)),
    [],
  );
  t.equal(await count(api, sql.fragment`audit_log where action = 'user.deleted'`), 1);
});

t.test('the last administrator stays, also when two want to go at once', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const bob = await api.account('bob@example.com');
  const administrators = sql.fragment`users where is_administrator and deleted_at is null`;
  t.match(await remove(api, ada.accessToken), {
    status: 409,
    body: { code: 'last_administrator', detail: /control-plane user make-admin/ },
  });
  t.equal((await api.call('GET', path, { token: ada.accessToken })).status, 200, 'nothing has happened');
  t.equal((await remove(api, bob.accessToken)).status, 204, 'others may go');
  const promote = (id: number) =>
    api.database.worker.query(sql.unsafe`update users set is_administrator = true where id = ${id}`);
  await promote(eve.id);
  const answers = await Promise.all([remove(api, ada.accessToken), remove(api, eve.accessToken)]);
  t.same(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [204, 409],
  );
  t.equal(await count(api, administrators), 1);
});

t.test('an administrator who goes is waited for by the one who would be the last', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  await api.database.worker.query(sql.unsafe`update users set is_administrator = true`);
  const waiting = sql.fragment`pg_locks l join pg_stat_activity a on a.pid = l.pid
    where not l.granted and l.locktype = 'advisory' and a.datname = current_database()`;
  const scope = { userId: eve.id, workspaceIds: [] };
  const [asked, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const going = inScope(api.database.api, scope, async (transaction) => {
    t.equal(await isLastAdministrator(scope, transaction), false);
    await transaction.query(sql.unsafe`update users set is_administrator = false where id = ${eve.id}`);
    asked.resolve();
    await mayCommit.promise;
  });
  await asked.promise;
  const removing = remove(api, ada.accessToken);
  while ((await count(api, waiting)) === 0);
  mayCommit.resolve();
  await going;
  t.match(await removing, { status: 409, body: { code: 'last_administrator' } });
});
