import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { incidentsApi } from '../testing.ts';
import type { IncidentsApi } from '../testing.ts';

const minute = 60_000;
const kinds = async (api: IncidentsApi) => (await api.messages()).map(({ kind }) => kind);
const audited = (api: IncidentsApi) =>
  api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'incident' order by id`);
const statuses = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
const refused = { code: 'connect_refused', evidence: { address: '192.0.2.1' } } as const;

/** Monitors that fail for one cause, told. */
async function failing(api: IncidentsApi, names: readonly string[]) {
  const monitorIds: number[] = [];
  for (const name of names) monitorIds.push((await api.monitor({ name })).id);
  for (const id of monitorIds) await api.turns(id, 'DOWN', api.clock.nowMs - minute, refused);
  await api.passes(4_000);
  const path = `/api/v1/incidents/${(await api.messages())[0]?.incident_id}`;
  const send = (method: string, suffix: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.call(method, path + suffix, { token: api.token, headers, ...(body === undefined ? {} : { body }) });
  return { monitorIds, path, send };
}

void t.test('of several who resolve at once one does, with one message and one row of the audit log', async (t) => {
  const api = await incidentsApi(t);
  const { send } = await failing(api, ['Shop']);
  const answers = await Promise.all(Array.from({ length: 6 }, () => send('POST', '/resolve')));
  t.same(statuses(answers), [200, 200, 200, 200, 200, 200]);
  t.same(await kinds(api), ['incident.opened', 'incident.resolved']);
  t.same(await audited(api), ['incident.resolved']);
});

void t.test('with If-Match one of several changes wins, and the others are told that they are late', async (t) => {
  const api = await incidentsApi(t);
  const { path, send } = await failing(api, ['Shop']);
  const etag = (await api.call('GET', path, { token: api.token })).headers.get('etag') ?? '';
  const answers = await Promise.all(
    ['minor', 'critical', 'major'].map((severity) => send('PUT', '', { severity }, { 'if-match': etag })),
  );
  t.same(statuses(answers), [200, 412, 412]);
  t.equal((await send('DELETE', '', undefined, { 'if-match': etag })).status, 412);
  t.equal((await send('DELETE', '')).status, 204);
  t.same(await audited(api), ['incident.updated', 'incident.deleted']);
});

void t.test('what is gone is gone for everything that can be done with it', async (t) => {
  const api = await incidentsApi(t);
  const { send } = await failing(api, ['Shop']);
  const both = await Promise.all([send('DELETE', ''), send('DELETE', '')]);
  t.same(statuses(both), [204, 404]);
  for (const [method, suffix, body] of [
    ['GET', ''],
    ['PUT', '', { severity: 'minor' }],
    ['POST', '/updates', { body: 'x' }],
    ['POST', '/acknowledge'],
    ['POST', '/resolve'],
  ] as const) {
    t.match(await send(method, suffix, body), { status: 404, body: { code: 'not_found' } }, `${method} ${suffix}`);
  }
});

void t.test('an update that is sent twice under one key is said once', async (t) => {
  const api = await incidentsApi(t);
  const { send } = await failing(api, ['Shop']);
  const headers = { 'idempotency-key': 'once' };
  const first = await send('POST', '/updates', { body: 'We look at it.' }, headers);
  const again = await send('POST', '/updates', { body: 'We look at it.' }, headers);
  t.same([first.status, again.status], [201, 201]);
  t.equal(again.text, first.text);
  t.same(await kinds(api), ['incident.opened', 'incident.updated']);
});

void t.test('strangers, control characters and what is too long are refused by their field', async (t) => {
  const api = await incidentsApi(t);
  const { send } = await failing(api, ['Shop']);
  const eve = await api.account('eve@example.com');
  for (const [method, suffix, body, field] of [
    ['PUT', '', { assignee_id: eve.id }, '/assignee_id'],
    ['PUT', '', { title: 'x'.repeat(10_001) }, '/title'],
    ['PUT', '', { postmortem: 'a\u0000b' }, '/postmortem'],
    ['PUT', '', { description: 'a\u0000b' }, '/description'],
    ['POST', '/updates', { body: 'a\u0000b' }, '/body'],
    ['POST', '/resolve', { body: 'x'.repeat(10_001) }, '/body'],
    ['POST', '/resolve', { body: 'a\u0000b' }, '/body'],
  ] as const) {
    const answer = await send(method, suffix, body);
    t.match(answer, { status: 422, body: { errors: [{ path: field }] } }, `${method} ${suffix} ${field}`);
  }
  t.same(await audited(api), [], 'nothing was done');
});

void t.test('who leaves is assigned nothing any more, and what they said stays', async (t) => {
  const api = await incidentsApi(t);
  const { path, send } = await failing(api, ['Shop']);
  const ann = await api.account('ann@example.com');
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${api.workspaceId}, ${ann.id}, 'editor')`);
  t.match(await send('PUT', '', { assignee_id: ann.id }), { status: 200, body: { assignee: { id: ann.id } } });
  const said = await api.call('POST', `${path}/updates`, { token: ann.accessToken, body: { body: 'It is mine.' } });
  t.match(said, { status: 201, body: { updates: [{ author: { id: ann.id } }] } });
  await api.database.worker.query(sql.unsafe`delete from workspace_members where user_id = ${ann.id}`);
  t.match(await send('GET', ''), { status: 200, body: { assignee: null, updates: [{ author: { id: ann.id } }] } });
});

void t.test('a pause of what was resolved by hand is no recovery; an answer is', async (t) => {
  const api = await incidentsApi(t);
  const { monitorIds, send } = await failing(api, ['a', 'b']);
  await send('POST', '/resolve');
  const [a = 0, b = 0] = monitorIds;
  const at = new Date(api.clock.nowMs).toISOString();
  const paused = (id: number) =>
    api.tell(`monitor:${id}`, 'monitor.paused', { monitor_id: id, workspace_id: api.workspaceId, at });
  await api.turns(a, 'UP', api.clock.nowMs - 1_000);
  await paused(b);
  t.same(await kinds(api), ['incident.opened', 'incident.resolved'], 'the last to end was not seen to answer');
});

void t.test('a group is told as a whole, and who joins later in one message a minute', async (t) => {
  const api = await incidentsApi(t);
  const { path } = await failing(api, ['a', 'b', 'c']);
  for (const name of ['d', 'e', 'f']) {
    const { id } = await api.monitor({ name });
    await api.turns(id, 'DOWN', api.clock.nowMs - 30_000, refused);
    await api.passes(1_000);
  }
  t.same(await kinds(api), ['incident.opened']);
  await api.passes(minute);
  await api.passes(minute);
  t.match(await api.messages(), [
    { kind: 'incident.opened', member_count: 3 },
    { kind: 'incident.updated', reason: 'members', member_count: 6 },
  ]);
  t.match(await api.call('GET', path, { token: api.token }), { body: { title: 'a is down, and 5 more' } });
  t.equal((await api.messages()).length, 2);
});
