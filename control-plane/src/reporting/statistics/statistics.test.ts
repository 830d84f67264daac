import { distributionSchema, statsSchema } from '@parallax/api-contract';
import t from 'tap';
import { addMember, addProbe, addRange, addResults, setStatus } from '../../monitoring/testing.ts';
import type { TestResult } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, iso, minuteMs, reportingApi } from '../testing.ts';
import type { ReportingApi } from '../testing.ts';

const paths = (id: number) =>
  ['stats', 'response-time-distribution', 'latency'].map((name) => `/api/v1/monitors/${id}/${name}`);

async function stats(api: ReportingApi, id: number, query = '') {
  return statsSchema.parse(await api.get(`/api/v1/monitors/${id}/stats${query}`));
}

async function distribution(api: ReportingApi, id: number, query = '') {
  return distributionSchema.parse(await api.get(`/api/v1/monitors/${id}/response-time-distribution${query}`));
}

/** Results a minute apart that end before now. */
const everyMinute = (nowMs: number, count: number, result: Omit<TestResult, 'atMs'>): TestResult[] =>
  Array.from({ length: count }, (_, index) => ({ ...result, atMs: nowMs - (index + 1) * minuteMs }));

void t.test('a monitor that was never checked has figures for nothing', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(30 * minuteMs);
  t.match(await stats(api, id), {
    monitor_id: id,
    hours: 24,
    requested_from: iso(api.nowMs - dayMs),
    from: iso(api.nowMs - 30 * minuteMs),
    to: iso(api.nowMs),
    clamped_by: 'creation',
    status: 'UNKNOWN',
    last_checked_at: null,
    uptime_percent: null,
    seconds: { up: 0, unknown: 1_800, paused: 0 },
    downtime_seconds: 0,
    outages: 0,
    checks: { total: 0, manual: 0 },
    response_time: { count: 0, mean_ms: null, p99_ms: null },
    probes: [],
  });
  t.match(await distribution(api, id), { probe_id: null, count: 0, p50_ms: null, p99_ms: null, histogram: [] });
});

void t.test('availability comes from ranges, numbers and times from results, of each probe too', async (t) => {
  const api = await reportingApi(t);
  const [one, two] = [await addProbe(api.database, 'one', 'eu'), await addProbe(api.database, 'two', 'us')];
  const id = await api.oldMonitor(10 * dayMs);
  const { nowMs } = api;
  await addRange(api.database, { monitorId: id, fromMs: nowMs - 9 * dayMs, toMs: nowMs - 6 * hourMs, status: 'UP' });
  await addRange(api.database, { monitorId: id, fromMs: nowMs - 6 * hourMs, toMs: nowMs - 5 * hourMs, status: 'DOWN' });
  await addRange(api.database, { monitorId: id, fromMs: nowMs - 4 * hourMs, toMs: null, status: 'DEGRADED' });
  const ofOne = { monitorId: id, probeId: one };
  await addRange(api.database, { ...ofOne, fromMs: nowMs - 2 * dayMs, toMs: nowMs - 6 * hourMs, status: 'UP' });
  await addRange(api.database, { ...ofOne, fromMs: nowMs - 6 * hourMs, toMs: null, status: 'TIMEOUT' });
  await addResults(api.database, [
    ...everyMinute(nowMs, 99, { monitorId: id, probeId: one, totalUs: 20_000 }),
    { monitorId: id, probeId: one, atMs: nowMs - 100 * minuteMs, totalUs: 500_000, outcome: 'slow' },
    { monitorId: id, probeId: two, atMs: nowMs - 3 * minuteMs, outcome: 'fail', code: 'connect_refused' },
    { monitorId: id, probeId: two, atMs: nowMs - 2 * minuteMs, outcome: 'timeout', kind: 'recheck' },
    { monitorId: id, probeId: two, atMs: nowMs - 1 * minuteMs, outcome: 'skipped' },
    { monitorId: id, probeId: 0, atMs: nowMs - 90_000, fallback: true, totalUs: 900_000 },
    { monitorId: id, probeId: two, atMs: nowMs - 30_000, kind: 'manual', totalUs: 7_000_000 },
    { monitorId: id, probeId: one, atMs: nowMs - 25 * hourMs, totalUs: 9_000_000 },
  ]);
  await setStatus(api.database, id, 'DEGRADED');
  const body = await stats(api, id);
  t.match(body, {
    clamped_by: null,
    status: 'DEGRADED',
    last_checked_at: iso(nowMs - minuteMs),
    uptime_percent: 95.6521,
    seconds: { up: 18 * 3_600, down: 3_600, degraded: 4 * 3_600, unknown: 3_600, timeout: 0 },
    downtime_seconds: 3_600,
    outages: 1,
    checks: { total: 104, ok: 100, slow: 1, fail: 1, timeout: 1, skipped: 1, fallback: 1, manual: 1 },
    response_time: { count: 100, min_ms: 20, max_ms: 500, mean_ms: 24.8 },
  });
  t.ok(Math.abs((body.response_time.p50_ms ?? 0) / 20 - 1) <= 0.01);
  t.match(body.probes, [
    {
      probe_id: one,
      name: 'one',
      region: 'eu',
      uptime_percent: 75,
      checks: { total: 100 },
      response_time: { count: 100 },
    },
    {
      probe_id: two,
      name: 'two',
      region: 'us',
      uptime_percent: null,
      checks: { total: 3, manual: 1 },
      response_time: { count: 0 },
    },
    {
      probe_id: null,
      name: 'control plane',
      region: 'central',
      checks: { total: 1, fallback: 1 },
      response_time: { count: 0 },
    },
  ]);
  t.equal((await stats(api, id, '?hours=1')).checks.total, 60 + 4);
  t.match(await stats(api, id, '?hours=720'), { clamped_by: 'creation', from: iso(nowMs - 10 * dayMs) });
});

void t.test('a distribution has percentiles and a histogram that loses nothing, of all or of one probe', async (t) => {
  const api = await reportingApi(t);
  const [one, two] = [await addProbe(api.database, 'one', 'eu'), await addProbe(api.database, 'two', 'us')];
  const id = await api.oldMonitor(10 * dayMs);
  const spread = Array.from({ length: 600 }, (_, index) => ({
    monitorId: id,
    probeId: index % 2 === 0 ? one : two,
    atMs: api.nowMs - (index + 1) * minuteMs,
    totalUs: 1_000 * (index + 1),
  }));
  await addResults(api.database, spread);
  const all = await distribution(api, id);
  t.match(all, { count: 600, mean_ms: 300.5, min_ms: 1, max_ms: 600 });
  for (const [name, exact] of [
    ['p50_ms', 300],
    ['p90_ms', 540],
    ['p95_ms', 570],
    ['p99_ms', 594],
  ] as const) {
    t.ok(Math.abs((all[name] ?? 0) / exact - 1) <= 0.01, `${name} is ${all[name]}`);
  }
  t.ok(all.histogram.length > 10 && all.histogram.length <= 40);
  t.equal(
    all.histogram.reduce((sum, { count }) => sum + count, 0),
    600,
  );
  t.match(await distribution(api, id, `?probe_id=${one}`), { probe_id: one, count: 300, mean_ms: 300 });
  t.match(await distribution(api, id, '?probe_id=4711'), { probe_id: 4711, count: 0, p50_ms: null, histogram: [] });
});

void t.test('what was paused is neither up nor down', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(2 * dayMs, { is_active: false });
  await api.database.worker.query(sql.unsafe`
    update pauses set started_at = ${sql.timestamp(new Date(api.nowMs - 6 * hourMs))} where monitor_id = ${id}`);
  await addRange(api.database, {
    monitorId: id,
    fromMs: api.nowMs - 12 * hourMs,
    toMs: api.nowMs - 6 * hourMs,
    status: 'UP',
  });
  await setStatus(api.database, id, 'UP');
  t.match(await stats(api, id), {
    status: 'UNKNOWN',
    uptime_percent: 100,
    seconds: { up: 6 * 3_600, paused: 6 * 3_600, unknown: 12 * 3_600 },
  });
});

void t.test('nothing of before a reset is shown', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(10 * dayMs);
  const resetMs = api.nowMs - 2 * hourMs;
  await addRange(api.database, {
    monitorId: id,
    fromMs: api.nowMs - 5 * hourMs,
    toMs: api.nowMs - hourMs,
    status: 'DOWN',
  });
  await addRange(api.database, { monitorId: id, fromMs: api.nowMs - hourMs, toMs: null, status: 'UP' });
  await addResults(api.database, everyMinute(api.nowMs, 240, { monitorId: id, probeId: 0, central: true }));
  await api.database.worker.query(sql.unsafe`update monitors set reset_at = ${sql.timestamp(new Date(resetMs))}`);
  t.match(await stats(api, id), {
    from: iso(resetMs),
    clamped_by: 'reset',
    seconds: { down: 0, up: 3_600, unknown: 3_600 },
    uptime_percent: 100,
    checks: { total: 120 },
  });
  t.match(await distribution(api, id), { count: 120, clamped_by: 'reset' });
  await api.database.worker.query(
    sql.unsafe`update monitors set reset_at = ${sql.timestamp(new Date(api.nowMs - 1_000))}`,
  );
  t.match(await stats(api, id), { last_checked_at: null, uptime_percent: null, checks: { total: 0 } });
});

void t.test('an evaluation that stands still earns no uptime', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(10 * dayMs);
  await addRange(api.database, { monitorId: id, fromMs: api.nowMs - 9 * dayMs, toMs: null, status: 'UP' });
  const folded = (ms: number) =>
    api.database.worker.query(sql.unsafe`
      insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(ms))})
      on conflict (shard) do update set folded_until = excluded.folded_until`);
  await folded(api.nowMs - 3_000);
  t.match(await stats(api, id), { to: iso(api.nowMs - 3_000), seconds: { up: 86_400, unknown: 0 } });
  await folded(api.nowMs - hourMs);
  t.match(await stats(api, id), {
    to: iso(api.nowMs),
    seconds: { up: 23 * 3_600, unknown: 3_600 },
    uptime_percent: 100,
  });
});

void t.test('many ranges are read in slices and come to the same', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(10 * dayMs);
  // Twelve thousand ranges of three seconds, each third one an outage.
  await api.database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status)
    select ${id}, s + n * interval '3 seconds', s + (n + 1) * interval '3 seconds',
      case n % 3 when 0 then 'UP' when 1 then 'DOWN' else 'DEGRADED' end
    from (select ${sql.timestamp(new Date(api.nowMs - 12 * hourMs))} as s) b, generate_series(0, 11999) n`);
  t.match(await stats(api, id), {
    outages: 4_000,
    seconds: { up: 12_000, down: 12_000, degraded: 12_000, unknown: 86_400 - 36_000 },
  });
});

void t.test('who may ask what', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(dayMs);
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'key' } });
  const key = String(made.body['key']);
  const [statsPath = '', distributionPath = ''] = paths(id);
  t.match(await api.call('GET', statsPath, { key }), { status: 403, body: { code: 'wrong_credential_kind' } });
  t.match(await api.call('GET', distributionPath, { key }), { status: 200 });
  const stranger = await api.account('stranger@example.com');
  for (const path of paths(id)) {
    t.equal((await api.call('GET', path)).status, 401, path);
    t.equal((await api.call('GET', path, { token: stranger.accessToken })).status, 404, path);
  }
  await addMember(api.database, api.workspaceId, stranger.id, 'viewer');
  for (const path of paths(id))
    t.equal((await api.call('GET', path, { token: stranger.accessToken })).status, 200, path);
  for (const path of paths(4_711)) t.equal((await api.call('GET', path, { token: api.token })).status, 404, path);
  for (const path of paths(id)) {
    const tooMany = path.endsWith('latency') ? '9601' : '721';
    for (const hours of ['0', tooMany, '-1', '1.5', 'x', '']) {
      t.match(
        await api.call('GET', `${path}?hours=${hours}`, { token: api.token }),
        { status: 422 },
        `${path} ${hours}`,
      );
    }
    t.equal((await api.call('GET', `${path}?hours=720`, { token: api.token })).status, 200);
  }
  for (const probe of ['0', '-1', '2147483648', 'a']) {
    t.equal((await api.call('GET', `${distributionPath}?probe_id=${probe}`, { token: api.token })).status, 422, probe);
  }
  await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token });
  for (const path of paths(id)) t.equal((await api.call('GET', path, { token: api.token })).status, 404, path);
});
