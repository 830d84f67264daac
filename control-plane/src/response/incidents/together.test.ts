import { incidentReportSchema } from '@parallax/api-contract';
import t from 'tap';
import { sql } from '../../platform/database/pools.ts';
import { addProbe, addRange, defaultWorkspace } from '../../monitoring/testing.ts';
import { removeIncidentsOfWorkspace } from './index.ts';
import { incidentsApi } from './testing.ts';
import type { IncidentsApi } from './testing.ts';

const second = 1_000;
const refused = (address: string) => ({ code: 'connect_refused', evidence: { address } }) as const;
const iso = (ms: number): string => new Date(ms).toISOString();

async function several(api: IncidentsApi, count: number): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await api.monitor({ name: `m${n}` })).id);
  return ids;
}

void t.test(
  'monitors that fail for one cause are one incident with one message; unrelated ones are others',
  async (t) => {
    const api = await incidentsApi(t);
    const [a = 0, b = 0, c = 0, other = 0] = await several(api, 4);
    const sinceMs = api.clock.nowMs - 60 * second;
    for (const [index, id] of [b, a, c].entries()) {
      await api.turns(id, 'DOWN', sinceMs + (2 - index) * 10 * second, refused('192.0.2.1'));
    }
    await api.turns(other, 'DOWN', sinceMs, refused('192.0.2.2'));
    const list = await api.incidents('GET');
    t.match(list, {
      total: 2,
      incidents: [
        { monitor_id: other, member_count: 1, shared_cause: 'address:192.0.2.2' },
        {
          monitor_id: c,
          title: 'm2 is down, and 2 more',
          started_at: iso(sinceMs),
          shared_cause: 'address:192.0.2.1',
          members: [{ id: c }, { id: a }, { id: b, name: 'm1', cause: { status: 'DOWN' } }],
        },
      ],
    });
    t.same(await api.messages(), [], 'it waits for company');
    await api.passes(3 * second);
    await api.passes(second);
    t.match(await api.messages(), [
      { kind: 'incident.opened', seq: 1, member_count: 3, members: [{ id: c }, { id: a }, { id: b }] },
      { kind: 'incident.opened', seq: 1, member_count: 1 },
    ]);
    for (const id of [a, b]) await api.turns(id, 'UP', api.clock.nowMs);
    t.match(await api.incidents('GET', '?is_ongoing=true'), { total: 2 }, 'one fails still');
    await api.turns(c, 'UP', api.clock.nowMs);
    const [ended] = (await api.messages()).slice(2);
    t.match(ended, { kind: 'incident.resolved', seq: 2, resolution: 'auto', resolved_at: iso(api.clock.nowMs) });
    t.match(await api.incidents('GET', `/${ended?.incident_id}`), {
      status: 'resolved',
      members: [{ resolution: 'auto' }, {}, {}],
    });
  },
);

void t.test('two workers that see two monitors fail at once open one incident', async (t) => {
  const api = await incidentsApi(t);
  const ids = await several(api, 6);
  const sinceMs = api.clock.nowMs - 10 * second;
  await Promise.all(ids.map((id) => api.turns(id, 'DOWN', sinceMs, refused('192.0.2.1'))));
  t.match(await api.incidents('GET'), { total: 1, incidents: [{ member_count: 6 }] });
});

void t.test('a cause that changes is appended, and the range of an outage is named', async (t) => {
  const api = await incidentsApi(t);
  const [id = 0] = await several(api, 1);
  const sinceMs = api.clock.nowMs - 60 * second;
  await addRange(api.database, { monitorId: id, fromMs: sinceMs, toMs: null, status: 'DOWN' });
  await api.turns(id, 'DOWN', sinceMs, { code: 'http_status', evidence: { address: '192.0.2.1' } });
  await api.turns(id, 'TIMEOUT', sinceMs + second, { code: 'http_timeout', evidence: {} });
  await api.turns(id, 'TIMEOUT', sinceMs + 2 * second, { code: 'http_timeout', evidence: {} });
  const { incidents } = (await api.incidents('GET')) as { incidents: { id: number }[] };
  const report = await api.incidents('GET', `/${incidents[0]?.id}`);
  t.ok(incidentReportSchema.safeParse(report).success);
  t.match(report, {
    shared_cause: null,
    cause: { status: 'DOWN' },
    members: [{ range_id: /^\d+$/, causes: [{ at: iso(sinceMs), status: 'DOWN' }, { status: 'TIMEOUT' }] }],
    updates: [],
  });
  t.equal((report['members'] as { causes: unknown[] }[])[0]?.causes.length, 2);
});

void t.test('a probe is the cause when the others see the target up', async (t) => {
  const api = await incidentsApi(t);
  const probe = await addProbe(api.database, 'one', 'eu');
  const [a = 0, b = 0] = await several(api, 2);
  const atMs = api.clock.nowMs;
  for (const [id, address] of [
    [a, '192.0.2.1'],
    [b, '192.0.2.2'],
  ] as const) {
    await api.database.worker.query(sql.unsafe`
      insert into result_evidence (monitor_id, e, probe_id, message, evidence)
      values (${id}, ${sql.timestamp(new Date(atMs))}, ${probe}, '', ${JSON.stringify({ address })}::jsonb)`);
    const voters = [
      { voter: probe, vote: 'DOWN', sinceUs: atMs * 1_000, error: 20 },
      { voter: probe + 1, vote: 'UP', sinceUs: atMs * 1_000, error: 0 },
    ];
    await api.tell(`monitor:${id}`, 'monitor.transition', {
      monitor_id: id,
      workspace_id: api.workspaceId,
      from: 'UP',
      to: 'DOWN',
      at: iso(atMs),
      detected_at: iso(atMs),
      evidence: { rule: 'quorum_failing', quorum: 1, voters, missing: [] },
      range_started_at: iso(atMs),
    });
  }
  t.match(await api.incidents('GET'), { total: 1, incidents: [{ shared_cause: `probe:${probe}`, member_count: 2 }] });
});

void t.test('heartbeats and webhook checks open and end incidents; what failed is told at once', async (t) => {
  const api = await incidentsApi(t);
  const at = iso(api.clock.nowMs - second);
  const event = { workspace_id: api.workspaceId, name: 'Backup', at };
  await api.tell('heartbeat:7', 'heartbeat.missed', { ...event, heartbeat_id: 7, deadline_at: at });
  await api.tell('heartbeat:7', 'heartbeat.failed', { ...event, heartbeat_id: 7, exit_code: 1 });
  await api.tell('webhook_check:7', 'webhook_check.failed', { ...event, webhook_check_id: 7 });
  t.match(await api.incidents('GET', '?subject_type=heartbeat&subject_id=7'), {
    total: 1,
    incidents: [
      {
        title: 'Backup was missed',
        monitor_id: null,
        members: [{ type: 'heartbeat', range_id: null, causes: [{ status: 'missed' }, { status: 'failed' }] }],
      },
    ],
  });
  t.match(await api.incidents('GET', '?subject_type=webhook_check'), {
    total: 1,
    incidents: [{ title: 'Backup has failed' }],
  });
  t.same(
    (await api.messages()).map(({ kind }) => kind),
    ['incident.opened', 'incident.opened'],
  );
  await api.tell('heartbeat:7', 'heartbeat.recovered', { ...event, at: iso(api.clock.nowMs), heartbeat_id: 7 });
  t.match((await api.messages()).at(-1), { kind: 'incident.resolved', title: 'Backup was missed' });
  await api.tell('heartbeat:7', 'heartbeat.recovered', { ...event, heartbeat_id: 7 });
  t.equal((await api.messages()).length, 3);
  await api.tell('webhook_check:7', 'webhook_check.paused', { ...event, webhook_check_id: 7 });
  t.match((await api.messages()).at(-1), { kind: 'incident.resolved', resolution: 'paused' });
});

void t.test('a hundred jobs that are missed, fail and recover at once have an incident each', async (t) => {
  const api = await incidentsApi(t);
  const jobs = Array.from({ length: 100 }, (_, index) => index + 1);
  const all = (what: string, more: (id: number) => object = () => ({})) =>
    api.tellAll(
      jobs.map((id) => ({
        key: `heartbeat:${id}`,
        kind: `heartbeat.${what}`,
        payload: {
          workspace_id: api.workspaceId,
          heartbeat_id: id,
          name: `job ${id}`,
          at: iso(api.clock.nowMs),
          ...more(id),
        },
      })),
    );
  // One that cannot be understood holds up none of the others.
  await all('missed', (id) => (id === 50 ? { name: '' } : {}));
  t.match(await api.incidents('GET', '?is_ongoing=true'), { total: 99 });
  await all('failed');
  t.match(await api.incidents('GET', '?subject_type=heartbeat&subject_id=7'), {
    total: 1,
    incidents: [{ title: 'job 7 was missed', members: [{ causes: [{ status: 'missed' }, { status: 'failed' }] }] }],
  });
  await api.database.worker.query(sql.unsafe`delete from outbox where key = 'heartbeat:50'`);
  await api.passes(second);
  await all('recovered');
  t.match(await api.incidents('GET', '?is_ongoing=true'), { total: 0 });
  await api.passes(4 * second);
  const told = Map.groupBy(await api.messages(), ({ kind }) => kind);
  t.equal(told.get('incident.resolved')?.length, told.get('incident.opened')?.length);
});

void t.test('a deletion, a reset and a move take their part of an incident', async (t) => {
  const api = await incidentsApi(t);
  const [a = 0, b = 0, c = 0, d = 0] = await several(api, 4);
  const sinceMs = api.clock.nowMs - 10 * second;
  for (const id of [a, b, c, d]) await api.turns(id, 'DOWN', sinceMs, refused('192.0.2.1'));
  await api.passes(3 * second);
  const shared = Number((await api.messages())[0]?.incident_id);
  await api.call('DELETE', `/api/v1/monitors/${a}`, { token: api.token });
  t.match(await api.incidents('GET', `/${shared}`), {
    status: 'open',
    members: [{ id: a, name: 'm0', resolution: 'deleted' }, {}, {}, {}],
  });
  const reset = await api.call('POST', `/api/v1/monitors/${b}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.match(reset.body, { removed: { incidents: 1 } });
  t.match(await api.incidents('GET', `/${shared}`), { member_count: 3, title: 'm0 is down, and 2 more' });
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const to = Number(made.body['id']);
  const move = { action: 'move', monitor_ids: [c], workspace_id: to };
  t.match(await api.call('POST', '/api/v1/monitors/bulk', { token: api.token, body: move }), { body: { ok: 1 } });
  t.match(await api.incidents('GET', `?workspace_id=${to}`), {
    total: 1,
    incidents: [{ members: [{ id: c, ended_at: null }], title: 'm2 is down' }],
  });
  t.match(await api.incidents('GET', `/${shared}`), { members: [{ id: a }, { id: d }] });
  const rest = { action: 'move', monitor_ids: [d, a], workspace_id: to };
  t.match(await api.call('POST', '/api/v1/monitors/bulk', { token: api.token, body: rest }), { body: { ok: 1 } });
  await api.turns(c, 'UP', api.clock.nowMs);
  t.match(await api.incidents('GET', `?workspace_id=${to}&monitor_id=${c}`), { incidents: [{ status: 'resolved' }] });
  for (const id of [c, d])
    await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, { token: api.token, body: { confirm: true } });
  t.match(await api.incidents('GET', `?monitor_id=${d}`), { total: 0 });
  await removeIncidentsOfWorkspace(api.database.worker, api.workspaceId);
  t.match(await api.incidents('GET', `?workspace_id=${api.workspaceId}`), { total: 0 });
});

void t.test('what is not told yet, acknowledged or deleted stays so when its monitor moves', async (t) => {
  const api = await incidentsApi(t);
  const ids = await several(api, 6);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = ids;
  const sinceMs = api.clock.nowMs - 10 * second;
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const to = Number(made.body['id']);
  const move = (monitorId: number) =>
    api.call('POST', '/api/v1/monitors/bulk', {
      token: api.token,
      body: { action: 'move', monitor_ids: [monitorId], workspace_id: to },
    });
  const incidentOf = async (id: number) =>
    ((await api.incidents('GET', `?monitor_id=${id}`))['incidents'] as { id: number }[])[0];
  for (const id of [a, b]) await api.turns(id, 'DOWN', sinceMs, refused('192.0.2.1'));
  for (const id of [c, d]) await api.turns(id, 'DOWN', sinceMs, refused('192.0.2.2'));
  for (const id of [e, f]) await api.turns(id, 'DOWN', sinceMs, refused('192.0.2.3'));
  await api.incidents('POST', `/${(await incidentOf(c))?.id}/acknowledge`);
  await api.incidents('DELETE', `/${(await incidentOf(e))?.id}`);
  for (const id of [b, d, f]) t.match(await move(id), { body: { ok: 1 } });
  t.match(await incidentOf(d), { status: 'acknowledged' });
  t.equal(await incidentOf(f), undefined, 'deleted is deleted');
  // The hook of a move notes the time of the machine, which goes on while the clock of the test stands.
  api.clock.nowMs = Math.max(api.clock.nowMs, Date.now());
  await api.passes(4 * second);
  const opened = (await api.messages()).filter(({ kind }) => kind === 'incident.opened');
  for (const id of [a, b]) {
    const { id: incidentId } = (await incidentOf(id)) ?? {};
    t.equal(opened.filter((one) => one.incident_id === incidentId).length, 1, `monitor ${ids.indexOf(id)} is told`);
  }
});

void t.test('another workspace never shares an incident', async (t) => {
  const api = await incidentsApi(t);
  const eve = await api.account('eve@example.com');
  const place = await defaultWorkspace(api, eve.accessToken);
  const made = await api.call('POST', '/api/v1/monitors', {
    token: eve.accessToken,
    body: { workspace_id: place, url: 'https://example.com/' },
  });
  const [own = 0] = await several(api, 1);
  for (const id of [own, Number(made.body['id'])]) await api.turns(id, 'DOWN', api.clock.nowMs, refused('192.0.2.1'));
  t.match(await api.incidents('GET'), { total: 1, incidents: [{ member_count: 1 }] });
});
