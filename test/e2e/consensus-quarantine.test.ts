import { createHash } from 'node:crypto';
import t from 'tap';
import { judgeOnce, reviewOnce } from '../../control-plane/src/monitoring/probes/quarantine/job.ts';
import { virtualWorld } from '../harness/virtual/world.ts';
import type { VirtualOptions, VirtualWorld } from '../harness/virtual/world.ts';

/** Virtual time begins a while ago, so that it never overtakes the real one, and always at the same place in the rhythm of the checks. */
const startMs = Math.floor(Date.now() / 300_000) * 300_000 - 3 * 3_600_000;
const intervalS = 60;
const lookEveryS = 3;
/** When the lie begins. */
const lieS = 180;

/** Half of all answers fail, without a pattern and at every run the same. */
const chance = (monitor: number, atS: number): boolean =>
  (createHash('sha256').update(`${monitor} ${atS}`).digest()[0] ?? 0) < 128;

type Judged = { readonly probeId: number; readonly atS: number };

/** A world in which probes are judged as the job does it, in virtual time. */
async function judgedWorld(test: Parameters<typeof virtualWorld>[0], options: Partial<VirtualOptions>) {
  const judged: Judged[] = [];
  const released: Judged[] = [];
  let isJudging = true;
  const world: VirtualWorld = await virtualWorld(test, {
    startMs,
    probes: 3,
    monitors: 30,
    intervalS,
    sees: () => 'ok',
    every: {
      seconds: lookEveryS,
      work: async (nowMs) => {
        if (!isJudging) return;
        const pool = world.w.database.worker;
        const atS = (nowMs - startMs) / 1_000;
        const put = await judgeOnce(pool, nowMs);
        if (put !== undefined) judged.push({ probeId: put.probeId, atS });
        released.push(...(await reviewOnce(pool, nowMs)).map((probeId) => ({ probeId, atS })));
      },
    },
    ...options,
  });
  world.start();
  return { ...world, judged, released, stopJudging: () => (isJudging = false) };
}

const isOutage = (status: string) => status === 'DOWN' || status === 'TIMEOUT';

for (const [name, lie] of [
  ['says that all fails', () => true],
  ['says anything', chance],
] as const) {
  t.test(`a probe that ${name} is quarantined within two intervals, and turns nothing`, async (t) => {
    const world = await judgedWorld(t, {
      sees: (probe, monitor, atS) => (probe === 0 && atS >= lieS && lie(monitor, atS) ? 'fail' : 'ok'),
    });
    const liar = world.points[0]?.probeId;
    await world.passTo(lieS);
    t.same(new Set(await world.statuses()), new Set(['UP']));
    await world.passTo(lieS + 2 * intervalS + lookEveryS);
    t.equal(world.judged.length, 1, 'one decision');
    t.equal(world.judged[0]?.probeId, liar);
    await world.passTo(lieS + 3 * intervalS);
    t.same(new Set(await world.statuses()), new Set(['UP']), 'its votes do not count any more');
    const told = await world.told();
    t.notOk(
      told.some(({ to }) => isOutage(to)),
      'nothing was told to be down',
    );
    t.same((await world.incidents()).length, 0);
    const notices = await world.w.pool.query<{ payload: { probe_id: number } }>(
      `select payload from outbox where kind = 'probe.quarantined'`,
    );
    t.same(notices.rows.length, 1, 'one notice');
    t.equal(notices.rows[0]?.payload.probe_id, liar);
  });
}

t.test('who says that all is fine is found when others fail; after thirty clean minutes it votes again', async (t) => {
  const honestS = lieS + 400;
  const world = await judgedWorld(t, {
    monitors: 10,
    sees: (probe, _, atS) => (atS >= lieS && atS < honestS && probe !== 0 ? 'fail' : 'ok'),
  });
  const liar = world.points[0]?.probeId;
  await world.passTo(lieS + 2 * intervalS + 30);
  t.match(world.judged, [{ probeId: liar }]);
  t.same(new Set(await world.statuses()), new Set(['DOWN']), 'the outage is one all the same');
  await world.passTo(honestS + 120);
  t.same(new Set(await world.statuses()), new Set(['UP']));
  const told = await world.told();
  t.equal(told.filter(({ to }) => isOutage(to)).length, 10, 'one outage of each, told once');
  const [open] = (await world.w.pool.query<{ clean_since: Date }>('select clean_since from quarantines')).rows;
  const cleanS = ((open?.clean_since.getTime() ?? 0) - startMs) / 1_000;
  t.ok(cleanS > honestS - 60 && cleanS < honestS + 121, `clean since ${cleanS}`);
  await world.passTo(cleanS + 1_800 - 10);
  t.same(world.released, []);
  const evidence = async () =>
    (
      await world.w.pool.query<{ probes: number }>(
        `select count(*)::integer as probes from quarantines where ended_at is null`,
      )
    ).rows[0]?.probes;
  t.equal(await evidence(), 1);
  await world.passTo(cleanS + 1_800 + 10);
  t.match(world.released, [{ probeId: liar }]);
  t.equal(await evidence(), 0);
  await world.passTo(cleanS + 1_900);
  t.equal(world.judged.length, 1, 'and it is not put there again');
});

t.test('one who tells another story than its only companion is not judged, and nothing is down', async (t) => {
  const world = await judgedWorld(t, {
    probes: 2,
    monitors: 10,
    sees: (probe, _, atS) => (atS >= lieS && probe === 0 ? 'fail' : 'ok'),
  });
  await world.passTo(lieS + 4 * intervalS);
  t.same(world.judged, []);
  t.same(new Set(await world.statuses()), new Set(['PARTIAL']));
  t.same(await world.incidents(), []);
});

t.test('an outage of a region that three of five probes see is an outage, and nobody is judged', async (t) => {
  const world = await judgedWorld(t, {
    probes: 5,
    monitors: 12,
    sees: (probe, _, atS) => (atS >= lieS && probe < 3 ? 'timeout' : 'ok'),
  });
  await world.passTo(lieS + 4 * intervalS);
  t.same(world.judged, []);
  t.same(new Set(await world.statuses()), new Set(['TIMEOUT']));
  t.equal((await world.incidents()).length, 12);
});
