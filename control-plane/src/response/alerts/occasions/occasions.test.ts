import t from 'tap';
import { z } from 'zod';
import { addProbe } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { alertsWorld } from '../testing.ts';
import type { AlertsWorld } from '../testing.ts';

const second = 1_000;
const iso = (ms: number): string => new Date(ms).toISOString();
const events = [
  'monitor.down',
  'monitor.degraded',
  'monitor.partial',
  'monitor.flapping',
  'certificate.expiring',
  'dnsbl.listed',
  'probe.offline',
  'incident.updated',
];

async function worldWithMonitor(test: Parameters<typeof alertsWorld>[0]) {
  const world = await alertsWorld(test);
  await world.alert({ events });
  const { id } = await world.api.monitor({ name: 'Shop' });
  const tell = async (kind: string, payload: object): Promise<void> => {
    await world.api.tell(`monitor:${id}`, kind, { workspace_id: world.api.workspaceId, monitor_id: id, ...payload });
    await world.settle();
  };
  const turn = (from: string, to: string, atMs = world.api.clock.nowMs): Promise<void> =>
    tell('monitor.transition', {
      from,
      to,
      at: iso(atMs),
      detected_at: iso(atMs),
      evidence: {},
      range_started_at: iso(atMs),
    });
  return { world, id, tell, turn };
}

const occasionRow = z.object({
  key: z.string(),
  event: z.string(),
  resolution: z.string().nullable(),
  is_over: z.boolean(),
  seq: z.number(),
});
const occasions = (world: AlertsWorld) =>
  world.api.database.worker.any(sql.type(occasionRow)`
    select key, event, resolution, ended_at is not null as is_over, seq from alert_occasions order by id`);

void t.test('a status that is no incident is an occasion until the next one', async (t) => {
  const { world, turn } = await worldWithMonitor(t);
  await turn('UP', 'DEGRADED');
  await turn('DEGRADED', 'DEGRADED');
  t.same(world.kinds(), ['opened'], 'once');
  t.match(world.recorded[0]?.message, { title: /Shop/, subjects: [{ type: 'monitor', name: 'Shop' }] });
  await world.passes(5 * second);
  await turn('DEGRADED', 'UP');
  t.same(world.kinds(), ['opened', 'resolved']);
  t.match(await occasions(world), [{ event: 'monitor.degraded', resolution: 'auto', is_over: true }]);
});

void t.test('what some see while it is down belongs to the outage', async (t) => {
  const { world, turn } = await worldWithMonitor(t);
  await turn('UP', 'DOWN');
  await world.passes(4 * second);
  await turn('DOWN', 'PARTIAL');
  t.same(world.kinds(), ['opened']);
  await turn('PARTIAL', 'UP');
  await world.passes(second);
  t.same(world.kinds(), ['opened', 'resolved']);
  await turn('UP', 'PARTIAL');
  t.same(world.kinds(), ['opened', 'resolved', 'opened'], 'alone it is told');
});

void t.test('a pause ends what lasts without a word to those who were not told', async (t) => {
  const { world, id, tell, turn } = await worldWithMonitor(t);
  await turn('UP', 'DEGRADED');
  await tell('monitor.paused', { at: iso(world.api.clock.nowMs) });
  t.match(await occasions(world), [{ resolution: 'paused', is_over: true }]);
  await turn('UP', 'DEGRADED', world.api.clock.nowMs + 1);
  t.ok(id > 0);
});

void t.test('a certificate is told of once for each threshold, however often that is announced', async (t) => {
  const { world, id, tell } = await worldWithMonitor(t);
  const notAfter = iso(world.api.clock.nowMs + 14 * 86_400_000);
  const expiring = { not_after: notAfter, threshold_days: 14, occasion: `certificate:${id}:${notAfter}:14` };
  await tell('certificate.expiring', expiring);
  await tell('certificate.expiring', expiring);
  t.same(world.kinds(), ['information']);
  await tell('certificate.expiring', { ...expiring, threshold_days: 7, occasion: `certificate:${id}:${notAfter}:7` });
  t.same(world.kinds(), ['information', 'information']);
});

void t.test('a blocklist is told of until it lets go', async (t) => {
  const { world, tell } = await worldWithMonitor(t);
  const now = world.api.clock.nowMs;
  await tell('dnsbl.listed', { provider: 'one.example', at: iso(now) });
  await tell('dnsbl.listed', { provider: 'two.example', at: iso(now) });
  await world.passes(second);
  await tell('dnsbl.delisted', { provider: 'one.example', at: iso(now + second) });
  t.same(world.kinds(), ['opened', 'opened', 'resolved']);
  t.match(await occasions(world), [{ is_over: true }, { is_over: false }]);
});

void t.test('while it flaps nothing is told but that it flaps, and what lasts when it is calm', async (t) => {
  const { world, tell, turn } = await worldWithMonitor(t);
  await tell('monitor.flapping', { is_flapping: true, at: iso(world.api.clock.nowMs) });
  t.same(world.kinds(), ['information']);
  await turn('UP', 'DOWN');
  await world.passes(4 * second);
  t.same(world.kinds(), ['information'], 'held');
  await world.passes(10 * second);
  await tell('monitor.flapping', { is_flapping: false, at: iso(world.api.clock.nowMs) });
  t.same(world.kinds().toSorted(), ['information', 'information', 'opened']);
});

void t.test('what is under maintenance is held, and told at its end if it still holds', async (t) => {
  const { world, id, turn } = await worldWithMonitor(t);
  const pool = world.api.database.worker;
  await pool.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
    values (${world.api.workspaceId}, 1, 'monitor', ${id}, ${sql.timestamp(new Date(world.api.clock.nowMs - 1_000))})`);
  await turn('UP', 'DEGRADED');
  t.same(world.kinds(), []);
  t.match(await world.history(), [['opened', 'held', 'maintenance', 'a']]);
  await pool.query(sql.unsafe`update maintenance_subjects set ended_at = clock_timestamp() + interval '1 hour'`);
  await world.api.tell('maintenance:1', 'maintenance.released', {
    maintenance_id: 1,
    workspace_id: world.api.workspaceId,
    name: 'm',
  });
  await world.settle();
  t.same(world.kinds(), ['opened']);
  t.match(await world.history(), [['opened', 'sent', null, 'a']]);
});

void t.test('tenants are told of their own probes', async (t) => {
  const { world } = await worldWithMonitor(t);
  const pool = world.api.database.worker;
  const own = await addProbe(world.api.database, 'mine', 'eu');
  const shared = await addProbe(world.api.database, 'all', 'eu');
  await pool.query(sql.unsafe`update probes set workspace_id = ${world.api.workspaceId} where id = ${own}`);
  for (const [id, name] of [
    [own, 'mine'],
    [shared, 'all'],
  ] as const) {
    await world.api.tell(`probe:${id}`, 'probe.offline', { probe_id: id, name, region: 'eu' });
  }
  await world.settle();
  t.same(world.kinds(), ['opened']);
  t.match(world.recorded[0]?.message.title, /mine/);
  await world.api.tell(`probe:${own}`, 'probe.online', { probe_id: own, name: 'mine', region: 'eu' });
  await world.passes(second);
  t.same(world.kinds(), ['opened', 'resolved']);
});

void t.test('rows of the outbox that come twice change nothing', async (t) => {
  const { world, turn } = await worldWithMonitor(t);
  await turn('UP', 'DOWN');
  await world.passes(4 * second);
  const before = await occasions(world);
  await world.api.database.worker.query(sql.unsafe`
    update outbox set done_at = null where kind like 'incident.%'`);
  await world.passes(second);
  t.same(await occasions(world), before);
  t.same(world.kinds(), ['opened']);
});

void t.test('what a maintenance holds of an outage stands in the history from its beginning', async (t) => {
  const { world, id, turn } = await worldWithMonitor(t);
  const { api } = world;
  const pool = api.database.worker;
  const cover = () =>
    pool.query(sql.unsafe`
      insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
      values (${api.workspaceId}, 1, 'monitor', ${id}, ${sql.timestamp(new Date(api.clock.nowMs - 1_000))})`);
  const release = async () => {
    await pool.query(sql.unsafe`
      update maintenance_subjects set ended_at = ${sql.timestamp(new Date(api.clock.nowMs))} where ended_at is null`);
    const payload = { maintenance_id: 1, workspace_id: api.workspaceId, name: 'm' };
    await api.tell('maintenance:1', 'maintenance.released', payload);
    await world.passes(second);
  };
  await cover();
  await turn('UP', 'DOWN');
  await world.passes(4 * second);
  t.same(await world.history(), [['opened', 'held', 'maintenance', 'a']]);
  await world.passes(40 * second);
  t.same([world.kinds(), (await world.history()).length], [[], 1], 'once, and nobody is told');
  await release();
  await world.passes(40 * second);
  t.same(world.kinds(), ['opened'], 'what lasts is told at its end, once');
  t.same(await world.history(), [['opened', 'sent', null, 'a']], 'in place of what was held');
  await turn('DOWN', 'UP');
  await world.passes(second);
  t.same(world.kinds(), ['opened', 'resolved']);

  await world.passes(300 * second);
  await cover();
  await turn('UP', 'DOWN');
  await world.passes(4 * second);
  t.same((await world.history()).slice(2), [['opened', 'held', 'maintenance', 'a']]);
  await turn('DOWN', 'UP');
  await world.passes(40 * second);
  t.same((await world.history()).slice(2), [['opened', 'suppressed', 'over', 'a']], 'over before it could be told');
  await release();
  await world.passes(40 * second);
  t.notOk(world.kinds().slice(2).includes('opened'));
});
