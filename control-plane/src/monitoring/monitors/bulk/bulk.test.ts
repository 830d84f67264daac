import { bulkMonitorsRoute } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, addProbe, defaultWorkspace, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const path = '/api/v1/monitors/bulk';
const item = z.object({
  monitor_id: z.number(),
  result: z.string(),
  changed: z.boolean(),
  code: z.string().optional(),
});

async function bulk(api: MonitorsApi, body: Record<string, unknown>, token = api.token) {
  const answer = await api.call('POST', path, { token, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  if (bulkMonitorsRoute.success.answer?.safeParse(answer.body).success !== true) throw new Error(answer.text);
  return answer.body;
}

/** `id result changed code` of each monitor. */
function lines(report: Record<string, unknown>): string[] {
  return z
    .array(item)
    .parse(report['monitors'])
    .map((one) => `${one.monitor_id} ${one.result} ${one.changed} ${one.code ?? ''}`.trim());
}

async function monitors(api: MonitorsApi, count: number, body: Record<string, unknown> = {}): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await api.monitor({ name: `m${index}`, ...body })).id);
  return ids;
}

async function second(api: MonitorsApi): Promise<number> {
  return Number(
    (await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } })).body['id'],
  );
}

async function read(api: MonitorsApi, id: number): Promise<Record<string, unknown>> {
  return (await api.call('GET', `/api/v1/monitors/${id}`, { token: api.token })).body;
}

function audited(api: MonitorsApi, action: string): Promise<readonly string[]> {
  return api.database.worker.anyFirst(sql.type(z.object({ subject: z.string() }))`
    select subject_id || ' in ' || workspace_id as subject from audit_log where action = ${action} order by id`);
}

void t.test('pauses and resumes; what is so already stays as it is', async (t) => {
  const api = await monitorsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const [a = 0, b = 0, c = 0] = await monitors(api, 3);
  await api.call('POST', `/api/v1/monitors/${b}/pause`, { token: api.token });
  api.broker.hints.length = 0;
  const report = await bulk(api, { action: 'pause', monitor_ids: [c, a, b, 2_147_483_647] });
  t.match(report, { action: 'pause', ok: 3, failed: 0, not_found: 1 });
  t.same(lines(report), [`${c} ok true`, `${a} ok true`, `${b} ok false`, '2147483647 not_found false not_found']);
  t.equal(api.broker.hints.length, 2, 'one hint for the shard and one for the probe');
  t.match(await read(api, a), { is_active: false, paused_by: 'self', version: 2 });
  t.match(await read(api, b), { version: 2 });
  t.same(
    await audited(api, 'monitor.paused'),
    [b, c, a].map((id) => `${id} in ${api.workspaceId}`),
  );
  const { pauses, news, seats } = await api.database.worker.one(
    sql.type(z.object({ pauses: z.number(), news: z.number(), seats: z.number() }))`
      select (select count(*)::integer from pauses where ended_at is null) as pauses,
        (select count(distinct key)::integer from outbox where kind = 'monitor.paused') as news,
        (select count(distinct revision)::integer from assignments where probe_id = ${probe}) as seats`,
  );
  t.same(
    { pauses, news, seats },
    { pauses: 3, news: 3, seats: 3 },
    'intervals, news for others, revisions for the probe',
  );
  t.match(await bulk(api, { action: 'resume', monitor_ids: [a, b, c] }), { ok: 3 });
  t.match(await read(api, a), { is_active: true, paused_by: null, version: 3 });
  api.broker.hints.length = 0;
  t.same(lines(await bulk(api, { action: 'resume', monitor_ids: [a] })), [`${a} ok false`]);
  t.same(api.broker.hints, [], 'nothing to hint');
});

void t.test('the role is judged for each monitor; what is foreign is not there', async (t) => {
  const api = await monitorsApi(t);
  const [mine = 0] = await monitors(api, 1);
  const other = await api.account('other@example.com');
  const others = await defaultWorkspace(api, other.accessToken);
  const make = async (name: string) =>
    Number(
      (
        await api.call('POST', '/api/v1/monitors', {
          token: other.accessToken,
          body: { workspace_id: others, name, url: 'https://example.com/' },
        })
      ).body['id'],
    );
  const theirs = await make('theirs');
  const foreign = [mine, theirs];
  for (const body of [
    { action: 'pause' },
    { action: 'delete' },
    { action: 'add_tags', tags: ['x'] },
    { action: 'move', workspace_id: api.workspaceId },
  ]) {
    const report = await bulk(api, { ...body, monitor_ids: foreign });
    t.match(lines(report)[1], `${theirs} not_found`, `${body.action} of what is foreign`);
    if (body.action === 'delete') break;
  }
  await addMember(api.database, others, api.owner.id, 'viewer');
  const viewed = await bulk(api, { action: 'delete', monitor_ids: [theirs] });
  t.same(lines(viewed), [`${theirs} failed false forbidden`]);
  const back = await api.call('POST', path, {
    token: other.accessToken,
    body: { action: 'move', monitor_ids: [theirs], workspace_id: api.workspaceId },
  });
  t.equal(back.status, 404, 'to a foreign workspace');
  t.match(
    await api.call('POST', path, {
      token: api.token,
      body: { action: 'move', monitor_ids: [mine], workspace_id: others },
    }),
    { status: 403 },
    'to one where the caller only reads',
  );
  t.equal((await api.call('GET', `/api/v1/monitors/${theirs}`, { token: other.accessToken })).status, 200);
  const key = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  t.match(
    await api.call('POST', path, { key: String(key.body['key']), body: { action: 'pause', monitor_ids: [mine] } }),
    { status: 403, body: { code: 'wrong_credential_kind' } },
  );
});

void t.test('a deletion runs the hooks, and the results go in the background', async (t) => {
  const deleted: number[] = [];
  const api = await monitorsApi(t, { monitors: { onMonitorDeleted: [async (_tx, id) => void deleted.push(id)] } });
  const [a = 0, b = 0, c = 0] = await monitors(api, 3);
  const report = await bulk(api, { action: 'delete', monitor_ids: [c, a] });
  t.match(report, { ok: 2, results_removed: 'in_background' });
  t.same(deleted, [a, c]);
  for (const [id, status] of [
    [a, 404],
    [b, 200],
    [c, 404],
  ] as const) {
    t.equal((await api.call('GET', `/api/v1/monitors/${id}`, { token: api.token })).status, status);
  }
  t.same(lines(await bulk(api, { action: 'delete', monitor_ids: [a] })), [`${a} not_found false not_found`]);
  t.same((await audited(api, 'monitor.deleted')).length, 2);
  await api.monitor({ name: 'm0' });
});

void t.test('tags are added and taken away within their bound, in one version', async (t) => {
  const api = await monitorsApi(t);
  const many = Array.from({ length: 19 }, (_, index) => `t${index}`);
  const [a, b] = [
    (await api.monitor({ name: 'a', tags: ['x'] })).id,
    (await api.monitor({ name: 'b', tags: many })).id,
  ];
  const report = await bulk(api, { action: 'add_tags', monitor_ids: [a, b], tags: [' y ', 'x', 'y'] });
  t.same(lines(report), [`${a} ok true`, `${b} failed false too_many_tags`]);
  t.match(await read(api, a), { tags: ['x', 'y'], version: 2 });
  t.match(await read(api, b), { tags: many, version: 1 });
  t.same(lines(await bulk(api, { action: 'add_tags', monitor_ids: [a, b], tags: ['t0', 'x'] })), [
    `${a} ok true`,
    `${b} ok true`,
  ]);
  t.match(await read(api, a), { tags: ['x', 'y', 't0'] });
  t.same(lines(await bulk(api, { action: 'remove_tags', monitor_ids: [a, b], tags: ['y', 'none'] })), [
    `${a} ok true`,
    `${b} ok false`,
  ]);
  t.match(await read(api, a), { tags: ['x', 't0'], version: 4 });
  t.same((await audited(api, 'monitor.updated')).length, 4);
});

void t.test('a move takes along what is kept, and leaves behind its place and foreign probes', async (t) => {
  const moved: unknown[] = [];
  const api = await monitorsApi(t, {
    monitors: {
      onMonitorsMoved: [
        async (_tx, given, to) => {
          moved.push(given.map((one) => [one.id, one.workspace_id, to]));
          return given.map(({ id }) => ({ monitorId: id, dropped: { type: 'monitor_group', id: 7 } }));
        },
      ],
    },
  });
  const [a = 0, b = 0] = await monitors(api, 2);
  const to = await second(api);
  await api.call('PUT', '/api/v1/monitors/reorder', {
    token: api.token,
    body: { workspace_id: api.workspaceId, monitor_ids: [b, a] },
  });
  const report = await bulk(api, { action: 'move', monitor_ids: [a, b], workspace_id: to });
  t.match(report, { ok: 2, monitors: [{ changed: true, dropped: [{ type: 'monitor_group', id: 7 }] }, {}] });
  t.same(moved, [
    [
      [a, api.workspaceId, to],
      [b, api.workspaceId, to],
    ],
  ]);
  t.match(await read(api, a), { workspace_id: to, position: null, version: 2, probe_revision: 1 });
  t.same(
    await audited(api, 'monitor.moved'),
    [a, b].flatMap((id) => [`${id} in ${api.workspaceId}`, `${id} in ${to}`]),
    'both workspaces have it in their log',
  );
  t.same(lines(await bulk(api, { action: 'move', monitor_ids: [a], workspace_id: to })), [`${a} ok false`]);
});

void t.test('a PATCH of workspace_id moves a monitor with its other changes, or does neither', async (t) => {
  const moved: unknown[] = [];
  const api = await monitorsApi(t, {
    monitors: {
      onMonitorsMoved: [
        async (_tx, given, to) => {
          moved.push(given.map((one) => [one.id, one.workspace_id, to]));
          return [];
        },
      ],
    },
  });
  const patch = (id: number, body: Record<string, unknown>) =>
    api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body });
  const [a = 0, b = 0] = await monitors(api, 2);
  const to = await second(api);
  t.match(await patch(a, { workspace_id: to, name: 'renamed' }), {
    status: 200,
    body: { workspace_id: to, name: 'renamed' },
  });
  t.same(moved, [[[a, api.workspaceId, to]]], 'what else is kept of it is asked');
  t.same(await audited(api, 'monitor.moved'), [`${a} in ${api.workspaceId}`, `${a} in ${to}`]);
  const { version } = await read(api, a);
  t.match(await patch(a, { workspace_id: to }), { status: 200, body: { version } }, 'it is there already');
  t.match(await patch(b, { workspace_id: to, name: 'renamed' }), { status: 409, body: { code: 'name_taken' } });

  const other = await api.account('other@example.com');
  const others = await defaultWorkspace(api, other.accessToken);
  t.equal((await patch(b, { workspace_id: others })).status, 404, 'a workspace of strangers');
  await addMember(api.database, others, api.owner.id, 'viewer');
  t.equal((await patch(b, { workspace_id: others })).status, 403, 'a role that is too low');
  await api.database.worker.query(sql.unsafe`
    update workspace_members set role = 'editor' where workspace_id = ${others} and user_id = ${api.owner.id}`);
  await api.call('POST', '/api/v1/monitors', {
    token: other.accessToken,
    body: { workspace_id: others, name: 'm1', url: 'https://example.com/' },
  });
  t.match(await patch(b, { workspace_id: others, description: 'new' }), {
    status: 409,
    body: { code: 'name_taken', errors: [{ in: 'body', path: '/workspace_id', code: 'name_taken' }] },
  });
  t.match(await read(api, b), { workspace_id: api.workspaceId, description: '', version: 1 });
  t.match(await patch(b, { workspace_id: others, name: 'free' }), {
    status: 200,
    body: { workspace_id: others, name: 'free' },
  });
});

void t.test('private probes of the old workspace are wished for no longer, and others take their seats', async (t) => {
  const api = await monitorsApi(t);
  const to = await second(api);
  const common = await addProbe(api.database, 'common', 'eu');
  const own = await addProbe(api.database, 'own', 'here');
  await api.database.worker.query(sql.unsafe`update probes set workspace_id = ${api.workspaceId} where id = ${own}`);
  const { id: named } = await api.monitor({ name: 'named', probe_ids: [own, common] });
  const { id: only } = await api.monitor({ name: 'only', probe_ids: [own] });
  const { id: regional } = await api.monitor({ name: 'regional', regions: ['here'] });
  api.broker.hints.length = 0;
  const report = await bulk(api, { action: 'move', monitor_ids: [named, only, regional], workspace_id: to });
  t.same(lines(report), [`${named} ok true`, `${only} ok true`, `${regional} failed false no_probe_able`]);
  t.match(report['monitors'], [
    { dropped: [{ type: 'probe', id: own }] },
    { dropped: [{ type: 'probe', id: own }] },
    {},
  ]);
  t.match(await read(api, named), { workspace_id: to, probe_ids: [common], assigned_probes: [{ probe_id: common }] });
  t.match(await read(api, only), { workspace_id: to, probe_ids: [], assigned_probes: [{ probe_id: common }] });
  t.match(
    await read(api, regional),
    { workspace_id: api.workspaceId, assigned_probes: [{ probe_id: own }] },
    'undone whole',
  );
  t.equal(api.broker.hints.length, 3, 'the shard and both probes, each once');
});

void t.test('to another owner a name is taken there first, and the plan’s interval holds', async (t) => {
  const api = await monitorsApi(t);
  const other = await api.account('other@example.com');
  const others = await defaultWorkspace(api, other.accessToken);
  await addMember(api.database, others, api.owner.id, 'editor');
  await api.database.worker.query(sql.unsafe`update users set plan = 'free' where id = ${other.id}`);
  await api.call('POST', '/api/v1/monitors', {
    token: other.accessToken,
    body: { workspace_id: others, name: 'taken', url: 'https://example.com/' },
  });
  // A name that the caller does not see is taken as well.
  const hidden = await api.call('POST', '/api/v1/workspaces', { token: other.accessToken, body: { name: 'hidden' } });
  await api.call('POST', '/api/v1/monitors', {
    token: other.accessToken,
    body: { workspace_id: hidden.body['id'], name: 'unseen', url: 'https://example.com/' },
  });
  const taken = (await api.monitor({ name: 'taken' })).id;
  const unseen = (await api.monitor({ name: 'unseen' })).id;
  const fast = (await api.monitor({ name: 'fast', interval_seconds: 30 })).id;
  const free = (await api.monitor({ name: 'free' })).id;
  const report = await bulk(api, { action: 'move', monitor_ids: [taken, unseen, fast, free], workspace_id: others });
  t.same(lines(report), [
    `${taken} failed false name_taken`,
    `${unseen} failed false name_taken`,
    `${fast} failed false interval_below_plan`,
    `${free} ok true`,
  ]);
  t.equal((await api.call('GET', `/api/v1/monitors/${free}`, { token: other.accessToken })).status, 200);
  const owner = await api.database.worker.oneFirst(sql.typeAlias('id')`
    select owner_id as id from monitors where id = ${free}`);
  t.equal(owner, other.id);
});

void t.test(
  'of moves and creations of one name at once each name is there once, and none fails for another',
  async (t) => {
    const api = await monitorsApi(t);
    const other = await api.account('other@example.com');
    const others = await defaultWorkspace(api, other.accessToken);
    await addMember(api.database, others, api.owner.id, 'editor');
    const ids = await monitors(api, 10);
    const calls = ids.flatMap((id, index) => [
      api.call('POST', path, { token: api.token, body: { action: 'move', monitor_ids: [id], workspace_id: others } }),
      api.call('POST', '/api/v1/monitors', {
        token: other.accessToken,
        body: { workspace_id: others, name: `m${index}`, url: 'https://example.com/' },
      }),
    ]);
    const answers = await Promise.all(calls);
    for (const [index] of ids.entries()) {
      const [move, create] = [answers[2 * index], answers[2 * index + 1]];
      const isMoved = move?.body['ok'] === 1;
      t.equal(move?.status, 200);
      t.equal(create?.status, isMoved ? 409 : 201, `m${index} is ${isMoved ? 'moved' : 'created'}, not both`);
    }
  },
);

void t.test('bulk actions that cross each other do not wait in a circle', async (t) => {
  const api = await monitorsApi(t);
  for (const name of ['p', 'q', 'r']) await addProbe(api.database, name, name);
  const ids = await monitors(api, 12);
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) => {
      const monitor_ids = index % 2 === 0 ? ids : ids.toReversed();
      const body =
        index % 3 === 0
          ? { action: 'add_tags', monitor_ids, tags: [`t${index % 5}`] }
          : { action: index % 3 === 1 ? 'pause' : 'resume', monitor_ids };
      return api.call('POST', path, { token: api.token, body });
    }),
  );
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
});

void t.test('what is no such request is refused and named', async (t) => {
  const api = await monitorsApi(t);
  const [a = 0] = await monitors(api, 1);
  const many = Array.from({ length: 501 }, (_, index) => index + 1);
  const table: [body: unknown, at: string][] = [
    [{ action: 'pause', monitor_ids: [] }, '/monitor_ids'],
    [{ action: 'pause', monitor_ids: many }, '/monitor_ids'],
    [{ action: 'pause', monitor_ids: [a, a] }, '/monitor_ids/1'],
    [{ action: 'pause', monitor_ids: [a, '1'] }, '/monitor_ids/1'],
    [{ action: 'pause', monitor_ids: [0] }, '/monitor_ids/0'],
    [{ action: 'pause' }, '/monitor_ids'],
    [{ action: 'pause', monitor_ids: [a], tags: ['x'] }, '/tags'],
    [{ action: 'add_tags', monitor_ids: [a] }, '/tags'],
    [{ action: 'add_tags', monitor_ids: [a], tags: [] }, '/tags'],
    [{ action: 'add_tags', monitor_ids: [a], tags: ['x'.repeat(51)] }, '/tags/0'],
    [{ action: 'move', monitor_ids: [a] }, '/workspace_id'],
    [{ action: 'explode', monitor_ids: [a] }, '/action'],
    [{ monitor_ids: [a] }, '/action'],
  ];
  for (const [body, at] of table) {
    const answer = await api.call('POST', path, { token: api.token, body });
    t.equal(answer.status, 422, JSON.stringify(body).slice(0, 60));
    t.match(answer.body['errors'], [{ in: 'body', path: at }]);
  }
  t.match(await bulk(api, { action: 'pause', monitor_ids: many.slice(0, 500) }), { ok: 1, not_found: 499 });
  t.match(await read(api, a), { is_active: false });
});
