import { createServer } from 'node:http';
import { monitorTestSchema } from '@parallax/api-contract';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, addProbe, defaultWorkspace, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const path = '/api/v1/monitors/test';
const fine = {
  answer: {
    effective_us: 1_700_000_000_000_000,
    outcome: { outcome: 'ok', total: 10_000, phases: { connect: 100 } },
    trace: [{ at_us: 5, step: 'dns', detail: 'x' }],
  },
};

/** A server that knows one user, and what it was asked. */
async function target(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const known = `Basic ${Buffer.from('ada:hidden-word').toString('base64')}`;
    response.statusCode = request.headers.authorization === known ? 200 : 401;
    response.end('hello hidden-word');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
}

const counted = z.object({ monitors: z.number(), results: z.number(), audits: z.number() });
/** What is stored, to see that nothing comes to it. */
function stored(api: MonitorsApi): Promise<unknown> {
  return api.database.worker.one(sql.type(counted)`
    select (select count(*)::int from monitors) as monitors, (select count(*)::int from check_results) as results,
      (select count(*)::int from audit_log) as audits`);
}

void t.test('without probes the control plane tests, tells every step, and stores nothing', async (t) => {
  const url = await target(t);
  const api = await monitorsApi(t, { context: { allowedPrivateTargets: ['127.0.0.0/8'] } });
  const before = await stored(api);
  const body = {
    url,
    settings: {
      username: 'ada',
      password: 'hidden-word',
      assertions: { subject: 'status', comparison: 'equals', value: 200 },
    },
  };
  const answer = await api.call('POST', path, { token: api.token, body });
  t.equal(answer.status, 200, JSON.stringify(answer.body));
  const parsed = monitorTestSchema.strict().safeParse(answer.body);
  t.ok(parsed.success, String(parsed.error));
  t.match(answer.body, { status: 'UP', results: [{ probe_id: null, status: 'UP' }], missing: [] });
  const steps = (parsed.data?.trace ?? []).map(({ step }) => step);
  t.same(steps, ['dns', 'connect', 'request', 'answer', 'assertions', 'verdict']);
  t.notMatch(JSON.stringify(answer.body), 'hidden-word');
  const failed = await api.call('POST', path, { token: api.token, body: { ...body, keyword: 'absent' } });
  t.match(failed.body, { status: 'DOWN', results: [{ error_code: 'keyword_missing' }] });
  t.notMatch(JSON.stringify(failed.body), 'hidden-word', 'not in the evidence either, where the server said it');
  t.same(await stored(api), before, 'nothing is stored');
});

void t.test('a probe that is able tests, and is sent all of it', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'busy', 'eu');
  await addProbe(api.database, 'idle', 'us');
  for (const name of ['c', 'd']) await addProbe(api.database, name, 'eu');
  const monitor = await api.monitor({ probe_ids: [1, 3, 4] });
  api.broker.answer = () => fine;
  const body = { workspace_id: api.workspaceId, url: 'https://example.com/', timeout_seconds: 7 };
  const settings = { bearer_token: 'hidden-word' };
  const answer = await api.call('POST', path, { token: api.token, body: { ...body, settings } });
  t.match(answer.body, {
    status: 'UP',
    response_time_ms: 10,
    created_at: String,
    results: [{ probe_id: 2, created_at: '2023-11-14T22:13:20.000Z', phases: { connect_ms: 0.1 } }],
    missing: [],
    trace: [{ probe_id: 2, at_ms: 0.005, step: 'dns', detail: 'x' }],
  });
  t.equal(api.broker.questions.length, 1, 'one probe is asked');
  t.match(api.broker.questions[0], {
    subject: 'dispatch.2',
    timeoutMs: 12_000,
    message: {
      monitor_id: 0,
      kind: 'manual',
      trace: true,
      deadline_ms: 10_000,
      assignment: { protocol: 'https', url: 'https://example.com/', timeout_seconds: 7, settings },
    },
  });
  const named = await api.call('POST', path, { token: api.token, body: { ...body, probe_ids: [3, 1] } });
  t.match(named.body, { results: [{ probe_id: 1 }, { probe_id: 3 }] });
  await api.call('POST', path, {
    token: api.token,
    body: { ...body, regions: ['eu'], protocol: 'ping', url: 'a.test' },
  });
  t.match(api.broker.questions.at(-1)?.subject, /dispatch\.[134]/);
  t.equal(monitor.id, 1);
});

void t.test('probes that cannot be asked are refused by name, and those that do not answer are told', async (t) => {
  const api = await monitorsApi(t);
  const probe = await addProbe(api.database, 'a', 'eu');
  const other = await api.account('other@example.com');
  const foreign = await addProbe(api.database, 'private', 'eu');
  const theirs = await defaultWorkspace(api, other.accessToken);
  await api.database.worker.query(sql.unsafe`update probes set workspace_id = ${theirs} where id = ${foreign}`);
  const ask = (more: object) =>
    api.call('POST', path, { token: api.token, body: { url: 'https://example.com/', ...more } });
  for (const id of [foreign, 99])
    t.match(await ask({ probe_ids: [probe, id] }), {
      status: 422,
      body: { code: 'invalid_input', errors: [{ path: '/probe_ids', code: 'unknown_probe' }] },
    });
  t.match(await ask({ probe_ids: [1, 2, 3, 4, 5, 6] }), { status: 422 });
  t.match(await ask({ protocol: 'traceroute', url: 'a.test' }), { status: 422, body: { code: 'no_probe_able' } });
  t.match(await ask({ protocol: 'docker', url: 'unix:///run/docker.sock', settings: { container: 'web' } }), {
    status: 422,
    body: { code: 'no_probe_able', detail: /docker/ },
  });
  t.equal(api.broker.questions.length, 0, 'nobody was asked');
  t.match(await ask({}), { status: 503, body: { code: 'probe_unreachable', detail: /this configuration \(probe 1:/ } });
  api.broker.answer = () => ({ refused: 'overloaded' });
  t.match(await ask({}), { status: 503, body: { detail: /probe 1: overloaded/ } });
  await api.database.worker.query(sql.unsafe`update probes set offline_since = now() where id = ${probe}`);
  t.match(await ask({ protocol: 'tcp', url: '127.0.0.1:9' }), {
    status: 200,
    body: { results: [{ probe_id: null, error_code: 'address_denied' }] },
  });
});

void t.test('the body is judged as for a new monitor', async (t) => {
  const api = await monitorsApi(t, { context: { defaultPlan: 'free' } });
  const ask = (body: object) => api.call('POST', path, { token: api.token, body });
  const url = 'https://example.com/';
  const refusals: [object, object][] = [
    [{}, { errors: [{ path: '/url' }] }],
    [{ url, settings: { no_such: 1 } }, { errors: [{ path: '/settings/no_such' }] }],
    [{ url, settings: { method: 'FETCH' } }, { errors: [{ path: '/settings/method' }] }],
    [{ url: 'https://a b/' }, { errors: [{ path: '/url', code: 'target_invalid' }] }],
    [{ url, protocol: 'gopher' }, { errors: [{ path: '/protocol' }] }],
    [{ url, probe_ids: [1], regions: ['eu'] }, { errors: [{ path: '/regions' }] }],
    [{ url, surprise: 1 }, { code: 'invalid_input' }],
    [{ url, timeout_seconds: 61 }, { errors: [{ path: '/timeout_seconds' }] }],
    [{ protocol: 'docker', url: 'tcp://a.test' }, { errors: [{ path: '/url', message: /container is needed/ }] }],
  ];
  t.match(await ask({ url, interval_seconds: 10 }), { status: 422, body: { code: 'interval_below_plan' } });
  await api.database.worker.query(sql.unsafe`update users set plan = 'self_hosted'`);
  for (const [body, problem] of refusals)
    t.match(await ask(body), { status: 422, body: problem }, JSON.stringify(body));
  await api.monitor({ name: 'taken', url: 'http://127.0.0.1:9/' });
  t.equal((await ask({ url: 'http://127.0.0.1:9/', name: 'taken' })).status, 200, 'but its name may be taken');
});

void t.test('an edition of a stored monitor uses its secrets at their own destination only', async (t) => {
  const url = await target(t);
  const other = await target(t);
  const api = await monitorsApi(t, { context: { allowedPrivateTargets: ['127.0.0.0/8'] } });
  const settings = { username: 'ada', password: 'hidden-word' };
  const { id } = await api.monitor({ url, settings });
  const ask = async (more: object, token = api.token) => {
    const answer = await api.call('POST', path, {
      token,
      body: { url, monitor_id: id, settings: { username: 'ada' }, ...more },
    });
    const [first] = (answer.body['results'] ?? []) as { evidence: { status: number } }[];
    return [answer.status, answer.body['code'] ?? answer.body['status'], first?.evidence.status];
  };
  t.same(await ask({}), [200, 'UP', 200], 'the password is filled in');
  t.same(await ask({ url: other }), [200, 'DOWN', 401], 'but not for another destination');
  t.same(await ask({ settings: { username: 'ada', password: 'wrong-word' } }), [200, 'DOWN', 401]);
  t.same(await ask({ settings: { username: 'ada', password: null } }), [200, 'DOWN', 401]);
  t.same(await ask({ monitor_id: 77 }), [404, 'not_found', undefined]);

  const stranger = await api.account('stranger@example.com');
  t.same(await ask({}, stranger.accessToken), [404, 'not_found', undefined], 'nor for others');
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  t.same(await ask({}, viewer.accessToken), [403, 'forbidden', undefined]);
  const own = await defaultWorkspace(api, viewer.accessToken);
  t.same(
    await ask({ workspace_id: own }, viewer.accessToken),
    [422, 'invalid_input', undefined],
    'nor in their own workspace',
  );
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  t.same(await ask({}, editor.accessToken), [200, 'UP', 200]);
});

void t.test('who may test, and where', async (t) => {
  const api = await monitorsApi(t, { context: { allowedPrivateTargets: ['127.0.0.0/8'] } });
  const body = { url: 'http://127.0.0.1:9/' };
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  t.match(await api.call('POST', path, { key: String(made.body['key']), body }), {
    status: 403,
    body: { code: 'wrong_credential_kind' },
  });
  t.equal((await api.call('POST', path, { body })).status, 401);
  const stranger = await api.account('stranger@example.com');
  const call = (workspaceId: number | undefined, token: string) =>
    api.call('POST', path, { token, body: { ...body, workspace_id: workspaceId } });
  t.match(await call(api.workspaceId, stranger.accessToken), { status: 404 });
  await addMember(api.database, api.workspaceId, stranger.id, 'viewer');
  t.match(await call(api.workspaceId, stranger.accessToken), { status: 403, body: { code: 'forbidden' } });
  t.equal(
    (await call(undefined, stranger.accessToken)).status,
    200,
    'their own workspace is taken, in which they may edit',
  );
  await api.database.worker.query(
    sql.unsafe`delete from workspace_members where user_id = ${stranger.id} and role = 'owner'`,
  );
  await api.database.worker.query(sql.unsafe`
    update workspace_members set role = 'viewer' where user_id = ${stranger.id}`);
  t.match(await call(undefined, stranger.accessToken), { status: 403, body: { code: 'forbidden' } });
});
