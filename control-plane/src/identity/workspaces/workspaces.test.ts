import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testApi } from '../testing.ts';
import { mostOwnWorkspaces } from './limits.ts';
import { castApi, newWorkspace } from './testing.ts';

const base = '/api/v1/workspaces';

void t.test('a workspace is made, read, renamed and listed', async (t) => {
  const api = await testApi(t);
  const { accessToken: token } = await api.account('ada@example.com');
  const made = await api.call('POST', base, { token, body: { name: '  Cafe\u0301  ' } });
  t.match(made, {
    status: 201,
    body: { name: 'Café', is_default: false, role: 'owner', ping_key: /^[\w-]{32}$/, version: 1 },
  });
  const path = `${base}/${String(made.body['id'])}`;
  t.equal(made.headers.get('location'), path);
  t.equal(made.headers.get('etag'), '"1"');
  const stale = await api.call('PUT', path, { token, body: { name: 'x' }, headers: { 'if-match': '"7"' } });
  t.match(stale, { status: 412, body: { code: 'version_mismatch' } });
  const renamed = await api.call('PUT', path, { token, body: { name: 'Second' }, headers: { 'if-match': '"1"' } });
  t.match(renamed, { status: 200, body: { name: 'Second', version: 2, ping_key: made.body['ping_key'] } });
  t.match(await api.call('PUT', path, { token, body: {} }), { status: 200, body: { name: 'Second', version: 2 } });
  for (const body of [{ name: '' }, { name: ' ' }, { name: 'x'.repeat(201) }, { name: 'a\nb' }, { name: null }]) {
    t.equal((await api.call('PUT', path, { token, body })).status, 422, JSON.stringify(body));
    t.equal((await api.call('POST', base, { token, body })).status, 422, JSON.stringify(body));
  }
  t.same((await api.call('GET', `${base}/summary`, { token })).body, {
    workspaces: [
      { id: 1, name: 'Default' },
      { id: made.body['id'], name: 'Second' },
    ],
    total: 2,
    page: 1,
    page_size: 20,
  });
  const second = await api.call('GET', `${base}?page=2&page_size=1`, { token });
  t.match(second.body, { workspaces: [{ name: 'Second' }], total: 2, page: 2, page_size: 1 });
  const actions = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'workspace' order by id`);
  t.same(actions, ['workspace.created', 'workspace.updated'], 'what changes nothing is no entry');
});

void t.test('the default is of each caller, and falls back when it is lost', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.editor;
  const setDefault = (id: number) => cast.call('POST', `${base}/${id}/set-default`, { token });
  const present = async () => (await cast.call('GET', `${base}/default`, { token })).body['id'];
  const own = await present();
  t.match(await setDefault(cast.workspaceId), { status: 200, body: { id: cast.workspaceId, is_default: true } });
  t.equal(await present(), cast.workspaceId);
  t.match((await cast.call('GET', base, { token })).body, {
    workspaces: [
      { id: cast.workspaceId, is_default: true },
      { id: own, is_default: false },
    ],
  });
  t.match(
    (await cast.call('GET', `${base}/${cast.workspaceId}`, { token: cast.viewer.accessToken })).body,
    { is_default: false },
    'nobody else is concerned',
  );
  t.equal((await cast.call('POST', `${base}/${cast.workspaceId}/leave`, { token })).status, 200);
  t.equal(await present(), own, 'the first own one');
  t.match((await cast.call('GET', base, { token })).body, { workspaces: [{ id: own, is_default: true }] });
});

void t.test('who is a member of nothing has no default until they make one', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.viewer;
  const own = (await cast.call('GET', `${base}/default`, { token })).body['id'];
  t.equal((await cast.call('POST', `${base}/${cast.workspaceId}/set-default`, { token })).status, 200);
  t.equal((await cast.call('DELETE', `${base}/${String(own)}`, { token })).status, 204, 'no longer the default');
  t.equal((await cast.call('POST', `${base}/${cast.workspaceId}/leave`, { token })).status, 200);
  t.match(await cast.call('GET', `${base}/default`, { token }), { status: 404, body: { code: 'not_found' } });
  t.match(await cast.call('GET', base, { token }), { status: 200, body: { workspaces: [], total: 0 } });
  t.match(await cast.call('POST', base, { token, body: { name: 'anew' } }), {
    status: 201,
    body: { is_default: true },
  });
});

void t.test('a default is not deleted; another is gone for everybody at once', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.owner;
  const path = `${base}/${cast.workspaceId}`;
  t.match(await cast.call('DELETE', `${base}/1`, { token }), { status: 409, body: { code: 'conflict' } });
  t.equal((await cast.call('POST', `${path}/set-default`, { token })).status, 200);
  t.equal((await cast.call('DELETE', path, { token })).status, 409);
  t.equal((await cast.call('POST', `${base}/1/set-default`, { token })).status, 200);
  // The default of another member hinders nobody.
  t.equal((await cast.call('POST', `${path}/set-default`, { token: cast.viewer.accessToken })).status, 200);
  const link = await cast.call('POST', `${path}/invites`, { token });
  t.equal((await cast.call('DELETE', path, { token, headers: { 'if-match': '"9"' } })).status, 412);
  t.equal((await cast.call('DELETE', path, { token })).status, 204);
  for (const who of [cast.owner, cast.editor, cast.viewer]) {
    t.equal((await cast.call('GET', path, { token: who.accessToken })).status, 404);
    t.equal((await cast.call('GET', `${path}/members`, { token: who.accessToken })).status, 404);
    t.match((await cast.call('GET', `${base}/summary`, { token: who.accessToken })).body, { total: 1 });
    t.match((await cast.call('GET', `${base}/default`, { token: who.accessToken })).body, { name: 'Default' });
  }
  t.equal((await cast.call('DELETE', path, { token })).status, 404, 'once');
  const accepted = await cast.call('POST', `${base}/invites/accept`, {
    token: cast.stranger.accessToken,
    body: { token: link.body['token'] },
  });
  t.match(accepted, { status: 404, body: { code: 'invite_unknown' } });
  const mark = await cast.database.worker.one(sql.type(z.record(z.string(), z.unknown()))`
    select name, ping_key, deleted_at is not null as is_deleted, emptied_at from workspaces where id = ${cast.workspaceId}`);
  t.same(mark, { name: 'deleted', ping_key: `deleted-${cast.workspaceId}`, is_deleted: true, emptied_at: null });
});

void t.test(`a user may own ${mostOwnWorkspaces} workspaces, also when they are made at once`, async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await api.database.worker.query(sql.unsafe`
    insert into workspaces (owner_id, name, ping_key, deleted_at)
    select ${ada.id}, 'w', 'k' || n, case when n > ${mostOwnWorkspaces - 3} then now() end
    from generate_series(1, ${mostOwnWorkspaces}::integer) n`);
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      api.call('POST', base, { token: ada.accessToken, body: { name: `w${index}` } }),
    ),
  );
  t.same(
    answers.map((answer) => answer.status).toSorted((a, b) => a - b),
    [201, 201, 409, 409, 409, 409],
  );
  t.type(await newWorkspace(api, await api.account('eve@example.com'), 'x'), 'number', 'of each user');
});

void t.test('two defaults at once leave one', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.owner;
  const other = await newWorkspace(cast, cast.owner, 'other');
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(
      [1, cast.workspaceId, other, 1, cast.workspaceId, other].map((id) =>
        cast.call('POST', `${base}/${id}/set-default`, { token }),
      ),
    );
    t.same([...new Set(answers.map((answer) => answer.status))], [200]);
    const list = (await cast.call('GET', base, { token })).body['workspaces'] as { is_default: boolean }[];
    t.equal(list.filter((one) => one.is_default).length, 1);
  }
});

void t.test('a workspace that becomes the default while it is deleted is either of both', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.owner;
  for (let round = 0; round < 5; round += 1) {
    const id = await newWorkspace(cast, cast.owner, 'short-lived');
    const [chosen, deleted] = await Promise.all([
      cast.call('POST', `${base}/${id}/set-default`, { token }),
      cast.call('DELETE', `${base}/${id}`, { token }),
    ]);
    t.match(`${chosen.status} ${deleted.status}`, /^(200 409|404 204)$/);
    t.equal((await cast.call('GET', `${base}/default`, { token })).status, 200);
    if (chosen.status === 200) await cast.call('POST', `${base}/1/set-default`, { token });
  }
});
