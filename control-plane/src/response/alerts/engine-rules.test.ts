import t from 'tap';
import type { ErrorCode } from '@parallax/checks';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { bundleOnce } from './bundling/job.ts';
import { planOnce } from './planning/job.ts';
import { alertsWorld, target } from './testing.ts';

const second = 1_000;
const minute = 60 * second;
const count = z.object({ n: z.number() });

void t.test(
  'two who name the same target each speak for themselves: who may not send there silences nobody',
  async (t) => {
    const world = await alertsWorld(t);
    const other = await secondUser(world);
    const now = new Date(world.api.clock.nowMs).getTime();
    const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
    const days = [1, 2, 3, 4, 5, 6, 7];
    const quiet = (hours: number) => ({
      windows: [{ days, start: clock(now - 60 * minute), end: clock(now + hours * 60 * minute) }],
      timezone: 'UTC',
      except_severity: null,
    });
    // The first is not silenced by the second, who may not send there; nor the last by the first, who is quiet for longer.
    await world.alert({ steps: [{ after_seconds: 0, targets: [target('a')] }] });
    await world.alert({ owner_id: other, steps: [{ after_seconds: 0, targets: [target('a')] }] });
    world.unusable.add(`${other} a`);
    await world.alert({ quiet_hours: quiet(3), steps: [{ after_seconds: 0, targets: [target('b')] }] });
    await world.alert({
      owner_id: other,
      quiet_hours: quiet(1),
      reminder_interval_seconds: 7_200,
      steps: [{ after_seconds: 0, targets: [target('b')] }],
    });
    const { id } = await world.api.monitor({ name: 'Shop' });
    await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
    await world.passes(4 * second);
    t.same([world.kinds('a'), world.kinds('b')], [['opened'], []]);
    await world.passes(60 * minute);
    await world.passes(3 * second);
    const sentTo = (name: string) => world.recorded.filter((each) => each.target === name);
    t.same(
      sentTo('b').map((each) => each.ownerId),
      [other],
      'by whoever is free to speak',
    );
    await world.api.turns(id, 'UP', world.api.clock.nowMs);
    await world.passes(second);
    t.same(
      sentTo('b').map((each) => [each.message.kind, each.ownerId]),
      [
        ['opened', other],
        ['resolved', other],
      ],
    );
  },
);

void t.test('an end that is held back from one target holds up no message of another', async (t) => {
  const world = await alertsWorld(t);
  const now = new Date(world.api.clock.nowMs).getTime();
  const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
  const windows = [{ days: [1, 2, 3, 4, 5, 6, 7], start: clock(now + 5 * minute), end: clock(now + 300 * minute) }];
  await world.alert({ quiet_hours: { windows, timezone: 'UTC', except_severity: null } });
  await world.alert({ steps: [{ after_seconds: 0, targets: [target('b')] }] });
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  const arrives = world.outcome;
  const begun = Promise.withResolvers<void>();
  const fails = Promise.withResolvers<void>();
  world.outcome = async (to, message) => {
    if (to.target.target !== 'b') return arrives(to, message);
    begun.resolve();
    await fails.promise;
    return {
      ok: false,
      latencyMs: 2,
      code: 'timeout',
      fault: 'passing',
      message: 'no answer',
      retryAfterMs: undefined,
    };
  };
  await world.api.passes(6 * minute);
  const pool = world.api.database.worker;
  await planOnce(pool, world.parts, world.api.clock.nowMs - 3 * minute);
  await bundleOnce(pool, world.parts.channels, world.api.clock.nowMs);
  const slow = world.sender('slow');
  await slow.begin();
  await begun.promise;
  // It is over while the message to b is under way; a is in its quiet hours.
  await world.api.turns(id, 'UP', world.api.clock.nowMs);
  await world.api.passes(second);
  await planOnce(pool, world.parts, world.api.clock.nowMs);
  fails.resolve();
  await slow.idle();
  world.outcome = arrives;
  await world.passes(10 * second);
  t.same(world.kinds('b'), ['opened', 'opened', 'resolved'], 'the second one arrived');
});

void t.test('what was over before anybody could look is told, however late its news came', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const { api } = world;
  const tell = (kind: string, ms: number) =>
    api.database.worker.query(sql.unsafe`
      insert into outbox (key, kind, payload) values ('heartbeat:5', ${kind}, ${JSON.stringify({
        workspace_id: api.workspaceId,
        heartbeat_id: 5,
        name: 'backup',
        at: new Date(ms).toISOString(),
        from: 'down',
      })}::jsonb)`);
  await tell('heartbeat.failed', api.clock.nowMs);
  await tell('heartbeat.recovered', api.clock.nowMs + 50);
  await api.passes(minute);
  await world.settle();
  t.same(await world.history(), [['was_down', 'sent', null, 'a']]);
});

void t.test('an outage that was over before its incident was announced is told', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  // Seen a second ago, and written before anybody announces anything.
  world.api.clock.nowMs += 2 * second;
  await world.api.turns(id, 'UP', world.api.clock.nowMs - second);
  await world.passes(4 * second);
  await world.passes(4 * second);
  t.same(await world.history(), [['was_down', 'sent', null, 'a']]);
});

void t.test('what was too short to be told stands in the history', async (t) => {
  const world = await alertsWorld(t);
  await world.alert({ min_duration_seconds: 300 });
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(minute);
  await world.api.turns(id, 'UP', world.api.clock.nowMs);
  await world.passes(second);
  await world.passes(10 * minute);
  t.same(world.recorded, []);
  t.same(await world.history(), [['was_down', 'suppressed', 'too_short', 'a']]);
});

void t.test('a service that keeps each thing apart gets several at once, each thing in its order', async (t) => {
  const world = await alertsWorld(t);
  const pager = { ...target('p'), channel: 'pagerduty' };
  await world.alert({ steps: [{ after_seconds: 0, targets: [pager, target('a')] }] });
  const { api } = world;
  const payload = (id: number) => ({
    workspace_id: api.workspaceId,
    heartbeat_id: id,
    name: `job ${id}`,
    at: new Date(api.clock.nowMs).toISOString(),
    from: 'down',
  });
  for (let id = 1; id <= 30; id += 1) await api.tell(`heartbeat:${id}`, 'heartbeat.failed', payload(id));
  await planOnce(api.database.worker, world.parts, api.clock.nowMs);
  await bundleOnce(api.database.worker, world.parts.channels, api.clock.nowMs);
  const release = Promise.withResolvers<void>();
  const nineUnderWay = Promise.withResolvers<void>();
  const underWay = new Map<string, number>();
  world.outcome = async (to) => {
    const name = to.target.target;
    underWay.set(name, (underWay.get(name) ?? 0) + 1);
    if ([...underWay.values()].reduce((a, b) => a + b, 0) === 9) nineUnderWay.resolve();
    await release.promise;
    underWay.set(name, (underWay.get(name) ?? 0) - 1);
    return { ok: true, latencyMs: 1, reference: null };
  };
  const [one, two] = [world.sender('one'), world.sender('two')];
  let begun = 0;
  for (const sender of [one, two, one, two]) begun += await sender.begin();
  t.equal(begun, 9);
  // They are composed before they are sent.
  await nineUnderWay.promise;
  t.same(Object.fromEntries(underWay), { p: 8, a: 1 }, 'eight to the service and one to the reader, over all replicas');
  release.resolve();
  await Promise.all([one.idle(), two.idle()]);
  await world.settle();
  await api.tell('heartbeat:3', 'heartbeat.recovered', payload(3));
  await world.settle();
  t.equal(world.recorded.filter((each) => each.target === 'p').length, 31);
});

void t.test('that a problem was told is noted with its channel, once for each problem, and no end is', async (t) => {
  const world = await alertsWorld(t);
  const { api } = world;
  await world.alert();
  const { id } = await api.monitor({ name: 'Shop' });
  const told: (readonly [string, boolean])[] = [];
  const sender = world.sender('noting', { noteTold: (channel, afterMs) => told.push([channel, afterMs >= 0]) });
  for (const status of ['DOWN', 'UP'] as const) {
    await api.turns(id, status, api.clock.nowMs);
    await api.passes(4 * second);
    await planOnce(api.database.worker, world.parts, api.clock.nowMs);
    await bundleOnce(api.database.worker, world.parts.channels, api.clock.nowMs);
    while ((await sender.begin()) > 0) await sender.idle();
  }
  t.equal(world.recorded.length, 2);
  t.same(told, [['email', true]]);
});

void t.test('a workspace whose services hang leaves room for others', async (t) => {
  const world = await alertsWorld(t);
  const targets = Array.from({ length: 20 }, (_, index) => target(`t${index}`));
  await world.alert({ steps: [{ after_seconds: 0, targets }] });
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.api.passes(4 * second);
  await planOnce(world.api.database.worker, world.parts, world.api.clock.nowMs);
  await bundleOnce(world.api.database.worker, world.parts.channels, world.api.clock.nowMs);
  const sender = world.sender('one');
  t.equal(await sender.begin(), 16);
  await sender.idle();
  t.equal(await sender.begin(), 4);
  await sender.idle();
});

void t.test('digests that tell of the same things do not wait for each other', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const pool = world.api.database.worker;
  for (const id of [1, 2]) {
    const at = new Date(world.api.clock.nowMs).toISOString();
    const payload = { workspace_id: world.api.workspaceId, heartbeat_id: id, name: `job ${id}`, at };
    await world.api.tell(`heartbeat:${id}`, 'heartbeat.failed', payload);
  }
  await planOnce(pool, world.parts, world.api.clock.nowMs);
  // As if each had been told of in the other's order: 1 and 4 after quiet hours, 2 and 3 in a digest.
  await pool.query(sql.unsafe`
    insert into notifications (workspace_id, occasion_id, alert_id, alert_name, event, kind, seq, title, target_key, owner_id, target, channel,
      target_masked, status, due_at, after_quiet)
    select workspace_id, occasion_id, alert_id, alert_name, event, 'updated', 9, title, target_key, owner_id, target, channel, target_masked,
      status, due_at, false
    from notifications order by id`);
  const ids = await pool.anyFirst(
    sql.type(z.object({ id: z.number() }))`select id::integer as id from notifications order by id`,
  );
  t.equal(ids.length, 4);
  await pool.query(
    sql.unsafe`update notifications set after_quiet = true where id = any(${sql.array([ids[0] ?? 0, ids[3] ?? 0], 'int4')})`,
  );
  await pool.query(sql.unsafe`
    insert into deliveries (workspace_id, owner_id, target_key, target, channel, target_masked, kind, status, attempts, done_at)
    select ${world.api.workspaceId}, 1, 'email:a', null, 'email', '…', 'opened', 'sent', 1, now() from generate_series(1, 5)`);
  await pool.query(
    sql.unsafe`update deliveries set created_at = ${sql.timestamp(new Date(world.api.clock.nowMs + 14_000))}`,
  );
  await world.passes(16 * second);
  await world.passes(minute);
  t.same(
    (await world.history()).map(([, status]) => status),
    ['sent', 'sent', 'sent', 'sent'],
  );
});

void t.test("five of their own a minute are the reader's, in however many workspaces", async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const pool = world.api.database.worker;
  const other = await pool.oneFirst(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key) select owner_id, 'other', 'other' from workspaces where id = ${world.api.workspaceId} returning id`);
  await pool.query(sql.unsafe`
    insert into alerts (workspace_id, owner_id, name, covers_all, events, steps, active_since)
    select ${other}, owner_id, name, true, events, steps, active_since from alerts`);
  await pool.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) select ${other}, owner_id, 'owner' from workspaces where id = ${other}`);
  for (const workspaceId of [world.api.workspaceId, other]) {
    for (let id = 1; id <= 5; id += 1) {
      const at = new Date(world.api.clock.nowMs).toISOString();
      const number = workspaceId * 100 + id;
      const payload = { workspace_id: workspaceId, heartbeat_id: number, name: `job ${number}`, at };
      await world.api.tell(`heartbeat:${number}`, 'heartbeat.failed', payload);
    }
  }
  await world.settle();
  t.equal(world.recorded.length, 5);
  await world.passes(16 * second);
  t.same(world.kinds().slice(5), ['digest']);
});

void t.test('who has left the workspace is sent nothing of what waited', async (t) => {
  const world = await alertsWorld(t);
  const other = await secondUser(world);
  await world.alert({ owner_id: other, steps: [{ after_seconds: 0, targets: [target('b')] }] });
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.api.passes(4 * second);
  const pool = world.api.database.worker;
  await planOnce(pool, world.parts, world.api.clock.nowMs);
  await bundleOnce(pool, world.parts.channels, world.api.clock.nowMs);
  await pool.query(sql.unsafe`delete from workspace_members where user_id = ${other}`);
  await world.settle();
  t.same(world.recorded, []);
  t.same(await world.history(), [['opened', 'failed', null, 'b']]);
});

void t.test('what is moved to another workspace is told there, and nothing of it waits where it was', async (t) => {
  const world = await alertsWorld(t);
  const { api } = world;
  const pool = api.database.worker;
  await world.alert({
    steps: [{ after_seconds: 0, targets: [target('a'), { ...target('p'), channel: 'pagerduty' }] }],
  });
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const elsewhere = Number(made.body['id']);
  await pool.query(sql.unsafe`
    insert into alerts (workspace_id, owner_id, name, covers_all, events, steps, active_since)
    select ${elsewhere}, owner_id, name, true, events, ${JSON.stringify([{ after_seconds: 0, targets: [target('b')] }])}::jsonb, active_since
    from alerts`);
  const monitors = [
    await api.monitor({ name: 'Shop' }),
    await api.monitor({ name: 'Blog' }),
    await api.monitor({ name: 'Api' }),
  ];
  const [shop, blog, alone] = monitors.map(({ id }) => id);
  // Two of one cause, which are one incident that is split, and one of its own.
  const cause = { code: 'connect_refused' as ErrorCode, evidence: { address: '192.0.2.1', port: 443 } };
  for (const id of [shop, blog]) await api.turns(id ?? 0, 'DOWN', api.clock.nowMs, cause);
  await api.turns(alone ?? 0, 'DOWN', api.clock.nowMs);
  await world.passes(4 * second);
  t.same([world.kinds('a'), world.kinds('b')], [['opened', 'opened'], []]);
  const move = { action: 'move', monitor_ids: [shop, alone], workspace_id: elsewhere };
  const moved = await api.call('POST', '/api/v1/monitors/bulk', { token: api.token, body: move });
  t.match(moved, { body: { ok: 2 } }, moved.text);
  await world.passes(minute);
  t.same(world.kinds('b'), ['opened', 'opened']);
  t.same(world.kinds('p').toSorted(), ['opened', 'opened', 'resolved'], 'a service closes what is open elsewhere now');
  for (const id of [shop, alone]) await api.turns(id ?? 0, 'UP', api.clock.nowMs);
  await world.passes(second);
  t.same(world.kinds('b'), ['opened', 'opened', 'resolved', 'resolved']);
  const left = await pool.one(sql.type(count)`
    select count(*)::integer as n from notifications where status in ('held', 'queued')`);
  t.equal(left.n, 0);
});

void t.test('a certificate that was replaced while its notice was held is not told of', async (t) => {
  const world = await alertsWorld(t);
  const { api } = world;
  const pool = api.database.worker;
  await world.alert();
  const monitors = [await api.monitor({ name: 'Shop' }), await api.monitor({ name: 'Blog' })];
  const soon = new Date(api.clock.nowMs + 5 * 86_400_000).toISOString();
  for (const { id } of monitors) {
    await api.tell(`monitor:${id}`, 'certificate.expiring', {
      monitor_id: id,
      workspace_id: api.workspaceId,
      not_after: soon,
      threshold_days: 7,
      occasion: `certificate:${id}:${soon}:7`,
    });
  }
  await pool.query(sql.unsafe`update alerts set muted_until = ${sql.timestamp(new Date(api.clock.nowMs + minute))}`);
  await world.settle();
  t.same(world.recorded, []);
  const later = new Date(api.clock.nowMs + 90 * 86_400_000).toISOString();
  for (const [index, notAfter] of [later, soon].entries()) {
    await pool.query(sql.unsafe`
      insert into monitor_expiries (monitor_id, kind, probe_id, probe_revision, not_after, seen_at)
      select id, 'certificate', 1, probe_revision, ${notAfter}, now() from monitors where id = ${monitors[index]?.id ?? 0}`);
  }
  await world.passes(minute);
  await world.passes(3 * second);
  t.same(
    world.recorded.map(({ message }) => message.kind),
    ['information'],
  );
  t.match(world.recorded[0]?.message.title, /Blog/);
  t.same(
    (await world.history()).map(([kind, status, reason]) => [kind, status, reason]),
    [
      ['information', 'suppressed', 'over'],
      ['information', 'sent', null],
    ],
  );
});

void t.test('an end that was held and that nobody wants any more leaves nothing held', async (t) => {
  const world = await alertsWorld(t);
  const pool = world.api.database.worker;
  await world.alert();
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  const until = sql.timestamp(new Date(world.api.clock.nowMs + minute));
  await pool.query(sql.unsafe`update alerts set muted_until = ${until}`);
  await world.api.turns(id, 'UP', world.api.clock.nowMs);
  await world.passes(second);
  await pool.query(sql.unsafe`delete from alerts`);
  await world.passes(minute);
  t.same(await world.history(), [
    ['opened', 'sent', null, 'a'],
    ['resolved', 'suppressed', 'over', 'a'],
  ]);
});

async function secondUser(world: Awaited<ReturnType<typeof alertsWorld>>): Promise<number> {
  const { database, workspaceId } = world.api;
  const id = await database.worker.oneFirst(sql.typeAlias('id')`
    insert into users (email, email_verified, password_hash, plan) values ('second@example.com', true, 'x', 'self_hosted') returning id`);
  await database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${id}, 'editor')`);
  return id;
}
