import { listIncidentsRoute, readIncidentRoute } from '@parallax/api-contract';
import { errorCodes } from '@parallax/checks';
import t from 'tap';
import { addMember, addProbe, addRange, monitorsApi } from '../../monitoring/testing.ts';
import type { MonitorsApi } from '../../monitoring/testing.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability, resolveIncidentOfDeleted } from './index.ts';

const base = Date.parse('2026-03-01T10:00:00.000Z');
const at = (seconds: number) => new Date(base + seconds * 1_000).toISOString();

const incidentsApi = (t: Parameters<typeof monitorsApi>[0]) =>
  monitorsApi(t, { monitors: { onMonitorDeleted: [resolveIncidentOfDeleted] }, more: [incidentsCapability] });

/** Writes a transition as the ingest does. */
async function transition(
  api: MonitorsApi,
  monitorId: number,
  from: string,
  to: string,
  seconds: number,
  more: object = {},
) {
  const payload = {
    monitor_id: monitorId,
    workspace_id: api.workspaceId,
    from,
    to,
    at: at(seconds),
    detected_at: at(seconds + 6),
    evidence: { rule: 'quorum_failing', quorum: 2, voters: [], missing: [] },
    range_started_at: at(seconds),
    ...more,
  };
  await api.database.worker.transaction((tx) =>
    enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
  );
}

/** Lets the workers run until nothing is left. */
async function settle(api: MonitorsApi) {
  const consumers = incidentsCapability.consumers ?? [];
  while (
    (await Promise.all([workOnce(api.context, consumers), workOnce(api.context, consumers)])).some((done) => done > 0)
  );
}

async function incidents(api: MonitorsApi, query = '', token = api.token) {
  const list = await api.call('GET', `/api/v1/incidents${query}`, { token });
  return list.body as { total: number; incidents: (Record<string, unknown> & { id: number })[] };
}

void t.test(
  'an outage opens one incident dated to its onset; it stays through PARTIAL and ends on an answer',
  async (t) => {
    const api = await incidentsApi(t);
    const { id } = await api.monitor({ name: 'Shop' });
    await transition(api, id, 'UP', 'PARTIAL', 0);
    const probeId = await addProbe(api.database, 'fra-1', 'eu');
    const sinceUs = (base + 10_000) * 1_000;
    const voters = [
      { voter: 0, vote: 'DOWN', sinceUs, error: 0 },
      { voter: probeId, vote: 'DOWN', sinceUs, error: errorCodes.connect_refused },
    ];
    const evidence = { rule: 'quorum_failing', quorum: 2, voters, missing: [0, 2_000_000_000] };
    await transition(api, id, 'PARTIAL', 'DOWN', 10, { evidence });
    await settle(api);
    const [open] = (await incidents(api)).incidents;
    const votes = [
      { probe_id: null, probe_name: null, region: 'central', vote: 'DOWN', since: at(10), error_code: null },
      {
        probe_id: probeId,
        probe_name: 'fra-1',
        region: 'eu',
        vote: 'DOWN',
        since: at(10),
        error_code: 'connect_refused',
      },
    ];
    const missing = [
      { probe_id: null, probe_name: null, region: 'central' },
      { probe_id: 2_000_000_000, probe_name: null, region: null },
    ];
    const readable = { rule: 'quorum_failing', quorum: 2, quorum_out_of_reach: false, votes, missing };
    const shown = { at: at(10), status: 'DOWN', evidence: readable };
    t.same(open?.['cause'], shown, 'with names, times with their zone and words for errors');
    t.match(open?.['members'], [{ cause: shown, causes: [shown] }]);
    const one = await api.call('GET', `/api/v1/incidents/${open?.id}`, { token: api.token });
    t.same(one.body['cause'], shown, 'in the detail too');
    t.match(open, {
      workspace_id: api.workspaceId,
      monitor_id: id,
      title: 'Shop is down',
      status: 'open',
      severity: 'major',
      resolution: null,
      started_at: at(10),
      resolved_at: null,
      detected_late: false,
      cause: { status: 'DOWN', evidence: { quorum: 2 } },
      members: [{ type: 'monitor', id, name: 'Shop', started_at: at(10), ended_at: null }],
    });
    await transition(api, id, 'DOWN', 'PARTIAL', 20);
    await transition(api, id, 'PARTIAL', 'UNKNOWN', 30);
    await transition(api, id, 'UNKNOWN', 'TIMEOUT', 40);
    await settle(api);
    t.match(await incidents(api), { total: 1, incidents: [{ id: open?.id, status: 'open', started_at: at(10) }] });
    await transition(api, id, 'TIMEOUT', 'DOWN', 50, { range_started_at: at(4) });
    await transition(api, id, 'DOWN', 'WARNING', 60);
    await settle(api);
    const read = await api.call('GET', `/api/v1/incidents/${open?.id}`, { token: api.token });
    t.match(read, {
      status: 200,
      body: { status: 'resolved', resolution: 'auto', started_at: at(4), resolved_at: at(60) },
    });
    t.ok(readIncidentRoute.success.answer?.safeParse(read.body).success);
    await transition(api, id, 'WARNING', 'DOWN', 70);
    await settle(api);
    t.match(
      await incidents(api),
      { total: 2, incidents: [{ status: 'open', started_at: at(70) }, { id: open?.id }] },
      'another outage is another incident',
    );
  },
);

void t.test('an outage that changed its kind before it was told began with the first of its ranges', async (t) => {
  const api = await incidentsApi(t);
  const { id } = await api.monitor({ name: 'Shop' });
  const ranges = [
    ['DOWN', 0, 5],
    ['UP', 5, 10],
    ['DOWN', 10, 20],
    ['TIMEOUT', 20, 30],
    ['DOWN', 30, null],
  ] as const;
  for (const [status, from, to] of ranges) {
    const toMs = to === null ? null : Date.parse(at(to));
    await addRange(api.database, { monitorId: id, fromMs: Date.parse(at(from)), toMs, status });
  }
  await transition(api, id, 'UP', 'DOWN', 31, { range_started_at: at(30) });
  await settle(api);
  t.match(await incidents(api), { total: 1, incidents: [{ started_at: at(10), cause: { status: 'DOWN' } }] });
});

void t.test('a pause and a deletion end the incident', async (t) => {
  const api = await incidentsApi(t);
  const paused = await api.monitor({ name: 'paused' });
  const deleted = await api.monitor({ name: 'deleted' });
  for (const { id } of [paused, deleted]) await transition(api, id, 'UP', 'DOWN', 0);
  await settle(api);
  await api.call('POST', `/api/v1/monitors/${paused.id}/pause`, { token: api.token });
  await api.call('DELETE', `/api/v1/monitors/${deleted.id}`, { token: api.token });
  for (const { id } of [paused, deleted]) await transition(api, id, 'UP', 'DOWN', 5);
  await settle(api);
  t.match(await incidents(api, '?status=resolved'), { total: 2 });
  t.match(await incidents(api, `?monitor_id=${paused.id}`), { total: 1, incidents: [{ resolution: 'paused' }] });
  t.match(await incidents(api, `?monitor_id=${deleted.id}`), {
    total: 1,
    incidents: [{ resolution: 'deleted', members: [{ name: 'deleted' }] }],
  });
});

void t.test('the list is paged and filtered, newest first, and only of the own workspaces', async (t) => {
  const api = await incidentsApi(t);
  const ids: number[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await api.monitor({ name })).id);
  for (const [index, id] of ids.entries()) await transition(api, id, 'UP', 'DOWN', index);
  await transition(api, ids[0] ?? 0, 'DOWN', 'UP', 10, { evidence: null, range_started_at: null });
  await settle(api);
  const page = await incidents(api, '?page=1&page_size=2');
  t.ok(listIncidentsRoute.success.answer?.safeParse(page).success);
  t.match(page, { total: 3, page: 1, page_size: 2, incidents: [{ monitor_id: ids[2] }, { monitor_id: ids[1] }] });
  t.match(await incidents(api, '?status=open'), { total: 2 });
  t.match(await incidents(api, `?workspace_id=${api.workspaceId}`), { total: 3 });
  const stranger = await api.account('stranger@example.com');
  t.match(await incidents(api, '', stranger.accessToken), { total: 0, incidents: [] });
  const foreign = `/api/v1/incidents/${page.incidents[0]?.id}`;
  t.equal((await api.call('GET', foreign, { token: stranger.accessToken })).status, 404);
  t.equal(
    (await api.call('GET', `/api/v1/incidents?workspace_id=${api.workspaceId}`, { token: stranger.accessToken }))
      .status,
    404,
  );
  await addMember(api.database, api.workspaceId, stranger.id, 'viewer');
  t.equal((await api.call('GET', foreign, { token: stranger.accessToken })).status, 200);
});

void t.test(
  'a change that was written before its monitor moved opens the incident where the monitor is now',
  async (t) => {
    const api = await incidentsApi(t);
    const { id } = await api.monitor({ name: 'Shop' });
    const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
    const to = Number(made.body['id']);
    await transition(api, id, 'UP', 'DOWN', 0);
    const move = { action: 'move', monitor_ids: [id], workspace_id: to };
    t.match(await api.call('POST', '/api/v1/monitors/bulk', { token: api.token, body: move }), { body: { ok: 1 } });
    await settle(api);
    t.match((await incidents(api)).incidents, [{ workspace_id: to, monitor_id: id, status: 'open' }]);
  },
);
