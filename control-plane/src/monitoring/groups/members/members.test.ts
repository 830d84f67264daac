import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { emptyDeletedWorkspaces } from '../../monitors/of-deleted-workspaces/job.ts';
import { groupsApi } from '../testing.ts';
import type { GroupsApi } from '../testing.ts';
import { removeGroupsOfWorkspace } from '../queries.ts';
import { lockMonitors } from '../pauses/queries.ts';
import { leaveGroupsOfDeleted, leaveGroupsOfMoved } from './queries.ts';

const counted = z.object({ n: z.number() });
const members = (api: GroupsApi): Promise<number> =>
  api.database.worker.oneFirst(sql.type(counted)`select count(*)::integer as n from monitor_group_members`);

void t.test('monitors are added and removed, and doing it again changes nothing', async (t) => {
  const api = await groupsApi(t);
  const [a, b, c] = [await api.monitor(), await api.monitor(), await api.monitor()];
  const { id } = await api.group();
  const path = `/${id}/monitors`;
  const added = await api.groups('POST', path, { monitor_ids: [b.id, a.id, b.id] });
  t.match(added, { status: 200, body: { monitor_ids: [a.id, b.id], version: 2 } });
  t.equal(added.headers.get('etag'), '"2"');
  t.match((await api.groups('POST', path, { monitor_ids: [a.id] })).body, { version: 2 });
  t.equal((await api.groups('DELETE', path, { monitor_ids: [c.id] })).status, 204, 'no member');
  t.equal((await api.groups('DELETE', path, { monitor_ids: [a.id] })).status, 204);
  t.equal((await api.groups('DELETE', path, { monitor_ids: [a.id] })).status, 204, 'again');
  t.match((await api.groups('GET', `/${id}`)).body, { monitor_ids: [b.id], version: 3 });
});

void t.test('what is removed stands in the body, in repeated parameters, or in both', async (t) => {
  const api = await groupsApi(t);
  const ids = await api.manyMonitors(4);
  const [a = 0, b = 0, c = 0, d = 0] = ids;
  const { id } = await api.group({ monitor_ids: ids, tags: ['a', 'b', 'c', 'd'] });
  t.equal((await api.groups('DELETE', `/${id}/monitors?monitor_ids=${a}`)).status, 204);
  t.equal((await api.groups('DELETE', `/${id}/monitors?monitor_ids=${b}&monitor_ids=${b}`)).status, 204);
  t.equal((await api.groups('DELETE', `/${id}/monitors?monitor_ids=${c}`, { monitor_ids: [d] })).status, 204);
  t.equal((await api.groups('DELETE', `/${id}/tags?tags=a&tags=b`)).status, 204);
  t.equal((await api.groups('DELETE', `/${id}/tags`, { tags: ['d', 'never'] })).status, 204);
  t.match((await api.groups('GET', `/${id}`)).body, { monitor_ids: [], tags: ['c'] });
});

void t.test('a body or query that names nothing, or nonsense, is 422', async (t) => {
  const api = await groupsApi(t);
  const { id } = await api.group();
  for (const [method, path, body] of [
    ['POST', 'monitors', undefined],
    ['POST', 'monitors', {}],
    ['POST', 'monitors', { monitor_ids: [] }],
    ['POST', 'monitors', { monitor_ids: [0] }],
    ['POST', 'monitors', { monitor_ids: ['1'] }],
    ['POST', 'monitors', { monitor_ids: Array.from({ length: 1_001 }, () => 1) }],
    ['DELETE', 'monitors', undefined],
    ['DELETE', 'monitors', {}],
    ['DELETE', 'monitors', { monitor_ids: [] }],
    ['DELETE', 'monitors', { ids: [1] }],
    ['DELETE', 'monitors?monitor_ids=', undefined],
    ['DELETE', 'monitors?monitor_ids=1&monitor_ids=x', undefined],
    ['DELETE', 'monitors?monitor_ids=2147483648', undefined],
    ['POST', 'tags', {}],
    ['POST', 'tags', { tags: [] }],
    ['POST', 'tags', { tags: [' '] }],
    ['POST', 'tags', { tags: ['x'.repeat(51)] }],
    ['DELETE', 'tags', undefined],
    ['DELETE', 'tags?tags=', undefined],
    ['DELETE', 'tags', { tags: [7] }],
  ] as const) {
    const answer = await api.groups(method, `/${id}/${path}`, body);
    t.equal(answer.status, 422, `${method} ${path} ${JSON.stringify(body)?.slice(0, 60)}`);
  }
});

void t.test('monitors that are not in the workspace are 404 by their place, and nothing is added', async (t) => {
  const api = await groupsApi(t);
  const own = await api.monitor();
  const deleted = await api.monitor();
  await api.call('DELETE', `/api/v1/monitors/${deleted.id}`, { token: api.token });
  const second = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const elsewhere = await api.monitor({ workspace_id: Number(second.body['id']) });
  const stranger = await api.account('stranger@example.com');
  const list = await api.call('GET', '/api/v1/workspaces', { token: stranger.accessToken });
  const [theirs] = z.object({ workspaces: z.array(z.object({ id: z.number() })) }).parse(list.body).workspaces;
  const foreign = await api.call('POST', '/api/v1/monitors', {
    token: stranger.accessToken,
    body: { workspace_id: theirs?.id, url: 'https://example.com/' },
  });
  const { id } = await api.group();
  const ids = [own.id, deleted.id, elsewhere.id, Number(foreign.body['id']), 99_999];
  for (const method of ['POST', 'DELETE']) {
    const answer = await api.groups(method, `/${id}/monitors`, { monitor_ids: ids });
    t.equal(answer.status, 404);
    t.match(
      answer.body['errors'],
      [1, 2, 3, 4].map((n) => ({ in: 'body', path: `/monitor_ids/${n}`, code: 'not_found' })),
    );
  }
  const byQuery = await api.groups('DELETE', `/${id}/monitors?monitor_ids=99999`);
  t.match(byQuery, { status: 404, body: { errors: [{ in: 'query', path: '/monitor_ids' }] } });
  const made = await api.groups('POST', '', { workspace_id: api.workspaceId, name: 'n', monitor_ids: ids });
  t.equal(made.status, 404);
  t.equal(await members(api), 0);
});

void t.test('a group has at most 1,000 members and 20 tags', async (t) => {
  const api = await groupsApi(t);
  const ids = await api.manyMonitors(1_001);
  const { id } = await api.group({
    monitor_ids: ids.slice(0, 999),
    tags: Array.from({ length: 19 }, (_, n) => String(n)),
  });
  t.equal((await api.groups('POST', `/${id}/monitors`, { monitor_ids: ids.slice(0, 1_000) })).status, 200, '1,000');
  const many = await api.groups('POST', `/${id}/monitors`, { monitor_ids: ids.slice(1_000) });
  t.match(many, { status: 422, body: { errors: [{ path: '/monitor_ids', code: 'too_many_members' }] } });
  t.equal((await api.groups('POST', `/${id}/monitors`, { monitor_ids: ids.slice(0, 1_000) })).status, 200, 'again');
  t.equal((await api.groups('POST', `/${id}/tags`, { tags: ['twentieth', '0'] })).status, 200);
  const tags = await api.groups('POST', `/${id}/tags`, { tags: ['one more'] });
  t.match(tags, { status: 422, body: { errors: [{ path: '/tags', code: 'too_many_tags' }] } });
});

void t.test('a deleted monitor leaves its groups', async (t) => {
  const api = await groupsApi(t);
  const [a, b] = [await api.monitor(), await api.monitor()];
  const { id } = await api.group({ monitor_ids: [a.id, b.id], is_paused: true });
  t.equal((await api.call('DELETE', `/api/v1/monitors/${a.id}`, { token: api.token })).status, 204);
  t.match((await api.groups('GET', `/${id}`)).body, { monitor_ids: [b.id] });
  t.match((await api.groups('GET', `/${id}/status`)).body, { counts: { total: 1 } });
  t.equal((await api.groups('PUT', `/${id}/status`, { status: 'active' })).status, 200);
});

void t.test('a monitor that is moved must have left its groups, and its group pause ends then', async (t) => {
  const api = await groupsApi(t);
  const monitor = await api.monitor();
  const group = await api.group({ monitor_ids: [monitor.id], is_paused: true });
  const second = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const there = Number(second.body['id']);
  const { worker } = api.database;
  const move = sql.unsafe`update monitors set workspace_id = ${there} where id = ${monitor.id}`;
  await t.rejects(worker.query(move), /foreign key/i, 'forgetting it fails');
  await worker.transaction(async (tx) => {
    await lockMonitors(tx, api.workspaceId, [monitor.id]);
    t.same(await leaveGroupsOfMoved(tx, [{ id: monitor.id }]), [
      { monitorId: monitor.id, dropped: { type: 'monitor_group', id: group.id } },
    ]);
    await tx.query(move);
  });
  t.equal(await members(api), 0);
  const read = await api.call('GET', `/api/v1/monitors/${monitor.id}`, { token: api.token });
  t.match(read.body, { workspace_id: there, paused_by: null });
});

void t.test('a workspace takes its groups along to another owner, and into its deletion', async (t) => {
  const api = await groupsApi(t);
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const workspaceId = Number(made.body['id']);
  const monitor = await api.monitor({ workspace_id: workspaceId });
  const { id } = await api.group({ workspace_id: workspaceId, monitor_ids: [monitor.id] });
  const other = await api.account('other@example.com');
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${other.id}, 'editor')`);
  const list = await api.call('GET', `/api/v1/workspaces/${workspaceId}/members`, { token: api.token });
  const found = z
    .object({ members: z.array(z.object({ id: z.number(), role: z.string() })) })
    .parse(list.body)
    .members.find(({ role }) => role === 'editor');
  const moved = await api.call('POST', `/api/v1/workspaces/${workspaceId}/transfer`, {
    token: api.token,
    body: { member_id: found?.id },
  });
  t.equal(moved.status, 200, moved.text);
  const asOther = { token: other.accessToken };
  t.match((await api.groups('GET', `/${id}`, undefined, asOther)).body, { monitor_ids: [monitor.id] });
  const gone = await api.call('DELETE', `/api/v1/workspaces/${workspaceId}`, asOther);
  t.equal(gone.status, 204, gone.text);
  t.equal((await api.groups('GET', `/${id}`, undefined, asOther)).status, 404, 'at once');
  await emptyDeletedWorkspaces(api.context, [leaveGroupsOfDeleted], () => true, [removeGroupsOfWorkspace]);
  const left = await api.database.worker.oneFirst(sql.type(counted)`
    select count(*)::integer as n from monitor_groups where workspace_id = ${workspaceId}`);
  t.equal(left, 0);
  t.equal(await members(api), 0);
});
