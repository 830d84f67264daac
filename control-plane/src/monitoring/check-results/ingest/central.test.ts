import { outcomes } from '@parallax/checks';
import { httpTarget, quietLog } from '@parallax/testkit';
import type { HttpTarget, TestContext } from '@parallax/testkit';
import t from 'tap';
import { createSealer } from '../../../platform/crypto/seal.ts';
import { createCentralCheck, createCentralRunner } from '../../central-checks/index.ts';
import { noticeLostProbes } from '../../probes/sessions/queries.ts';
import { compareTimelines } from './testing/compare-timelines.ts';
import { result } from './testing/fixture.ts';
import { eventually, fastLimits, world } from './testing/world.ts';
import type { World, WorldOptions } from './testing/world.ts';

/** A world whose owner checks monitors itself, and a real target for all of them. */
async function centralWorld(
  t: TestContext,
  options: WorldOptions & { readonly isAssigned?: boolean; readonly allowed?: readonly string[] } = {},
) {
  const target = await httpTarget(t);
  const w = await world(t, { intervalS: 1, timeoutS: 1, ...options });
  if (options.isAssigned !== true) await w.pool.query('delete from assignments');
  await w.pool.query('update monitors set url = $1, changed_xid = pg_current_xact_id()', [target.url]);
  const context = {
    database: { raw: w.pool },
    bus: w.bus,
    sealer: createSealer(Buffer.alloc(32, 1)),
    now: () => Date.now(),
    allowedPrivateTargets: options.allowed ?? ['127.0.0.0/8'],
    deniedListeners: () => [],
    canaries: [],
    version: 'test',
    replica: 'a',
    log: quietLog,
  };
  const central = createCentralRunner({
    context,
    check: createCentralCheck(context),
    log: quietLog,
    brokerSettlesMs: 0,
  });
  t.teardown(() => central.stop());
  return {
    ...w,
    target,
    startCentral: (graceMs = 0) => w.start({ central, limits: { ...fastLimits, fallbackGraceMs: graceMs } }),
  };
}

const statusIs = (w: World, wanted: string, monitor = w.monitor) =>
  eventually(async () => {
    const found = await w.pool.query<{ status: string }>('select status from monitors where id = $1', [monitor]);
    if (found.rows[0]?.status !== wanted) throw new Error(`it is ${found.rows[0]?.status}`);
    return true;
  }, `status ${wanted}`);

const centralRows = async (w: World) =>
  (
    await w.pool.query<{ kind: number; central: boolean; fallback: boolean; fresh_s: number; ms: string }>(
      `select flags & 3 as kind, flags & 256 <> 0 as central, flags & 1024 <> 0 as fallback, fresh_s,
         extract(epoch from e) * 1000 as ms from check_results where probe_id = 0 order by e`,
    )
  ).rows;

const refuse = (target: HttpTarget) => target.behave({ kind: 'reset' });

t.test('a monitor without a probe is checked by the control plane: UP, DOWN after two failures, UP', async (t) => {
  const w = await centralWorld(t);
  w.startCentral();
  await statusIs(w, 'UP');
  refuse(w.target);
  await statusIs(w, 'DOWN');
  const outbox = await w.pool.query<{ payload: { from: string; to: string; evidence: unknown } }>(
    `select payload from outbox where kind = 'monitor.transition' order by id desc limit 1`,
  );
  t.match(outbox.rows[0]?.payload, {
    from: 'UP',
    to: 'DOWN',
    evidence: { rule: 'quorum_failing', quorum: 1, voters: [{ voter: 0, vote: 'DOWN' }], missing: [] },
  });
  t.equal(await w.count('result_evidence where probe_id = 0'), 1, 'the evidence of the first failure alone');
  w.target.behave({ kind: 'answer' });
  await statusIs(w, 'UP');
  const rows = await centralRows(w);
  t.ok(rows.every((row) => row.central && !row.fallback && row.fresh_s === 11));
  t.ok(rows.some((row) => row.kind === 1) || rows.length > 3, 'a failure is looked at again');
});

t.test('a takeover keeps the rhythm; pause, change and deletion are obeyed', async (t) => {
  const w = await centralWorld(t, { intervalS: 3_600 });
  const first = w.startCentral();
  await statusIs(w, 'UP');
  await first.stop();
  const second = w.startCentral();
  const change = (text: string) =>
    w.pool.query(
      `with changed as (${text} returning 1) update monitors set changed_xid = pg_current_xact_id() where id = $1`,
      [w.monitor],
    );
  await eventually(async () => (await w.count(`shards where owner is not null`)) === 1, 'it is taken over');
  await change('insert into pauses (monitor_id, started_at) values ($1, clock_timestamp())');
  await statusIs(w, 'UNKNOWN');
  t.equal((await centralRows(w)).length, 1, 'the takeover made no check');
  await change('update pauses set ended_at = clock_timestamp() where monitor_id = $1');
  await statusIs(w, 'UP');
  t.equal((await centralRows(w)).length, 2, 'a resumed monitor is checked at once');
  await w.pool.query(
    `with history as (insert into monitor_history (monitor_id, effective_at, version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds)
       values ($1, clock_timestamp(), 2, 2, 2, '"majority"', 3600, 1))
     update monitors set probe_revision = 2, url = url || '/changed', changed_xid = pg_current_xact_id() where id = $1`,
    [w.monitor],
  );
  await eventually(() => w.target.requests.some(({ url }) => url === '/changed'), 'what is checked now');
  await eventually(async () => (await w.count('check_results where probe_revision = 2')) === 1, 'one result');
  await w.pool.query('update monitors set deleted_at = now(), changed_xid = pg_current_xact_id()');
  await second.stop();
  t.same(await compareTimelines(w.pool, [0]), []);
});

t.test(
  'the fallback begins one freshness after the gap, votes beside a lost probe, and ends when it is back',
  async (t) => {
    // Its probe has never been heard: gap and freshness are long over.
    const w = await centralWorld(t, { isAssigned: true });
    w.startCentral();
    await statusIs(w, 'UP');
    t.match(await centralRows(w), [{ kind: 0, central: true, fallback: true, fresh_s: 151 }]);
    const voters = await w.pool.query<{ evidence: unknown }>(
      'select evidence from status_ranges where ended_at is null',
    );
    t.match(voters.rows[0]?.evidence, { voters: [{ voter: 0 }], missing: [w.probe.id] });
    await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, Date.now() * 1_000 - 9, { freshS: 600 })]));
    await eventually(async () => (await w.cursor()) === 1, 'the probe is back');
    await w.send(
      w.probe,
      w.batch(w.probe, { firstSeq: 2 }, [
        result(w.monitor, Date.now() * 1_000 - 8, { freshS: 600, outcome: 'fail', source: 'target', error: 20 }),
        result(w.monitor, Date.now() * 1_000 - 7, { freshS: 600, outcome: 'fail', source: 'target', error: 20 }),
      ]),
    );
    await statusIs(w, 'DOWN');
    t.equal((await centralRows(w)).length, 1, 'its own vote is UP still and counts no more');
  },
);

const ownErrors = (w: World) =>
  w.count(`check_results where probe_id = 0 and (flags >> 2) & 15 = ${outcomes.indexOf('probe_error')}`);

t.test(
  'a lost private probe leaves UNKNOWN and a notice: its private address is not that of the control plane',
  async (t) => {
    const w = await centralWorld(t, { isAssigned: true });
    await w.pool.query('update probes set workspace_id = (select max(id) from workspaces)');
    await w.pool.query("update probes set last_seen_at = now() - interval '46 seconds'");
    w.startCentral();
    const seenUs = Date.now() * 1_000 - 1_000_000;
    await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, seenUs, { freshS: 3 })]));
    await statusIs(w, 'UP');
    await statusIs(w, 'UNKNOWN');
    await eventually(async () => (await ownErrors(w)) > 0, 'the control plane has looked');
    await statusIs(w, 'UNKNOWN');
    const lost = await noticeLostProbes(w.database.worker, { isQuiet: false, quietMs: 0, standstillMs: 3_600_000 });
    t.same(
      lost.map(({ id }) => id),
      [w.probe.id],
    );
    const { rows } = await w.pool.query<{ text: string }>(
      `select concat_ws(' ', kind, payload->>'from', payload->>'to') as text from outbox order by id`,
    );
    t.same(
      rows.map(({ text }) => text),
      ['monitor.transition UNKNOWN UP', 'monitor.transition UP UNKNOWN', 'probe.offline'],
    );
  },
);

t.test('what the policy of the control plane denies is not known, and never DOWN', async (t) => {
  const w = await centralWorld(t, { allowed: [] });
  w.startCentral();
  await eventually(async () => (await ownErrors(w)) > 1, 'it has looked twice');
  await statusIs(w, 'UNKNOWN');
  t.equal(await w.count('status_ranges'), 0);
  t.equal(await w.count('outbox'), 0);
});

t.test('while a probe lives whose results wait, the control plane does not speak for it', async (t) => {
  const w = await centralWorld(t, { isAssigned: true });
  const lost = (Date.now() - 60_000) * 1_000;
  await w.pool.query(
    `insert into probe_sessions (probe_id, boot_id, replica, opened_at, last_heartbeat_at, oldest_unacknowledged_ms)
     values ($1, 'b', 'r', now() - interval '1 hour', now() + interval '1 hour', 60000)`,
    [w.probe.id],
  );
  w.startCentral();
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, lost, { freshS: 11 })]));
  await eventually(async () => (await w.cursor()) === 1, 'taken');
  const folded = async (): Promise<number> => {
    const found = await w.pool.query<{ ms: string }>(
      'select extract(epoch from folded_until) * 1000 as ms from shards',
    );
    return Number(found.rows[0]?.ms);
  };
  const takenMs = Date.now();
  await eventually(async () => (await folded()) > takenMs + 500, 'the owner has looked many times');
  t.same(await centralRows(w), []);
  await w.pool.query('update probe_sessions set closed_at = now()');
  await statusIs(w, 'UP');
  t.match(await centralRows(w), [{ fallback: true }]);
});

t.test('an owner that loses the shard checks no more', async (t) => {
  const w = await centralWorld(t);
  w.startCentral();
  await statusIs(w, 'UP');
  const other = await w.pool.connect();
  t.teardown(() => other.release(true));
  // Another process: it waits for the lock of the shard, and gets it when the session of the first owner ends.
  const locked = other.query('select pg_advisory_lock(715203702, 0)');
  await w.pool.query(`update shards set owner = 'b', term = term + 1, renewed_at = now() + interval '1 hour'`);
  await locked;
  await eventually(() => w.logged('not ours any more').length > 0, 'it notices');
  const requests = w.target.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  t.ok(w.target.requests.length - requests <= 1, 'at most the one that was under way');
});
