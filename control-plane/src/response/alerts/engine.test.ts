import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { planOnce } from './planning/job.ts';
import { bundleOnce } from './bundling/job.ts';
import { alertsWorld, target } from './testing.ts';

const second = 1_000;
const minute = 60 * second;
const count = z.object({ n: z.number() });

void t.test('an outage is told when it is known, and its end to those who were told', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  await world.alert({ steps: [{ after_seconds: 0, targets: [target('a'), target('b')] }] });
  await world.alert({ events: ['monitor.unknown'], steps: [{ after_seconds: 0, targets: [target('c')] }] });
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  t.same([world.kinds('a'), world.kinds('b'), world.kinds('c')], [['opened'], ['opened'], []]);
  t.match(world.recorded[0]?.message, {
    title: /Shop/,
    state: 'problem',
    subjects: [{ type: 'monitor', id, name: 'Shop' }],
  });
  await world.settle();
  t.equal(world.recorded.length, 2, 'looking again tells nothing');
  await world.api.turns(id, 'UP', world.api.clock.nowMs);
  await world.passes(second);
  t.same(
    [world.kinds('a'), world.kinds('b')],
    [
      ['opened', 'resolved'],
      ['opened', 'resolved'],
    ],
  );
  t.equal(world.recorded[0]?.message.subjectKey, world.recorded.at(-1)?.message.subjectKey);
  t.match(world.recorded[0]?.message.subjectKey, /^\d+:incident:\d+:[0-9a-f-]{18}$/, 'of no other installation');
  t.same(
    (await world.history()).toSorted((a, b) => a.join().localeCompare(b.join())),
    [
      ['opened', 'deduplicated', null, 'a'],
      ['opened', 'sent', null, 'a'],
      ['opened', 'sent', null, 'b'],
      ['resolved', 'sent', null, 'a'],
      ['resolved', 'sent', null, 'b'],
    ],
  );
});

void t.test('a job that says that it has failed is told of at once', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  await world.api.tell('heartbeat:5', 'heartbeat.failed', {
    workspace_id: world.api.workspaceId,
    heartbeat_id: 5,
    name: 'backup',
    at: new Date(world.api.clock.nowMs).toISOString(),
    exit_code: 3,
  });
  await world.settle();
  t.same(world.kinds(), ['opened']);
  t.match(world.recorded[0]?.message.title, /backup/);
});

void t.test('what a job says of its failure is told as text, once', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const { workspaceId } = world.api;
  const pool = world.api.database.worker;
  const failsWith = async (name: string, body: string, payload: object | null) => {
    const id = await pool.oneFirst(sql.typeAlias('id')`
      insert into heartbeats (workspace_id, name, slug, schedule_type, timezone, expected_interval_seconds, grace_period_seconds,
        failures_before_alert, require_secret, resume_on_ping, methods, uuid_hash, sealed_uuid, secret_hash)
      values (${workspaceId}, ${name}, ${name}, 'period', 'UTC', 60, 60, 1, false, false, 'any', ${sql.binary(Buffer.from(name))}, '',
        ${sql.binary(Buffer.from(name))}) returning id`);
    await pool.query(sql.unsafe`
      insert into heartbeat_bodies (heartbeat_id, slot, workspace_id, n, body, is_cut, payload)
      values (${id}, 1, ${workspaceId}, 1, ${body}, false, ${payload === null ? null : JSON.stringify(payload)}::jsonb)`);
    await world.api.tell(`heartbeat:${id}`, 'heartbeat.failed', {
      workspace_id: workspaceId,
      heartbeat_id: id,
      name,
      at: new Date(world.api.clock.nowMs).toISOString(),
      ping: 1,
    });
    await world.settle();
    const message = world.recorded.at(-1)?.message;
    return JSON.stringify([message?.title, message?.summary, message?.facts, message?.sections]);
  };
  const payload = { error: 'disk full', rows: 3, tables: ['a', 'b'] };
  const json = await failsWith('backup', JSON.stringify({ duration_ms: 5, payload }), payload);
  t.match(json, 'rows: 3, error: disk full, tables: a, b');
  t.notMatch(json, /duration_ms|[{]\\"/, 'not as it stood in the body');
  t.equal(json.split('disk full').length - 1, 1, 'once');
  const plain = await failsWith('report', 'no space left on device', null);
  t.equal(plain.split('no space left on device').length - 1, 1, 'words too');
});

void t.test('a message that was sent and not noted is sent again under the same name, and noted once', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const { id } = await world.api.monitor({ name: 'Shop' });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.api.passes(4 * second);
  await planOnce(world.api.database.worker, world.parts, world.api.clock.nowMs);
  await bundleOnce(world.api.database.worker, world.parts.channels, world.api.clock.nowMs);
  // It dies between sending and noting.
  const deliver: typeof world.parts.channels.deliver = async (...given) => {
    await world.parts.channels.deliver(...given);
    throw new Error('killed');
  };
  const dying = world.sender('dying', { channels: { ...world.parts.channels, deliver } });
  t.equal(await dying.begin(), 1);
  await dying.idle();
  await world.settle();
  t.same(world.kinds(), ['opened'], 'it is still theirs');
  await world.passes(minute);
  t.same(world.kinds(), ['opened', 'opened']);
  t.equal(world.recorded[0]?.message.id, world.recorded[1]?.message.id);
  t.same(await world.history(), [['opened', 'sent', null, 'a']]);
});

void t.test('replicas that look at once tell each thing once', async (t) => {
  const world = await alertsWorld(t);
  await world.alert({ steps: [{ after_seconds: 0, targets: ['a', 'b', 'c'].map(target) }] });
  for (const name of ['one', 'two', 'three']) {
    const { id } = await world.api.monitor({ name });
    await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  }
  await world.api.passes(4 * second);
  const pool = world.api.database.worker;
  const now = world.api.clock.nowMs;
  const senders = ['x', 'y', 'z'].map((name) => world.sender(name));
  await Promise.all([1, 2, 3].map(() => planOnce(pool, world.parts, now)));
  await Promise.all([1, 2, 3].map(() => bundleOnce(pool, world.parts.channels, now)));
  for (let begun = 1; begun > 0; ) {
    const counts = await Promise.all(senders.map((sender) => sender.begin()));
    await Promise.all(senders.map((sender) => sender.idle()));
    begun = counts.reduce((a, b) => a + b, 0);
  }
  await world.settle();
  t.same(
    ['a', 'b', 'c'].map((name) => world.kinds(name).length),
    [3, 3, 3],
  );
  t.equal(new Set(world.recorded.map(({ message }) => message.id)).size, 9);
});

void t.test(
  'what cannot be sent is tried again, in order, and given up; whoever stands in is told after a minute',
  async (t) => {
    const world = await alertsWorld(t);
    await world.alert({ failover: target('z') });
    const { id } = await world.api.monitor({ name: 'Shop' });
    world.outcome = ({ target: to }) =>
      to.target === 'a'
        ? { ok: false, latencyMs: 2, code: 'timeout', fault: 'passing', message: 'no answer', retryAfterMs: undefined }
        : { ok: true, latencyMs: 2, reference: null };
    await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
    await world.passes(4 * second);
    t.same([world.kinds('a').length, world.kinds('z').length], [1, 0]);
    await world.passes(5 * second);
    t.equal(world.kinds('a').length, 2);
    await world.passes(60 * second);
    t.same(world.kinds('z'), ['opened']);
    for (const seconds of [30, 120, 600, 1_800, 3_600]) await world.passes(seconds * second);
    t.equal(world.kinds('a').length, 6);
    t.same(
      world.recorded.filter((each) => each.target === 'a').map((each) => each.isLastAttempt),
      [false, false, false, false, false, true],
    );
    t.match(await world.history(), [
      ['opened', 'failed', null, 'a'],
      ['opened', 'sent', null, 'z'],
    ]);
    world.outcome = () => ({ ok: true, latencyMs: 2, reference: null });
    await world.api.turns(id, 'UP', world.api.clock.nowMs);
    await world.passes(second);
    t.same(world.kinds('z'), ['opened', 'resolved']);
    t.equal(world.recorded.filter((each) => each.target === 'a').length, 7, 'it is told that it was down');
  },
);

void t.test('an address that is gone is not tried again, and whoever stands in is told at once', async (t) => {
  const world = await alertsWorld(t);
  await world.alert({ failover: target('z') });
  const { id } = await world.api.monitor({ name: 'Shop' });
  world.outcome = ({ target: to }) =>
    to.target === 'a'
      ? { ok: false, latencyMs: 2, code: 'unknown_target', fault: 'target', message: 'gone', retryAfterMs: undefined }
      : { ok: true, latencyMs: 2, reference: null };
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  await world.passes(100);
  t.same([world.kinds('a'), world.kinds('z')], [['opened'], ['opened']]);
});

void t.test('one that is over before its message has left is told in one', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const { id } = await world.api.monitor({ name: 'Shop' });
  world.outcome = () => ({
    ok: false,
    latencyMs: 2,
    code: 'timeout',
    fault: 'passing',
    message: 'no',
    retryAfterMs: undefined,
  });
  await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  world.outcome = () => ({ ok: true, latencyMs: 2, reference: null });
  await world.api.turns(id, 'UP', world.api.clock.nowMs);
  await world.passes(10 * second);
  t.same(await world.history(), [
    ['opened', 'suppressed', 'over', 'a'],
    ['was_down', 'sent', null, 'a'],
  ]);
  const left = await world.api.database.worker.one(sql.type(count)`
    select count(*)::integer as n from deliveries where status = 'queued'`);
  t.equal(left.n, 0);
});

void t.test('of a storm five go alone and the rest in digests, so that everybody knows within a minute', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const pool = world.api.database.worker;
  const at = new Date(world.api.clock.nowMs).toISOString();
  const many = 150;
  await pool.query(sql.unsafe`
    insert into outbox (key, kind, payload)
    select 'heartbeat:' || n, 'heartbeat.failed', jsonb_build_object('workspace_id', ${world.api.workspaceId}::integer, 'heartbeat_id', n,
      'name', 'job ' || n, 'at', ${at}::text) from generate_series(1, ${many}) n`);
  await world.api.passes(0);
  await world.settle();
  t.equal(world.kinds('a').length, 5);
  await world.passes(15 * second);
  await world.passes(45 * second);
  t.same(world.kinds('a').slice(5), ['digest']);
  const digest = world.recorded.findLast((each) => each.target === 'a')?.message;
  t.equal(digest?.subjectCount, many - 5);
  const left = await pool.one(sql.type(count)`
    select count(*)::integer as n from notifications where status <> 'sent'`);
  t.equal(left.n, 0, 'each of them is in the history');
});

void t.test(
  'a service that keeps alarms open until it is told of their end gets each in a message of its own',
  async (t) => {
    const world = await alertsWorld(t);
    await world.alert({ steps: [{ after_seconds: 0, targets: [{ ...target('p'), channel: 'pagerduty' }] }] });
    const at = new Date(world.api.clock.nowMs).toISOString();
    for (let id = 1; id <= 8; id += 1) {
      const payload = { workspace_id: world.api.workspaceId, heartbeat_id: id, name: `job ${id}`, at };
      await world.api.tell(`heartbeat:${id}`, 'heartbeat.failed', payload);
    }
    await world.settle();
    t.same(world.kinds('p'), Array(8).fill('opened'));
    t.equal(new Set(world.recorded.map(({ message }) => message.subjectKey)).size, 8);
  },
);

void t.test('an alert that cannot be decided on, and a message that cannot be made, hold up nobody else', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const broken = await world.alert({
    tags: ['x'],
    covers_all: false,
    quiet_hours: {
      windows: [{ days: [1], start: '00:00', end: '01:00' }],
      timezone: 'Nowhere/At_all',
      except_severity: null,
    },
  });
  const pool = world.api.database.worker;
  const monitors = [await world.api.monitor({ name: 'odd', tags: ['x'] }), await world.api.monitor({ name: 'Shop' })];
  for (const { id } of monitors) await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  t.same(world.kinds(), ['opened']);
  await pool.query(sql.unsafe`update alerts set quiet_hours = null where id = ${broken}`);
  const failing = world.sender('failing', {
    compose: () => {
      throw new Error('no words');
    },
  });
  await world.api.passes(minute);
  await planOnce(pool, world.parts, world.api.clock.nowMs);
  await bundleOnce(pool, world.parts.channels, world.api.clock.nowMs);
  await failing.begin();
  await failing.idle();
  t.same(
    (await world.history()).map(([kind, status]) => [kind, status]).filter(([, status]) => status !== 'deduplicated'),
    [
      ['opened', 'sent'],
      ['opened', 'failed'],
    ],
  );
});

void t.test('an alert whose JSON is damaged is left out and named, and holds up nobody else', async (t) => {
  const world = await alertsWorld(t);
  await world.alert();
  const pool = world.api.database.worker;
  const { id } = await world.api.monitor({ name: 'Shop' });
  for (const damage of [
    sql.fragment`steps = '[5]'`,
    sql.fragment`steps = '[{"after_seconds": 0, "targets": [{"channel": "email"}]}]'`,
    sql.fragment`failover = '{"to": "nobody"}'`,
    sql.fragment`quiet_hours = '{"windows": 1}'`,
  ]) {
    const broken = await world.alert({ steps: [{ after_seconds: 0, targets: [target('b')] }] });
    await pool.query(sql.unsafe`update alerts set ${damage} where id = ${broken}`);
    await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
    await world.api.passes(4 * second);
    const named: unknown[] = [];
    await planOnce(pool, world.parts, world.api.clock.nowMs, (_error, of) => named.push(of));
    t.same(named, [{ alert_id: broken }]);
    await world.settle();
    t.equal(world.kinds('a').at(-1), 'opened');
    t.same(world.kinds('b'), []);
    await pool.query(sql.unsafe`delete from alerts where id = ${broken}`);
    await world.api.turns(id, 'UP', world.api.clock.nowMs);
    await world.passes(minute);
    t.equal(world.kinds('a').at(-1), 'resolved');
  }
});

void t.test('what falls into quiet hours comes together at their end', async (t) => {
  const world = await alertsWorld(t);
  const now = new Date(world.api.clock.nowMs);
  const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
  const windows = [
    {
      days: [1, 2, 3, 4, 5, 6, 7],
      start: clock(now.getTime() - 60 * minute),
      end: clock(now.getTime() + 120 * minute),
    },
  ];
  await world.alert({ quiet_hours: { windows, timezone: 'UTC', except_severity: null } });
  const monitors = [];
  for (const name of ['Shop', 'Blog', 'Api']) monitors.push(await world.api.monitor({ name }));
  for (const { id } of monitors) await world.api.turns(id, 'DOWN', world.api.clock.nowMs);
  await world.passes(4 * second);
  t.same(world.recorded, []);
  t.same(
    (await world.history()).map(([kind, status, reason]) => [kind, status, reason]),
    Array.from({ length: 3 }, () => ['opened', 'held', 'quiet_hours']),
  );
  await world.api.turns(monitors[0]?.id ?? 0, 'UP', world.api.clock.nowMs);
  await world.passes(minute);
  t.same(world.recorded, []);
  await world.passes(120 * minute);
  await world.passes(3 * second);
  t.equal(world.recorded.length, 1);
  t.match(world.recorded[0]?.message, { kind: 'digest', subjectCount: 3 });
});
