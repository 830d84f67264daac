import type { NotificationStatus } from '@parallax/api-contract';
import t from 'tap';
import type { Test } from 'tap';
import pg from 'pg';
import { z } from 'zod';
import { capabilities } from '../../capabilities.ts';
import { testApi } from '../../identity/testing.ts';
import { addMember, addRange } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { memoryBus } from '../../testing/probes.ts';
import { refreshDays } from '../day-sums/refresh.job.ts';

const path = '/api/v1/dashboard';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const at = (ms: number) => sql.timestamp(new Date(ms));
const iso = (ms: number) => new Date(ms).toISOString();

/** The whole API with an account, at a time that a test moves. */
async function open(t: Test) {
  const { database, urls } = await testDatabase(t);
  // Ahead of the database, by whose clock access tokens begin: those of accounts that are made later are to be good at once.
  const clock = { ms: Math.floor(Date.now() / 1_000) * 1_000 + 5 * minuteMs };
  const api = await testApi(t, { database, capabilities, context: { bus: memoryBus(), now: () => clock.ms } });
  const owner = await api.account('owner@example.com');
  const token = owner.accessToken;
  const listed = z.object({ workspaces: z.array(z.object({ id: z.number() })) });
  const workspaceOf = async (of: string) =>
    listed.parse((await api.call('GET', '/api/v1/workspaces', { token: of })).body).workspaces[0]?.id ?? 0;
  const workspaceId = await workspaceOf(token);
  const get = async (part: string, of = token) => {
    const answer = await api.call('GET', `${path}/${part}`, { token: of });
    if (answer.status !== 200) throw new Error(`${part}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const make = async (what: string, body: object, of = token) => {
    const answer = await api.call('POST', `/api/v1/${what}`, { token: of, body });
    if (answer.status !== 201) throw new Error(`${what}: ${answer.status} ${answer.text}`);
    return Number(answer.body['id']);
  };
  /** Past what is kept. */
  const later = () => {
    clock.ms += 11_000;
  };
  return { api, database, urls, clock, owner, token, workspaceId, workspaceOf, get, make, later, run: database.worker };
}

type World = Awaited<ReturnType<typeof open>>;

let monitors = 0;
async function monitor({ make, run, workspaceId }: World, more: { status?: string; createdMs?: number } = {}) {
  monitors += 1;
  const id = await make('monitors', {
    workspace_id: workspaceId,
    name: `monitor ${monitors}`,
    url: 'https://example.com/',
  });
  const { status = 'UP', createdMs } = more;
  await run.query(sql.unsafe`update monitors set status = ${status} where id = ${id}`);
  if (createdMs !== undefined)
    await run.query(sql.unsafe`update monitors set created_at = ${at(createdMs)} where id = ${id}`);
  return id;
}

t.test('what there is is counted by its state', async (t) => {
  const world = await open(t);
  const { get, make, later, run, workspaceId, clock, api, token } = world;
  const empty = await get('stats');
  t.match(empty, {
    as_of: iso(clock.ms),
    workspace_id: null,
    monitors: { total: 0, up: 0, down: 0, degraded: 0, unknown: 0, paused: 0 },
    heartbeats: { total: 0, new: 0 },
    webhook_checks: { total: 0, late: 0 },
    incidents: { open: 0, acknowledged: 0, by_severity: { total: 0 } },
    maintenance: { active: 0, scheduled: 0 },
    probes: { total: 0 },
  });
  for (const status of ['UP', 'UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'UNKNOWN']) await monitor(world, { status });
  const paused = await monitor(world);
  t.equal((await api.call('POST', `/api/v1/monitors/${paused}/pause`, { token })).status, 200);
  const heartbeat = (name: string) =>
    make(`heartbeats?workspace_id=${workspaceId}`, { name, schedule_type: 'period', expected_interval_seconds: 60 });
  const late = await heartbeat('late');
  await heartbeat('new');
  await run.query(sql.unsafe`
    update heartbeats set status = 'up', next_expected_at = now() - interval '1 second', deadline_at = now() + interval '1 hour' where id = ${late}`);
  const check = await make('webhook-checks', { workspace_id: workspaceId, name: 'backup' });
  await run.query(sql.unsafe`update webhook_checks set status = 'degraded' where id = ${check}`);
  const alert = {
    workspace_id: workspaceId,
    scope: { all: true },
    events: ['monitor.down'],
    steps: [{ after_seconds: 0, targets: [{ channel: 'email', target: 'owner@example.com' }] }],
  };
  const before = z.object({ alerts: z.object({ total: z.number(), active: z.number() }) }).parse(empty).alerts;
  await make('alerts', { ...alert, name: 'muted', muted_until: iso(clock.ms + hourMs) });
  await make('alerts', { ...alert, name: 'off', is_active: false });
  for (const severity of ['critical', 'minor', 'minor']) {
    await make('incidents', { workspace_id: workspaceId, title: severity, severity });
  }
  const id = await make('incidents', { workspace_id: workspaceId, title: 'seen' });
  t.equal((await api.call('POST', `/api/v1/incidents/${id}/acknowledge`, { token })).status, 200);
  const over = await make('incidents', { workspace_id: workspaceId, title: 'over' });
  t.equal((await api.call('POST', `/api/v1/incidents/${over}/resolve`, { token })).status, 200);
  await make('maintenance', {
    workspace_id: workspaceId,
    name: 'soon',
    scope: { all: true },
    starts_at: iso(clock.ms + dayMs),
    duration_seconds: 3_600,
  });
  const probe = (name: string, more: { workspace?: number | null; paused?: boolean; seen?: boolean }) =>
    run.oneFirst(sql.type(z.object({ id: z.number() }))`
      insert into probes (name, region, signing_public_key, workspace_id, is_paused, last_seen_at)
      values (${name}, 'here', ${sql.binary(Buffer.alloc(32, name))}, ${more.workspace ?? null}, ${more.paused === true},
        case when ${more.seen === true} then now() end) returning id`);
  await probe('public', { seen: true });
  await probe('private', { workspace: workspaceId });
  await probe('resting', { paused: true, seen: true });
  const doubted = await probe('doubted', { seen: true });
  await run.query(
    sql.unsafe`insert into quarantines (probe_id, started_at, reason) values (${doubted}, now(), 'test')`,
  );

  later();
  t.match(await get(`stats?workspace_id=${workspaceId}`), {
    workspace_id: workspaceId,
    monitors: { total: 7, up: 2, down: 2, degraded: 1, unknown: 1, paused: 1 },
    heartbeats: { total: 2, new: 1, up: 0, late: 1, down: 0, paused: 0 },
    webhook_checks: { total: 1, new: 0, up: 0, late: 0, degraded: 1, down: 0, paused: 0 },
    alerts: { total: before.total + 2, active: before.active, muted: 1, inactive: 1 },
    incidents: { open: 3, acknowledged: 1, by_severity: { total: 4, minor: 2, major: 1, critical: 1 } },
    maintenance: { active: 0, scheduled: 1 },
    probes: { total: 4, online: 0, offline: 1, never_connected: 1, paused: 1, quarantined: 1 },
  });
});

const figures = z.object({
  hours: z.number(),
  from: z.string(),
  to: z.string(),
  monitors: z.number(),
  uptime_percent: z.number().nullable(),
  seconds: z.record(z.string(), z.number()),
  days: z.array(
    z.object({ date: z.string(), uptime_percent: z.number().nullable(), seconds: z.record(z.string(), z.number()) }),
  ),
  worst: z.array(
    z.object({ monitor_id: z.number(), name: z.string(), uptime_percent: z.number(), downtime_seconds: z.number() }),
  ),
});
const ofOne = z.object({
  from: z.string(),
  to: z.string(),
  uptime_percent: z.number().nullable(),
  seconds: z.record(z.string(), z.number()),
  downtime_seconds: z.number(),
});

t.test('uptime is that of the monitors, to the last digit', async (t) => {
  const world = await open(t);
  const { api, clock, get, later, run, token } = world;
  const startMs = clock.ms - 100 * dayMs;
  // One is young, one was reset, one is paused, one under maintenance; bounds lie between seconds.
  const ids: number[] = [];
  for (let number = 0; number < 14; number += 1) {
    const createdMs = number === 0 ? clock.ms - 5 * hourMs - 123 : startMs + number * 7_777;
    ids.push(await monitor(world, { createdMs }));
    const id = ids.at(-1) ?? 0;
    const fromMs = createdMs + 1_500;
    const downMs = clock.ms - (number + 1) * 50 * minuteMs - 17;
    const lengthMs = number * 61_003;
    if (number === 0 || lengthMs === 0) {
      await addRange(world.database, { monitorId: id, fromMs, toMs: null, status: 'UP' });
      continue;
    }
    const isEarlier = number % 3 === 0;
    const onsetMs = isEarlier ? clock.ms - number * 6 * dayMs - 3_333 : downMs;
    await addRange(world.database, { monitorId: id, fromMs, toMs: onsetMs, status: 'UP' });
    await addRange(world.database, {
      monitorId: id,
      fromMs: onsetMs,
      toMs: onsetMs + lengthMs,
      status: number % 2 === 0 ? 'DOWN' : 'TIMEOUT',
    });
    await addRange(world.database, {
      monitorId: id,
      fromMs: onsetMs + lengthMs,
      toMs: null,
      status: number % 4 === 0 ? 'DEGRADED' : 'UP',
    });
  }
  await run.query(
    sql.unsafe`update monitors set reset_at = ${at(clock.ms - 2 * dayMs - 77)} where id = ${ids[3] ?? 0}`,
  );
  await run.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, ended_at) values (${ids[4] ?? 0}, ${at(clock.ms - 3 * hourMs)}, ${at(clock.ms - hourMs - 1)})`);
  await run.query(sql.unsafe`
    insert into shards (shard, folded_until) select distinct shard, ${at(clock.ms - 4_321)} from monitors
    on conflict (shard) do update set folded_until = excluded.folded_until`);
  await refreshDays(api.context);

  for (const hours of [24, 168, 720, 2_160]) {
    // A single monitor is asked for 720 hours at most, and between two instants for more.
    const all = figures.parse(await get(`uptime-summary?hours=${hours}`));
    t.equal(all.hours, hours);
    t.equal(all.to, iso(clock.ms - 4_321));
    t.equal(Date.parse(all.to) - Date.parse(all.from), hours * hourMs);
    t.equal(all.monitors, 14);
    const window = `start_time=${all.from}&end_time=${all.to}`;
    const single = async (id: number, query: string) =>
      ofOne.parse((await api.call('GET', `/api/v1/monitors/${id}/stats?${query}`, { token })).body);
    const each = await Promise.all(ids.map(async (id) => ({ id, ...(await single(id, window)) })));
    const names = Object.keys(all.seconds);
    const sumMs = (of: readonly { readonly seconds: Record<string, number> }[], name: string) =>
      of.reduce((sum, { seconds }) => sum + Math.round((seconds[name] ?? 0) * 1_000), 0);
    t.same(
      names.map((name) => [name, Math.round((all.seconds[name] ?? 0) * 1_000)]),
      names.map((name) => [name, sumMs(each, name)]),
      `${hours} hours: the seconds of all`,
    );
    t.same(
      names.map((name) => sumMs(all.days, name)),
      names.map((name) => sumMs(each, name)),
      'the days fill the window',
    );
    const [up, down] = [sumMs(each, 'up') + sumMs(each, 'degraded'), sumMs(each, 'down') + sumMs(each, 'timeout')];
    t.equal(all.uptime_percent, Math.floor((up / (up + down)) * 1e6) / 1e4);
    const wanted = each
      .filter(({ downtime_seconds }) => downtime_seconds > 0)
      .map(({ id, uptime_percent, downtime_seconds }) => ({ id, uptime_percent, downtime_seconds }));
    t.ok(wanted.length > (hours === 2_160 ? 10 : 3), `${wanted.length} with downtime`);
    t.equal(all.worst.length, Math.min(10, wanted.length));
    for (const { monitor_id, name, ...found } of all.worst) {
      const own = wanted.find(({ id }) => id === monitor_id);
      t.same({ id: monitor_id, ...found, workspace_id: undefined }, { ...own, workspace_id: undefined }, name);
    }
    t.same(
      all.worst.map(({ uptime_percent }) => uptime_percent),
      wanted
        .map(({ uptime_percent }) => uptime_percent ?? 100)
        .toSorted((a, b) => a - b)
        .slice(0, 10),
      'these are the worst, the lowest uptime first',
    );
    const [day] = all.days.slice(-1);
    t.equal(day?.date, all.to.slice(0, 10));
    const ofDay = await Promise.all(
      ids.map((id) =>
        single(id, `start_time=${all.to.slice(0, 10)}T00:00:00.000Z&end_time=${all.to}`).catch(() => null),
      ),
    );
    t.same(
      names.map((name) => sumMs(day === undefined ? [] : [day], name)),
      names.map((name) =>
        sumMs(
          ofDay.filter((one) => one !== null),
          name,
        ),
      ),
      'a day is that of the monitors',
    );
  }
  const { from, to } = ofOne.parse(
    (await api.call('GET', `/api/v1/monitors/${ids[1] ?? 0}/stats?hours=24`, { token })).body,
  );
  t.match(await get('uptime-summary'), { from, to }, 'the same hours are the same window');

  await run.query(sql.unsafe`update shards set folded_until = ${at(clock.ms - hourMs)}`);
  later();
  const still = figures.parse(await get('uptime-summary'));
  t.equal(still.to, iso(clock.ms), 'where evaluation stands still, nobody knows');
  t.ok((still.seconds['unknown'] ?? 0) > 13 * 3_600, `${still.seconds['unknown']} s unknown`);
});

t.test('no monitors come to no figures', async (t) => {
  const { get } = await open(t);
  t.match(await get('uptime-summary?hours=168'), {
    monitors: 0,
    uptime_percent: null,
    worst: [],
    seconds: { up: 0, unknown: 0 },
  });
  const answer = figures.parse(await get('uptime-summary?hours=168'));
  t.equal(answer.days.length, 8);
});

/** Messages of a time, as the planning and the sending leave them. */
async function messages(
  { run, workspaceId, owner }: World,
  atMs: number,
  rows: readonly {
    status: NotificationStatus;
    channel: string;
    afterMs?: number;
    kind?: string;
    queuedMs?: number;
    reason?: string;
  }[],
) {
  for (const { status, channel, afterMs, kind = 'opened', queuedMs, reason } of rows) {
    const occasion = await run.oneFirst(sql.type(z.object({ id: z.bigint() }))`
      insert into alert_occasions (workspace_id, key, event, title, severity, is_lasting, started_at, opened_at, seq, problem_seq, created_at)
      values (${workspaceId}, ${`test ${Math.random()}`}, 'monitor.down', 'x', 'major', true, ${at(atMs)}, ${at(atMs)}, 1, 1, ${at(atMs)}) returning id`);
    const doneAt = afterMs === undefined ? null : at(atMs + afterMs);
    await run.query(sql.unsafe`
      insert into notifications (workspace_id, occasion_id, alert_name, event, kind, seq, title, target_key, owner_id, channel, target_masked, status, reason,
        created_at, done_at)
      values (${workspaceId}, ${occasion}, 'a', 'monitor.down', ${kind}, 1, 'x', 'k', ${owner.id}, ${channel}, '…', ${status}, ${reason ?? null},
        ${at(atMs)}, ${doneAt})`);
    if (queuedMs !== undefined) {
      const alertId = await run.oneFirst(sql.type(z.object({ id: z.number() }))`select id from alerts limit 1`);
      await run.query(sql.unsafe`
        insert into alert_told (workspace_id, occasion_id, target_key, alert_id, owner_id, target, state, queued_at)
        values (${workspaceId}, ${occasion}, 'k', ${alertId}, ${owner.id}, '{}', 'problem', ${at(atMs + queuedMs)})`);
    }
  }
}

t.test('messages are counted by what became of them, and timed', async (t) => {
  const world = await open(t);
  const { get, clock, later, make, workspaceId } = world;
  const none = { sent: 0, failed: 0, held: 0, queued: 0, suppressed: 0, deduplicated: 0 };
  t.match(await get('alerts-summary'), { ...none, hours: 24, by_channel: [], told_after_p95_ms: null });
  await make('alerts', {
    workspace_id: workspaceId,
    name: 'all',
    scope: { all: true },
    events: ['monitor.down'],
    steps: [{ after_seconds: 0, targets: [{ channel: 'email', target: 'owner@example.com' }] }],
  });
  const sent = (afterMs: number, more: object = {}) => ({
    status: 'sent' as const,
    channel: 'email',
    afterMs,
    ...more,
  });
  await messages(world, clock.ms - hourMs, [
    ...Array.from({ length: 18 }, () => sent(1_200)),
    // Held back for ten minutes, and told two seconds after that.
    sent(602_000, { queuedMs: 600_000 }),
    sent(9_000, { queuedMs: 20_000 }),
    sent(90_000, { kind: 'recovered' }),
    { status: 'failed', channel: 'slack' },
    { status: 'held', channel: 'slack' },
    { status: 'suppressed', channel: 'email' },
    { status: 'deduplicated', channel: 'email' },
    { status: 'queued', channel: 'webhook' },
    { status: 'suppressed', channel: 'webhook', reason: 'reset' },
  ]);
  await messages(world, clock.ms - 2 * dayMs, [sent(40_000)]);
  later();
  t.match(await get('alerts-summary'), {
    sent: 21,
    failed: 1,
    held: 1,
    queued: 1,
    suppressed: 1,
    deduplicated: 1,
    by_channel: [
      { channel: 'email', ...none, sent: 21, suppressed: 1, deduplicated: 1 },
      { channel: 'slack', ...none, failed: 1, held: 1 },
      { channel: 'webhook', ...none, queued: 1 },
    ],
    told_after_p95_ms: 2_000,
  });
  t.match(await get('alerts-summary?hours=1'), { sent: 0, told_after_p95_ms: null });
  t.match(await get('alerts-summary?hours=72'), { sent: 22, told_after_p95_ms: 9_000 });
});

t.test('incidents that are open, those that ended lately, and how long it took', async (t) => {
  const world = await open(t);
  const { get, clock, later, run, workspaceId } = world;
  t.match(await get('incidents'), { open: [], recent: [], total_open: 0, mtta_seconds: null, mttr_seconds: null });
  const incident = (
    title: string,
    agoMs: number,
    more: { endedMs?: number; seenMs?: number; resolution?: string; deleted?: boolean } = {},
  ) => {
    const { endedMs, seenMs, resolution = 'auto', deleted = false } = more;
    const startedMs = clock.ms - agoMs;
    const status = endedMs !== undefined ? 'resolved' : seenMs === undefined ? 'open' : 'acknowledged';
    return run.query(sql.unsafe`
      insert into incidents (workspace_id, title, status, started_at, created_at, acknowledged_at, resolved_at, resolution, deleted_at)
      values (${workspaceId}, ${title}, ${status}, ${at(startedMs)}, ${at(startedMs + 30_000)},
        ${seenMs === undefined ? null : at(startedMs + 30_000 + seenMs)}, ${endedMs === undefined ? null : at(startedMs + endedMs)},
        ${endedMs === undefined ? null : resolution}, case when ${deleted} then now() end)`);
  };
  await incident('older', 3 * dayMs, { seenMs: 100_000 });
  await incident('newer', hourMs);
  await incident('gone', hourMs, { deleted: true });
  await incident('long', 40 * dayMs, { endedMs: 39 * dayMs, seenMs: 1 });
  await incident('short', 2 * dayMs, { endedMs: 600_000, seenMs: 200_000 });
  await incident('by hand', 2 * dayMs, { endedMs: 1_200_000, resolution: 'manual' });
  await incident('wrong', 2 * dayMs, { endedMs: 60_000, resolution: 'corrected', seenMs: 5_000_000 });
  await incident('paused', dayMs, { endedMs: 60_000, resolution: 'paused' });
  await incident('past', 60 * dayMs, { endedMs: hourMs });
  later();
  const titles = z.object({
    open: z.array(z.object({ title: z.string() })),
    recent: z.array(z.object({ title: z.string() })),
  });
  const body = await get('incidents');
  const { open: lasting, recent } = titles.parse(body);
  t.same(
    lasting.map(({ title }) => title),
    ['newer', 'older'],
  );
  t.same(
    recent.map(({ title }) => title),
    ['paused', 'long', 'by hand', 'short'],
  );
  t.match(body, { total_open: 2, mtta_seconds: 150, mttr_seconds: (39 * 86_400 + 600 + 1_200) / 3 });
  const stats = (await world.api.call('GET', '/api/v1/incidents/stats?hours=720', { token: world.token })).body;
  t.match(body, { mttr_seconds: stats['mttr_seconds'] }, 'as the incidents say themselves');
  const few = titles.parse(await get('incidents?limit=1'));
  t.same([few.open.length, few.recent.length], [1, 1]);
  t.match(await get('incidents?limit=1'), { total_open: 2 });
});

t.test('members see their workspaces, a limited token its own, others nothing', async (t) => {
  const world = await open(t);
  const { api, get, make, token, workspaceId, workspaceOf } = world;
  const second = await make('workspaces', { name: 'second' });
  const member = await api.account('member@example.com');
  const stranger = await api.account('stranger@example.com');
  await addMember(world.database, workspaceId, member.id, 'viewer');
  const seen = async (part: string, of: string) => {
    const body = await get(part, of);
    return z.object({ monitors: z.object({ total: z.number() }) }).parse(body).monitors.total;
  };
  await monitor(world);
  await make('monitors', { workspace_id: second, name: 'elsewhere', url: 'https://example.com/' });
  t.equal(await seen('stats', token), 2);
  t.equal(await seen(`stats?workspace_id=${second}`, token), 1);
  t.equal(await seen('stats', member.accessToken), 1);
  t.equal(await seen('stats', stranger.accessToken), 0);
  const limited = await api.call('POST', '/api/v1/auth/tokens', {
    token,
    body: { name: 'limited', workspace_ids: [second], scopes: ['dashboard:read'] },
  });
  const own = String(limited.body['token']);
  t.equal(await seen('stats', own), 1, 'the token is not answered with what is kept for its owner');
  for (const part of ['stats', 'uptime-summary', 'alerts-summary', 'incidents', 'combined']) {
    for (const [of, workspace] of [
      [stranger.accessToken, workspaceId],
      [member.accessToken, second],
      [own, workspaceId],
      [token, await workspaceOf(stranger.accessToken)],
    ] as const) {
      const answer = await api.call('GET', `${path}/${part}?workspace_id=${workspace}`, { token: of });
      t.equal(answer.status, 404, `${part} of workspace ${workspace}`);
    }
  }
  await world.run.query(
    sql.unsafe`delete from workspace_members where user_id = ${member.id} and workspace_id = ${workspaceId}`,
  );
  t.equal(await seen('stats', member.accessToken), 0, 'who has left gets nothing that was kept');
  t.equal((await api.call('GET', `${path}/uptime-summary?hours=25`, { token })).status, 422);
  t.equal((await api.call('GET', `${path}/incidents?limit=101`, { token })).status, 422);
});

t.test('all parts at once, and those that fail are named', async (t) => {
  const world = await open(t);
  const { get, later, urls, workspaceId, clock } = world;
  await monitor(world);
  const body = await get(`combined?workspace_id=${workspaceId}&hours=168&limit=3`);
  t.match(body, {
    as_of: iso(clock.ms),
    workspace_id: workspaceId,
    stats: { monitors: { total: 1 } },
    uptime_summary: { hours: 168 },
    alerts_summary: { hours: 168 },
    incidents: { total_open: 0 },
    errors: [],
  });
  t.same(body['stats'], await get(`stats?workspace_id=${workspaceId}`), 'the same as by itself');

  const owner = new pg.Client({ connectionString: urls.owner });
  await owner.connect();
  await owner.query('revoke select on subject_days from parallax_api');
  later();
  const broken = await get('combined');
  t.match(broken, {
    stats: { monitors: { total: 1 } },
    uptime_summary: null,
    alerts_summary: { hours: 24 },
    incidents: { total_open: 0 },
    errors: [{ part: 'uptime_summary', code: 'internal', message: /later/ }],
  });
  t.notMatch(JSON.stringify(broken), 'subject_days', 'and nothing of the fault is told');
  await owner.query('grant select on subject_days to parallax_api');
  await owner.end();
  t.match(await get('combined'), { uptime_summary: { hours: 24 }, errors: [] }, 'a fault is not kept');
});

t.test('an answer is kept for ten seconds, for its caller and question alone', async (t) => {
  const world = await open(t);
  const { get, clock, workspaceId } = world;
  const first = clock.ms;
  t.match(await get('stats'), { as_of: iso(first), monitors: { total: 0 } });
  await monitor(world);
  clock.ms = first + 9_000;
  t.match(await get('stats'), { as_of: iso(first), monitors: { total: 0 } });
  t.match(await get(`stats?workspace_id=${workspaceId}`), { as_of: iso(clock.ms), monitors: { total: 1 } });
  clock.ms = first + 10_000;
  t.match(await get('stats'), { as_of: iso(clock.ms), monitors: { total: 1 } });
});
