import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { createSealer } from '../../../platform/crypto/seal.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { makeMonitors, makeProbes, makeWorkspace, memoryBus, testContext } from '../../../testing/probes.ts';
import { readMonitors } from '../../check-results/ingest/queries.ts';
import { rebalanceAll } from '../job.ts';
import { assignMonitor, closeAssignments, snapshotFor, touchAssignments } from '../queries.ts';
import { startSupplements, supplementAll } from './job.ts';

const { database } = await testDatabase(t);
const { worker } = database;
const owner = await makeWorkspace(database);
const reader = {
  pool: worker,
  sealer: createSealer(randomBytes(32)),
  everybodysTargets: [],
  obeysPrivateTargets: true,
  onUnreadable: () => undefined,
};
const minuteMs = 60_000;
const dayMs = 24 * 3_600_000;

type World = { readonly probes: number[]; readonly monitors: number[] };

/** Probes in these regions and monitors on the first three of them; whatever an earlier test left is revoked and deleted. */
async function world(t: Test, regions: readonly string[], monitors = 1): Promise<World> {
  await worker.query(sql.unsafe`update monitors set deleted_at = now() where deleted_at is null`);
  await worker.query(sql.unsafe`update assignments set ended_at = now() where ended_at is null`);
  await worker.query(sql.unsafe`update probes set revoked_at = now() where revoked_at is null`);
  const named = (region: string, index: number) => ({ name: `${t.name.slice(0, 40)} ${index}`, region });
  const first = await makeProbes(database, regions.slice(0, 3).map(named));
  const ids = await makeMonitors(database, owner, monitors);
  await rebalanceAll(worker);
  const others = await makeProbes(
    database,
    regions.slice(3).map((region, index) => named(region, index + 3)),
  );
  return { probes: [...first, ...others], monitors: ids };
}

const lose = (probeId: number | undefined, sinceMs = Date.now()) =>
  worker.query(sql.unsafe`
    update probes set offline_since = ${sql.timestamp(new Date(sinceMs))} where id = ${probeId ?? 0}`);
const comeBack = (probeId: number | undefined, atMs: number) =>
  worker.query(sql.unsafe`
    update probes set offline_since = null, returned_at = ${sql.timestamp(new Date(atMs))} where id = ${probeId ?? 0}`);
const foldedUntil = (atMs: number) =>
  worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(atMs))})
    on conflict (shard) do update set folded_until = excluded.folded_until`);
const votes = (monitorId: number | undefined, probeId: number | undefined, fromMs: number, toMs: number | null) =>
  worker.query(sql.unsafe`
    insert into probe_ranges (monitor_id, probe_id, started_at, ended_at, status)
    values (${monitorId ?? 0}, ${probeId ?? 0}, ${sql.timestamp(new Date(fromMs))},
      ${toMs === null ? null : sql.timestamp(new Date(toMs))}, 'UP')`);

const pass = (nowMs = Date.now(), isThorough = true) => supplementAll(worker, { nowMs, isThorough });

const openRow = z.object({ probe_id: z.number(), stands_in_for: z.number().nullable() });
/** "1 2 3 4>1": the probes with a seat, and who stands in for whom. */
async function present(monitorId: number | undefined): Promise<string> {
  const rows = await worker.any(sql.type(openRow)`
    select probe_id, stands_in_for from assignments
    where monitor_id = ${monitorId ?? 0} and ended_at is null order by supplement, probe_id`);
  return rows
    .map((row) => (row.stands_in_for === null ? `${row.probe_id}` : `${row.probe_id}>${row.stands_in_for}`))
    .join(' ');
}

const spanRow = z.object({ supplement: z.boolean(), from: z.string(), to: z.string().nullable() });
/** The number of seats at every instant of a monitor's history at which it can have changed, in order. */
async function seatsOverTime(monitorId: number | undefined): Promise<number[]> {
  const rows = await worker.any(sql.type(spanRow)`
    select supplement, to_char(started_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS') as from,
      to_char(ended_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS') as to
    from assignments where monitor_id = ${monitorId ?? 0}`);
  const instants = [...new Set(rows.flatMap((row) => (row.to === null ? [row.from] : [row.from, row.to])))].sort();
  return instants.map(
    (at) => rows.filter((row) => !row.supplement && row.from <= at && (row.to === null || at < row.to)).length,
  );
}

t.test('a lost probe gets a supplement of its region, which its agent and the ingest know as one', async (t) => {
  const {
    probes: [first = 0, second = 0, third = 0, elsewhere = 0, near = 0],
    monitors: [monitorId = 0],
  } = await world(t, ['eu', 'us', 'asia', 'africa', 'eu']);
  t.same(await pass(), { opened: 0, closed: 0, isComplete: true }, 'nothing while all are well');
  await lose(first);
  const hinted: number[] = [];
  const done = await supplementAll(worker, { nowMs: Date.now(), onChanged: (ids) => void hinted.push(...ids) });
  t.same(done, { opened: 1, closed: 0, isComplete: true });
  t.same(hinted, [near]);
  t.equal(await present(monitorId), `${first} ${second} ${third} ${near}>${first}`);
  t.match((await snapshotFor(reader, near)).assignments, [{ monitorId, supplement: true }]);
  t.same((await snapshotFor(reader, elsewhere)).assignments, []);
  const known = (await readMonitors(database.raw, 0, [monitorId])).get(monitorId);
  t.ok(known?.probes.has(near), 'its results are accepted');
  t.same(
    known?.inputs.assignments.map(({ voter, supplement }) => [voter, supplement]),
    [
      [first, false],
      [second, false],
      [third, false],
      [near, true],
    ],
  );
  t.same(await pass(), { opened: 0, closed: 0, isComplete: true }, 'and no second one');
  t.same([...new Set(await seatsOverTime(monitorId))], [3]);
});

t.test(
  'it leaves when the probe has voted without a gap for ten minutes since its return, and not before',
  async (t) => {
    const {
      probes: [first = 0, second = 0, third = 0, fourth = 0],
      monitors: [plain = 0, gap = 0, silent = 0],
    } = await world(t, ['eu', 'us', 'asia', 'eu'], 3);
    const backMs = Date.now();
    await lose(first, backMs - 10 * minuteMs);
    await pass();
    await comeBack(first, backMs);
    await foldedUntil(backMs + 60 * minuteMs);
    const own = `${first} ${second} ${third}`;
    const supplemented = `${own} ${fourth}>${first}`;
    // What it brings along from the time of its loss is not what is waited for.
    await votes(plain, first, backMs - 10 * minuteMs, backMs + 4 * minuteMs);
    await votes(plain, first, backMs + 4 * minuteMs, null);
    await votes(gap, first, backMs + 1_000, backMs + 4 * minuteMs);
    await votes(gap, first, backMs + 5 * minuteMs, null);
    await votes(silent, first, backMs - 60 * minuteMs, backMs - 10 * minuteMs);
    await pass(backMs + 10 * minuteMs - 1_000);
    for (const id of [plain, gap, silent]) t.equal(await present(id), supplemented, 'not before ten minutes');
    await foldedUntil(backMs + 5 * minuteMs);
    await pass(backMs + 11 * minuteMs);
    t.equal(await present(plain), supplemented, 'an open range is known only up to where the shard is folded');
    await foldedUntil(backMs + 60 * minuteMs);
    await pass(backMs + 10 * minuteMs, false);
    t.equal(await present(plain), own);
    t.equal(await present(gap), supplemented, 'a gap begins the ten minutes anew');
    await pass(backMs + 15 * minuteMs - 1_000);
    t.equal(await present(gap), supplemented);
    await pass(backMs + 15 * minuteMs, false);
    t.equal(await present(gap), own);
    t.equal(await present(silent), supplemented, 'a probe that is online and never votes keeps its supplement');
    t.same([...new Set(await seatsOverTime(plain))], [3]);
  },
);

t.test('after a day the seat goes to the supplement, and nobody ever sees another number of seats', async (t) => {
  const {
    probes: [first = 0, second = 0, third = 0, fourth = 0],
    monitors,
  } = await world(t, ['eu', 'us', 'asia', 'eu'], 700);
  await lose(first);
  await pass();
  await lose(first, Date.now() - dayMs + minuteMs);
  t.same(await pass(Date.now(), false), { opened: 0, closed: 0, isComplete: true }, 'not before');
  const swapping = pass(Date.now() + minuteMs, false);
  const over = swapping.then(() => true);
  const watching = (async () => {
    const wrong: unknown[] = [];
    let looks = 0;
    for (; !(await Promise.race([over, Promise.resolve(false)])); looks += 1) {
      const { rows } = await database.raw.query(
        `select monitor_id, count(*) from assignments where ended_at is null and not supplement and monitor_id = any ($1)
         group by 1 having count(*) <> 3`,
        [monitors],
      );
      wrong.push(...rows);
    }
    return { wrong, looks };
  })();
  t.same(await swapping, { opened: 700, closed: 1_400, isComplete: true });
  const { wrong, looks } = await watching;
  t.same(wrong, []);
  t.ok(looks > 0);
  t.equal(await present(monitors[0]), `${second} ${third} ${fourth}`);
  t.same([...new Set(await seatsOverTime(monitors[699]))], [3], 'also not in the history');
  t.match((await snapshotFor(reader, fourth)).assignments[0], { supplement: false }, 'its agent goes on with a seat');
  t.same((await snapshotFor(reader, first)).assignments, []);
  await comeBack(first, Date.now());
  await pass(Date.now() + 20 * minuteMs);
  await rebalanceAll(worker);
  t.equal(await present(monitors[0]), `${second} ${third} ${fourth}`, 'the probe that returns is a free one');
});

t.test('two replicas at once open one supplement for each seat', async (t) => {
  const { probes, monitors } = await world(t, ['eu', 'us', 'asia', 'eu', 'eu'], 1_200);
  await lose(probes[0]);
  // Each leaves to the other what that is at, and looks again.
  const look = async (): Promise<void> => {
    while (!(await pass()).isComplete);
  };
  await Promise.all([look(), look()]);
  const { count, probes_used: used } = await worker.one(
    sql.type(z.object({ count: z.number(), probes_used: z.array(z.number()) }))`
    select count(*)::int as count, array_agg(distinct probe_id order by probe_id) as probes_used
    from assignments where ended_at is null and supplement`,
  );
  t.equal(count, monitors.length);
  t.same(used, [probes[3], probes[4]], 'shared by load');
});

t.test('a supplement that is lost is replaced; where nobody is free, later', async (t) => {
  const {
    probes: [first = 0, second = 0, third = 0, fourth = 0, fifth = 0],
    monitors: [monitorId = 0],
  } = await world(t, ['eu', 'us', 'asia', 'eu', 'africa']);
  const own = `${first} ${second} ${third}`;
  await lose(first, Date.now() - 30 * minuteMs);
  await pass();
  t.equal(await present(monitorId), `${own} ${fourth}>${first}`);
  await lose(fourth);
  await pass(Date.now(), false);
  t.equal(await present(monitorId), `${own} ${fifth}>${first}`);
  await lose(fifth);
  await pass(Date.now(), false);
  t.equal(await present(monitorId), own);
  await comeBack(fourth, Date.now());
  await pass();
  t.equal(await present(monitorId), `${own} ${fourth}>${first}`);
  await worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${fourth}`);
  await pass(Date.now(), false);
  t.equal(await present(monitorId), own, 'that of a revoked probe is closed');
  t.same([...new Set(await seatsOverTime(monitorId))], [3]);
});

t.test('what is done to a monitor keeps seats and supplements apart', async (t) => {
  const {
    probes: [first = 0, second = 0, third = 0, fourth = 0],
    monitors: [monitorId = 0],
  } = await world(t, ['eu', 'us', 'asia', 'eu']);
  const own = `${first} ${second} ${third}`;
  const supplemented = `${own} ${fourth}>${first}`;
  const asTenant = (work: Parameters<typeof inScope<unknown>>[2]) =>
    inScope(database.api, { userId: owner.userId, workspaceIds: [owner.workspaceId] }, work);
  const named = (ids: readonly number[] | null) =>
    asTenant(async (tx) => {
      await tx.query(sql.unsafe`
        update monitors set wanted_probe_ids = ${ids === null ? null : sql.array([...ids], 'int4')} where id = ${monitorId}`);
      return assignMonitor(tx, monitorId);
    });
  await lose(first);
  await pass();
  await asTenant((tx) => assignMonitor(tx, monitorId));
  t.equal(await present(monitorId), supplemented, 'an edit keeps both');
  await asTenant((tx) => touchAssignments(tx, monitorId));
  t.equal(await present(monitorId), supplemented);
  const { revision, assignments } = await snapshotFor(reader, fourth);
  t.match(assignments, [{ monitorId, revision, supplement: true }], 'and tells the supplement too');

  await named([first, second]);
  t.equal(await present(monitorId), `${first} ${second}`, 'named probes have no supplement');
  await pass();
  t.equal(await present(monitorId), `${first} ${second}`);
  await named(null);
  await pass();
  t.equal(await present(monitorId), `${first} ${second} ${third}`.concat(` ${fourth}>${first}`), 'as before');

  await named([fourth, second]);
  t.equal(await present(monitorId), `${second} ${fourth}`, 'the probe of a supplement that is named gets the seat');
  await named([first, second, third]);
  await named(null);
  await pass();
  await worker.query(sql.unsafe`update monitors set is_active = false where id = ${monitorId}`);
  await pass(Date.now(), false);
  t.equal(await present(monitorId), own, 'a paused monitor needs none');
  await worker.query(sql.unsafe`update monitors set is_active = true where id = ${monitorId}`);
  await pass();
  t.equal(await present(monitorId), supplemented);
  const byGroup = sql.fragment`monitor_id = ${monitorId ?? 0} and paused_by = 'group'`;
  await worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by) values (${monitorId ?? 0}, now(), 'group')`);
  await pass(Date.now(), false);
  t.equal(await present(monitorId), own, 'nor does one that a group has paused');
  await pass();
  t.equal(await present(monitorId), own);
  await worker.query(sql.unsafe`delete from pauses where ${byGroup}`);
  await pass();
  t.equal(await present(monitorId), supplemented);

  await worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${first}`);
  await rebalanceAll(worker);
  t.equal(await present(monitorId), `${second} ${third} ${fourth}`, 'the supplement of a revoked probe takes the seat');
  await lose(second);
  await asTenant((tx) => closeAssignments(tx, monitorId));
  t.equal(await present(monitorId), '');
});

t.test('a new probe that gets a free seat gives up standing in', async (t) => {
  const {
    probes: [first = 0, second = 0],
    monitors: [monitorId = 0],
  } = await world(t, ['eu', 'us']);
  const [third = 0] = await makeProbes(database, [{ name: `${t.name} third`, region: 'eu' }]);
  await lose(first);
  await pass();
  t.equal(await present(monitorId), `${first} ${second} ${third}>${first}`);
  await rebalanceAll(worker);
  t.equal(await present(monitorId), `${first} ${second} ${third}`);
  t.equal(await rebalanceAll(worker), 0);
  t.same(await pass(), { opened: 0, closed: 0, isComplete: true });
});

t.test('a change that waited for another one is never dated before it', async (t) => {
  const { monitors } = await world(t, ['eu', 'us', 'asia']);
  const [monitorId = 0] = monitors;
  await worker.transaction(async (earlier) => {
    await earlier.query(sql.unsafe`select now()`);
    await worker.transaction((tx) => closeAssignments(tx, monitorId));
    await worker.transaction((tx) => assignMonitor(tx, monitorId));
    await earlier.query(sql.unsafe`select id from monitors where id = ${monitorId} for no key update`);
    await closeAssignments(earlier, monitorId);
    await assignMonitor(earlier, monitorId);
  });
  t.notOk(
    await worker.exists(sql.unsafe`select from assignments where monitor_id = ${monitorId} and ended_at < started_at`),
  );
  const counts = await seatsOverTime(monitorId);
  t.equal(Math.max(...counts), 3, 'and no two sets of seats hold at once');
});

t.test('the job does it by itself and hints at once', async (t) => {
  const { probes, monitors } = await world(t, ['eu', 'us', 'asia', 'eu'], 3);
  const bus = memoryBus();
  const context = testContext(database, bus);
  const service = await startSupplements(context, context.log);
  t.teardown(() => service.stop());
  await lose(probes[0]);
  const isDone = async () => (await present(monitors[2])).endsWith(`${probes[3]}>${probes[0]}`);
  for (let attempt = 0; attempt < 500 && !((await isDone()) && bus.hints.length > 0); attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.ok(await isDone());
  t.match(bus.hints, [{ subject: 'config.0' }, { subject: `dispatch.${probes[3]}`, message: { type: 'assignments' } }]);
});
