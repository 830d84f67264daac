import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { CheckKind } from '@parallax/wire';
import type { Assignment, ResultRecord, RunCheck } from '@parallax/wire';
import t from 'tap';
import { AssignmentStore } from '../assignments/store.ts';
import { monotonicUs, silentLogger } from '../ports.ts';
import { createChecker } from '../runner/checker.ts';
import { ServerClock } from '../runner/clock.ts';
import { nextSlot, phaseOf } from '../runner/phase.ts';
import { Runner } from '../runner/runner.ts';
import { anAssignment } from '../testing/control-plane.ts';
import { until } from '../testing/until.ts';
import { WorkerPool } from './pool.ts';
import type { WorkerPoolOptions } from './pool.ts';
import { workerOf } from './share.ts';
import { startThread } from './thread.ts';

const probeId = 7;
const main = path.resolve(import.meta.dirname, '../main.ts');
const checker = { allowedPrivate: ['127.0.0.0/8'], sourceAddress: undefined };
type Teardown = { teardown(handler: () => unknown): unknown };
type Recorded = {
  readonly shard: number;
  readonly atUs: number;
  readonly result: ResultRecord;
  readonly urgent: boolean;
};

/** A target on every address of loopback; `hold` keeps its answers back. */
async function target(t: Teardown, options: { readonly hold?: boolean } = {}) {
  const underWay = new Map<string, number>();
  const most = new Map<string, number>();
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const host = request.socket.localAddress ?? '';
    asked.push(host);
    const count = (underWay.get(host) ?? 0) + 1;
    underWay.set(host, count);
    most.set(host, Math.max(most.get(host) ?? 0, count));
    const answer = (): void => {
      underWay.set(host, (underWay.get(host) ?? 1) - 1);
      response.end('well');
    };
    if (options.hold === true) held.push(answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { asked, held, most, url: (last: number) => `http://127.0.9.${last}:${port}/` };
}

/** Two workers and what they are told, with a synchronised clock. */
function twoWorkers(t: Teardown, changes: Partial<WorkerPoolOptions> = {}) {
  const recorded: Recorded[] = [];
  const threads: Worker[] = [];
  const clock: ServerClock = new ServerClock({
    monotonicUs,
    wallMs: Date.now,
    onAnchor: () => {},
    onLine: () => pool.followClock(),
  });
  const store: AssignmentStore = new AssignmentStore((change) => pool.apply(change));
  const pool: WorkerPool = new WorkerPool({
    count: 2,
    startThread: (start, name) => {
      const thread = startThread({ file: main }, start, name);
      threads.push(thread);
      return thread;
    },
    checker,
    probeId,
    maxInFlight: 20,
    clock,
    assignments: store,
    record: (shard, atUs, result, urgent) => recorded.push({ shard, atUs, result, urgent }),
    examine: (outcome) => Promise.resolve(outcome),
    random: () => 0,
    logger: silentLogger,
    ...changes,
  });
  const synchronise = (): void => {
    clock.synchronise({ sentUs: monotonicUs(), receivedUs: monotonicUs(), serverUs: Date.now() * 1_000 });
  };
  synchronise();
  const synchronising = setInterval(synchronise, 1_000);
  t.teardown(async () => {
    clearInterval(synchronising);
    await pool.stop();
  });
  return { pool, store, clock, recorded, threads, delta: deltas(store) };
}

function deltas(store: AssignmentStore) {
  let revision = 0n;
  return (changed: readonly (Partial<Assignment> & { monitorId: number })[], removed: readonly number[] = []): void => {
    revision += 1n;
    store.applyDelta({
      changed: changed.map((each) => anAssignment({ revision, intervalSeconds: 1, ...each })),
      removed: removed.map((monitorId) => ({ monitorId, revision })),
      revision,
    });
  };
}

/** Two last parts of addresses that different workers of two check. */
function differentHosts(url: (last: number) => string): readonly [number, number] {
  for (let last = 2; ; last += 1) if (workerOf(url(last), 2) !== workerOf(url(1), 2)) return [1, last];
}

/** The slot of a monitor of one second that a result is of. */
function slotOf(result: ResultRecord): number {
  const phase = phaseOf(result.monitorId, probeId);
  return Math.round((nextSlot(result.effectiveUs / 1_000, 1_000, phase) - 1_000 - Math.floor(phase * 1_000)) / 1_000);
}

const keyOf = ({ result, shard }: Recorded): string =>
  JSON.stringify([result.monitorId, shard, result.kind, result.outcome, result.error, result.source, result.freshS]);

const request = (changes: Partial<RunCheck>): RunCheck => ({
  requestId: 'r',
  monitorId: 1,
  kind: CheckKind.MANUAL,
  deadlineMs: 5_000,
  assignment: undefined,
  trace: false,
  diagnose: false,
  readChain: false,
  expiresUs: 0n,
  ...changes,
});

t.test('two workers give what one thread gives: the same results, each slot once, at its time', async (t) => {
  const { url, asked } = await target(t);
  const monitors = Array.from({ length: 12 }, (_, index) => ({
    monitorId: index + 1,
    shard: index % 2,
    // Every fourth finds nobody there.
    url: index % 4 === 3 ? `http://127.0.9.${index + 1}:1/` : url(index + 1),
  }));
  const world = twoWorkers(t);
  world.delta([]);
  world.delta(monitors);
  const alone: Recorded[] = [];
  const own: AssignmentStore = new AssignmentStore((change) => runner.apply(change));
  const runner = new Runner(own, {
    probeId,
    maxInFlight: 20,
    clock: world.clock,
    monotonicUs,
    check: createChecker(checker).check,
    record: (shard, atUs, result, urgent) => alone.push({ shard, atUs, result, urgent }),
    logger: silentLogger,
  });
  t.teardown(() => runner.stop());
  const assign = deltas(own);
  assign([]);
  assign(monitors);
  const enough = (results: readonly Recorded[]): boolean =>
    monitors.every(({ monitorId }) => results.filter(({ result }) => result.monitorId === monitorId).length >= 3);
  await until('three results of each', () => enough(world.recorded) && enough(alone), 20_000);
  const ran = (results: readonly Recorded[]): Recorded[] =>
    results.filter(({ result }) => result.outcome !== 'skipped' && result.kind === 'scheduled');
  t.strictSame([...new Set(ran(world.recorded).map(keyOf))].sort(), [...new Set(ran(alone).map(keyOf))].sort());
  const slots = ran(world.recorded).filter(({ result, atUs }) => {
    const first = world.recorded.find((each) => each.result.monitorId === result.monitorId);
    return first?.atUs !== atUs;
  });
  t.equal(new Set(slots.map(({ result }) => `${result.monitorId} ${slotOf(result)}`)).size, slots.length);
  t.ok(
    world.recorded.every(({ atUs, result }) => Math.abs(world.clock.effectiveUs(atUs) - result.effectiveUs) < 1_000),
  );
  t.ok(new Set(asked).size >= 9);
  const failing = world.recorded.find(({ result }) => result.outcome === 'fail');
  t.match(failing, { urgent: true, result: { evidence: { message: /refused/ } } });
});

t.test('no host is asked by more than two checks at once, whatever worker they are with', async (t) => {
  const { url, held, most } = await target(t, { hold: true });
  const world = twoWorkers(t);
  const [one, other] = differentHosts(url);
  world.delta([]);
  world.delta(
    Array.from({ length: 10 }, (_, index) => ({
      monitorId: index + 1,
      url: url(index < 5 ? one : other),
      timeoutSeconds: 5,
    })),
  );
  await until('both hosts have as much as they may', () => held.length === 4, 10_000);
  for (const answer of held.splice(0)) answer();
  await until('the next', () => held.length === 4, 10_000);
  t.strictSame([...most.values()], [2, 2]);
  for (const answer of held.splice(0)) answer();
});

t.test(
  'a worker that ends is started anew with its share, no slot is run twice, and the other one goes on',
  async (t) => {
    const errors: object[] = [];
    const { url } = await target(t);
    const world = twoWorkers(t, { logger: { ...silentLogger, error: (fields) => void errors.push(fields) } });
    const [one, other] = differentHosts(url);
    world.delta([]);
    world.delta([
      { monitorId: 1, url: url(one) },
      { monitorId: 2, url: url(other) },
    ]);
    const of = (monitorId: number) => world.recorded.filter(({ result }) => result.monitorId === monitorId);
    await until('both are checked', () => of(1).length > 1 && of(2).length > 1, 10_000);
    const before = { ended: of(1).length, other: of(2).length };
    await world.threads[workerOf(url(one), 2)]?.terminate();
    t.match(await world.pool.runCheck(request({ monitorId: 1 }), 'manual'), { refused: /worker/ });
    await until('the share goes on', () => of(1).length > before.ended + 2 && of(2).length > before.other + 2, 15_000);
    t.equal(world.threads.length, 3);
    t.match(errors, [{ worker: /checks [12]/ }]);
    for (const monitorId of [1, 2]) {
      const slots = of(monitorId)
        .slice(1)
        .map(({ result }) => slotOf(result));
      t.equal(new Set(slots).size, slots.length, `slots of ${monitorId}`);
    }
  },
);

t.test(
  'a monitor that gets another target is checked by the worker of that target alone; one that is removed by nobody',
  async (t) => {
    const { url, asked } = await target(t);
    const world = twoWorkers(t);
    const [one, other] = differentHosts(url);
    world.delta([]);
    world.delta([{ monitorId: 1, url: url(one), probeRevision: 1 }]);
    await until('it is checked', () => world.recorded.length > 0, 10_000);
    world.delta([{ monitorId: 1, url: url(other), probeRevision: 2 }]);
    await until(
      'it has moved',
      () => world.recorded.filter(({ result }) => result.probeRevision === 2).length > 2,
      10_000,
    );
    const moved = world.recorded.findIndex(({ result }) => result.probeRevision === 2);
    t.ok(world.recorded.slice(moved + 1).every(({ result }) => result.probeRevision === 2));
    world.delta([], [1]);
    world.delta([{ monitorId: 2, url: url(one) }]);
    const count = asked.length;
    await until('the other one is checked', () => asked.length > count + 2, 10_000);
    t.strictSame([...new Set(asked.slice(count + 1))], [`127.0.9.${one}`]);
  },
);

t.test('what the control plane asks for is answered by the worker of the target, stamped and recorded', async (t) => {
  const { url } = await target(t);
  const world = twoWorkers(t);
  world.delta([]);
  t.match(await world.pool.runCheck(request({ monitorId: 1 }), 'manual'), { refused: /not assigned/ });
  for (const last of differentHosts(url)) {
    const assignment = anAssignment({ monitorId: 9, url: url(last) });
    const answer = await world.pool.runCheck(request({ monitorId: 0, assignment, trace: true }), 'manual');
    t.match(JSON.parse(answer.outcomeJson.toString()), { outcome: 'ok' });
    t.ok(Math.abs(Number(answer.effectiveUs) / 1_000 - Date.now()) < 10_000, 'in server time');
    t.ok(answer.trace.length > 0);
  }
  t.equal(world.recorded.length, 0);
  world.delta([{ monitorId: 3, url: url(1), intervalSeconds: 3_600, shard: 4 }]);
  await until('the first one', () => world.recorded.length === 1, 10_000);
  await world.pool.runCheck(request({ monitorId: 3 }), 'manual');
  t.match(world.recorded[1], { shard: 4, urgent: true, result: { kind: 'manual', outcome: 'ok' } });
  await world.pool.runCheck(request({ monitorId: 3, kind: CheckKind.RECHECK }), 'recheck');
  await until('the recheck', () => world.recorded[2]?.result.kind === 'recheck', 10_000);
});

t.test('listeners that are denied later are denied in every worker, also in one that begins after that', async (t) => {
  const { url, asked } = await target(t);
  const world = twoWorkers(t);
  const hosts = differentHosts(url);
  world.delta([]);
  const port = Number(new URL(url(1)).port);
  world.pool.denyListeners(hosts.map((last) => ({ address: `127.0.9.${last}`, port })));
  const outcomeOf = async (last: number): Promise<unknown> => {
    const assignment = anAssignment({ monitorId: 9, url: url(last) });
    const answer = await world.pool.runCheck(request({ monitorId: 0, assignment }), 'manual');
    return answer.refused === '' ? JSON.parse(answer.outcomeJson.toString()) : undefined;
  };
  for (const last of hosts) t.match(await outcomeOf(last), { outcome: 'fail', code: 'address_denied' });
  await world.threads[workerOf(url(1), 2)]?.terminate();
  await until('there is another', () => world.threads.length === 3, 10_000);
  t.match(await outcomeOf(1), { outcome: 'fail', code: 'address_denied' });
  t.equal(asked.length, 0);
});

t.test('a failure that a lost uplink would explain is judged by the main thread', async (t) => {
  const judged: unknown[] = [];
  const world = twoWorkers(t, {
    // From loopback there is no way to there, and no packet leaves.
    checker: { allowedPrivate: [], sourceAddress: '127.0.0.1' },
    examine: async (outcome) => {
      judged.push(outcome);
      return { outcome: 'probe_error', total: outcome.total, phases: {}, source: 'probe', code: 'probe_uplink' };
    },
  });
  world.delta([]);
  world.delta([{ monitorId: 1, url: 'http://198.41.0.4:1/', timeoutSeconds: 1, intervalSeconds: 60 }]);
  await until('it is recorded', () => world.recorded.length > 0, 10_000);
  t.match(judged, [{ outcome: 'fail', source: 'target' }]);
  t.match(world.recorded[0]?.result, { outcome: 'probe_error', source: 'probe' });
});

t.test('stopping ends the checks under way without results, and leaves no thread', async (t) => {
  const { url, held } = await target(t, { hold: true });
  const world = twoWorkers(t);
  world.delta([]);
  world.delta(
    differentHosts(url).map((last, index) => ({
      monitorId: index + 1,
      url: url(last),
      timeoutSeconds: 30,
      intervalSeconds: 3_600,
    })),
  );
  await until('both are under way', () => held.length === 2, 10_000);
  await until('it is known', () => world.pool.inFlight === 2);
  const ended = Promise.all(world.threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))));
  await world.pool.stop();
  await ended;
  t.equal(world.recorded.length, 0);
  t.equal(world.threads.length, 2);
});
