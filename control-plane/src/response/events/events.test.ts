import { eventSchema, eventTypeNames } from '@parallax/api-contract';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import type { TestContext } from '@parallax/testkit';
import { z } from 'zod';
import { capabilities } from '../../capabilities.ts';
import { testApi } from '../../identity/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { loopBus } from '../../testing/loop-bus.ts';
import { takeEvents } from '../webhooks/index.ts';
import { mostBytes } from './body.ts';
import type { EventTaker } from './event.ts';
import { makeEventsOnce, startEvents } from './events.job.ts';
import { mostAttempts } from './inbox.queries.ts';

const readShape = z.object({
  events: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      sequence: z.number(),
      workspace_id: z.number(),
      data: z.looseObject({ subject: z.looseObject({ type: z.string(), id: z.number(), name: z.string() }) }),
    }),
  ),
  next: z.string(),
  has_gap: z.boolean(),
});

async function world(t: TestContext) {
  const api = await testApi(t, { capabilities, context: { bus: loopBus() } });
  const owner = await api.account('owner@example.com');
  const token = owner.accessToken;
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const list = z.object({ workspaces: z.array(z.object({ id: z.number() })) });
  const workspaceId = list.parse((await call('GET', '/api/v1/workspaces')).body).workspaces[0]?.id ?? 0;
  const consumers = capabilities.flatMap((capability) => capability.consumers ?? []);
  let counter = 0;
  /** Events are read behind every transaction that is open, also of a test beside this one, which has the same server. */
  const passed = async () => {
    const xid = sql.type(z.object({ xid: z.bigint() }));
    const { worker } = api.database;
    const own = await worker.oneFirst(xid`select pg_current_xact_id()::text::int8 as xid`);
    const open = xid`select pg_snapshot_xmin(pg_current_snapshot())::text::int8 as xid`;
    while ((await worker.oneFirst(open)) <= own) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const work = async () => {
    while ((await workOnce(api.context, consumers)) > 0);
    await passed();
  };
  const make = async (takers: readonly EventTaker[] = [takeEvents]) => {
    let all = 0;
    for (let some = 1; some > 0; all += some) some = await makeEventsOnce(api.context, takers, quietLog);
    await passed();
    return all;
  };
  const read = async (query = '') => readShape.parse((await call('GET', `/api/v1/events${query}`)).body);
  const start = (await read()).next;
  return {
    ...api,
    token,
    owner,
    workspaceId,
    call,
    callAs: (asToken: string, path: string) => api.call('GET', path, { token: asToken }),
    work,
    make,
    read,
    start,
    monitor: async (more: object = {}) => {
      counter += 1;
      const url = `https://h${counter}.example/`;
      const made = await call('POST', '/api/v1/monitors', {
        workspace_id: workspaceId,
        name: `m ${counter}`,
        url,
        ...more,
      });
      return Number(made.body['id']);
    },
    tell: (kind: string, key: string, payload: object) =>
      api.database.worker.transaction((tx) =>
        enqueue(tx, { key, kind, payload: { workspace_id: workspaceId, ...payload } }),
      ),
    /** Whatever has happened is made events of, and read. */
    told: async () => {
      await work();
      await make();
      return (await read(`?after=${start}&limit=500`)).events;
    },
  };
}

type World = Awaited<ReturnType<typeof world>>;

const iso = (ms: number): string => new Date(ms).toISOString();

function transition(world: World, monitorId: number, from: string, to: string, atMs = Date.now()) {
  const voters = [1, 2, 3].map((voter) => ({
    voter,
    vote: voter === 3 ? 'UP' : 'DOWN',
    sinceUs: 1,
    error: voter === 3 ? 0 : 1,
  }));
  return world.tell('monitor.transition', `monitor:${monitorId}`, {
    monitor_id: monitorId,
    from,
    to,
    at: iso(atMs),
    detected_at: iso(atMs + 500),
    evidence: { rule: 'majority', quorum: 2, voters, missing: [] },
    range_started_at: iso(atMs),
  });
}

function fits(t: { ok: (value: unknown, what: string) => unknown }, events: readonly { type: string }[]): void {
  for (const event of events) {
    const type = eventTypeNames.find((name) => name === event.type);
    const read = type === undefined ? undefined : eventSchema(type).safeParse(event);
    t.ok(read?.success, `${event.type} fits its schema ${read?.success === false ? z.prettifyError(read.error) : ''}`);
  }
}

void t.test('an outage from its beginning to its end, in numbers without a gap', async (t) => {
  const it = await world(t);
  const id = await it.monitor({ tags: ['shop'] });
  const group = await it.call('POST', '/api/v1/monitor-groups', {
    workspace_id: it.workspaceId,
    name: 'g',
    tags: ['shop'],
  });
  const startMs = Date.now() - 60_000;
  await transition(it, id, 'UP', 'PARTIAL', startMs);
  await transition(it, id, 'PARTIAL', 'DOWN', startMs + 1_000);
  await transition(it, id, 'DOWN', 'TIMEOUT', startMs + 2_000);
  await transition(it, id, 'TIMEOUT', 'UNKNOWN', startMs + 3_000);
  await transition(it, id, 'UNKNOWN', 'DOWN', startMs + 4_000);
  await transition(it, id, 'DOWN', 'UP', startMs + 31_000);
  const events = await it.told();
  const own = events.filter(({ data }) => data.subject.type === 'monitor');
  t.same(
    own.map(({ type, sequence }) => `${sequence} ${type}`),
    ['1 monitor.partial', '2 monitor.down', '3 monitor.unknown', '4 monitor.down', '5 monitor.up'],
  );
  t.match(own[1], {
    timestamp: iso(startMs + 1_500),
    workspace_id: it.workspaceId,
    data: {
      at: iso(startMs + 1_000),
      subject: {
        id,
        name: 'm 1',
        target: 'https://h1.example/',
        tags: ['shop'],
        group_ids: [Number(group.body['id'])],
      },
      status: 'DOWN',
      previous: 'PARTIAL',
      cause: { failing: 2, voters: 3 },
      continues: false,
      in_maintenance: false,
      is_flapping: false,
    },
  });
  t.equal(own[3]?.data['continues'], true);
  t.match(own[4]?.data, { outage: { started_at: iso(startMs + 1_000), ended_at: iso(startMs + 31_000), seconds: 30 } });
  t.ok(events.some(({ type }) => type === 'incident.opened'));
  t.ok(events.some(({ type }) => type === 'incident.resolved'));
  fits(t, events);
  t.equal(new Set(events.map((event) => event.id)).size, events.length);
  for (const { id: eventId } of events) t.match(eventId, /^evt_[0-9a-f]{32}$/);
});

void t.test('what ends an outage without a recovery closes it, too', async (t) => {
  const it = await world(t);
  for (const [act, type] of [
    [(id: number) => it.call('POST', `/api/v1/monitors/${id}/pause`), 'monitor.paused'],
    [(id: number) => it.call('POST', `/api/v1/monitors/${id}/reset-stats`, { confirm: true }), 'monitor.reset'],
    [(id: number) => it.call('DELETE', `/api/v1/monitors/${id}`), 'monitor.deleted'],
    [
      async (id: number) => {
        const other = await it.call('POST', '/api/v1/workspaces', { name: `to ${id}` });
        return it.call('PATCH', `/api/v1/monitors/${id}`, { workspace_id: Number(other.body['id']) });
      },
      'monitor.moved',
    ],
  ] as const) {
    const id = await it.monitor();
    await transition(it, id, 'UP', 'DOWN');
    await it.work();
    const done = await act(id);
    t.ok(done.status < 300, `${type} ${done.text}`);
    const own = (await it.told()).filter(({ data }) => data.subject.type === 'monitor' && data.subject.id === id);
    t.same(
      own.map((event) => event.type),
      ['monitor.down', type],
    );
    t.equal(own[1]?.data.subject.name.startsWith('m '), true, 'it still has its name');
    fits(t, own);
    if (type === 'monitor.paused') {
      await it.call('POST', `/api/v1/monitors/${id}/resume`);
      await transition(it, id, 'UNKNOWN', 'UP');
      const later = (await it.told()).filter(({ data }) => data.subject.id === id && data.subject.type === 'monitor');
      t.same(
        later.slice(2).map((event) => event.type),
        ['monitor.resumed', 'monitor.up'],
      );
      t.equal(later[3]?.data['outage'], null, 'there is no outage to end any more');
    }
  }
});

void t.test('heartbeats, webhook checks, maintenance, certificates, lists and probes', async (t) => {
  const it = await world(t);
  const id = await it.monitor();
  const heartbeat = await it.call('POST', `/api/v1/heartbeats?workspace_id=${it.workspaceId}`, { name: 'job' });
  const heartbeatId = Number(heartbeat.body['id']);
  await it.call('POST', `/api/v1/heartbeats/${heartbeatId}/pause`);
  await it.call('POST', `/api/v1/heartbeats/${heartbeatId}/resume`);
  await it.call('DELETE', `/api/v1/heartbeats/${heartbeatId}`);
  const check = await it.call('POST', '/api/v1/webhook-checks', { workspace_id: it.workspaceId, name: 'hook' });
  await it.call('POST', `/api/v1/webhook-checks/${String(check.body['id'])}/pause`);
  await it.call('DELETE', `/api/v1/webhook-checks/${String(check.body['id'])}`);
  const at = iso(Date.now());
  const monitor = `monitor:${id}`;
  await it.tell('certificate.expiring', monitor, { monitor_id: id, not_after: at, threshold_days: 14, occasion: 'x' });
  await it.tell('domain.expiring', monitor, { monitor_id: id, not_after: at, threshold_days: 7, occasion: 'y' });
  await it.tell('dnsbl.listed', monitor, { monitor_id: id, provider: 'zen.example', at });
  await it.tell('dnsbl.delisted', monitor, { monitor_id: id, provider: 'zen.example', at });
  await it.tell('monitor.flapping', monitor, { monitor_id: id, is_flapping: true, at });
  await it.tell('monitor.revised', monitor, { monitor_id: id, since: at, detected_at: at });
  await it.tell('monitor.revised', monitor, { monitor_id: id, since: at, detected_at: at });
  for (const kind of ['maintenance.started', 'maintenance.ended', 'maintenance.cancelled']) {
    await it.tell(kind, 'maintenance:5', {
      maintenance_id: 5,
      name: 'upgrade',
      at,
      occurrence: { id: 1, starts_at: at, ends_at: at },
    });
  }
  const probeId = await it.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into probes (workspace_id, name, region, signing_public_key) values (${it.workspaceId}, 'own', 'here', decode(repeat('00', 32), 'hex')) returning id`);
  const sharedId = await it.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into probes (name, region, signing_public_key) values ('shared', 'here', decode(repeat('01', 32), 'hex')) returning id`);
  for (const probe of [probeId, sharedId]) {
    await it.tell('probe.offline', `probe:${probe}`, { probe_id: probe, name: 'p', region: 'here' });
  }
  const events = await it.told();
  const left =
    await it.database.worker.any(sql.type(z.object({ error: z.string().nullable() }))`select error from event_inbox`);
  t.same(left, [], 'all of them were understood');
  fits(t, events);
  t.same(
    events.map(({ type, data }) => `${type} ${data.subject.name}`).toSorted(),
    [
      'certificate.expiring m 1',
      'dnsbl.delisted m 1',
      'dnsbl.listed m 1',
      'domain.expiring m 1',
      'heartbeat.deleted job',
      'heartbeat.paused job',
      'heartbeat.resumed job',
      'maintenance.cancelled upgrade',
      'maintenance.ended upgrade',
      'maintenance.started upgrade',
      'monitor.flapping m 1',
      'monitor.revised m 1',
      'probe.offline p',
      'webhook_check.deleted hook',
      'webhook_check.paused hook',
    ],
    'one revision of two within a minute, and a private probe only',
  );
});

void t.test('what cannot be understood holds up nobody else, and stays with its reason', async (t) => {
  const it = await world(t);
  const [bad, good] = [await it.monitor(), await it.monitor()];
  await it.tell('monitor.transition', `monitor:${bad}`, { monitor_id: bad, from: 'UP', to: 'DOWN', at: 'never' });
  await it.database.worker.query(sql.unsafe`
    insert into event_inbox (key, kind, payload, at) select key, kind, payload, now() from outbox where key = ${`monitor:${bad}`}`);
  await transition(it, good, 'UP', 'DOWN');
  const events = await it.told();
  t.ok(events.some(({ data, type }) => type === 'monitor.down' && data.subject.id === good));
  t.ok(
    events.some(({ type }) => type === 'incident.opened'),
    'and incidents are opened',
  );
  const waiting = () =>
    it.database.worker.any(sql.type(z.object({ attempts: z.number(), error: z.string().nullable() }))`
      select attempts, error from event_inbox`);
  const [row] = await waiting();
  t.match(row, { attempts: 1, error: /at/ });
  for (let attempt = 0; attempt < mostAttempts + 2; attempt += 1) {
    await it.database.worker.query(sql.unsafe`update event_inbox set available_at = now()`);
    await it.make();
  }
  t.match(await waiting(), [{ attempts: mostAttempts }], 'it is left as it is');
  await transition(it, bad, 'UP', 'DOWN');
  t.ok(
    (await it.told()).some(({ data }) => data.subject.id === bad),
    'what comes behind it goes on',
  );
});

void t.test('several processes make each event once', async (t) => {
  const it = await world(t);
  const ids = await Promise.all(Array.from({ length: 5 }, () => it.monitor()));
  for (let round = 0; round < 20; round += 1) {
    for (const id of ids) await transition(it, id, round % 2 === 0 ? 'UP' : 'DOWN', round % 2 === 0 ? 'DOWN' : 'UP');
  }
  const taken: string[] = [];
  const taker: EventTaker = async (_transaction, events) => void taken.push(...events.map(({ eventId }) => eventId));
  await Promise.all([
    ...Array.from({ length: 3 }, () => it.work()),
    ...Array.from({ length: 4 }, async () => {
      for (let look = 0; look < 40; look += 1) await it.make([taker]);
    }),
  ]);
  await it.work();
  await it.make([taker]);
  const events = (await it.read(`?after=${it.start}&limit=500&subject_type=monitor`)).events;
  t.equal(events.filter(({ type }) => type === 'monitor.down' || type === 'monitor.up').length, 100);
  for (const id of ids) {
    const own = events.filter(({ data }) => data.subject.id === id).map(({ sequence }) => sequence);
    t.same(
      own,
      own.map((_, index) => index + 1),
      'in order, without a gap',
    );
  }
  t.equal(new Set(taken).size, taken.length, 'each was handed on once');
});

void t.test('reading: filters, places, tenants and waiting', async (t) => {
  const it = await world(t);
  const id = await it.monitor();
  const eve = await it.account('eve@example.com');
  await transition(it, id, 'UP', 'DOWN');
  await transition(it, id, 'DOWN', 'UP');
  await it.told();
  const types = async (query: string) => (await it.read(`?after=${it.start}&${query}`)).events.map(({ type }) => type);
  t.same(await types('types=monitor.*'), ['monitor.down', 'monitor.up']);
  t.same(await types('types=monitor.up,heartbeat.*'), ['monitor.up']);
  t.same(await types(`subject_type=monitor&subject_id=${id + 1}`), []);
  const first = await it.read(`?after=${it.start}&limit=1`);
  const rest = await it.read(`?after=${first.next}`);
  t.notOk(rest.events.some(({ id: eventId }) => eventId === first.events[0]?.id));
  t.same((await it.read(`?after=${rest.next}`)).events, []);
  const strange = await it.callAs(eve.accessToken, `/api/v1/events?after=${it.start}`);
  t.same(strange.body['events'], []);
  t.equal((await it.callAs(eve.accessToken, `/api/v1/events?workspace_id=${it.workspaceId}`)).status, 404);
  t.match(await it.call('GET', '/api/v1/events?after=nonsense'), {
    status: 422,
    body: { errors: [{ path: '/after' }] },
  });
  t.match(await it.call('GET', `/api/v1/events?after=${it.start}&types=Monitor`), { status: 422 });
  const [, xid, number] = it.start.split('-');
  t.equal((await it.read(`?after=1-${xid}-${number}`)).has_gap, true, 'longer ago than is kept');
  t.equal((await it.read(`?after=${Date.now()}-999999999999-1`)).has_gap, true, 'of another life of the database');

  const running = await startEvents(it.context, quietLog, [takeEvents]);
  t.teardown(() => running.stop());
  const begunMs = Date.now();
  const waiting = it.read(`?after=${rest.next}&wait_seconds=20&types=monitor.down`);
  await transition(it, id, 'UP', 'DOWN');
  await it.work();
  t.same(
    (await waiting).events.map(({ type }) => type),
    ['monitor.down'],
  );
  t.ok(Date.now() - begunMs < 10_000, 'a hint wakes who waits');
});

void t.test('a long event keeps within its bytes', async (t) => {
  const it = await world(t);
  const incident = await it.call('POST', '/api/v1/incidents', {
    workspace_id: it.workspaceId,
    title: 'long',
    monitor_ids: [await it.monitor()],
  });
  const body = 'я'.repeat(9_000);
  const wrote = await it.call('POST', `/api/v1/incidents/${String(incident.body['id'])}/updates`, {
    kind: 'identified',
    body,
  });
  t.equal(wrote.status, 201, wrote.text);
  const events = await it.told();
  fits(t, events);
  const written = events.find(({ data }) => typeof data['update'] === 'string');
  t.equal(written?.data['truncated'], true);
  t.match(written?.data['update'], /^я+…$/);
  t.ok(Buffer.byteLength(JSON.stringify(written)) <= mostBytes);
});
