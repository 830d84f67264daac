import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { addProbe } from '../../testing.ts';
import { groupsApi } from '../testing.ts';
import type { GroupsApi } from '../testing.ts';
import { leaveGroupsOfDeleted, leaveGroupsOfMoved } from '../index.ts';

const makeApi = (t: TestContext): Promise<GroupsApi> =>
  groupsApi(t, { monitors: { onMonitorDeleted: [leaveGroupsOfDeleted], onMonitorsMoved: [leaveGroupsOfMoved] } });

const watch = (name: string, settings: Record<string, unknown>) => ({ name, protocol: 'group', url: '', settings });
const membersIn = (body: Record<string, unknown>) => (body['settings'] as Record<string, unknown>)['monitor_ids'];

/** Calls as the owner. */
const callOf = (api: GroupsApi) => (method: string, path: string, body?: unknown) =>
  api.call(method, `/api/v1${path}`, { token: api.token, ...(body === undefined ? {} : { body }) });

void t.test('a group monitor is made, changed, and gets no probes', async (t) => {
  const api = await makeApi(t);
  const call = callOf(api);
  await addProbe(api.database, 'probe', 'region');
  const [one, two] = [await api.monitor(), await api.monitor()];
  const watching = await api.monitor({ ...watch('w', { monitor_ids: [two.id, one.id, two.id], minimum_up: 1 }) });
  t.match(watching, {
    protocol: 'group',
    url: 'group:members',
    confirmations: 1,
    assigned_probes: [],
    settings: { monitor_ids: [one.id, two.id], minimum_up: 1 },
    status: 'UNKNOWN',
  });
  const named = await api.call('POST', '/api/v1/monitors', {
    token: api.token,
    body: { workspace_id: api.workspaceId, protocol: 'group', settings: { monitor_ids: [] } },
  });
  t.match([named.status, named.body['name']], [201, 'group'], 'without URL and name, and without members');

  const group = await api.group({ monitor_ids: [one.id] });
  const changed = await call('PATCH', `/monitors/${watching.id}`, {
    settings: { monitor_ids: null, group_id: group.id },
  });
  t.match(changed.body, {
    url: `group:${group.id}`,
    probe_revision: 2,
    settings: { group_id: group.id, minimum_up: 1 },
  });
  t.equal(membersIn(changed.body), undefined);
  const unchanged = await call('PATCH', `/monitors/${watching.id}`, { url: `group:${group.id}` });
  t.equal(unchanged.body['version'], changed.body['version'], 'what an answer has may be sent back');

  const web = await call('PATCH', `/monitors/${one.id}`, {
    protocol: 'group',
    settings: { monitor_ids: [two.id] },
    url: '',
  });
  t.match(
    web.body,
    { protocol: 'group', assigned_probes: [], settings: { monitor_ids: [two.id] } },
    'another protocol',
  );
  const back = await call('PATCH', `/monitors/${one.id}`, {
    protocol: 'https',
    url: 'https://example.com/',
    settings: null,
  });
  t.match(back.body, { protocol: 'https', assigned_probes: [{ region: 'region' }] });
  const list = await call('GET', '/monitors?protocol=group');
  t.equal(list.body['total'], 2);
});

void t.test('what is wrong with a group monitor is told by its place', async (t) => {
  const api = await makeApi(t);
  const { id } = await api.monitor();
  const stranger = await api.account('stranger@example.com');
  const theirs = await api.call('POST', '/api/v1/workspaces', {
    token: stranger.accessToken,
    body: { name: 'theirs' },
  });
  const foreign = await api.call('POST', '/api/v1/monitors', {
    token: stranger.accessToken,
    body: { workspace_id: theirs.body['id'], url: 'https://example.com/' },
  });
  const foreignGroup = await api.call('POST', '/api/v1/monitor-groups', {
    token: stranger.accessToken,
    body: { workspace_id: theirs.body['id'], name: 'theirs' },
  });
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ settings: {} }, '/settings/monitor_ids'],
    [{ settings: null }, '/settings/monitor_ids'],
    [{ settings: { monitor_ids: [id], group_id: 1 } }, '/settings/group_id'],
    [{ settings: { monitor_ids: 'all' } }, '/settings/monitor_ids'],
    [{ settings: { monitor_ids: [id, '5'] } }, '/settings/monitor_ids/1'],
    [{ settings: { monitor_ids: [id, 0] } }, '/settings/monitor_ids/1'],
    [{ settings: { monitor_ids: [2 ** 40] } }, '/settings/monitor_ids/0'],
    [{ settings: { monitor_ids: [id, 2_000_000_000] } }, '/settings/monitor_ids/1'],
    [{ settings: { monitor_ids: [foreign.body['id']] } }, '/settings/monitor_ids/0'],
    [{ settings: { monitor_ids: Array.from({ length: 1_001 }, (_, index) => index + 1) } }, '/settings/monitor_ids'],
    [{ settings: { group_id: foreignGroup.body['id'] } }, '/settings/group_id'],
    [{ settings: { group_id: -1 } }, '/settings/group_id'],
    [{ settings: { monitor_ids: [id], minimum_up: 0 } }, '/settings/minimum_up'],
    [{ settings: { monitor_ids: [id], minimum_up: 1.5 } }, '/settings/minimum_up'],
    [{ settings: { monitor_ids: [id], quorum: 1 } }, '/settings/quorum'],
    [{ settings: { monitor_ids: [id], ['__proto__x']: 1 } }, '/settings/__proto__x'],
    [{ settings: { monitor_ids: [id] }, probe_ids: [1] }, '/probe_ids'],
    [{ settings: { monitor_ids: [id] }, regions: ['eu'] }, '/regions'],
    [{ protocol: 'https' }, '/url'],
    [{ protocol: undefined }, '/url'],
  ];
  for (const [body, path] of cases) {
    const answer = await api.call('POST', '/api/v1/monitors', {
      token: api.token,
      body: { workspace_id: api.workspaceId, name: 'wrong', protocol: 'group', ...body },
    });
    t.match([answer.status, answer.body['errors']], [422, [{ path }]], JSON.stringify(body).slice(0, 80));
  }
  const emptied = await api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body: { url: '' } });
  t.match([emptied.status, emptied.body['errors']], [422, [{ path: '/url' }]]);
});

void t.test('circles are refused with the whole way, also through groups', async (t) => {
  const api = await makeApi(t);
  const call = callOf(api);
  const leaf = await api.monitor();
  const a = await api.monitor(watch('a', { monitor_ids: [leaf.id] }));
  const b = await api.monitor(watch('b', { monitor_ids: [a.id] }));
  const group = await api.group({ name: 'web', monitor_ids: [b.id] });
  const c = await api.monitor(watch('c', { group_id: group.id }));
  const own = await call('PATCH', `/monitors/${a.id}`, { settings: { monitor_ids: [a.id] } });
  t.match([own.status, own.text], [422, /a group monitor would contain itself: \\"a\\" → \\"a\\"/]);
  const round = await call('PATCH', `/monitors/${a.id}`, { settings: { monitor_ids: [leaf.id, c.id] } });
  t.match(round.body, { errors: [{ path: '/settings', code: 'group_cycle' }] });
  t.match(round.body['errors'], [
    { message: 'a group monitor would contain itself: "a" → "c" → group "web" → "b" → "a"' },
  ]);
  const joined = await call('POST', `/monitor-groups/${group.id}/monitors`, { monitor_ids: [c.id] });
  t.match([joined.status, joined.body['errors']], [422, [{ path: '/monitor_ids', code: 'group_cycle' }]]);
  t.same((await call('GET', `/monitor-groups/${group.id}`)).body['monitor_ids'], [b.id], 'nothing was written');
  t.same(membersIn((await call('GET', `/monitors/${a.id}`)).body), [leaf.id]);
});

void t.test('of two changes at once that would close a circle one is refused', async (t) => {
  const api = await makeApi(t);
  const call = callOf(api);
  for (let turn = 0; turn < 8; turn += 1) {
    const a = await api.monitor(watch(`a${turn}`, { monitor_ids: [] }));
    const b = await api.monitor(watch(`b${turn}`, { monitor_ids: [] }));
    const group = await api.group({ monitor_ids: [] });
    const c = await api.monitor(watch(`c${turn}`, { group_id: group.id }));
    const answers = await Promise.all([
      call('PATCH', `/monitors/${a.id}`, { settings: { monitor_ids: [b.id] } }),
      call('PATCH', `/monitors/${b.id}`, { settings: { monitor_ids: [c.id] } }),
      call('POST', `/monitor-groups/${group.id}/monitors`, { monitor_ids: [a.id] }),
    ]);
    t.same(
      answers.map(({ status }) => status).filter((status) => status === 422),
      [422],
      'exactly one',
    );
    t.ok(answers.every(({ status }) => status === 422 || (status >= 200 && status < 300)));
  }
});

void t.test('a member that is deleted or moved is named no more, and stays out when it comes back', async (t) => {
  const api = await makeApi(t);
  const call = callOf(api);
  const elsewhere = await call('POST', '/workspaces', { name: 'elsewhere' });
  const [one, two, three] = [await api.monitor(), await api.monitor(), await api.monitor()];
  const watching = await api.monitor(watch('w', { monitor_ids: [one.id, two.id, three.id], minimum_up: 3 }));
  const present = async () => membersIn((await call('GET', `/monitors/${watching.id}`)).body);
  t.equal((await call('DELETE', `/monitors/${one.id}`)).status, 204);
  t.same(await present(), [two.id, three.id]);
  const move = (ids: readonly number[], to: unknown) =>
    call('POST', '/monitors/bulk', { action: 'move', monitor_ids: ids, workspace_id: to });
  const moved = await move([two.id], elsewhere.body['id']);
  t.match(moved.status, 200, moved.text);
  t.match(JSON.stringify(moved.body), `{"type":"monitor","id":${watching.id}}`);
  t.same(await present(), [three.id]);
  t.equal((await move([two.id], api.workspaceId)).status, 200);
  t.same(await present(), [three.id]);
  const renamed = await call('PATCH', `/monitors/${watching.id}`, { name: 'still valid' });
  t.match([renamed.status, membersIn(renamed.body)], [200, [three.id]]);
  const listed = await call('GET', '/monitors?protocol=group');
  t.same(membersIn((listed.body['monitors'] as Record<string, unknown>[])[0] ?? {}), [three.id]);
});
