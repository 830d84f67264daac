import { packFlags } from '@parallax/wire';
import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { inScope } from '../../../platform/database/scope.ts';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { makeMonitors, makeProbes, makeWorkspace } from '../../../testing/probes.ts';
import { judgeOnce, reviewOnce } from './job.ts';
import { liftQuarantine, suspects } from './queries.ts';

const { database, urls } = await testDatabase(t);
const { worker } = database;
const owner = await makeWorkspace(database);
const stranger = await makeWorkspace(database);
const minuteMs = 60_000;

/** A minute ago, so that what is written stays in the past. */
const nowMs = Date.now() - minuteMs;

type Sees = 'ok' | 'fail';

/** Three probes and monitors of one minute, where each probe saw at all of them what it sees; whatever an earlier test left is gone. */
async function world(
  t: Test,
  options: {
    readonly sees: readonly Sees[];
    readonly monitors?: number;
    readonly of?: typeof owner;
    /** Positions of probes that belong to the workspace. */
    readonly privateProbes?: readonly number[];
    readonly atMs?: number;
  },
) {
  await worker.query(sql.unsafe`update monitors set deleted_at = now() where deleted_at is null`);
  await worker.query(sql.unsafe`update assignments set ended_at = now() where ended_at is null`);
  await worker.query(sql.unsafe`update probes set revoked_at = now() where revoked_at is null`);
  await worker.query(sql.unsafe`delete from probe_ranges`);
  await worker.query(sql.unsafe`delete from quarantines`);
  await worker.query(sql.unsafe`delete from outbox`);
  const of = options.of ?? owner;
  const probes = await makeProbes(
    database,
    options.sees.map((_, index) => ({
      name: `${t.name.slice(0, 40)} ${index}`,
      region: `r${index}`,
      ...(options.privateProbes?.includes(index) ? { workspaceId: of.workspaceId } : {}),
    })),
  );
  const monitors = await makeMonitors(database, of, options.monitors ?? 10);
  await seat(monitors, probes);
  const lives = { probes, monitors, sees: options.sees };
  await look(lives, options.atMs ?? nowMs);
  return lives;
}

async function seat(monitors: readonly number[], probes: readonly number[]): Promise<void> {
  await worker.query(sql.unsafe`
    insert into assignments (monitor_id, probe_id, region, started_at, revision)
    select m, p, 'r', now() - interval '1 hour', row_number() over ()
    from unnest(${sql.array([...monitors], 'int4')}) as m, unnest(${sql.array([...probes], 'int4')}) as p`);
}

/** Two intervals up to then in which every probe saw what it sees, with its vote, and the shard folded so far. */
async function look(
  lives: { readonly probes: readonly number[]; readonly monitors: readonly number[]; readonly sees: readonly Sees[] },
  atMs: number,
): Promise<void> {
  const at = sql.timestamp(new Date(atMs));
  await worker.query(sql.unsafe`select ensure_result_partitions(${at} - interval '1 day', ${at})`);
  await worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${at}) on conflict (shard) do update set folded_until = ${at}`);
  const rows = lives.monitors.flatMap((monitor) =>
    lives.probes.flatMap((probe, position) =>
      [100, 40].map((secondsAgo) => [
        new Date(atMs - (secondsAgo - 5 * position) * 1_000).toISOString(),
        monitor,
        probe,
        packFlags('scheduled', lives.sees[position] ?? 'ok', undefined),
      ]),
    ),
  );
  await worker.query(sql.unsafe`
    insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, error)
    select e, e, monitor_id, probe_id, 1, flags, 160, 1, 0
    from ${sql.unnest(rows, ['timestamptz', 'int4', 'int4', 'int4'])} as given (e, monitor_id, probe_id, flags)`);
  await worker.query(sql.unsafe`
    delete from probe_ranges where monitor_id = any (${sql.array([...lives.monitors], 'int4')})`);
  await worker.query(sql.unsafe`
    insert into probe_ranges (monitor_id, probe_id, started_at, status)
    select m.id, p.id, ${at} - interval '100 seconds', p.status
    from ${sql.unnest(
      lives.monitors.map((id) => [id]),
      ['int4'],
    )} as m (id), ${sql.unnest(
      lives.probes.map((id, position) => [id, lives.sees[position] === 'fail' ? 'DOWN' : 'UP']),
      ['int4', 'text'],
    )} as p (id, status)`);
}

const quarantineRow = z.object({
  probe_id: z.number(),
  ended_at: z.number().nullable(),
  clean_since: z.number().nullable(),
});
const quarantines = () =>
  worker.any(sql.type(quarantineRow)`select probe_id, ended_at, clean_since from quarantines order by id`);
const kinds = async () =>
  (await worker.any(sql.type(z.object({ kind: z.string() }))`select kind from outbox order by id`)).map(
    (row) => row.kind,
  );
const lift = (probeId: number, atMs: number) =>
  inScope(database.api, { userId: owner.userId, workspaceIds: [owner.workspaceId] }, (tx) =>
    liftQuarantine(
      { userId: owner.userId, workspaceIds: [owner.workspaceId] },
      tx,
      { id: probeId, name: 'n', region: 'r' },
      {
        userId: owner.userId,
        nowMs: atMs,
      },
    ),
  );

t.test('of several that judge at once one writes: one quarantine and one notice', async (t) => {
  const { probes } = await world(t, { sees: ['fail', 'ok', 'ok'] });
  const found = await Promise.all([judgeOnce(worker, nowMs), judgeOnce(worker, nowMs), judgeOnce(worker, nowMs)]);
  t.match(
    found.filter((one) => one !== undefined),
    [{ probeId: probes[0], reason: /on 10 of the 10 monitors/ }],
  );
  t.match(await quarantines(), [{ probe_id: probes[0], ended_at: null }]);
  t.same(await kinds(), ['probe.quarantined']);
  t.equal(await judgeOnce(worker, nowMs), undefined, 'who is in quarantine is not judged again');
});

t.test('whoever has probes of his own cannot speak against a public one, but against his own', async (t) => {
  await world(t, { sees: ['fail', 'ok', 'ok'], privateProbes: [1, 2] });
  t.equal(await judgeOnce(worker, nowMs), undefined);
  const { probes } = await world(t, { sees: ['fail', 'ok', 'ok'], privateProbes: [0] });
  t.match(await judgeOnce(worker, nowMs), { probeId: probes[0] });
});

t.test('what is paused, of an older revision, of before a reset, or not folded tells nothing', async (t) => {
  const { monitors } = await world(t, { sees: ['fail', 'ok', 'ok'] });
  const guilty = async () => (await judgeOnce(worker, nowMs)) !== undefined;
  const at = sql.timestamp(new Date(nowMs - minuteMs));
  const undo = async () => {
    await worker.query(sql.unsafe`delete from pauses`);
    await worker.query(sql.unsafe`update monitors set probe_revision = 1, reset_at = null, is_active = true`);
  };
  await worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, ended_at) select id, ${at} - interval '1 minute', ${at} - interval '50 seconds' from monitors`);
  t.notOk(await guilty(), 'a pause within two intervals');
  await undo();
  await worker.query(sql.unsafe`update monitors set probe_revision = 2`);
  t.notOk(await guilty(), 'another target since');
  await undo();
  await worker.query(sql.unsafe`update monitors set reset_at = ${at}`);
  t.notOk(await guilty(), 'a reset since');
  await undo();
  await worker.query(sql.unsafe`update monitors set is_active = false`);
  t.notOk(await guilty(), 'paused');
  await undo();
  t.equal(await judgeOnce(worker, nowMs + 31_000), undefined, 'the ingest stands still');
  await worker.query(sql.unsafe`update probes set is_paused = true where name like '% 0'`);
  t.notOk(await guilty(), 'a paused probe');
  await worker.query(sql.unsafe`update probes set is_paused = false`);
  t.ok(await guilty(), 'and nothing else was wrong');
  t.equal(monitors.length, 10);
});

t.test(
  'its time runs while it agrees, begins anew when it does not or says nothing, and then it is let out',
  async (t) => {
    const lives = await world(t, { sees: ['fail', 'ok', 'ok'] });
    const honest = { ...lives, sees: ['ok', 'ok', 'ok'] as const };
    await judgeOnce(worker, nowMs);
    const clean = async () => (await quarantines())[0]?.clean_since ?? null;
    t.same(await reviewOnce(worker, nowMs), []);
    t.equal(await clean(), null, 'it fails still');
    let atMs = nowMs + 5 * minuteMs;
    await look(honest, atMs);
    await reviewOnce(worker, atMs);
    t.equal(await clean(), atMs);
    atMs += 20 * minuteMs;
    await look(lives, atMs);
    await reviewOnce(worker, atMs);
    t.equal(await clean(), null, 'it fails again');
    atMs += 5 * minuteMs;
    await look(honest, atMs);
    await reviewOnce(worker, atMs);
    t.equal(await clean(), atMs);
    t.same(await reviewOnce(worker, atMs + 20 * minuteMs), []);
    t.equal(await clean(), null, 'it says nothing');
    atMs += 25 * minuteMs;
    await look(honest, atMs);
    await reviewOnce(worker, atMs);
    const cleanMs = atMs;
    atMs = cleanMs + 30 * minuteMs - 1;
    await look(honest, atMs);
    t.same(await reviewOnce(worker, atMs), []);
    atMs += 1;
    await look(honest, atMs);
    t.same(await reviewOnce(worker, atMs), [lives.probes[0]]);
    t.match(await quarantines(), [{ ended_at: atMs }]);
    t.same(await kinds(), ['probe.quarantined', 'probe.released']);
    await look(lives, atMs + 30_000);
    t.equal(await judgeOnce(worker, atMs + 30_000), undefined, 'what it said before counts no more');
    await look(lives, atMs + 3 * minuteMs);
    t.match(await judgeOnce(worker, atMs + 3 * minuteMs), { probeId: lives.probes[0] }, 'what it says since then does');
  },
);

t.test('who was let out by hand is trusted for a day', async (t) => {
  const lives = await world(t, { sees: ['fail', 'ok', 'ok'] });
  const [probeId = 0] = lives.probes;
  t.notOk(await lift(probeId, nowMs), 'there is none to be lifted');
  await judgeOnce(worker, nowMs);
  t.ok(await lift(probeId, nowMs + 1_000));
  t.notOk(await lift(probeId, nowMs + 1_000));
  t.same(await kinds(), ['probe.quarantined', 'probe.released']);
  const later = nowMs + 23 * 60 * minuteMs;
  await look(lives, later);
  t.equal(await judgeOnce(worker, later), undefined);
  const nextDay = nowMs + 25 * 60 * minuteMs;
  await look(lives, nextDay);
  t.match(await judgeOnce(worker, nextDay), { probeId });
});

t.test('the first look reads what fails now and not every vote', async (t) => {
  await world(t, { sees: ['ok', 'ok', 'ok'], monitors: 2_000 });
  // Only its owner may: for anybody else PostgreSQL passes over the table.
  const admin = new pg.Client({ connectionString: urls.owner });
  await admin.connect();
  t.teardown(() => admin.end());
  await admin.query('analyze probe_ranges');
  t.same(await suspects(worker, nowMs, 3), []);
  const rows = await worker.any(sql.type(z.object({ 'QUERY PLAN': z.string() }))`
    explain select distinct monitor_id from probe_ranges where ended_at is null and status in ('DOWN', 'TIMEOUT') and probe_id > 0`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  t.match(plan, /probe_ranges_failing/);
});

t.test('a probe of thousands of monitors is judged by a sample', async (t) => {
  const { probes } = await world(t, { sees: ['fail', 'ok', 'ok'], monitors: 1_500 });
  const began = performance.now();
  t.match(await judgeOnce(worker, nowMs), { probeId: probes[0], reason: /on 1000 of the 1000/ });
  t.comment(`judged in ${Math.round(performance.now() - began)} ms`);
});

t.test('nobody is suspected for a few of many monitors', async (t) => {
  const lives = await world(t, { sees: ['ok', 'ok', 'ok'], monitors: 100 });
  await worker.query(sql.unsafe`
    update probe_ranges set status = 'DOWN' where probe_id = ${lives.probes[0] ?? 0}
      and monitor_id = any (${sql.array(lives.monitors.slice(0, 12), 'int4')})`);
  t.same(await suspects(worker, nowMs, 3), []);
  await worker.query(sql.unsafe`
    update probe_ranges set status = 'DOWN' where probe_id = ${lives.probes[0] ?? 0} and monitor_id = ${lives.monitors[12] ?? 0}`);
  t.same(await suspects(worker, nowMs, 3), [lives.probes[0]]);
});

t.test('monitors of another workspace that say otherwise save a public probe', async (t) => {
  const lives = await world(t, { sees: ['fail', 'ok', 'ok'], monitors: 20 });
  const others = await makeMonitors(database, stranger, 4);
  await seat(others, lives.probes);
  await look({ ...lives, monitors: others, sees: ['ok', 'ok', 'ok'] }, nowMs);
  t.same(await suspects(worker, nowMs, 3), [lives.probes[0]], 'it is looked at');
  t.equal(await judgeOnce(worker, nowMs), undefined);
  await worker.query(sql.unsafe`
    update monitors set workspace_id = ${owner.workspaceId}, owner_id = ${owner.userId} where workspace_id = ${stranger.workspaceId}`);
  t.match(await judgeOnce(worker, nowMs), { probeId: lives.probes[0] });
});

t.test('what a witness saw at a second look counts, what a manual check saw does not', async (t) => {
  const { probes, monitors } = await world(t, { sees: ['fail', 'ok', 'ok'] });
  const also = (kind: 'manual' | 'recheck') =>
    worker.query(sql.unsafe`
      insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, error)
      select at, at, id, ${probes[1] ?? 0}, 1, ${packFlags(kind, 'fail', undefined)}, 160, 1, 0
      from unnest(${sql.array([...monitors], 'int4')}) as id, ${sql.timestamp(new Date(nowMs - 50_000))} as at`);
  await also('manual');
  t.match(await judgeOnce(worker, nowMs), { probeId: probes[0] });
  await worker.query(sql.unsafe`delete from quarantines`);
  await also('recheck');
  t.equal(await judgeOnce(worker, nowMs), undefined, 'the others do not agree');
});

t.test('a quarantine of a probe that was revoked is no news any more', async (t) => {
  const lives = await world(t, { sees: ['fail', 'ok', 'ok'] });
  await judgeOnce(worker, nowMs);
  await look({ ...lives, sees: ['ok', 'ok', 'ok'] }, nowMs + 5 * minuteMs);
  await reviewOnce(worker, nowMs + 5 * minuteMs);
  t.not((await quarantines())[0]?.clean_since, null);
  await worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${lives.probes[0] ?? 0}`);
  await worker.query(sql.unsafe`
    insert into quarantines (probe_id, started_at, reason) values (${lives.probes[1] ?? 0}, ${sql.timestamp(new Date(nowMs))}, 'another')`);
  t.same(await reviewOnce(worker, nowMs + 60 * minuteMs), []);
  t.same(await kinds(), ['probe.quarantined']);
});
