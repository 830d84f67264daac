import { slaSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { addMember, addProbe, addRange, addResults } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, iso, minuteMs, reportingApi } from '../testing.ts';
import type { ReportingApi } from '../testing.ts';

async function sla(api: ReportingApi, id: number, query = '') {
  return slaSchema.parse(await api.get(`/api/v1/monitors/${id}/sla${query}`));
}

/** Ten days old, up but for ten minutes twelve hours ago and five minutes two hours ago. */
async function withTwoOutages(api: ReportingApi): Promise<number> {
  const id = await api.oldMonitor(10 * dayMs);
  const ago = (ms: number) => api.nowMs - ms;
  const range = (fromMs: number, toMs: number | null, status: 'UP' | 'DOWN' | 'TIMEOUT') =>
    addRange(api.database, { monitorId: id, fromMs, toMs, status });
  await range(ago(10 * dayMs), ago(12 * hourMs), 'UP');
  await range(ago(12 * hourMs), ago(12 * hourMs - 10 * minuteMs), 'DOWN');
  await range(ago(12 * hourMs - 10 * minuteMs), ago(2 * hourMs), 'UP');
  await range(ago(2 * hourMs), ago(2 * hourMs - 5 * minuteMs), 'TIMEOUT');
  await range(ago(2 * hourMs - 5 * minuteMs), null, 'UP');
  return id;
}

void t.test('a report has times, outages, repairs and, with a target, a budget', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  await addResults(api.database, [{ monitorId: id, probeId: 0, central: true, atMs: api.nowMs - hourMs }]);
  const body = await sla(api, id, '?slo_target=99');
  t.match(body, {
    monitor_id: id,
    hours: 24,
    from: iso(api.nowMs - dayMs),
    to: iso(api.nowMs),
    generated_at: iso(api.nowMs),
    uptime_percent: 98.9583,
    uptime_seconds: 85_500,
    downtime_seconds: 900,
    measured_seconds: 86_400,
    unknown_seconds: 0,
    corrected_seconds: 0,
    incidents: 2,
    mttr_seconds: 450,
    mtbf_seconds: 10 * 3_600 - 600,
    outages: [
      { started_at: iso(api.nowMs - 12 * hourMs), duration_seconds: 600, downtime_seconds: 600, status: 'DOWN' },
      { ended_at: iso(api.nowMs - 2 * hourMs + 5 * minuteMs), downtime_seconds: 300, status: 'TIMEOUT' },
    ],
    outages_omitted: 0,
    response_time: { count: 1, p50_ms: 20 },
    probes: [{ probe_id: null, name: 'control plane', checks: 1, answered: 1 }],
    error_budget: {
      slo_target: 99,
      is_met: false,
      budget_seconds: 864,
      consumed_seconds: 900,
      remaining_seconds: -36,
      burn_rate_1h: 0,
    },
    corrections: [],
    ledger: { chain: 1, seq: 0, digest: null },
  });
  t.equal(body.error_budget?.burn_rate_6h, 1.3889, '300 of 21,600 seconds, of which 1 % may fail');
  t.equal((await sla(api, id)).error_budget, null);
  t.equal((await sla(api, id, '?slo_target=98.5')).error_budget?.is_met, true);
  t.match(await sla(api, id, '?hours=1&slo_target=99'), {
    incidents: 0,
    mttr_seconds: null,
    mtbf_seconds: null,
    error_budget: { burn_rate_1h: 0, burn_rate_6h: null },
  });
  t.match(await sla(api, id, '?hours=2160'), { clamped_by: 'creation', incidents: 2, measured_seconds: 864_000 });
});

void t.test('an outage is told from its true onset, with its cause, whatever the window cuts', async (t) => {
  const api = await reportingApi(t);
  await addProbe(api.database, 'one', 'eu');
  const id = await api.oldMonitor(10 * dayMs);
  const at = (hours: number) => sql.timestamp(new Date(api.nowMs - hours * hourMs));
  const voters = JSON.stringify({ voters: [{ voter: 1, vote: 'DOWN', sinceUs: 0, error: 1 }] });
  await api.database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status, evidence, revised_at) values
      (${id}, ${at(40)}, ${at(36)}, 'UP', '{}', null),
      (${id}, ${at(36)}, ${at(31)}, 'DOWN', '{}', null),
      (${id}, ${at(30)}, ${at(27)}, 'TIMEOUT', ${voters}::jsonb, null),
      (${id}, ${at(27)}, ${at(25)}, 'DOWN', ${voters}::jsonb, null),
      (${id}, ${at(25)}, ${at(23)}, 'TIMEOUT', ${voters}::jsonb, now()),
      (${id}, ${at(3)}, null, 'DOWN', '{"voters": "nonsense"}', null)`);
  const body = await sla(api, id);
  t.match(body.outages, [
    {
      started_at: iso(api.nowMs - 30 * hourMs),
      ended_at: iso(api.nowMs - 23 * hourMs),
      duration_seconds: 7 * 3_600,
      downtime_seconds: 3_600,
      is_revised: true,
      cause: /, one probe$/,
    },
    { ended_at: null, downtime_seconds: 3 * 3_600, is_revised: false, cause: null },
  ]);
  t.equal(body.mttr_seconds, 7 * 3_600);
});

void t.test('a correction changes figures from then on, and says what they were', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  const path = `/api/v1/monitors/${id}/sla/corrections`;
  const startMs = api.nowMs - 12 * hourMs;
  const correct = (counted_as: string, fromMs: number, toMs: number) =>
    api.call('POST', path, {
      token: api.token,
      body: { started_at: iso(fromMs), ended_at: iso(toMs), counted_as, reason: ' the firewall of the customer ' },
    });
  const first = await correct('UP', startMs - hourMs, startMs + 6 * minuteMs);
  t.match(first, {
    status: 201,
    body: {
      monitor_id: id,
      counted_as: 'UP',
      reason: 'the firewall of the customer',
      created_by: { user_id: api.owner.id, name: `User ${api.owner.id}` },
      before: { up: 3_600, down: 360 },
      after: { up: 3_960, down: 0 },
    },
  });
  t.match(await sla(api, id), {
    downtime_seconds: 540,
    corrected_seconds: 360,
    measured_uptime_percent: 98.9583,
    incidents: 2,
    mttr_seconds: (240 + 300) / 2,
    outages: [{ duration_seconds: 600, downtime_seconds: 240, is_corrected: true }, { is_corrected: false }],
    corrections: [{ id: first.body['id'] }],
    ledger: { chain: 1, seq: 1 },
  });
  t.match(await correct('EXCLUDED', startMs, startMs + hourMs), {
    status: 201,
    body: { before: { up: 50 * 60 + 360, down: 240 }, after: { up: 0, down: 0, excluded: 3_600 } },
  });
  t.match(await sla(api, id), {
    excluded_seconds: 3_600,
    downtime_seconds: 300,
    measured_seconds: 82_800,
    incidents: 1,
  });
  t.match(await correct('MEASURED', startMs, startMs + 5 * minuteMs), {
    status: 201,
    body: { before: { excluded: 300, down: 0 }, after: { excluded: 0, down: 300 } },
  });
  t.match(await sla(api, id), { excluded_seconds: 3_300, downtime_seconds: 600, corrected_seconds: 3_300 });
  t.match(await api.get(`/api/v1/monitors/${id}/stats`), { downtime_seconds: 900 }, 'statistics stay as measured');
  t.match(await api.get(`${path}?page_size=2`), {
    total: 3,
    page: 1,
    page_size: 2,
    corrections: [{ counted_as: 'MEASURED' }, { counted_as: 'EXCLUDED' }],
  });
  const ledger = await api.get(`/api/v1/monitors/${id}/sla/ledger`);
  t.match(ledger, {
    total: 3,
    chain: 1,
    is_current: true,
    head: { seq: 3 },
    entries: [{ kind: 'correction', day: null }],
  });
  const audit = await api.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from audit_log where action = 'sla.corrected'`,
  );
  t.equal(audit, 3);
});

void t.test('a time that cannot be corrected is refused', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  const correct = (fromMs: number, toMs: number, more: object = {}) =>
    api.call('POST', `/api/v1/monitors/${id}/sla/corrections`, {
      token: api.token,
      body: { started_at: iso(fromMs), ended_at: iso(toMs), counted_as: 'UP', reason: 'a reason', ...more },
    });
  const refused = { status: 422, body: { code: 'invalid_input' } };
  const { nowMs } = api;
  t.match(await correct(nowMs - hourMs, nowMs + 1_000), {
    ...refused,
    body: { errors: [{ path: '/ended_at', code: 'future' }] },
  });
  t.match(await correct(nowMs - hourMs, nowMs - hourMs), { ...refused, body: { errors: [{ code: 'order' }] } });
  t.match(await correct(nowMs - hourMs, nowMs - 2 * hourMs), { ...refused, body: { errors: [{ code: 'order' }] } });
  t.match(await correct(nowMs - 91 * dayMs, nowMs), { ...refused, body: { errors: [{ code: 'too_long' }] } });
  t.match(await correct(nowMs - 12 * dayMs, nowMs - 11 * dayMs), {
    ...refused,
    body: { errors: [{ code: 'not_measured' }] },
  });
  t.match(await correct(Date.parse('0001-01-01T00:00:00Z'), Date.parse('0001-02-01T00:00:00Z')), refused);
  t.match(await correct(nowMs - hourMs, nowMs, { reason: '  ' }), refused);
  t.match(await correct(nowMs - hourMs, nowMs, { reason: 'x'.repeat(2_001) }), refused);
  t.match(await correct(nowMs - hourMs, nowMs, { counted_as: 'DOWN' }), refused);
  t.match(await correct(nowMs - hourMs, nowMs, { started_at: 'yesterday' }), refused);
  t.match(await correct(nowMs - hourMs, nowMs, { more: true }), refused);
  t.match(await correct(nowMs - 20 * dayMs, nowMs - 9 * dayMs), { status: 201 }, 'a part that was measured is enough');
  t.match(await api.get(`/api/v1/monitors/${id}/sla/corrections`), { total: 1 });
});

void t.test('corrections that are made at once all stand in the ledger, in order', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      api.call('POST', `/api/v1/monitors/${id}/sla/corrections`, {
        token: api.token,
        body: {
          started_at: iso(api.nowMs - 12 * hourMs + index * minuteMs),
          ended_at: iso(api.nowMs - 11 * hourMs),
          counted_as: 'UP',
          reason: `number ${index}`,
        },
      }),
    ),
  );
  t.same([...new Set(made.map(({ status }) => status))], [201]);
  const { entries } = (await api.get(`/api/v1/monitors/${id}/sla/ledger?page_size=100`)) as {
    entries: { seq: number }[];
  };
  t.same(
    entries.map(({ seq }) => seq),
    [8, 7, 6, 5, 4, 3, 2, 1],
  );
});

void t.test('the number of corrections is bounded', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  await api.database.worker.query(sql.unsafe`
    insert into sla_corrections (workspace_id, monitor_id, chain, started_at, ended_at, counted_as, reason, created_by_name, before, after)
    select ${api.workspaceId}, ${id}, 1, now() - n * interval '1 minute', now(), 'UP', 'r', 'n', z, z
    from generate_series(1, 1000) n,
      (select '{"upMs":0,"degradedMs":0,"downMs":0,"timeoutMs":0,"unknownMs":0,"maintenanceMs":0,"pausedMs":0,"excludedMs":0}'::jsonb as z) z`);
  t.match(
    await api.call('POST', `/api/v1/monitors/${id}/sla/corrections`, {
      token: api.token,
      body: { started_at: iso(api.nowMs - hourMs), ended_at: iso(api.nowMs), counted_as: 'UP', reason: 'one more' },
    }),
    { status: 409, body: { code: 'conflict' } },
  );
  t.equal((await sla(api, id)).corrections.length, 1_000);
});

void t.test('who may ask, correct and read', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  const base = `/api/v1/monitors/${id}/sla`;
  const reads = [base, `${base}/export/csv`, `${base}/export/pdf`, `${base}/corrections`, `${base}/ledger`];
  const body = { started_at: iso(api.nowMs - hourMs), ended_at: iso(api.nowMs), counted_as: 'UP', reason: 'x' };
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'key' } });
  const key = String(made.body['key']);
  const stranger = await api.account('stranger@example.com');
  for (const path of reads) {
    t.match(await api.call('GET', path, { key }), { status: 403, body: { code: 'wrong_credential_kind' } }, path);
    t.equal((await api.call('GET', path, { token: stranger.accessToken })).status, 404, path);
    t.equal((await api.call('GET', path)).status, 401, path);
    t.equal((await api.call('GET', path.replace(`/${id}/`, '/4711/'), { token: api.token })).status, 404, path);
  }
  const correct = (token: string) => api.call('POST', `${base}/corrections`, { token, body });
  t.equal((await correct(stranger.accessToken)).status, 404);
  for (const role of ['viewer', 'editor']) {
    const member = await api.account(`${role}@example.com`);
    await addMember(api.database, api.workspaceId, member.id, role);
    t.equal((await api.call('GET', base, { token: member.accessToken })).status, 200, role);
    t.match(await correct(member.accessToken), { status: 403, body: { code: 'forbidden' } }, role);
  }
  t.equal((await correct(api.token)).status, 201);
  for (const query of [
    'hours=0',
    'hours=2161',
    'hours=x',
    'slo_target=89.9',
    'slo_target=100.1',
    'slo_target=1e2',
    'slo_target=',
  ]) {
    for (const path of reads.slice(0, 3))
      t.equal((await api.call('GET', `${path}?${query}`, { token: api.token })).status, 422, `${path} ${query}`);
  }
  for (const query of ['page=0', 'page_size=101', 'chain=0', 'chain=x']) {
    t.equal((await api.call('GET', `${base}/ledger?${query}`, { token: api.token })).status, 422, query);
  }
  t.match(await sla(api, id, '?hours=2160&slo_target=100'), { error_budget: { slo_target: 100, budget_seconds: 0 } });
});

void t.test('a monitor without any result, and one that is paused', async (t) => {
  const api = await reportingApi(t);
  const empty = await api.oldMonitor(0);
  t.match(await sla(api, empty, '?slo_target=99.9'), {
    uptime_percent: null,
    measured_seconds: 0,
    mttr_seconds: null,
    outages: [],
    probes: [],
    response_time: { count: 0, p95_ms: null },
    error_budget: { is_met: null, budget_seconds: 0, consumed_percent: null, burn_rate: null },
  });
  const paused = await api.oldMonitor(dayMs, { name: 'paused', is_active: false });
  await api.database.worker.query(
    sql.unsafe`update pauses set started_at = ${sql.timestamp(new Date(api.nowMs - dayMs))}`,
  );
  t.match(await sla(api, paused), { paused_seconds: 86_400, unknown_seconds: 0, uptime_percent: null });
});

void t.test('a reset begins a new chain; corrections and entries of before count no more', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  const body = {
    started_at: iso(api.nowMs - 13 * hourMs),
    ended_at: iso(api.nowMs - hourMs),
    counted_as: 'UP',
    reason: 'x',
  };
  t.equal((await api.call('POST', `/api/v1/monitors/${id}/sla/corrections`, { token: api.token, body })).status, 201);
  const reset = await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.equal(reset.status, 200, JSON.stringify(reset.body));
  t.match(await sla(api, id), {
    clamped_by: 'reset',
    uptime_percent: null,
    corrections: [],
    outages: [],
    ledger: { chain: 2, seq: 0, digest: null },
  });
  t.match(await api.get(`/api/v1/monitors/${id}/sla/corrections`), { total: 0, corrections: [] });
  t.match(await api.get(`/api/v1/monitors/${id}/sla/ledger`), { total: 0, chain: 2, is_current: true, entries: [] });
  t.match(await api.get(`/api/v1/monitors/${id}/sla/ledger?chain=1`), { total: 1, chain: 1, is_current: false });
});

void t.test('a deletion leaves nothing', async (t) => {
  const api = await reportingApi(t);
  const id = await withTwoOutages(api);
  const other = await withTwoOutages(api);
  const body = {
    started_at: iso(api.nowMs - 13 * hourMs),
    ended_at: iso(api.nowMs - hourMs),
    counted_as: 'UP',
    reason: 'x',
  };
  for (const each of [id, other]) {
    t.equal(
      (await api.call('POST', `/api/v1/monitors/${each}/sla/corrections`, { token: api.token, body })).status,
      201,
    );
  }
  t.equal((await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token })).status, 204);
  const left = (table: string) =>
    api.database.worker.anyFirst(
      sql.type(z.object({ monitor_id: z.number() }))`select monitor_id from ${sql.identifier([table])}`,
    );
  t.same([await left('sla_ledger'), await left('sla_corrections')], [[other], [other]]);
});
