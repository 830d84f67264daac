import { apiCheckResultSchema, apiCheckRunSchema, apiCheckTestSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { addProbe, addResults, monitorsApi } from '../testing.ts';
import type { MonitorsApi } from '../testing.ts';
import { apiCheckRoutes } from './index.ts';
import { shopCheck, shopPassword, startShop } from './testing.ts';

const path = '/api/v1/api-checks';
const options = {
  monitors: { resources: [apiCheckRoutes] },
  context: { allowedPrivateTargets: ['127.0.0.0/8'] },
};
/** What must be seen nowhere: the secret, and what the shop handed out. */
const hidden = new RegExp([shopPassword, 'tok-zyxwvuts98', 's-abcdefgh12'].join('|'));

function callerOf(api: MonitorsApi) {
  return (method: string, below = '', body?: unknown) =>
    api.call(method, path + below, { token: api.token, ...(body === undefined ? {} : { body }) });
}

void t.test('a run answers each step: what it took, took out and found', async (t) => {
  const shop = await startShop(t);
  const api = await monitorsApi(t, options);
  const call = callerOf(api);
  const made = await call('POST', '', { workspace_id: api.workspaceId, ...shopCheck(shop) });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  const ran = await call('POST', `/${id}/run`);
  t.equal(ran.status, 200, ran.text);
  const parsed = apiCheckRunSchema.strict().safeParse(ran.body);
  t.ok(parsed.success, String(parsed.error));
  t.match(ran.body, {
    api_check_id: id,
    is_manual: true,
    status: 'UP',
    results: [
      {
        probe_id: null,
        status: 'UP',
        failed_step: null,
        steps: [
          {
            number: 1,
            name: 'log in',
            result: 'ok',
            status_code: 200,
            response_time_ms: Number,
            error_code: null,
            extracted: ['token', 'id', 'region', 'session'],
            assertions: [],
          },
          { number: 2, name: 'account', result: 'ok', extracted: [], assertions: [] },
          {
            number: 3,
            name: 'orders',
            assertions: [
              { assertion: { subject: 'status', comparison: 'equals', value: 200 }, holds: true },
              { assertion: { subject: 'json', name: '$.state' }, holds: true },
            ],
          },
        ],
      },
    ],
  });
  t.same(shop.asked, ['/login', '/users/7?region=eu', '/orders'], 'what was taken out went into the next steps');
  t.notMatch(ran.text, hidden);

  shop.state = 'degraded';
  const failed = await call('POST', `/${id}/run`, {});
  t.match(failed.body, {
    status: 'DOWN',
    results: [
      {
        error_code: 'assertion_failed',
        message: /^Step 3 "orders": .*\$\.state is degraded/,
        failed_step: { number: 3, name: 'orders' },
        steps: [
          { result: 'ok' },
          { result: 'ok' },
          {
            result: 'failed',
            status_code: 200,
            error_code: 'assertion_failed',
            assertions: [{ holds: true }, { holds: false }],
          },
        ],
      },
    ],
  });
  await call('PATCH', `/${id}`, { secrets: { password: 'another-word-77' } });
  const refused = await call('POST', `/${id}/run`);
  t.match(refused.body, {
    status: 'DOWN',
    results: [
      {
        failed_step: { number: 1, name: 'log in' },
        steps: [
          { result: 'failed', status_code: 403, error_code: 'http_status', extracted: [] },
          { number: 2, name: 'account', result: 'skipped', status_code: null, response_time_ms: null, extracted: [] },
          { result: 'skipped', assertions: [{ holds: null }, { holds: null }] },
        ],
      },
    ],
  });
  for (const answer of [failed, refused]) t.notMatch(answer.text, hidden);
  t.notMatch(refused.text, 'another-word-77');

  const listed = await call('GET', `/${id}/results`);
  t.match(listed.body, {
    total: 3,
    results: [
      { is_manual: true, failed_step: { number: 1, name: 'log in' }, steps: [{ result: 'failed' }, {}, {}] },
      { failed_step: { number: 3, name: 'orders' } },
      { status: 'UP', failed_step: null, steps: null },
    ],
  });
  const results = listed.body['results'] as unknown[];
  t.ok(results.every((result) => apiCheckResultSchema.strict().safeParse(result).success));
  t.notMatch(listed.text, hidden);
});

void t.test('a test runs what is not stored, with the secrets of what it is an edition of', async (t) => {
  const shop = await startShop(t);
  const api = await monitorsApi(t, options);
  const call = callerOf(api);
  const tested = await call('POST', '/test', shopCheck(shop));
  t.equal(tested.status, 200, tested.text);
  t.ok(apiCheckTestSchema.strict().safeParse(tested.body).success);
  t.match(tested.body, {
    status: 'UP',
    results: [{ steps: [{ extracted: ['token', 'id', 'region', 'session'] }, {}, {}] }],
  });
  t.equal((await call('GET')).body['total'], 0, 'nothing is stored');

  const { body } = await call('POST', '', { workspace_id: api.workspaceId, ...shopCheck(shop) });
  const { secrets: _secrets, ...edition } = { ...shopCheck(shop), api_check_id: body['id'] };
  t.match((await call('POST', '/test', edition)).body, { status: 'UP' }, 'secrets of the stored one');
  t.match((await call('POST', '/test', { ...edition, secrets: { unused: 'x' } })).body, { status: 'UP' }, 'by name');
  const without = await call('POST', '/test', { ...edition, secrets: { password: null } });
  t.match(without.body, { status: 'DOWN', results: [{ error_code: 'variable_missing', failed_step: { number: 1 } }] });
  const elsewhere = await startShop(t);
  const moved = { ...edition, url: elsewhere.url };
  for (const secrets of [undefined, { unused: 'x' }]) {
    const answer = await call('POST', '/test', secrets === undefined ? moved : { ...moved, secrets });
    t.match(answer.body, { results: [{ error_code: 'variable_missing' }] }, 'not to another place');
  }
  t.same(elsewhere.asked, []);
  const stepElsewhere = edition.steps.map((step, at) => (at === 0 ? { ...step, url: `${elsewhere.url}/login` } : step));
  const answer = await call('POST', '/test', { ...edition, steps: stepElsewhere, secrets: {} });
  t.match(answer.body, { results: [{ error_code: 'variable_missing' }] });
  t.same(elsewhere.asked, []);
  t.notMatch(answer.text, hidden);
});

void t.test('a probe runs it, and what it does not tell is told as unknown', async (t) => {
  const shop = await startShop(t);
  const api = await monitorsApi(t, options);
  const call = callerOf(api);
  await addProbe(api.database, 'a', 'eu');
  const made = await call('POST', '', { workspace_id: api.workspaceId, ...shopCheck(shop) });
  const details = {
    step_1: 'ok 200 in 12.3 ms "log in"',
    step_2: 'failed 500 in 3 ms [http_status] "account": The server answered 500.',
    step_3: 'skipped "orders"',
    failed_step: 2,
  };
  const outcome = { outcome: 'fail', source: 'target', code: 'http_status', message: 'm', total: 9_000, phases: {} };
  const answer = { effective_us: Date.now() * 1_000, outcome: { ...outcome, evidence: { details } } };
  api.broker.answer = () => ({ answer: { ...answer, trace: [] } });
  t.match((await call('POST', `/${String(made.body['id'])}/run`)).body, {
    results: [
      {
        probe_id: 1,
        failed_step: { number: 2, name: 'account' },
        steps: [
          { number: 1, response_time_ms: 12.3, extracted: null },
          { number: 2, result: 'failed', message: 'The server answered 500.', extracted: null },
          { number: 3, result: 'skipped', extracted: [] },
        ],
      },
    ],
  });
  const hostile = { step_1: 'no line', step_2: 7, failed_step: 'x', more: {} };
  api.broker.answer = () => ({
    answer: { ...answer, outcome: { ...outcome, evidence: { details: hostile } }, trace: [] },
  });
  t.match((await call('POST', `/${String(made.body['id'])}/run`)).body, {
    results: [{ failed_step: null, steps: [] }],
  });
  api.broker.answer = () => undefined;
  t.match(await call('POST', `/${String(made.body['id'])}/run`), { status: 503, body: { code: 'probe_unreachable' } });
});

void t.test('a result like the one before names the same step', async (t) => {
  const api = await monitorsApi(t, options);
  const call = callerOf(api);
  const made = await call('POST', '', { workspace_id: api.workspaceId, url: 'https://a.example', steps: [{}, {}] });
  const id = Number(made.body['id']);
  const base = Date.now() - 600_000;
  const at = (minute: number): number => base + minute * 60_000;
  const failing = { monitorId: id, probeId: 1, outcome: 'fail', code: 'assertion_failed' } as const;
  await addResults(api.database, [
    { monitorId: id, probeId: 1, atMs: at(0) },
    { ...failing, atMs: at(1) },
    { ...failing, atMs: at(2) },
    { ...failing, atMs: at(3) },
    { ...failing, probeId: 2, atMs: at(3) },
    { ...failing, atMs: at(4) },
    { monitorId: id, probeId: 1, atMs: at(5) },
  ]);
  const evidence = async (minute: number, step: number): Promise<void> => {
    const details = { step_1: 'ok "a"', [`step_${step}`]: `failed "named ${step}"`, failed_step: step };
    await api.database.worker.query(sql.unsafe`
      insert into result_evidence (e, monitor_id, probe_id, message, evidence)
      values (${sql.timestamp(new Date(at(minute)))}, ${id}, 1, 'm', ${JSON.stringify({ details })}::jsonb)`);
  };
  await evidence(1, 2);
  await evidence(3, 1);
  const listed = await call('GET', `/${id}/results`);
  const found = z
    .object({ results: z.array(apiCheckResultSchema) })
    .parse(listed.body)
    .results.filter(({ probe_id: probe }) => probe === 1)
    .map(({ failed_step: step, steps }) => [step?.name ?? null, steps?.length ?? null]);
  t.same(found, [
    [null, null],
    ['named 1', null],
    ['named 1', 1],
    ['named 2', null],
    ['named 2', 2],
    [null, null],
  ]);
  const other = (listed.body['results'] as { probe_id: number; failed_step: unknown }[]).find(
    (one) => one.probe_id === 2,
  );
  t.equal(other?.failed_step, null, 'another probe has its own');
  await api.database.worker.query(sql.unsafe`
    update monitors set reset_at = ${sql.timestamp(new Date(at(4) - 1_000))} where id = ${id}`);
  const since = (await call('GET', `/${id}/results`)).body['results'] as { failed_step: unknown }[];
  t.same(
    since.map(({ failed_step: step }) => step),
    [null, null],
    'nothing from before a reset',
  );
});
