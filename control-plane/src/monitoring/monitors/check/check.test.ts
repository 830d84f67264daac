import { createServer } from 'node:http';
import { manualCheckSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addProbe, monitorsApi } from '../../testing.ts';

const row = z.record(z.string(), z.unknown());
const outcome = (kind: string, total: number) => ({ outcome: kind, total, phases: { connect: 100 } });

void t.test('every assigned probe is asked, and what is missing is said', async (t) => {
  const api = await monitorsApi(t);
  for (const [name, region] of [
    ['a', 'eu'],
    ['b', 'us'],
    ['c', 'ap'],
  ] as const)
    await addProbe(api.database, name, region);
  const { id } = await api.monitor({ timeout_seconds: 7 });
  const startedUs = Date.now() * 1_000;
  const answers = new Map<string, unknown>([
    [
      'dispatch.1',
      {
        answer: {
          effective_us: startedUs,
          outcome: outcome('ok', 10_000),
          trace: [{ at_us: 5, step: 'dial', detail: 'x' }],
        },
      },
    ],
    [
      'dispatch.2',
      {
        answer: {
          effective_us: startedUs,
          outcome: { ...outcome('fail', 30_000), source: 'target', code: 'connect_refused', message: 'refused' },
          trace: [],
        },
      },
    ],
  ]);
  api.broker.answer = (subject) => answers.get(subject);
  const path = `/api/v1/monitors/${id}/check`;
  const checked = await api.call('POST', path, { token: api.token });
  t.equal(checked.status, 200, JSON.stringify(checked.body));
  const parsed = manualCheckSchema.strict().safeParse(checked.body);
  t.ok(parsed.success, String(parsed.error));
  t.match(checked.body, {
    monitor_id: id,
    is_manual: true,
    status: 'PARTIAL',
    response_time_ms: 10,
    results: [
      { probe_id: 1, status: 'UP', phases: { connect_ms: 0.1 }, created_at: new Date(startedUs / 1_000).toISOString() },
      { probe_id: 2, status: 'DOWN', error_code: 'connect_refused', message: 'refused' },
    ],
    missing: [{ probe_id: 3, reason: /did not answer/ }],
    trace: [{ probe_id: 1, step: 'dial' }],
  });
  t.match(api.broker.questions[0], {
    message: { type: 'run_check', monitor_id: id, kind: 'manual', deadline_ms: 10_000 },
    timeoutMs: 12_000,
  });
  t.notMatch(api.broker.questions[0]?.message, { assignment: {} }, 'an assigned monitor is known to the probe');
  for (const body of [null, {}]) t.equal((await api.call('POST', path, { token: api.token, body })).status, 200);
  t.equal(
    (await api.call('POST', path, { token: api.token, body: '', headers: { 'content-type': 'application/json' } }))
      .status,
    200,
  );
  t.equal((await api.call('POST', path, { token: api.token, body: { x: 1 } })).status, 422);
});

void t.test('named ones of the assigned probes are asked alone, and others are refused by name', async (t) => {
  const api = await monitorsApi(t);
  for (const name of ['a', 'b', 'c', 'd']) await addProbe(api.database, name, 'eu');
  const { id } = await api.monitor({ probe_ids: [1, 2, 3] });
  api.broker.answer = () => ({ answer: { effective_us: 0, outcome: outcome('fail', 1_000), trace: [] } });
  const check = (body: unknown) => api.call('POST', `/api/v1/monitors/${id}/check`, { token: api.token, body });
  const beforeMs = Date.now();
  const answer = await check({ probe_ids: [3, 1] });
  t.match(answer, { status: 200, body: { status: 'DOWN', results: [{ probe_id: 1 }, { probe_id: 3 }], missing: [] } });
  const [first] = answer.body['results'] as { created_at: string }[];
  const madeMs = Date.parse(first?.created_at ?? '');
  t.ok(Math.abs(madeMs - beforeMs) < 60_000, 'a probe that knows no time has checked when it was asked');
  t.same(
    api.broker.questions.map(({ subject }) => subject),
    ['dispatch.1', 'dispatch.3'],
  );
  const asked = api.broker.questions[0]?.message as { expires_at_ms: number } | undefined;
  t.ok(
    Math.abs((asked?.expires_at_ms ?? 0) - beforeMs - 13_000) < 10_000,
    'a while after the timeout of ten seconds nobody waits',
  );
  for (const [probeIds, path] of [
    [[1, 4], '/probe_ids/1'],
    [[99], '/probe_ids/0'],
  ] as const)
    t.match(await check({ probe_ids: probeIds }), { status: 422, body: { errors: [{ path, code: 'unknown_probe' }] } });
  t.equal((await check({ probe_ids: [1, 2, 3, 4, 5, 6] })).status, 422);
  t.equal((await check({ probe_ids: [1, 1] })).status, 422);
  t.equal(api.broker.questions.length, 2, 'nobody else was asked');
  for (const all of [[], null]) t.match((await check({ probe_ids: all })).body, { results: [{}, {}, {}] });
});

void t.test('nobody reached is 503 with the reasons', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'a', 'eu');
  const { id } = await api.monitor();
  api.broker.answer = () => ({ refused: 'overloaded' });
  t.match(await api.call('POST', `/api/v1/monitors/${id}/check`, { token: api.token }), {
    status: 503,
    body: { code: 'probe_unreachable', detail: /probe 1: overloaded/ },
  });
});

void t.test('a paused monitor is unknown to its probes, so they are sent what to check', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'a', 'eu');
  const { id } = await api.monitor({ is_active: false, settings: { username: 'ada', password: 'hidden' } });
  api.broker.answer = () => ({
    answer: { effective_us: Date.now() * 1_000, outcome: outcome('ok', 1_000), trace: [] },
  });
  t.match(await api.call('POST', `/api/v1/monitors/${id}/check`, { token: api.token }), {
    status: 200,
    body: { status: 'UP' },
  });
  t.match(api.broker.questions[0]?.message, {
    assignment: { url: 'https://example.com/', settings: { password: 'hidden' } },
  });
  const other = await api.monitor({ name: 'of a paused group' });
  const check = () => api.call('POST', `/api/v1/monitors/${other.id}/check`, { token: api.token });
  await check();
  await api.database.worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by) values (${other.id}, now(), 'group')`);
  await check();
  const [, active, paused] = api.broker.questions.map(({ message }) => message as Record<string, unknown>);
  t.equal(active?.['assignment'], undefined);
  t.match(paused?.['assignment'], { url: 'https://example.com/' });
});

void t.test(
  'a monitor without probes is checked by the control plane; the result is kept as manual and counts nowhere',
  async (t) => {
    const server = createServer((request, response) => {
      response.statusCode =
        request.headers.authorization === `Basic ${Buffer.from('ada:hidden').toString('base64')}` ? 200 : 401;
      response.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const api = await monitorsApi(t, { context: { allowedPrivateTargets: ['127.0.0.0/8'] } });
    const made = await api.monitor({
      url: `http://127.0.0.1:${port}/`,
      settings: { username: 'ada', password: 'hidden' },
    });
    const path = `/api/v1/monitors/${made.id}`;
    const checked = await api.call('POST', `${path}/check`, { token: api.token });
    t.match(
      checked,
      { status: 200, body: { status: 'UP', results: [{ probe_id: null, status: 'UP' }], missing: [] } },
      JSON.stringify(checked.body),
    );
    t.ok(Number(checked.body['response_time_ms']) > 0);
    const results = await api.call('GET', `${path}/results`, { token: api.token });
    t.match(results.body, {
      total: 1,
      results: [{ is_manual: true, is_fallback: false, probe_id: null, status: 'UP' }],
    });
    t.match((await api.call('GET', path, { token: api.token })).body, {
      last_checked_at: null,
      uptime_24h: null,
      status: 'UNKNOWN',
    });
    await api.call('PATCH', path, { token: api.token, body: { keyword: 'absent' } });
    const failed = await api.call('POST', `${path}/check`, { token: api.token });
    t.match(failed.body, { status: 'DOWN', results: [{ status: 'DOWN', error_code: 'keyword_missing' }] });
    t.match(await api.database.worker.any(sql.type(row)`select evidence from result_evidence`), [
      { evidence: { status: 200, body: 'hello' } },
    ]);
  },
);

void t.test('a target that the policy of the control plane denies is not reached', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor({ url: 'http://127.0.0.1:9/' });
  const checked = await api.call('POST', `/api/v1/monitors/${id}/check`, { token: api.token });
  t.match(checked, { status: 200, body: { status: 'UNKNOWN', results: [{ error_code: 'address_denied' }] } });
});

void t.test('an API key is not accepted', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  const key = String(made.body['key']);
  t.equal((await api.call('GET', `/api/v1/monitors/${id}`, { key })).status, 200, JSON.stringify(made.body));
  t.match(await api.call('POST', `/api/v1/monitors/${id}/check`, { key }), {
    status: 403,
    body: { code: 'wrong_credential_kind' },
  });
});
