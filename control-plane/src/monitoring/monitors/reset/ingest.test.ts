import t from 'tap';
import { compareTimelines } from '../../check-results/ingest/testing/compare-timelines.ts';
import { result } from '../../check-results/ingest/testing/fixture.ts';
import { eventually, fastLimits, world } from '../../check-results/ingest/testing/world.ts';
import type { World, WorldOptions } from '../../check-results/ingest/testing/world.ts';
import { sampleReadModels } from '../../status-ranges/index.ts';
import { resetMonitor } from './testing.ts';

/** A world whose clock the test moves, with probes that send in order. */
async function stage(t: Parameters<typeof world>[0], options: WorldOptions = {}) {
  const startMs = Date.now() - 3_600_000;
  let nowMs = startMs;
  const w = await world(t, { probes: 2, intervalS: 10, timeoutS: 5, createdMs: startMs - 600_000, ...options });
  const sent = new Map<number, number>();
  const { rows } = await w.pool.query<{ id: number }>('select id from workspaces');
  const workspaceId = rows[0]?.id ?? 0;
  return {
    w,
    startMs,
    now: () => nowMs,
    pass: (seconds: number) => {
      nowMs += seconds * 1_000;
    },
    start: () => w.start({ now: () => nowMs, limits: { ...fastLimits, holdMs: 300 } }),
    reset: (monitor = w.monitor) => resetMonitor(w.database, { id: monitor, workspaceId }, nowMs),
    /** Sends a probe's result of so many seconds ago. */
    async send(probeIndex: number, outcome: 'ok' | 'fail', agoS = 0, monitor = w.monitor): Promise<void> {
      const probe = w.probes[probeIndex];
      if (probe === undefined) throw new Error('no such probe');
      const firstSeq = (sent.get(probe.id) ?? 0) + 1;
      sent.set(probe.id, firstSeq);
      const eUs = (nowMs - agoS * 1_000) * 1_000 - 500 + probe.id;
      await w.send(probe, w.batch(probe, { firstSeq }, [result(monitor, eUs, { outcome, freshS: 30 })]));
    },
    /** All that was sent is committed. */
    settled: () =>
      eventually(async () => {
        const { rows: cursors } = await w.pool.query<{ probe_id: number; seq: string }>(
          'select probe_id, seq from cursors',
        );
        const done = new Map(cursors.map((row) => [row.probe_id, Number(row.seq)]));
        return [...sent].every(([probeId, seq]) => done.get(probeId) === seq);
      }, 'all results are committed'),
    statusIs: (status: string, monitor = w.monitor) =>
      eventually(async () => {
        const found = await w.pool.query<{ status: string }>('select status from monitors where id = $1', [monitor]);
        return found.rows[0]?.status === status;
      }, `the status is ${status}`),
  };
}

const ranges = async (w: World, table = 'status_ranges') =>
  (
    await w.pool.query<{ status: string; open: boolean }>(
      `select status, ended_at is null as open from ${table} order by started_at, status`,
    )
  ).rows;

const transitions = async (w: World): Promise<string[]> =>
  (
    await w.pool.query<{ told: string }>(
      `select coalesce((payload->>'from') || ' ' || (payload->>'to'), kind) as told from outbox
       where kind in ('monitor.transition', 'monitor.reset') order by id`,
    )
  ).rows.map((row) => row.told);

const trouble = (w: World): unknown[] =>
  w.lines.filter((line) => /drift|not there|read anew|rebuilt|violates|duplicate key/i.test(JSON.stringify(line)));

t.test('a reset under a running ingest: nothing of before is left, and the next result begins anew', async (t) => {
  const s = await stage(t);
  const { w } = s;
  s.start();
  await s.send(0, 'ok', 20);
  await s.send(1, 'ok', 20);
  await s.statusIs('UP');
  for (const agoS of [8, 4]) for (const probe of [0, 1]) await s.send(probe, 'fail', agoS);
  await s.statusIs('DOWN');
  t.match(await ranges(w), [{ status: 'UP' }, { status: 'DEGRADED' }, { status: 'DOWN', open: true }]);
  s.pass(2);
  const { empty } = await s.reset();
  const found = await w.pool.query<{ status: string }>('select status from monitors');
  t.equal(found.rows[0]?.status, 'UNKNOWN', 'at once');
  await empty();
  t.same(await ranges(w), []);
  t.same(await ranges(w, 'probe_ranges'), []);
  t.equal(await w.count('check_results'), 0);
  await eventually(async () => (await transitions(w)).includes('DOWN UNKNOWN'), 'the end of the outage is told');

  await s.send(0, 'fail', 3);
  await s.send(1, 'fail', 3);
  await s.settled();
  t.equal(await w.count('check_results'), 0, 'what was measured before and comes after is not stored');
  t.same(await ranges(w), []);
  await s.statusIs('UNKNOWN');

  s.pass(5);
  await s.send(0, 'fail');
  await s.settled();
  await s.statusIs('UNKNOWN');
  s.pass(1);
  await s.send(0, 'ok');
  await s.statusIs('UP');
  t.same(await ranges(w), [{ status: 'UP', open: true }]);
  s.pass(1);
  await s.send(0, 'ok');
  await s.settled();
  await eventually(async () => (await transitions(w)).at(-1) === 'UNKNOWN UP', 'the recovery is told');
  t.same(await transitions(w), ['UNKNOWN UP', 'UP DOWN', 'monitor.reset', 'DOWN UNKNOWN', 'UNKNOWN UP']);
  t.same(trouble(w), []);
  t.match(await sampleReadModels(w.database.worker), { wrong: 0 });
});

t.test('an ingest that was away during a reset begins with it', async (t) => {
  const s = await stage(t);
  const { w } = s;
  const before = s.start();
  for (const probe of [0, 1]) for (const agoS of [9, 5, 1]) await s.send(probe, 'fail', agoS);
  await s.statusIs('DOWN');
  await before.stop();
  s.pass(3);
  const { empty } = await s.reset();
  s.pass(3);
  await s.send(0, 'ok');
  s.start();
  await s.statusIs('UP');
  t.notOk(
    (await ranges(w)).some(({ status, open }) => open && status === 'DOWN'),
    'the open range went',
  );
  await empty();
  await s.send(1, 'ok');
  await s.settled();
  t.same(await ranges(w), [{ status: 'UP', open: true }]);
  t.equal((await transitions(w)).at(-1), 'UNKNOWN UP');
  t.same(trouble(w), []);
});

t.test('ranges that vanish under an ingest that does not know of the reset yet do not void its memory', async (t) => {
  const s = await stage(t);
  const { w } = s;
  // It looks for changes after the test only, and there is no hint.
  w.start({ now: s.now, limits: { ...fastLimits, holdMs: 300, pollMs: 600_000 } });
  for (const probe of [0, 1]) await s.send(probe, 'ok', 9);
  await s.statusIs('UP');
  s.pass(1);
  const { empty } = await s.reset();
  await empty();
  s.pass(1);
  for (const probe of [0, 1]) for (const agoS of [0.4, 0.2]) await s.send(probe, 'fail', agoS);
  await s.settled();
  t.equal(await w.count('check_results'), 4, 'it goes on');
  t.match(
    await ranges(w),
    [{ status: 'DEGRADED' }, { status: 'DOWN', open: true }],
    'what it ends is not there, which is right',
  );
  t.same(trouble(w), []);
});

t.test('nor do those of a monitor that was deleted', async (t) => {
  const s = await stage(t);
  const { w } = s;
  w.start({ now: s.now, limits: { ...fastLimits, holdMs: 300, pollMs: 600_000 } });
  for (const probe of [0, 1]) await s.send(probe, 'ok', 9);
  await s.statusIs('UP');
  await w.pool.query('update monitors set deleted_at = now(), changed_xid = pg_current_xact_id()');
  await w.pool.query('delete from status_ranges');
  await w.pool.query('delete from probe_ranges');
  s.pass(1);
  for (const probe of [0, 1]) for (const agoS of [0.4, 0.2]) await s.send(probe, 'fail', agoS);
  await s.settled();
  t.same(trouble(w), []);
});

t.test('an ingest that does not know of the reset yet writes no status of before it', async (t) => {
  const s = await stage(t);
  const { w } = s;
  w.start({ now: s.now, limits: { ...fastLimits, holdMs: 300, pollMs: 600_000 } });
  for (const probe of [0, 1]) await s.send(probe, 'ok', 9);
  await s.statusIs('UP');
  await s.reset();
  s.pass(1);
  for (const probe of [0, 1]) for (const agoS of [5, 3]) await s.send(probe, 'fail', agoS);
  await s.settled();
  const found = await w.pool.query<{ status: string }>('select status from monitors');
  t.equal(found.rows[0]?.status, 'UNKNOWN');
  t.same(trouble(w), []);
});

const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    state ^= state >>> 12;
    return Math.floor(((state >>> 0) / 4_294_967_296) * below);
  };
};

const seed = Number(process.env['PARALLAX_RESET_SEED'] ?? Math.floor(Math.random() * 1e9));

t.test(
  `after a random run with resets and restarts the timeline is that of the batch form (seed ${seed})`,
  async (t) => {
    const s = await stage(t, { probes: 3, monitors: 3 });
    const { w } = s;
    const pick = random(seed);
    let shard = s.start();
    let isOut = false;
    let resets = 0;
    const emptying: Promise<void>[] = [];
    const again = new Map<number, () => Promise<void>>();
    for (let step = 0; step < 60; step += 1) {
      s.pass(5);
      if (pick(5) === 0) isOut = !isOut;
      for (const monitor of w.monitors) {
        for (const probe of [0, 1, 2]) {
          if (pick(6) === 0) continue;
          await s.send(probe, pick(8) === 0 ? 'ok' : isOut ? 'fail' : 'ok', pick(4) === 0 ? pick(60) : 0, monitor);
        }
      }
      if (pick(5) === 0) {
        const monitor = w.monitors[pick(w.monitors.length)] ?? w.monitor;
        const { empty } = await s.reset(monitor);
        resets += 1;
        emptying.push(empty());
        again.set(monitor, empty);
      }
      if (pick(15) === 0) {
        await shard.stop();
        if (pick(2) === 0) s.pass(40);
        shard = s.start();
      }
    }
    await s.settled();
    await Promise.all(emptying);
    const foldedMs = async () =>
      Number(
        (await w.pool.query<{ ms: string }>('select extract(epoch from folded_until) * 1000 as ms from shards')).rows[0]
          ?.ms,
      );
    await eventually(async () => (await foldedMs()) >= s.now(), 'all is folded');
    await shard.stop();
    // As the job does a minute later: an ingest that did not know yet may have stored something since.
    for (const empty of again.values()) await empty();
    const probeIds = w.probes.map((probe) => probe.id);
    t.same(
      await compareTimelines(w.pool, probeIds),
      [],
      `every range and status is that of the batch form after ${resets} resets`,
    );
    t.match(await sampleReadModels(w.database.worker), { wrong: 0 });
    t.same(
      trouble(w).filter((line) => !/terminat/.test(JSON.stringify(line))),
      [],
      'memory and database never drift apart',
    );
  },
);
