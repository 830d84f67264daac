import t from 'tap';
import type { Outcome } from '@parallax/checks';
import { inScope } from '../../../platform/database/scope.ts';
import { result } from '../../check-results/ingest/testing/fixture.ts';
import { eventually, fastLimits, world } from '../../check-results/ingest/testing/world.ts';
import type { World } from '../../check-results/ingest/testing/world.ts';
import { storedResults } from '../../check-results/index.ts';
import type { RangeStatus } from '../../consensus/index.ts';
import { rangeDifferences, readWindowOf, replay } from '../range-evidence/replay.ts';
import { readTimelineInputs } from '../timeline-inputs/queries.ts';
import { playSimulation, prepareSimulation } from './gateway.ts';

/** Numbers below a bound, from a seed. */
const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    state ^= state >>> 12;
    return Math.floor(((state >>> 0) / 4_294_967_296) * below);
  };
};

type Happened = { readonly from: string; readonly to: string; readonly since: string; readonly at: number };

/** What the ingest told others of a monitor. */
async function toldBy(w: World, monitor: number): Promise<Happened[]> {
  const found = await w.pool.query<{ payload: { from: string; to: string; at: string; detected_at: string } }>(
    `select payload from outbox where key = $1 and kind = 'monitor.transition' order by id`,
    [`monitor:${monitor}`],
  );
  return found.rows.map(({ payload }) => ({
    from: payload.from,
    to: payload.to,
    since: payload.at,
    at: Date.parse(payload.detected_at),
  }));
}

type Range = { readonly status: RangeStatus; readonly startedUs: number; readonly endedUs: number | null };

async function storedRanges(w: World, monitor: number): Promise<Range[]> {
  const found = await w.pool.query<{ status: RangeStatus; from_us: string; to_us: string | null }>(
    `select status, (extract(epoch from started_at) * 1000000)::bigint as from_us, (extract(epoch from ended_at) * 1000000)::bigint as to_us
     from status_ranges where monitor_id = $1 order by started_at`,
    [monitor],
  );
  return found.rows.map((row) => ({
    status: row.status,
    startedUs: Number(row.from_us),
    endedUs: row.to_us === null ? null : Number(row.to_us),
  }));
}

/** What a replay of each stored range finds to be otherwise. */
async function replayedDifferences(w: World, monitor: number, stored: readonly Range[], foldedUs: number) {
  const { inputs, longestFreshUs } = await readTimelineInputs(w.database.worker, monitor, 0);
  const limits = { longestFreshUs, foldedUs };
  const found: unknown[] = [];
  for (const range of stored) {
    const { fromUs, toUs } = readWindowOf(range, { ...limits, resultsPerHour: 1_080 });
    const rows = await storedResults(w.database.worker, monitor, fromUs, toUs);
    const differences = rangeDifferences(range, replay(range, inputs, rows, limits));
    if (differences.length > 0) found.push({ range, differences });
  }
  return found;
}

/** Everything of a monitor played again with nothing proposed. */
async function playedAgain(w: World, monitor: number, nowMs: number, fromMs: number) {
  const { rows } = await w.pool.query<{ workspace_id: number }>('select workspace_id from monitors where id = $1', [
    monitor,
  ]);
  const scope = { userId: null, workspaceIds: [rows[0]?.workspace_id ?? 0] };
  const subject = {
    id: monitor,
    shard: 0,
    timeout_seconds: 5,
    consensus_policy: 'majority' as const,
    confirmations: 2,
    interval_seconds: 10,
    degraded_threshold_ms: null,
  };
  const window = { fromMs, toMs: nowMs };
  const run = await inScope(w.database.api, scope, (tx) =>
    prepareSimulation(tx, subject, { body: {}, window, nowMs, retentionDays: 90 }),
  );
  // The clock stands still while a round is gathered.
  const limits = { lingerMs: 0, mostResults: 100_000 };
  const simulation = await playSimulation({ database: w.database }, { scope, run, limits }, () => undefined);
  return { run, ...simulation.outcome() };
}

const seed = Number(process.env['PARALLAX_SIMULATION_SEED'] ?? 20_261);

t.test(`what the ingest stored and told is what playing its results again says (seed ${seed})`, async (t) => {
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 - 3 * 3_600_000;
  let nowMs = startMs;
  const w = await world(t, { probes: 3, monitors: 3, intervalS: 10, timeoutS: 5, createdMs: startMs - 1_000 });
  const shard = w.start({ now: () => nowMs, limits: { ...fastLimits, holdMs: 300, idleMs: 20 } });
  const pick = random(seed);
  const sequences = new Map<number, number>();
  const cursor = async (probeId: number): Promise<number> =>
    Number(
      (await w.pool.query<{ seq: string }>('select seq from cursors where probe_id = $1', [probeId])).rows[0]?.seq ?? 0,
    );
  const foldedMs = async (): Promise<number> =>
    Number(
      (await w.pool.query<{ ms: string | null }>('select extract(epoch from folded_until) * 1000 as ms from shards'))
        .rows[0]?.ms ?? 0,
    );
  /** Sends, and waits until it is committed, so that each is a round of its own; then a moment passes. */
  const send = async (probeIndex: number, results: readonly ReturnType<typeof result>[]): Promise<void> => {
    const probe = w.probes[probeIndex];
    if (probe === undefined) throw new Error('no such probe');
    const firstSeq = (sequences.get(probe.id) ?? 0) + 1;
    const last = firstSeq + results.length - 1;
    sequences.set(probe.id, last);
    await w.send(probe, w.batch(probe, { firstSeq }, results));
    await eventually(async () => (await cursor(probe.id)) === last, 'a batch is committed');
    nowMs += 500;
    await eventually(async () => (await foldedMs()) >= nowMs, 'time is told');
  };
  let isOut = false;
  const waiting: (() => Promise<void>)[] = [];
  for (let step = 0; step < 40; step += 1) {
    if (pick(6) === 0) isOut = !isOut;
    for (const probe of [0, 1, 2]) {
      if (pick(12) === 0) continue;
      const results = w.monitors.map((monitor, index) => {
        const outcomes: readonly Outcome[] = isOut
          ? ['fail', 'timeout', 'fail', 'ok']
          : ['ok', 'ok', 'ok', 'slow', 'ok', 'fail'];
        const outcome = outcomes[pick(outcomes.length)] ?? 'ok';
        const error = outcome === 'fail' ? 20 : outcome === 'timeout' ? 24 : 0;
        const kind = pick(15) === 0 ? 'manual' : 'scheduled';
        return result(monitor, nowMs * 1_000 - 400_000 + index * 100 + probe, { outcome, error, kind, freshS: 30 });
      });
      if (pick(10) === 0 && waiting.length < 3) waiting.push(() => send(probe, results));
      else await send(probe, results);
    }
    if (pick(6) === 0) for (const late of waiting.splice(0)) await late();
    // In small steps, so that the ingest sees what ends when it ends.
    for (let part = pick(15) === 0 ? 40 : 7; part > 0; part -= 1) {
      nowMs += 1_000;
      await eventually(async () => (await foldedMs()) >= nowMs, 'time is told');
    }
  }
  await shard.stop();
  for (const monitor of w.monitors) {
    const { run, present, proposed } = await playedAgain(w, monitor, nowMs, startMs - 2_000);
    t.equal(proposed.told.length, present.told.length);
    t.equal(run.untilUs, nowMs * 1_000);
    const stored = await storedRanges(w, monitor);
    const found = present.ranges.map(({ status, startedUs, endedUs }) => ({ status, startedUs, endedUs }));
    t.same(found, stored, `${found.length} ranges`);
    t.same(await replayedDifferences(w, monitor, stored, nowMs * 1_000), [], 'and each is what its results say');
    const real = await toldBy(w, monitor);
    t.ok(real.length > 5, `${real.length} announcements`);
    const plain = ({ from, to, since }: { from: string; to: string; since: string }) => `${from} ${to} ${since}`;
    t.same(
      present.told.map(({ from, to, sinceUs }) => plain({ from, to, since: new Date(sinceUs / 1_000).toISOString() })),
      real.map(plain),
    );
    const offMs = present.told.map(({ toldUs }, index) => Math.abs(toldUs / 1_000 - (real[index]?.at ?? 0)));
    t.ok(Math.max(...offMs) <= 1_100, `told within ${Math.round(Math.max(...offMs))} ms of the time at which it was`);
  }
});
