import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { startLiveNews } from '../../monitoring/check-results/index.ts';
import type { IngestRow } from '../../monitoring/check-results/ingest/rows.ts';
import { addMember, monitorsApi } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { liveEventsCapability } from './index.ts';
import { eventsBehind, forgetEvents, keepEvents } from './queries.ts';
import { loopBus } from '../../testing/loop-bus.ts';
import { watch } from './testing.ts';

async function world(t: TestContext) {
  const bus = loopBus();
  const api = await monitorsApi(t, { context: { bus }, more: [liveEventsCapability] });
  const [service] = liveEventsCapability.services ?? [];
  const running = await service?.start(api.context, api.context.log);
  t.teardown(async () => {
    await running?.stop();
    // The client keeps connections that it opened and has not used.
    api.app.server.closeAllConnections();
  });
  const work = async () => {
    while ((await workOnce(api.context, liveEventsCapability.consumers ?? [])) > 0);
  };
  return {
    ...api,
    bus,
    stop: async () => running?.stop(),
    /** Tells a change of a monitor, as its owner does. */
    change: async (monitorId: number, to: string, workspaceId = api.workspaceId) => {
      await api.database.worker.transaction((tx) =>
        enqueue(tx, {
          key: `monitor:${monitorId}`,
          kind: 'monitor.transition',
          payload: { monitor_id: monitorId, workspace_id: workspaceId, from: 'UP', to, evidence: { rule: 'x' } },
        }),
      );
      await work();
    },
    work,
    open: (more: { token?: string; query?: string; last?: string } = {}) =>
      watch(t, `${api.url}/api/v1/events/stream${more.query ?? ''}`, {
        authorization: `Bearer ${more.token ?? api.token}`,
        ...(more.last === undefined ? {} : { 'last-event-id': more.last }),
      }),
  };
}

void t.test('what changes is told as it happens, to who may see it', async (t) => {
  const api = await world(t);
  const eve = await api.account('eve@example.com');
  const { id } = await api.monitor();
  await api.work();
  const stream = await api.open();
  t.equal(stream.status, 200);
  t.match(stream.headers.get('content-type'), 'text/event-stream');
  t.equal(stream.headers.get('cache-control'), 'no-store');
  const strange = await api.open({ token: eve.accessToken });
  t.match(await stream.next(), { event: 'ready', data: {} });
  t.match(await strange.next(), { event: 'ready' });
  await api.change(id, 'DOWN');
  await api.call('POST', `/api/v1/monitors/${id}/pause`, { token: api.token });
  await api.work();
  const told = await stream.next();
  t.match(told, { event: 'monitor.transition', data: { monitor_id: id, from: 'UP', to: 'DOWN' } });
  t.notMatch(told?.data, { evidence: {} }, 'evidence is read elsewhere');
  t.match(await stream.next(), { event: 'monitor.paused', data: { monitor_id: id } });
  const own = await api.call('GET', '/api/v1/workspaces', { token: eve.accessToken });
  const [{ id: hers } = { id: 0 }] = own.body['workspaces'] as { id: number }[];
  await api.change(999, 'UP', hers);
  t.match(await strange.next(), { event: 'monitor.transition', data: { workspace_id: hers } }, 'only her own');
});

void t.test('whoever comes back is told what has happened since, once and in order', async (t) => {
  const api = await world(t);
  const { id } = await api.monitor();
  await api.work();
  const first = await api.open();
  const ready = await first.next();
  await api.change(id, 'DOWN');
  const down = await first.next();
  first.close();
  await api.change(id, 'DEGRADED');
  await api.change(id, 'PARTIAL');
  const second = await api.open({ last: down?.id ?? '' });
  t.match(await second.next(), { event: 'ready' });
  t.match(await second.next(), { data: { to: 'DEGRADED' } });
  t.match(await second.next(), { data: { to: 'PARTIAL' } });
  await api.change(id, 'UP');
  t.match(await second.next(), { data: { to: 'UP' } });
  const third = await api.open({ last: ready?.id ?? '' });
  t.match(await third.next(), { event: 'ready' });
  const all = [await third.next(), await third.next(), await third.next(), await third.next()];
  t.same(
    all.map((event) => (event?.data as { to?: string } | undefined)?.to),
    ['DOWN', 'DEGRADED', 'PARTIAL', 'UP'],
  );
});

void t.test('transactions are told in the order of their numbers, also where one has a digit more', async (t) => {
  const api = await world(t);
  for (const xid of ['99', '100', '9'])
    await api.database.worker.query(sql.unsafe`
      insert into live_events (xid, workspace_id, kind, payload)
      values (${xid}::xid8, ${api.workspaceId}, 'monitor.transition', '{}'::jsonb)`);
  const { events } = await eventsBehind(api.database.worker, { atMs: 0, xid: 0n, id: 0n }, 3);
  t.same(
    events.map(({ cursor }) => cursor.xid),
    [9n, 99n, 100n],
  );
});

void t.test('a transaction that ends after a later one is not passed over', async (t) => {
  const api = await world(t);
  const { id } = await api.monitor();
  await api.work();
  const stream = await api.open();
  await stream.next();
  const wrote = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const slow = api.database.worker.transaction(async (tx) => {
    await keepEvents(tx, [{ workspaceId: api.workspaceId, kind: 'monitor.revised', payload: { which: 'slow' } }]);
    wrote.resolve();
    await mayCommit.promise;
  });
  await wrote.promise;
  await api.change(id, 'DOWN');
  const next = stream.next();
  t.equal(
    await Promise.race([next, api.call('GET', '/api/v1/monitors', { token: api.token })]).then(
      (x) => x && 'status' in x,
    ),
    true,
  );
  mayCommit.resolve();
  await slow;
  t.match(await next, { data: { which: 'slow' } });
  t.match(await stream.next(), { data: { to: 'DOWN' } });
});

void t.test('where too much or nothing of it is kept, the client is told to read anew', async (t) => {
  const api = await world(t);
  const first = await api.open();
  const ready = await first.next();
  first.close();
  for (const last of ['nonsense', '1-2-3', '9-9223372036854775807-9', '9-99999999999999999999-1']) {
    t.match(await (await api.open({ last })).next(), { event: 'reset' }, last);
  }
  const [atMs = 0, ...place] = (ready?.id ?? '').split('-').map(Number);
  const yesterday = [atMs - 86_400_001, ...place].join('-');
  t.match(await (await api.open({ last: yesterday })).next(), { event: 'reset', data: { reason: /not kept/ } });
  const inTime = [atMs - 86_000_000, ...place].join('-');
  t.match(await (await api.open({ last: inTime })).next(), { event: 'ready' });
  await api.database.worker.query(sql.unsafe`
    insert into live_events (workspace_id, kind, payload)
    select ${api.workspaceId}, 'monitor.revised', '{}' from generate_series(1, 1000)`);
  // An event is read when every older transaction of the cluster is over, those of other databases too.
  while (
    !(await api.database.worker.oneFirst(sql.type(z.object({ isRead: z.boolean() }))`
    select max(xid) < pg_snapshot_xmin(pg_current_snapshot()) as "isRead" from live_events`))
  );
  const again = await api.open({ last: ready?.id ?? '' });
  const reset = await again.next();
  t.match(reset, { event: 'reset', data: { reason: /1000/ } });
  await api.database.worker.transaction((tx) =>
    keepEvents(tx, [{ workspaceId: api.workspaceId, kind: 'monitor.revised', payload: { which: 'after' } }]),
  );
  t.match(await again.next(), { data: { which: 'after' } }, 'and it goes on from there');
  await api.database.worker.query(sql.unsafe`update live_events set at = now() - interval '25 hours'`);
  t.equal(await forgetEvents(api.database.worker, 24 * 3_600_000), 1_001);
});

void t.test('roles and credentials are looked at again before anything is told', async (t) => {
  const api = await world(t);
  const bob = await api.account('bob@example.com');
  await addMember(api.database, api.workspaceId, bob.id, 'viewer');
  const { id } = await api.monitor();
  await api.work();
  const stream = await api.open({ token: bob.accessToken });
  const narrow = await api.open({ token: bob.accessToken, query: `?workspace_id=${api.workspaceId}` });
  await stream.next();
  await narrow.next();
  await api.change(id, 'DOWN');
  t.match(await stream.next(), { data: { to: 'DOWN' } });
  t.match(await narrow.next(), { data: { to: 'DOWN' } });
  await api.database.worker.query(sql.unsafe`
    delete from workspace_members where workspace_id = ${api.workspaceId} and user_id = ${bob.id}`);
  await api.change(id, 'UP');
  t.match(await narrow.next(), { event: 'end', data: { code: 'not_found' } });
  t.equal(await narrow.next(), undefined);
  await api.call('POST', '/api/v1/auth/logout/all', { token: bob.accessToken });
  await api.change(id, 'DOWN');
  t.match(await stream.next(), { event: 'end', data: { code: 'invalid_credentials' } }, 'and UP was not told');
  t.equal(await stream.next(), undefined);
  t.equal((await api.open({ token: bob.accessToken })).status, 401);
  const { status } = await api.open({ query: '?workspace_id=2147483647' });
  t.equal(status, 404);
});

void t.test('results are told while somebody wants them, the latest of a monitor once in a second', async (t) => {
  const api = await world(t);
  const { id } = await api.monitor();
  let nowMs = 0;
  const news = startLiveNews(api.bus, () => nowMs);
  t.teardown(() => news.stop());
  const atMs = Date.UTC(2026, 10, 22);
  const row = (ms: number, outcome: IngestRow['outcome'] = 'ok'): IngestRow => ({
    monitorId: id,
    eUs: (atMs + ms) * 1_000,
    voter: 7,
    kind: 'scheduled',
    outcome,
    error: 0,
    freshS: 60,
    probeRevision: 1,
    receivedUs: 0,
    flags: 0,
    totalUs: 12_345,
    dnsUs: undefined,
    connectUs: undefined,
    tlsUs: undefined,
    firstByteUs: undefined,
    transferUs: undefined,
    evidence: undefined,
  });
  const monitors = new Map([[id, { workspaceId: api.workspaceId }]]);
  let hints = 0;
  api.bus.listen('live.results', () => {
    hints += 1;
  });
  news.tell([row(0)], monitors);
  t.equal(hints, 0, 'nobody watches');
  const quiet = await api.open({ query: '?results=false' });
  await quiet.next();
  news.tell([row(0)], monitors);
  t.equal(hints, 0, 'nobody wants results');
  const stream = await api.open();
  await stream.next();
  const begun = performance.now();
  news.tell([row(1), row(3), row(2)], monitors);
  t.equal(hints, 1);
  t.same((await stream.next())?.data, {
    results: [
      {
        monitor_id: id,
        workspace_id: api.workspaceId,
        probe_id: 7,
        at: '2026-11-22T00:00:00.003Z',
        outcome: 'ok',
        response_time_ms: 12.345,
      },
    ],
  });
  news.tell([row(4)], monitors);
  news.tell([{ ...row(5, 'fail'), voter: 0 }], monitors);
  t.match(
    await stream.next(),
    { data: { results: [{ probe_id: null, outcome: 'fail', response_time_ms: null }] } },
    'the control plane is no probe',
  );
  t.ok(performance.now() - begun > 500, 'not twice in a second');
  nowMs = 15_000;
  news.tell([row(6)], monitors);
  t.equal(hints, 3, 'who has not been heard of for 15 s wants nothing');
  api.bus.hint('live.results', { results: 'none' });
  api.bus.hint('live.results', null);
});

void t.test('streams of one user are bounded, and a stop ends them all', async (t) => {
  const api = await world(t);
  const streams = await Promise.all(Array.from({ length: 20 }, () => api.open()));
  await Promise.all(streams.map((stream) => stream.next()));
  const refused = await api.open();
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('retry-after'), '60');
  streams[0]?.close();
  let again = await api.open();
  for (let tries = 0; again.status === 429 && tries < 200; tries += 1) again = await api.open();
  t.equal(again.status, 200, 'one that was closed makes room');
  await again.next();
  await api.stop();
  t.match(await again.next(), { event: 'end', data: { code: 'unavailable' } });
  t.equal(await again.next(), undefined);
});
