import t from 'tap';
import type { ResultRecord } from '@parallax/wire';
import { rebalanceAll } from '../../assignments/index.ts';
import { Backlogs } from './backlogs.ts';
import type { Arrival } from './backlogs.ts';
import { revisedSince } from './news.ts';
import { result } from './testing/fixture.ts';
import type { FixtureProbe } from './testing/fixture.ts';
import { compareTimelines } from './testing/compare-timelines.ts';
import { eventually, fastLimits, world } from './testing/world.ts';
import type { World } from './testing/world.ts';

/* What others are told, and when (rules 8, 11 and 16). */

const failing = { outcome: 'fail', source: 'target', error: 20 } as const;
const second = 1_000_000;

t.test('a probe is behind while its batches come late, each epoch of its log apart', async (t) => {
  const backlogs = new Backlogs();
  const arrival = (epoch: number, eS: number, receivedS: number, totalS = 0): Arrival => ({
    probeId: 7,
    epoch,
    eUs: eS * second,
    totalUs: totalS * second,
    receivedUs: receivedS * second,
  });
  const at = (seconds: number) => [...backlogs.at(seconds * second)];
  backlogs.note([arrival(1, 100, 115)]);
  t.same(at(115), [], '15 s may pass');
  backlogs.note([arrival(1, 100, 176, 60)]);
  t.same(at(176), [7], 'and what the check took');
  backlogs.note([arrival(1, 100, 175, 60)]);
  t.same(at(175), []);
  backlogs.note([arrival(1, 100, 200)]);
  backlogs.note([arrival(2, 200, 201)]);
  t.same(at(202), [7], 'a new epoch says nothing of the one before');
  t.same(at(210), [7]);
  t.same(at(211), [], 'a log that brings nothing more is drained');
});

t.test('edits that merely go on are no revision', async (t) => {
  const range = {
    monitorId: 1,
    voter: null,
    startedUs: 50,
    evidence: { rule: 'answered', quorum: 1, voters: [], missing: [] },
  } as const;
  const insert = { ...range, op: 'insert', endedUs: null, status: 'DOWN', revised: false } as const;
  const update = { monitorId: 1, voter: null, op: 'update', startedUs: 20, endedUs: 50, revised: false } as const;
  t.equal(revisedSince([update, insert]), undefined, 'an outage begins');
  t.equal(revisedSince([{ ...insert, endedUs: 60 }]), 50, 'one that is over was found');
  t.equal(revisedSince([{ ...insert, endedUs: 60, status: 'UP' }]), undefined);
  t.equal(revisedSince([{ ...update, newStartedUs: 10, revised: true }]), 10);
  t.equal(revisedSince([{ ...update, revised: true }]), 20);
  t.equal(revisedSince([{ ...update, status: 'UP' }]), 20);
  t.equal(
    revisedSince([
      { monitorId: 1, voter: null, op: 'delete', startedUs: 30 },
      { ...update, revised: true },
    ]),
    20,
  );
  t.equal(revisedSince([{ monitorId: 1, voter: 3, op: 'delete', startedUs: 30 }]), undefined, 'of one voter');
});

/** What was told of a monitor, as "UP→DOWN". */
async function told(w: World): Promise<string[]> {
  const { rows } = await w.pool.query<{ kind: string; from: string; to: string }>(
    `select kind, payload->>'from' as from, payload->>'to' as to from outbox order by id`,
  );
  return rows.map(({ kind, from, to }) => (kind === 'monitor.transition' ? `${from}→${to}` : kind));
}

const status = async (w: World) =>
  (
    await w.pool.query<{ status: string; announced_status: string | null }>(
      'select status, announced_status from monitors',
    )
  ).rows[0];

/** Two probes that watch one monitor on a clock of the test's. */
async function twoProbes(test: Parameters<typeof world>[0], confirmations = 2) {
  const startMs = Date.now() - 1_800_000;
  const w = await world(test, { probes: 2, createdMs: startMs - 1_000, confirmations });
  const clock = { nowMs: startMs };
  const seq = new Map<number, number>();
  const send = async (probe: FixtureProbe | undefined, results: readonly ResultRecord[]) => {
    if (probe === undefined) throw new Error('fixture');
    const firstSeq = (seq.get(probe.id) ?? 0) + 1;
    seq.set(probe.id, firstSeq + results.length - 1);
    await w.send(probe, w.batch(probe, { firstSeq }, results));
  };
  const at = (seconds: number, changed: Partial<ResultRecord> = {}) =>
    result(w.monitor, (startMs + seconds * 1_000) * 1_000, changed);
  return {
    w,
    at,
    send,
    both: async (make: (probe: number) => ResultRecord[]) => {
      for (const [index, probe] of w.probes.entries()) await send(probe, make(index));
    },
    passTo: (seconds: number) => {
      clock.nowMs = startMs + seconds * 1_000;
    },
    start: (rows = 5_000) => w.start({ now: () => clock.nowMs, limits: { ...fastLimits, holdMs: 120_000, rows } }),
    folded: (seconds: number) =>
      eventually(async () => {
        const { rows } = await w.pool.query<{ done: boolean }>('select folded_until >= $1 as done from shards', [
          new Date(startMs + seconds * 1_000),
        ]);
        return rows[0]?.done === true;
      }, `folded to ${seconds} s`),
  };
}

t.test('an outage in the backlog of a restart is told when all of it is read, if it lasts', async (t) => {
  const { w, at, both, passTo, start, folded } = await twoProbes(t);
  const first = start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).join() === 'UNKNOWN→UP', 'UP');
  await first.stop();
  passTo(100);
  await both(() => [at(88, failing), at(93, failing)]);
  await both(() => [at(99, failing)]);
  start(2);
  await folded(100);
  t.same(await told(w), ['UNKNOWN→UP', 'UP→DOWN']);
  t.match(await status(w), { status: 'DOWN', announced_status: null });
});

t.test('one that was over by then is not told but recorded', async (t) => {
  const { w, at, both, passTo, start, folded } = await twoProbes(t);
  const first = start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).join() === 'UNKNOWN→UP', 'UP');
  await first.stop();
  passTo(100);
  // All of it comes in time, in several rounds, in some of which the monitor is down.
  await both(() => [at(88, failing), at(93, failing)]);
  await both(() => [at(97), at(99)]);
  start(2);
  await folded(100);
  const news = await told(w);
  t.same(
    news.filter((one) => one.includes('DOWN')),
    [],
  );
  t.ok(news.includes('monitor.revised'));
  const { rows } = await w.pool.query<{ status: string }>(`select status from status_ranges order by started_at`);
  t.ok(
    rows.some((row) => row.status === 'DOWN'),
    'the timeline has it',
  );
});

t.test('a recovery that one result tells of is told after a minute', async (t) => {
  const { w, at, both, send, passTo, start, folded } = await twoProbes(t);
  start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).length === 1, 'UP');
  passTo(11);
  await both(() => [at(5, { ...failing, freshS: 20 }), at(10, { ...failing, freshS: 20 })]);
  await eventually(async () => (await told(w)).includes('UP→DOWN'), 'DOWN');
  passTo(29);
  await send(w.probes[0], [at(29)]);
  await folded(29);
  passTo(31);
  await eventually(async () => (await status(w))?.status === 'UP', 'the vote of the other has ended');
  await folded(31);
  passTo(85);
  await folded(85);
  t.match(await status(w), { status: 'UP', announced_status: /DOWN|PARTIAL/ });
  passTo(95);
  await eventually(async () => (await told(w)).at(-1)?.endsWith('→UP') === true, 'told');
  t.match(await status(w), { announced_status: null });
});

t.test(
  'what fills a gap of long ago is marked as found later, though nothing was told of the monitor since',
  async (t) => {
    const { w, at, both, passTo, start, folded } = await twoProbes(t);
    start();
    passTo(1);
    await both(() => [at(0)]);
    await eventually(async () => (await told(w)).length === 1, 'UP');
    passTo(200);
    await folded(200);
    passTo(1_000);
    await folded(1_000);
    await both(() => [at(300), at(360)]);
    const ranges = async () =>
      (
        await w.pool.query<{ revised: boolean }>(
          'select revised_at is not null as revised from status_ranges order by started_at',
        )
      ).rows;
    await eventually(async () => (await ranges()).length === 2, 'the gap is filled');
    t.same(await ranges(), [{ revised: false }, { revised: true }]);
  },
);

t.test('what waits to be told outlives the owner that held it back', async (t) => {
  const { w, at, both, send, passTo, start, folded } = await twoProbes(t);
  const first = start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).length === 1, 'UP');
  passTo(66);
  await both(() => [at(60, failing), at(65, failing)]);
  await eventually(async () => (await told(w)).includes('UP→DOWN'), 'DOWN');
  // One good result of the only probe that has a vote: the recovery waits for a second one.
  passTo(300);
  await eventually(async () => (await told(w)).includes('DOWN→UNKNOWN'), 'the votes end');
  await send(w.probes[0], [at(299, failing), at(299.5, failing)]);
  await send(w.probes[1], [at(299, failing), at(299.5, failing)]);
  // By way of PARTIAL when the two come in rounds of their own.
  await eventually(async () => (await told(w)).at(-1)?.endsWith('→DOWN') === true, 'DOWN again');
  passTo(310);
  await send(w.probes[0], [at(305, { freshS: 10 })]);
  await eventually(async () => (await status(w))?.status === 'PARTIAL', 'one has recovered');
  passTo(480);
  await eventually(async () => (await status(w))?.status === 'UNKNOWN', 'nobody has a vote');
  await send(w.probes[0], [at(479)]);
  await eventually(async () => (await status(w))?.status === 'UP', 'UP by one result');
  t.match(await status(w), { status: 'UP', announced_status: 'UNKNOWN' }, 'not told yet');
  await first.stop();
  const before = await told(w);
  t.equal(before.at(-1)?.endsWith('UNKNOWN'), true);
  start();
  passTo(490);
  await folded(490);
  t.same(await told(w), before, 'nor by the next owner, for whom it may be the end of an outage too');
  passTo(560);
  await eventually(async () => (await told(w)).at(-1) === 'UNKNOWN→UP', 'told by it');
  t.equal((await told(w)).length, before.length + 1);
  t.match(await status(w), { announced_status: null });
});

t.test('an outage that one owner held back and the next finds to be over is recorded', async (t) => {
  const { w, at, both, passTo, start } = await twoProbes(t);
  const first = start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).length === 1, 'UP');
  passTo(150);
  await both(() => [at(60, failing), at(65, failing)]);
  await eventually(async () => (await status(w))?.announced_status === 'UP', 'held back');
  await first.stop();
  const before = await told(w);
  await both(() => [at(100), at(149)]);
  start();
  await eventually(async () => (await status(w))?.status === 'UP', 'it is over');
  const news = (await told(w)).slice(before.length);
  t.ok(news.includes('monitor.revised'));
  t.notOk(news.some((one) => one.includes('DOWN')));
});

t.test('an outage that one owner held back is told by the next when nothing newer comes', async (t) => {
  const { w, at, both, passTo, start, folded } = await twoProbes(t);
  const first = start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).length === 1, 'UP');
  passTo(150);
  await both(() => [at(60, failing), at(65, failing)]);
  await eventually(async () => (await status(w))?.announced_status === 'UP', 'held back');
  await first.stop();
  start();
  passTo(155);
  await folded(155);
  t.notOk((await told(w)).includes('UP→DOWN'), 'what has gathered may come yet');
  passTo(170);
  await eventually(async () => (await told(w)).includes('UP→DOWN'), 'it does not');
});

t.test('votes that a backlog brings make no outage alone until it is drained', async (t) => {
  const { w, at, both, send, passTo, start } = await twoProbes(t);
  start();
  passTo(1);
  await both(() => [at(0)]);
  await eventually(async () => (await told(w)).length === 1, 'UP');
  // Both failed a while ago; what they found since has not come yet.
  passTo(150);
  await both(() => [at(60, failing), at(65, failing)]);
  await eventually(async () => (await status(w))?.status === 'DOWN', 'the timeline has it');
  t.match(await status(w), { announced_status: 'UP' }, 'and nobody was told');
  await both(() => [at(100), at(149)]);
  await eventually(async () => (await status(w))?.status === 'UP', 'it was over');
  const news = await told(w);
  t.same(
    news.filter((one) => one.includes('DOWN')),
    [],
  );
  t.ok(news.includes('monitor.revised'), 'it is recorded');
  passTo(165);
  await both(() => [at(160, failing), at(164, failing)]);
  await eventually(async () => (await told(w)).includes('UP→DOWN'), 'one of the present is told at once');
  await send(w.probes[0], [at(165)]);
});

t.test('an outage that a new monitor begins with is told as DOWN alone, and no PARTIAL before it', async (t) => {
  const { w, at, send, passTo, start } = await twoProbes(t);
  start();
  const [first, second] = w.probes;
  const stored = (rows: number) =>
    eventually(async () => (await w.count('check_results')) === rows, `${rows} are stored`);
  passTo(6);
  await send(first, [at(0, failing)]);
  await send(second, [at(0.6, failing)]);
  await stored(2);
  await send(first, [at(5.2, failing)]);
  await eventually(async () => (await status(w))?.status === 'PARTIAL', 'one has confirmed it');
  await send(second, [at(5.8, failing)]);
  await eventually(async () => (await status(w))?.status === 'DOWN', 'both have');
  await eventually(async () => (await told(w)).includes('UNKNOWN→DOWN'), 'it is told');
  t.same(await told(w), ['UNKNOWN→DOWN']);
});

t.test('a probe that joins while an outage lasts does not split it', async (t) => {
  const w = await world(t, { probes: 2 });
  const [here, joiner] = w.probes;
  const [monitor] = await w.addMonitors(1, w.probes.slice(0, 1));
  if (here === undefined || joiner === undefined || monitor === undefined) throw new Error('fixture');
  w.start();
  const failed = (agoMs: number) => result(monitor, (Date.now() - agoMs) * 1_000, failing);
  await w.send(here, w.batch(here, {}, [failed(20_000), failed(15_000)]));
  const isDown = () => w.count(`monitors where id = ${monitor} and status = 'DOWN'`);
  await eventually(async () => (await isDown()) === 1, 'the outage is told');
  await rebalanceAll(w.database.worker);
  const isPast = `exists (select from shards, assignments a where a.monitor_id = ${monitor} and a.probe_id = ${joiner.id}
    and folded_until > a.started_at + interval '100 milliseconds')`;
  await eventually(
    async () => (await w.count(`monitors where id = ${monitor} and ${isPast}`)) === 1,
    'the seat is open',
  );
  const ranges = () => w.count(`status_ranges where monitor_id = ${monitor}`);
  t.same([await isDown(), await ranges()], [1, 1], 'it has not voted: the outage is as it was');
  await w.send(joiner, w.batch(joiner, {}, [failed(20), failed(10)]));
  const joined = `probe_ranges where monitor_id = ${monitor} and probe_id = ${joiner.id} and status = 'DOWN'`;
  await eventually(async () => (await w.count(joined)) === 1, 'it votes');
  t.same([await isDown(), await ranges()], [1, 1], 'it sees the same, and the outage is one');
  const ids = w.probes.map(({ id }) => id);
  t.same(await compareTimelines(w.pool, ids), [], 'as the batch form has it');
});
