import { listResultsRoute, listStatusRangesRoute, readTimelineRoute, timelineSchema } from '@parallax/api-contract';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { addProbe, addRange, addResults, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const get = async (api: MonitorsApi, path: string) => {
  const answer = await api.call('GET', path, { token: api.token });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** As if the probes had been assigned for two days. */
const assignedLong = (api: MonitorsApi) =>
  api.database.worker.query(sql.unsafe`update assignments set started_at = started_at - interval '2 days'`);

const list = (body: Record<string, unknown>, key: string) => body[key] as Record<string, unknown>[];

void t.test('results are newest first, with phases, status and error', async (t) => {
  const api = await monitorsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const { id } = await api.monitor();
  await assignedLong(api);
  const now = Date.now();
  await addResults(api.database, [
    { monitorId: id, probeId: probe, atMs: now - 4_000, totalUs: 20_123 },
    { monitorId: id, probeId: probe, atMs: now - 3_000, outcome: 'fail', code: 'connect_refused' },
    { monitorId: id, probeId: probe, atMs: now - 2_000, outcome: 'timeout', code: 'connect_timeout' },
    { monitorId: id, probeId: 0, atMs: now - 1_000, fallback: true },
    { monitorId: id, probeId: probe, atMs: now, kind: 'manual', outcome: 'fail' },
  ]);
  await addRange(api.database, { monitorId: id, probeId: probe, fromMs: now - 2_500, toMs: null, status: 'TIMEOUT' });
  const body = await get(api, `/api/v1/monitors/${id}/results`);
  t.ok(listResultsRoute.success.answer?.safeParse(body).success);
  t.match(body, { total: 5, page: 1, page_size: 20 });
  t.match(list(body, 'results'), [
    { status: 'DOWN', is_manual: true, is_fallback: false, probe_id: probe },
    { status: 'UP', is_fallback: true, is_manual: false, probe_id: null },
    { status: 'TIMEOUT', error_code: 'connect_timeout' },
    { status: 'transient', error_code: 'connect_refused', outcome: 'fail' },
    {
      status: 'UP',
      created_at: new Date(now - 4_000).toISOString(),
      received_at: new Date(now - 3_000).toISOString(),
      response_time_ms: 20.123,
      phases: { connect_ms: 1.5, dns_ms: null },
    },
  ]);
});

void t.test('both ends of a time filter are inclusive, and the count can be left out', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  const now = Math.floor(Date.now() / 1_000) * 1_000;
  await addResults(
    api.database,
    [1, 2, 3, 4, 5].map((ago) => ({ monitorId: id, probeId: 0, central: true, atMs: now - ago * 1_000 })),
  );
  const at = (ago: number) => encodeURIComponent(new Date(now - ago * 1_000).toISOString());
  const path = `/api/v1/monitors/${id}/results`;
  t.match(await get(api, `${path}?start_time=${at(4)}&end_time=${at(2)}`), { total: 3 });
  t.match(await get(api, `${path}?page_size=2`), { total: 5 });
  t.match(await get(api, `${path}?page_size=2&page=3&with_total=false`), {
    total: 1,
    page: 3,
    results: [{ is_fallback: false }],
  });
  const offset = encodeURIComponent(new Date(now - 4_000).toISOString().replace('Z', '+00:00'));
  t.match(await get(api, `${path}?start_time=${offset}`), { total: 4 });
});

void t.test(
  'status ranges are newest first, the ongoing one open; hours gives those that overlap, whole',
  async (t) => {
    const api = await monitorsApi(t);
    const { id } = await api.monitor();
    const now = Date.now();
    await addRange(api.database, { monitorId: id, fromMs: now - 10 * hourMs, toMs: now - 5 * hourMs, status: 'UP' });
    await addRange(api.database, {
      monitorId: id,
      fromMs: now - 5 * hourMs,
      toMs: now - 90 * minuteMs,
      status: 'DOWN',
    });
    await addRange(api.database, { monitorId: id, fromMs: now - 90 * minuteMs, toMs: null, status: 'UP' });
    const body = await get(api, `/api/v1/monitors/${id}/status-ranges`);
    t.ok(listStatusRangesRoute.success.answer?.safeParse(body).success);
    t.match(body, {
      total: 3,
      status_ranges: [{ status: 'UP', ended_at: null, monitor_id: id }, { status: 'DOWN' }, { status: 'UP' }],
    });
    const last = await get(api, `/api/v1/monitors/${id}/status-ranges?hours=2`);
    t.match(last, {
      total: 2,
      status_ranges: [{ status: 'UP' }, { status: 'DOWN', started_at: new Date(now - 5 * hourMs).toISOString() }],
    });
    t.match(await get(api, `/api/v1/monitors/${id}/status-ranges?page=2&page_size=2`), {
      total: 3,
      status_ranges: [{ status: 'UP' }],
    });
  },
);

void t.test(
  'the timeline of one probe or none is of results, of several of ranges unless a probe is named',
  async (t) => {
    const api = await monitorsApi(t);
    const now = Date.now();
    const central = (await api.monitor({ name: 'central' })).id;
    const [one, two] = [await addProbe(api.database, 'a', 'eu'), await addProbe(api.database, 'b', 'us')];
    const single = (await api.monitor({ name: 'single', probe_ids: [one] })).id;
    const both = (await api.monitor({ name: 'both' })).id;
    await assignedLong(api);
    await addResults(api.database, [
      { monitorId: central, probeId: 0, central: true, atMs: now - minuteMs },
      { monitorId: single, probeId: one, atMs: now - minuteMs },
      { monitorId: single, probeId: one, atMs: now - 30_000, kind: 'manual' },
      { monitorId: single, probeId: one, atMs: now - 25 * hourMs },
      { monitorId: both, probeId: one, atMs: now - 3 * minuteMs },
      { monitorId: both, probeId: two, atMs: now - 2 * minuteMs, outcome: 'fail' },
      { monitorId: both, probeId: one, atMs: now - 1_000, kind: 'manual' },
      { monitorId: both, probeId: 0, fallback: true, atMs: now - 500 },
    ]);
    await addRange(api.database, { monitorId: both, fromMs: now - 30 * hourMs, toMs: now - hourMs, status: 'UP' });
    await addRange(api.database, { monitorId: both, fromMs: now - hourMs, toMs: null, status: 'DEGRADED' });
    const timeline = (id: number, query = '') => get(api, `/api/v1/monitors/${id}/timeline${query}`);

    t.match(await timeline(central), {
      source: 'results',
      merged: false,
      timeline: [{ status: 'UP', is_fallback: false, probe_id: null, count: 1 }],
    });
    t.match(
      list(await timeline(single), 'timeline').map((entry) => entry['is_manual']),
      [false, true],
      'oldest first, 24 hours',
    );
    t.equal(list(await timeline(single, '?hours=26'), 'timeline').length, 3);
    t.equal(
      list(await timeline(single, '?include_manual=false'), 'timeline').length,
      2,
      'means nothing without a probe',
    );

    const whole = await timeline(both);
    t.ok(readTimelineRoute.success.answer?.safeParse(whole).success);
    t.match(whole, {
      source: 'consensus',
      timeline: [
        { status: 'UP', started_at: new Date(now - 30 * hourMs).toISOString(), count: 0, probe_id: null },
        { status: 'DEGRADED', ended_at: null },
      ],
    });
    t.match(list(await timeline(both, `?probe_id=${one}`), 'timeline'), [
      { status: 'UP', is_manual: false, probe_id: one },
      { is_manual: true },
      { is_fallback: true, probe_id: null },
    ]);
    t.match(list(await timeline(both, `?probe_id=${two}&include_manual=false`), 'timeline'), [
      { status: 'transient', probe_id: two },
    ]);
    t.match(list(await timeline(both, `?probe_id=${one}&include_manual=false`), 'timeline'), [{ status: 'UP' }]);
    t.same(list(await timeline(both, '?probe_id=4711&include_manual=false'), 'timeline'), []);
  },
);

void t.test('a timeline of more than 10,000 results is merged, and stands for every one of them', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor({ interval_seconds: 1 });
  const start = Date.now() - 4 * hourMs;
  const results = Array.from({ length: 10_001 }, (_, index) => ({
    monitorId: id,
    probeId: 0,
    central: true,
    atMs: start + index * 1_000,
    ...(index >= 5_000 && index < 5_010 ? { outcome: 'slow' as const } : {}),
  }));
  await addResults(api.database, results);
  const body = timelineSchema.parse(await get(api, `/api/v1/monitors/${id}/timeline`));
  t.equal(body.merged, true);
  t.same(
    body.timeline.map((entry) => [entry.status, entry.count]),
    [
      ['UP', 5_000],
      ['DEGRADED', 10],
      ['UP', 4_991],
    ],
  );
  t.equal(body.timeline[0]?.started_at, new Date(start).toISOString());
});

void t.test('of more ranges than a timeline shows the oldest are left out, and it says where it begins', async (t) => {
  const api = await monitorsApi(t);
  for (const region of ['eu', 'us']) await addProbe(api.database, region, region);
  const { id } = await api.monitor();
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 - 200 * hourMs;
  // 50,007 ranges of ten seconds, the last one open, the first two before a reset.
  await api.database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status)
    select ${id}, s + n * interval '10 seconds', case when n < 50006 then s + (n + 1) * interval '10 seconds' end,
      case n % 2 when 0 then 'UP' else 'DOWN' end
    from (select ${sql.timestamp(new Date(startMs))} as s) b, generate_series(0, 50006) n`);
  const read = async (hours: number) =>
    timelineSchema.parse(await get(api, `/api/v1/monitors/${id}/timeline?hours=${hours}`));
  const at = (index: number) => new Date(startMs + index * 10_000).toISOString();
  const all = await read(720);
  t.equal(all.timeline.length, 50_000);
  t.match(all, {
    source: 'consensus',
    from: at(7),
    timeline: [{ started_at: at(7), ended_at: at(8), status: 'DOWN', count: 0 }],
  });
  t.match(all.timeline.at(-1), { started_at: at(50_006), ended_at: null, status: 'UP' });
  await api.database.worker.query(
    sql.unsafe`update monitors set reset_at = ${sql.timestamp(new Date(startMs + 80_001))} where id = ${id}`,
  );
  const since = await read(720);
  t.equal(since.timeline.length, 49_998);
  t.match(since, {
    from: new Date(Date.parse(since.to) - 720 * hourMs).toISOString(),
    timeline: [{ started_at: at(9) }],
  });
});
