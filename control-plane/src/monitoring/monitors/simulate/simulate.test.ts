import { simulateRoute } from '@parallax/api-contract';
import type { Outcome } from '@parallax/checks';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, addProbe, addResults, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';
import { simulateRoutes } from './routes.ts';

const minuteMs = 60_000;

/** A monitor of three probes that was made three hours ago, with a result a minute of each since; it failed from minute 60 to 62. */
async function measured(api: MonitorsApi, minutes = 120) {
  const { worker } = api.database;
  const probes = [
    await addProbe(api.database, 'a', 'eu'),
    await addProbe(api.database, 'b', 'us'),
    await addProbe(api.database, 'c', 'ap'),
  ];
  const { id } = await api.monitor();
  const startMs = Math.floor((Date.now() - 180 * minuteMs) / 1_000) * 1_000;
  const start = sql.timestamp(new Date(startMs));
  await worker.query(sql.unsafe`update monitors set created_at = ${start} where id = ${id}`);
  await worker.query(sql.unsafe`update monitor_history set effective_at = ${start} where monitor_id = ${id}`);
  await worker.query(sql.unsafe`update assignments set started_at = ${start} where monitor_id = ${id}`);
  await worker.query(sql.unsafe`insert into shards (shard, folded_until) values (0, now())`);
  await addResults(
    api.database,
    Array.from({ length: minutes }, (_, minute) =>
      probes.map((probeId, index) => {
        const outcome: Outcome = minute === 60 || minute === 61 ? 'fail' : 'ok';
        return { monitorId: id, probeId, atMs: startMs + minute * minuteMs + index * 1_000, outcome };
      }),
    ).flat(),
  );
  return { id, probes, startMs };
}

const simulate = (api: MonitorsApi, id: number, body: object = {}, token = api.token) =>
  api.call('POST', `/api/v1/monitors/${id}/simulate`, { token, body });

void t.test('settings are tried on what was measured, side by side with what they were', async (t) => {
  const api = await monitorsApi(t);
  const { id, probes, startMs } = await measured(api);
  const before = await api.database.worker.one(sql.unsafe`select count(*) as n from outbox`);
  const same = await simulate(api, id);
  t.equal(same.status, 200, JSON.stringify(same.body));
  t.ok(simulateRoute.success.answer?.safeParse(same.body).success);
  t.same(same.body['proposed'], same.body['present']);
  const onset = new Date(startMs + 60 * minuteMs + 1_000).toISOString();
  t.match(same.body, {
    monitor_id: id,
    present: {
      settings: {
        confirmations: 2,
        consensus_policy: 'majority',
        interval_seconds: 60,
        degraded_threshold_ms: null,
        probe_ids: probes,
      },
      results: 360,
      outages: [{ started_at: onset, status: 'DOWN', rule: 'quorum_failing', detection_delay_seconds: 61.25 }],
      outages_total: 1,
      detection_delay: { mean_seconds: 61.25, p50_seconds: 61.25, max_seconds: 61.25 },
    },
    comparison: {
      alarms_avoided_total: 0,
      alarms_added_total: 0,
      downtime_seconds: 0,
      mean_detection_delay_seconds: 0,
    },
    notes: [{ code: 'began_later' }],
  });
  const { announcements } = same.body['present'] as { announcements: { from: string; to: string }[] };
  t.match(announcements, [
    { from: 'UNKNOWN', to: 'UP' },
    { from: 'UP', to: 'DOWN' },
    { from: 'DOWN', to: 'UP' },
    { from: 'UP', to: 'UNKNOWN' },
  ]);
  const three = await simulate(api, id, { confirmations: 3, degraded_threshold_ms: 5 });
  t.match(three.body, {
    proposed: {
      settings: { confirmations: 3, consensus_policy: 'majority', degraded_threshold_ms: 5 },
      outages_total: 0,
      seconds: { up: 0, down: 0 },
    },
    comparison: {
      alarms_avoided_total: 1,
      alarms_avoided: [{ started_at: onset }],
      mean_detection_delay_seconds: null,
    },
    notes: [{ code: 'more_confirmations' }, { code: 'began_later' }],
  });
  const slower = await simulate(api, id, { interval_seconds: 600, probe_ids: [probes[0], 999] });
  t.match(slower.body, {
    proposed: { settings: { interval_seconds: 600, probe_ids: [probes[0]] } },
    notes: [{ code: 'rechecks_stand_in' }, { code: 'probes_not_measured' }, { code: 'began_later' }],
  });
  t.same(await api.database.worker.one(sql.unsafe`select count(*) as n from outbox`), before, 'nobody was told');
});

void t.test('windows, pauses, resets and what is not there', async (t) => {
  const api = await monitorsApi(t);
  const { id, startMs } = await measured(api);
  const iso = (ms: number) => new Date(ms).toISOString();
  const half = await simulate(api, id, {
    start_time: iso(startMs + 30 * minuteMs),
    end_time: iso(startMs + 61 * minuteMs + 30_000),
  });
  t.match(half.body, {
    start_time: iso(startMs + 30 * minuteMs),
    end_time: iso(startMs + 61 * minuteMs + 30_000),
    present: { outages: [{ ended_at: null, duration_seconds: 89 }], seconds: { up: 1_800, unknown: 0 } },
    notes: [],
  });
  const early = await simulate(api, id, {
    start_time: iso(startMs - 10 * minuteMs),
    end_time: iso(startMs - minuteMs),
  });
  t.match(early.body, {
    present: { results: 0, uptime_percent: null, announcements: [], seconds: { unknown: 540 } },
    notes: [{ code: 'began_later' }],
  });
  const old = await simulate(api, id, {
    start_time: iso(startMs - 100 * 86_400_000),
    end_time: iso(startMs - 90 * 86_400_000),
  });
  t.match(old, { status: 200, body: { present: { results: 0 } } });

  await api.database.worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, ended_at)
    values (${id}, ${sql.timestamp(new Date(startMs + 59 * minuteMs))}, ${sql.timestamp(new Date(startMs + 64 * minuteMs))})`);
  t.match((await simulate(api, id)).body, { present: { outages_total: 0, seconds: { paused: 300 } } });
  await api.database.worker.query(sql.unsafe`
    update monitors set reset_at = ${sql.timestamp(new Date(startMs + 110 * minuteMs))} where id = ${id}`);
  t.match((await simulate(api, id)).body, {
    present: { results: 30, announcements_total: 2 },
    notes: [{ code: 'began_later' }],
  });
  await api.database.worker.query(sql.unsafe`update shards set folded_until = now() - interval '70 minutes'`);
  t.match((await simulate(api, id)).body, { notes: [{ code: 'began_later' }, { code: 'not_known_further' }] });

  const empty = await api.monitor({ name: 'new' });
  t.match(await simulate(api, empty.id), {
    status: 200,
    body: { present: { results: 0, uptime_percent: null, outages: [] } },
  });
});

void t.test('who may, and what is refused', async (t) => {
  const api = await monitorsApi(t);
  const { id, probes } = await measured(api, 2);
  const viewer = await api.account('viewer@example.com');
  const stranger = await api.account('stranger@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  t.equal((await simulate(api, id, {}, viewer.accessToken)).status, 200);
  t.equal((await simulate(api, id, {}, stranger.accessToken)).status, 404);
  t.equal((await simulate(api, 999)).status, 404);
  t.equal((await api.call('POST', `/api/v1/monitors/${id}/simulate`, { body: {} })).status, 401);
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  const key = String(made.body['key']);
  t.equal((await api.call('POST', `/api/v1/monitors/${id}/simulate`, { key, body: {} })).status, 403);
  const iso = (ms: number) => new Date(Date.now() + ms).toISOString();
  for (const body of [
    { confirmations: 0 },
    { confirmations: 6 },
    { interval_seconds: 0 },
    { interval_seconds: 1.5 },
    { consensus_policy: 'most' },
    { degraded_threshold_ms: 0 },
    { probe_ids: [] },
    { probe_ids: [1, 1] },
    { probe_ids: [2_000_000_000] },
    { start_time: 'yesterday' },
    { start_time: iso(1_000) },
    { start_time: iso(-31 * 86_400_000) },
    { end_time: iso(-86_400_000), start_time: iso(-3_600_000) },
    { more: true },
    [],
    null,
  ]) {
    t.equal((await simulate(api, id, body as object)).status, 422, JSON.stringify(body));
  }
  t.equal((await simulate(api, id, { probe_ids: probes.slice(0, 1) })).status, 200);
});

void t.test('too many results, too long and too many at once are refused', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await measured(api);
  const route = (limits: Parameters<typeof simulateRoutes>[1]) => {
    const [found] = simulateRoutes(api.context, limits);
    if (found === undefined) throw new Error('no route');
    const caller = {
      kind: 'user',
      userId: api.owner.id,
      isAdministrator: false,
      workspaces: new Map([[api.workspaceId, 'owner']]),
    };
    const request = { signal: new AbortController().signal };
    return (signal = request.signal) =>
      found.handler({ params: { monitor_id: id }, query: undefined, body: {}, caller, request: { signal } } as never);
  };
  await t.rejects(route({ mostResults: 359 })(), { code: 'invalid_input', errors: [{ code: 'too_many_results' }] });
  t.match(await route({ mostResults: 360 })(), { present: { results: 360 } });
  await t.rejects(route({ deadlineMs: 0 })(), { code: 'deadline_exceeded' });
  await t.rejects(route({ atOnce: 0 })(), { code: 'busy' });
  await t.rejects(route({})(AbortSignal.abort()), { code: 'bad_request' });
});
