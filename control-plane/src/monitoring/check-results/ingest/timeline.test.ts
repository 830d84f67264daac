import t from 'tap';
import type { ResultRecord } from '@parallax/wire';
import { sampleReadModels } from '../../status-ranges/index.ts';
import { compareTimelines } from './testing/compare-timelines.ts';
import { result } from './testing/fixture.ts';
import type { FixtureProbe } from './testing/fixture.ts';
import { readMonitors } from './queries.ts';
import { eventually, fastLimits, world } from './testing/world.ts';
import type { World } from './testing/world.ts';

/** A small generator of numbers, so that a failing run can be repeated by its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    state ^= state >>> 12;
    return (state >>> 0) / 4_294_967_296;
  };
}

type Sent = { readonly firstSeq: number; readonly results: readonly ResultRecord[] };

/** A probe with its log: it sends batches, forgets to, repeats itself, and sends again when it is asked to. */
function simulatedProbe(w: World, probe: FixtureProbe) {
  const logs = new Map<number, Sent[]>();
  let epoch = 1;
  const publish = (ofEpoch: number, sent: Sent) =>
    w.send(probe, w.batch(probe, { epoch: ofEpoch, firstSeq: sent.firstSeq }, sent.results));
  const publishAfter = async (before: Promise<void>, ofEpoch: number, again: readonly Sent[]) => {
    await before;
    for (const sent of again) await publish(ofEpoch, sent);
  };
  let resending = Promise.resolve();
  w.bus.listen(`dispatch.${probe.id}`, (hint) => {
    const told = hint as { type: string; epoch: number; seq: number };
    if (told.type !== 'resend') return;
    const again = (logs.get(told.epoch) ?? []).filter((sent) => sent.firstSeq + sent.results.length > told.seq);
    resending = publishAfter(resending, told.epoch, again);
  });
  return {
    probe,
    newEpoch: () => {
      epoch += 1;
    },
    append: (results: readonly ResultRecord[]): { epoch: number; sent: Sent } => {
      const log = logs.get(epoch) ?? [];
      const last = log.at(-1);
      const sent = { firstSeq: last === undefined ? 1 : last.firstSeq + last.results.length, results };
      logs.set(epoch, [...log, sent]);
      return { epoch, sent };
    },
    publish,
    /** Sends all that is not committed until everything is. */
    drain: async () => {
      await resending;
      for (const [ofEpoch, log] of logs) {
        const last = log.at(-1);
        const end = last === undefined ? 0 : last.firstSeq + last.results.length - 1;
        const cursor = async () =>
          Number(
            (
              await w.pool.query<{ seq: string }>('select seq from cursors where probe_id = $1 and epoch = $2', [
                probe.id,
                ofEpoch,
              ])
            ).rows[0]?.seq ?? 0,
          );
        await eventually(async () => {
          const done = await cursor();
          if (done === end) return true;
          for (const sent of log) if (sent.firstSeq + sent.results.length > done) await publish(ofEpoch, sent);
          await new Promise((resolve) => setTimeout(resolve, 100));
          return false;
        }, `probe ${probe.id} epoch ${ofEpoch}`);
      }
    },
    all: () => [...logs.values()].flat().flatMap((sent) => sent.results),
  };
}

async function pauseOrResume(w: World, monitor: number, atMs: number): Promise<void> {
  const at = new Date(atMs);
  const ended = await w.pool.query(
    'update pauses set ended_at = $2 where monitor_id = $1 and ended_at is null and started_at < $2',
    [monitor, at],
  );
  if (ended.rowCount === 0) {
    await w.pool.query('insert into pauses (monitor_id, started_at) values ($1, $2) on conflict do nothing', [
      monitor,
      at,
    ]);
  }
  await w.pool.query('update monitors set changed_xid = pg_current_xact_id() where id = $1', [monitor]);
}

async function reconfigure(
  w: World,
  monitor: number,
  change: { readonly atMs: number; readonly revision: number; readonly confirmations: number },
): Promise<void> {
  await w.pool.query(
    `with h as (
       insert into monitor_history (monitor_id, effective_at, version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds)
       select monitor_id, $2, max(version) + 1, $3, $4, '"majority"', 10, 5 from monitor_history where monitor_id = $1 group by monitor_id)
     update monitors set changed_xid = pg_current_xact_id() where id = $1`,
    [monitor, new Date(change.atMs), change.revision, change.confirmations],
  );
}

const seed = Number(process.env['PARALLAX_TIMELINE_SEED'] ?? Math.floor(Math.random() * 1e9));

t.test(`after a random run with restarts the stored timeline is that of the batch form (seed ${seed})`, async (t) => {
  const next = random(seed);
  const pick = (below: number): number => Math.floor(next() * below);
  const startMs = Date.now() - 2 * 3_600_000;
  const w = await world(t, { probes: 3, monitors: 5, intervalS: 10, timeoutS: 5, createdMs: startMs - 1_000 });
  let nowMs = startMs;
  const options = { now: () => nowMs, limits: { ...fastLimits, holdMs: 300 } };
  let shard = w.start(options);
  const probes = w.probes.map((probe) => simulatedProbe(w, probe));
  const delayed: (() => Promise<unknown>)[] = [];
  let isOut = false;
  let downFor = 0;
  const revisions = new Map<number, number>();

  for (let step = 0; step < 60; step += 1) {
    nowMs += 10_000;
    if (pick(6) === 0) isOut = !isOut;
    for (const simulated of probes) {
      if (pick(12) === 0) continue;
      const results = w.monitors.map((monitor, index) => {
        const isFailing = isOut ? pick(4) > 0 : pick(12) === 0;
        const outcome = isFailing
          ? pick(3) === 0
            ? 'timeout'
            : 'fail'
          : pick(15) === 0
            ? 'slow'
            : pick(25) === 0
              ? 'probe_error'
              : 'ok';
        const kind = pick(20) === 0 ? 'manual' : 'scheduled';
        return result(monitor, (nowMs - 9_000 + index * 700) * 1_000 + simulated.probe.id * 13, {
          outcome,
          kind,
          freshS: 30,
        });
      });
      const { epoch, sent } = simulated.append(results);
      const publish = () => simulated.publish(epoch, sent);
      const fate = pick(10);
      if (fate === 0) delayed.push(publish);
      else if (fate === 1) simulated.newEpoch();
      else await publish();
      if (fate === 2) await publish();
    }
    if (pick(5) === 0) for (const publish of delayed.splice(0)) await publish();
    const trouble = pick(12);
    if (downFor > 0) {
      downFor -= 1;
      if (downFor === 0) shard = w.start(options);
    } else if (trouble === 0 && step > 2) {
      // Results gather in the stream meanwhile, or nothing comes at all.
      await shard.stop();
      downFor = 1 + pick(4);
      if (pick(2) === 0) nowMs += 60_000;
    } else if (trouble === 1) {
      await w.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test ingest' and datname = current_database()`,
      );
    }
    if (pick(8) === 0) await pauseOrResume(w, w.monitors[pick(w.monitors.length)] ?? 0, nowMs);
    if (pick(12) === 0) {
      const monitor = w.monitors[pick(w.monitors.length)] ?? 0;
      const revision = (revisions.get(monitor) ?? 1) + pick(2);
      revisions.set(monitor, revision);
      await reconfigure(w, monitor, { atMs: nowMs, revision, confirmations: 1 + pick(3) });
    }
    await new Promise((resolve) => setTimeout(resolve, pick(30)));
  }
  if (downFor > 0) shard = w.start(options);
  for (const simulated of probes) await simulated.drain();
  const foldedUs = async () =>
    Number(
      (await w.pool.query<{ us: string }>('select extract(epoch from folded_until) * 1000000 as us from shards'))
        .rows[0]?.us,
    );
  // The last takeover may still hold time. Messages that come faster than the clock moves are a little ahead of it.
  await eventually(async () => (await foldedUs()) >= nowMs * 1_000, 'all is folded');
  await shard.stop();

  const expected = probes.flatMap((simulated) =>
    simulated.all().map((one) => `${one.monitorId} ${one.effectiveUs} ${simulated.probe.id}`),
  );
  const keys = await w.pool.query<{ key: string }>(
    `select monitor_id || ' ' || (extract(epoch from e) * 1000000)::bigint || ' ' || probe_id as key from check_results`,
  );
  t.same(keys.rows.map((row) => row.key).sort(), expected.sort(), 'every result is stored exactly once');

  t.same(
    await compareTimelines(
      w.pool,
      w.probes.map((probe) => probe.id),
    ),
    [],
    'every range and status is that of the batch form',
  );
  for (const monitor of (await readMonitors(w.pool, 0)).values()) {
    const outbox = await w.pool.query<{ to: string }>(
      `select payload->>'to' as to from outbox where key = $1 and kind = 'monitor.transition' order by id desc limit 1`,
      [`monitor:${monitor.monitorId}`],
    );
    t.equal(
      outbox.rows[0]?.to ?? 'UNKNOWN',
      monitor.announcedStatus ?? monitor.status,
      'the last that was told is the present, or what is written down as such',
    );
  }
  t.match(await sampleReadModels(w.database.worker), { wrong: 0 }, 'statuses agree with the open ranges');
  await w.pool.query("update monitors set status = case status when 'UP' then 'DOWN' else 'UP' end");
  const looks = await Promise.all(Array.from({ length: 20 }, () => sampleReadModels(w.database.worker)));
  t.ok(
    looks.some(({ looked, wrong }) => looked > 0 && wrong === looked),
    'and a sample notices when they do not',
  );
  t.equal(await w.count('rejected_batches'), 0);
  const drifted = w.lines.filter((line) =>
    /Drift|cannot be rebuilt|cursors are not|duplicate key|violates/.test(JSON.stringify(line)),
  );
  t.same(drifted, [], 'memory and database never drift apart');
});
