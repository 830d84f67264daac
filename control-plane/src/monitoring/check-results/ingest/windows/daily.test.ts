import t from 'tap';
import { dayMs, hourMs } from '../../packing/hours.ts';
import { moveAndDrop, packAll } from '../../packing/job.ts';
import { createPackedPartitions } from '../../packing/queries.ts';
import { compareTimelines } from '../testing/compare-timelines.ts';
import { result } from '../testing/fixture.ts';
import { eventually, fastLimits, world } from '../testing/world.ts';
import { outcomes, random, windowsSeed } from './testing/random.ts';

const seed = windowsSeed();

t.test(
  `a daily monitor's timeline is that of the batch form while its results are packed and dropped (seed ${seed})`,
  async (t) => {
    const next = random(seed + 1);
    const pick = (below: number): number => Math.floor(next() * below);
    const startMs = Math.floor(Date.now() / dayMs) * dayMs - 16 * dayMs;
    const w = await world(t, { probes: 3, monitors: 3, intervalS: 86_400, timeoutS: 10, createdMs: startMs - 1_000 });
    let nowMs = startMs;
    const options = { now: () => nowMs, limits: { ...fastLimits, holdMs: 200 } };
    let shard = w.start(options);
    const seqs = new Map(w.probes.map(({ id }) => [id, 1]));
    const partitions = createPackedPartitions(w.pool);
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const quiet = log as unknown as Parameters<typeof moveAndDrop>[1];
    let sent = 0;

    for (let step = 0; step < 34; step += 1) {
      nowMs += 6 * hourMs;
      for (const [index, probe] of w.probes.entries()) {
        if ((step + index) % 4 !== 0 && pick(6) > 0) continue;
        const results = w.monitors.map((monitor) =>
          result(monitor, (nowMs - (pick(4) === 0 ? pick(47) * hourMs : 0)) * 1_000 - 1_000 - pick(1_000_000), {
            outcome: outcomes[pick(step % 12 < 6 ? 8 : 2)] ?? 'ok',
            freshS: 216_010,
          }),
        );
        const firstSeq = seqs.get(probe.id) ?? 1;
        seqs.set(probe.id, firstSeq + results.length);
        sent += results.length;
        await w.send(probe, w.batch(probe, { firstSeq }, results));
      }
      await eventually(async () => (await w.count('check_results')) + (await packed(w.pool)) >= sent, 'all is stored');
      await eventually(async () => (await foldedMs(w.pool)) >= nowMs, 'all is folded');
      await packAll({
        pool: w.pool,
        partitions,
        shards: 1,
        now: () => nowMs,
        log: quiet,
        isStopped: () => false,
        settledSeconds: 0,
      });
      await moveAndDrop({ database: w.database, now: () => nowMs }, quiet, () => false);
      await w.pool.query(`update result_storage set moved_at = moved_at - interval '2 minutes'`);
      if (pick(5) === 0) {
        await shard.stop();
        shard = w.start(options);
      }
    }
    await shard.stop();
    const boundary = await w.pool.query<{ at: Date }>('select hot_from as at from result_storage');
    t.ok((boundary.rows[0]?.at.getTime() ?? 0) >= startMs + 5 * dayMs, 'most of it is packed');
    t.same(
      await compareTimelines(
        w.pool,
        w.probes.map((probe) => probe.id),
      ),
      [],
    );
    t.same(w.logged('ingest failed'), []);
  },
);

async function packed(pool: Awaited<ReturnType<typeof world>>['pool']): Promise<number> {
  const found = await pool.query<{ n: string }>(
    `select coalesce(sum(results), 0) as n from result_hours where hour < (select case when isfinite(hot_from) then extract(epoch from hot_from) / 3600 else 0 end from result_storage)`,
  );
  return Number(found.rows[0]?.n);
}

async function foldedMs(pool: Awaited<ReturnType<typeof world>>['pool']): Promise<number> {
  const found = await pool.query<{ ms: string }>('select extract(epoch from folded_until) * 1000 as ms from shards');
  return Number(found.rows[0]?.ms ?? 0);
}
