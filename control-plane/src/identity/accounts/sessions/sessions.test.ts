import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import type { TestApi } from '../../testing.ts';
import { takeMails } from '../testing.ts';

const path = '/api/v1/auth/sessions';
const password = 'a rather long phrase 7';

type Shown = { id: string; user_agent: string | null; remote_address: string; is_current: boolean };

const list = async (api: TestApi, token: string, query = ''): Promise<{ sessions: Shown[]; total: number }> =>
  (await api.call('GET', `${path}${query}`, { token })).body as { sessions: Shown[]; total: number };

async function signIn(api: TestApi, email: string, userAgent: string, from: string): Promise<string> {
  const answer = await api.call('POST', '/api/v1/auth/login', {
    body: { email, password },
    from,
    headers: { 'user-agent': userAgent },
  });
  return String(answer.body['access_token']);
}

t.test('a user sees where they are signed in, and ends what they do not know', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const eve = await api.account('eve@example.com');
  const phone = await signIn(api, ada.email, 'Telephone/1.0', '203.0.113.9');
  const { sessions, total } = await list(api, ada.accessToken);
  t.equal(total, 2);
  t.match(sessions, [
    { user_agent: 'Telephone/1.0', remote_address: '203.0.113.9', is_current: false },
    { is_current: true },
  ]);
  t.same(Object.keys(sessions[0] ?? {}).toSorted(), [
    'created_at',
    'expires_at',
    'id',
    'is_current',
    'last_used_at',
    'remote_address',
    'user_agent',
  ]);
  t.match((await list(api, phone)).sessions, [{ is_current: true }, { is_current: false }]);
  t.equal((await list(api, ada.accessToken, '?page=2&page_size=1')).sessions.length, 1);
  const ofPhone = `${path}/${sessions[0]?.id}`;
  t.match(await api.call('DELETE', ofPhone, { token: eve.accessToken }), { status: 404 }, 'not by another');
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: phone })).status, 200);
  t.equal((await api.call('DELETE', ofPhone, { token: ada.accessToken })).status, 204);
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: phone })).status, 401, 'at once');
  t.equal((await api.call('DELETE', ofPhone, { token: ada.accessToken })).status, 404, 'it has ended');
  t.match(await list(api, ada.accessToken), { total: 1, sessions: [{ is_current: true }] });
  for (const id of ['1', 'x', '00000000-0000-0000-0000-00000000000', "'--"]) {
    t.equal(
      (await api.call('DELETE', `${path}/${encodeURIComponent(id)}`, { token: ada.accessToken })).status,
      422,
      id,
    );
  }
  const nobody = `${path}/00000000-0000-4000-8000-000000000000`;
  t.equal((await api.call('DELETE', nobody, { token: ada.accessToken })).status, 404);
  t.equal((await api.call('DELETE', `${path}/${sessions[1]?.id}`, { token: ada.accessToken })).status, 204, 'the own');
  t.equal((await api.call('GET', path, { token: ada.accessToken })).status, 401);
  const audit = await api.database.worker.anyFirst(sql.type(z.object({ id: z.string() }))`
    select subject_id as id from audit_log where action = 'session.ended' order by id`);
  t.equal(audit.length, 2);
});

t.test('sessions that ended or ran out are not listed', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  for (const column of ['revoked_at', 'idle_until', 'absolute_until'] as const) {
    await signIn(api, ada.email, column, '203.0.113.9');
    await api.database.worker.query(sql.unsafe`
      update sessions set ${sql.identifier([column])} = now() - interval '1 second' where user_agent = ${column}`);
  }
  t.match(await list(api, ada.accessToken), { total: 1, sessions: [{ is_current: true }] });
});

t.test('a refresh token that is used again ends its session, and its user is told', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  const refresh = () =>
    api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: ada.refreshToken }, from: '203.0.113.9' });
  t.equal((await refresh()).status, 200);
  await api.database.worker.query(sql.unsafe`update sessions set rotated_at = now() - interval '11 seconds'`);
  t.equal((await refresh()).status, 401);
  t.match(await takeMails(api), [
    { to: ada.email, subject: 'A session was ended for your safety', text: /203\.0\.113\.9/ },
  ]);
  t.equal((await refresh()).status, 401);
  t.same(await takeMails(api), [], 'once');
});
