import type { DatabasePool } from 'slonik';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { monitorsApi } from '../testing.ts';
import { flappingCapability, forgetFlappingOfDeleted, forgetFlappingOfReset } from './index.ts';
import { calmOnce } from './job.ts';

const minute = 60_000;
const base = Date.now() - 60 * minute;

async function world(test: Parameters<typeof monitorsApi>[0]) {
  const api = await monitorsApi(test, {
    monitors: { onMonitorDeleted: [forgetFlappingOfDeleted], onMonitorReset: [forgetFlappingOfReset] },
    more: [flappingCapability],
  });
  const { worker } = api.database;
  const consumers = flappingCapability.consumers ?? [];
  const work = async () => {
    while ((await workOnce(api.context, consumers)) > 0);
  };
  return {
    api,
    /** Tells of changes, each some minutes after the beginning. */
    tell: async (monitorId: number, ...changes: (readonly [from: string, to: string, atMinutes: number])[]) => {
      for (const [from, to, atMinutes] of changes) {
        const at = new Date(base + atMinutes * minute).toISOString();
        const payload = { monitor_id: monitorId, workspace_id: api.workspaceId, from, to, at };
        await worker.transaction((tx) =>
          enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
        );
      }
      await work();
    },
    work,
    calm: (atMinutes: number) => calmOnce(worker, base + atMinutes * minute),
    notices: async (monitorId: number) =>
      (
        await worker.any(sql.type(z.object({ payload: z.object({ is_flapping: z.boolean() }) }))`
          select payload from outbox where kind = 'monitor.flapping' and key = ${`monitor:${monitorId}`} order by id`)
      ).map((row) => row.payload.is_flapping),
    rows: (monitorId: number) =>
      worker.any(sql.type(z.object({ states: z.string(), flaps: z.boolean() }))`
        select states, flapping_since is not null as flaps from flapping where monitor_id = ${monitorId}`),
  };
}

const twice = [
  ['UP', 'DOWN', 0],
  ['DOWN', 'UP', 1],
  ['UP', 'TIMEOUT', 2],
  ['TIMEOUT', 'WARNING', 3],
] as const;

t.test('one notice when a monitor begins to flap, one when it ceases to, and then it is forgotten', async (t) => {
  const { api, tell, calm, notices, rows } = await world(t);
  const { id } = await api.monitor({ name: 'a', interval_seconds: 60 });
  await tell(id, ['UNKNOWN', 'UP', -5], ['UP', 'PARTIAL', -4], ['PARTIAL', 'UP', -3]);
  t.same(await rows(id), [], 'nothing to be remembered');
  await tell(id, ...twice.slice(0, 3));
  t.same(await notices(id), []);
  await tell(id, twice[3]);
  t.same(await notices(id), [true]);
  await tell(id, ['WARNING', 'DOWN', 4], ['DOWN', 'TIMEOUT', 5], ['TIMEOUT', 'UNKNOWN', 5.5], ['UNKNOWN', 'UP', 6]);
  t.same(await notices(id), [true], 'it goes on');
  t.equal(await calm(10), 0);
  for (let at = 10; at <= 60; at += 1) await calm(at);
  t.same(await notices(id), [true, false]);
  t.same(await rows(id), []);
});

t.test('several that look at once tell it once', async (t) => {
  const { api, tell, calm, notices } = await world(t);
  const { id } = await api.monitor({ name: 'a', interval_seconds: 60 });
  await tell(id, ...twice);
  await Promise.all([calm(50), calm(50), calm(50)]);
  t.same(await notices(id), [true, false]);
});

t.test('a pause, a reset and a deletion forget what was seen', async (t) => {
  const { api, tell, work, notices, rows } = await world(t);
  const { token } = api;
  const [paused, reset, deleted] = await Promise.all(['p', 'r', 'd'].map((name) => api.monitor({ name })));
  for (const one of [paused, reset, deleted]) await tell(one?.id ?? 0, ...twice);
  t.equal((await api.call('POST', `/api/v1/monitors/${paused?.id}/pause`, { token })).status, 200);
  const answer = await api.call('POST', `/api/v1/monitors/${reset?.id}/reset-stats`, {
    token,
    body: { confirm: true },
  });
  t.equal(answer.status, 200);
  t.equal((await api.call('DELETE', `/api/v1/monitors/${deleted?.id}`, { token })).status, 204);
  await work();
  for (const one of [paused, reset, deleted]) t.same(await rows(one?.id ?? 0), []);
  t.same(await notices(paused?.id ?? 0), [true, false]);
  t.same(await notices(reset?.id ?? 0), [true, false]);
  await tell(reset?.id ?? 0, ...twice);
  t.same(await rows(reset?.id ?? 0), [], 'nor does what was told before a reset count after it');
  await tell(paused?.id ?? 0, ...twice);
  t.same(await rows(paused?.id ?? 0), [], 'a paused monitor does not flap');
  const member = await api.monitor({ name: 'of a paused group' });
  await api.database.worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by) values (${member.id}, now(), 'group')`);
  await tell(member.id, ...twice);
  t.same(await rows(member.id), [], 'nor does one that a group has paused');
});

t.test('a change and the end of the flapping at one moment are told one after the other', async (t) => {
  const { api, tell, calm, notices, rows } = await world(t);
  const { id } = await api.monitor({ name: 'a', interval_seconds: 60 });
  await tell(id, ...twice);
  const { worker } = api.database;
  const monitor = sql.fragment`monitor_id = ${id}`;
  const isOver = Promise.withResolvers<void>();
  // Somebody else finds that it has ceased to flap, and has not committed yet.
  const ceasing = worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`select from flapping where ${monitor} for update`);
    await tx.query(sql.unsafe`update flapping set flapping_since = null, states = repeat('u', 21) where ${monitor}`);
    await isOver.promise;
  });
  const telling = tell(id, ['WARNING', 'DOWN', 50]);
  t.equal(await Promise.race([telling.then(() => 'told'), waitingForLock(worker)]), 'waits');
  isOver.resolve();
  await Promise.all([ceasing, telling]);
  t.match(await rows(id), [{ flaps: false, states: /^u+d$/ }], 'one change after a calm time');
  t.same(await notices(id), [true]);
  t.equal(await calm(50), 0);
});

/** Resolves when somebody waits for a lock. */
async function waitingForLock(worker: DatabasePool): Promise<string> {
  for (;;) {
    const waiting = await worker.oneFirst(
      sql.type(z.object({ n: z.number() }))`
        select count(*)::integer as n from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`,
    );
    if (waiting > 0) return 'waits';
  }
}
