import { errorCodes } from '@parallax/checks';
import type { CheckOutcome } from '@parallax/checks';
import { leakGuard } from '@parallax/testkit';
import { CheckKind } from '@parallax/wire';
import type { Assignment, ResultRecord, RunCheck } from '@parallax/wire';
import t from 'tap';
import { assignmentHash } from '../assignments/apply.ts';
import { AssignmentStore } from '../assignments/store.ts';
import { monotonicUs, silentLogger } from '../ports.ts';
import { anAssignment } from '../testing/control-plane.ts';
import { until } from '../testing/until.ts';
import { ServerClock } from './clock.ts';
import { toResult } from './result.ts';
import { Runner } from './runner.ts';
import type { RunnerOptions } from './runner.ts';
import { targetHost } from './target-host.ts';

leakGuard(t);

type Recorded = { readonly result: ResultRecord; readonly urgent: boolean; readonly shard: number };

const good: CheckOutcome = { outcome: 'ok', total: 900, phases: { connect: 400, first_byte: 500 } };
const refused: CheckOutcome = {
  outcome: 'fail',
  total: 300,
  phases: {},
  source: 'target',
  code: 'connect_refused',
  message: 'refused',
  evidence: { address: '192.0.2.1' },
};

/** A runner with a synchronised clock; `outcomes` are given one after another, the last for ever. */
function running(
  t: { teardown(handler: () => unknown): unknown },
  outcomes: CheckOutcome[],
  changes: Partial<RunnerOptions> = {},
) {
  const recorded: Recorded[] = [];
  const checked: number[] = [];
  const clock = new ServerClock({ monotonicUs, wallMs: Date.now, onAnchor: () => {} });
  clock.synchronise({ sentUs: monotonicUs(), receivedUs: monotonicUs(), serverUs: Date.now() * 1_000 });
  const store: AssignmentStore = new AssignmentStore((change) => runner.apply(change));
  const runner = new Runner(store, {
    probeId: 7,
    maxInFlight: 10,
    clock,
    monotonicUs,
    check: async (assignment) => {
      checked.push(assignment.monitorId);
      await new Promise((resolve) => setImmediate(resolve));
      return (outcomes.length > 1 ? outcomes.shift() : outcomes[0]) ?? good;
    },
    record: (shard, _atUs, result, urgent) => recorded.push({ shard, result, urgent }),
    logger: silentLogger,
    ...changes,
  });
  t.teardown(() => runner.stop());
  let revision = 0n;
  return {
    runner,
    store,
    recorded,
    checked,
    snapshot: (assignments: Assignment[]) => {
      revision += 1n;
      store.beginSnapshot({ revision, count: assignments.length });
      store.addChunk(assignments);
      store.endSnapshot({
        revision,
        count: assignments.length,
        hash: assignmentHash(assignments),
        privateTargetsBasis: '',
      });
    },
    delta: (changed: Partial<Assignment> & { monitorId: number }) => {
      revision += 1n;
      store.applyDelta({ changed: [anAssignment({ revision, ...changed })], removed: [], revision });
    },
  };
}

const request = (changes: Partial<RunCheck> = {}): RunCheck => ({
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

void t.test('a result carries what the wire needs', (t) => {
  const assignment = anAssignment({ monitorId: 9, intervalSeconds: 60, timeoutSeconds: 7, probeRevision: 3 });
  t.match(toResult(assignment, 'scheduled', refused, 55, true), {
    monitorId: 9,
    effectiveUs: 55,
    probeRevision: 3,
    kind: 'scheduled',
    outcome: 'fail',
    source: 'target',
    error: errorCodes.connect_refused,
    freshS: 157,
    totalUs: 300,
    evidence: { message: 'refused', json: '{"address":"192.0.2.1"}' },
  });
  t.end();
});

void t.test('hosts of targets', (t) => {
  for (const [url, host] of [
    ['https://Example.org:8443/a?b', 'example.org'],
    ['example.org:25', 'example.org'],
    ['tcp://[::1]:80', '[::1]'],
    ['example.org', 'example.org'],
    ['http://user@host/', 'host'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const)
    t.equal(targetHost(url), host);
  t.end();
});

void t.test(
  'evidence goes with the first failure and with each new code, and what has changed is urgent',
  async (t) => {
    const other: CheckOutcome = { ...refused, code: 'connect_timeout', outcome: 'timeout' };
    const world = running(t, [good, refused, refused, other, good]);
    world.snapshot([]);
    world.delta({ monitorId: 1, intervalSeconds: 3_600, confirmations: 1 });
    for (let n = 1; n <= 5; n += 1) {
      await until(`result ${n}`, () => world.recorded.length === n);
      await world.runner.runCheck(request({ kind: CheckKind.RECHECK }), 'recheck');
    }
    await until('the last one', () => world.recorded.length === 6);
    const seen = world.recorded.map(({ result, urgent }) => [
      result.outcome,
      result.kind,
      result.evidence !== undefined,
      urgent,
    ]);
    t.strictSame(seen.slice(0, 5), [
      ['ok', 'scheduled', false, true],
      ['fail', 'recheck', true, true],
      ['fail', 'recheck', false, false],
      ['timeout', 'recheck', true, true],
      ['ok', 'recheck', false, true],
    ]);
    t.ok(world.recorded.every(({ result }) => Math.abs(result.effectiveUs / 1_000 - Date.now()) < 5_000));
  },
);

void t.test('the first assignments of a start are spread, a later new monitor is checked at once', async (t) => {
  const world = running(t, [good]);
  world.snapshot(
    Array.from({ length: 2_000 }, (_, index) =>
      anAssignment({ monitorId: index + 1, url: `http://h${index}.test/`, intervalSeconds: 60 }),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.ok(world.checked.length < 100, `${world.checked.length} of 2,000 in the first moment`);
  world.delta({ monitorId: 5_000, url: 'http://new.test/' });
  await until('the new one is checked', () => world.checked.includes(5_000), 1_000);
});

void t.test(
  'a manual check is answered, traced and recorded; one of an unsaved configuration is not recorded',
  async (t) => {
    const world = running(t, [refused], {
      check: async (_assignment, { trace }) => {
        trace?.('connect', '192.0.2.1:80');
        return refused;
      },
    });
    world.snapshot([]);
    t.match(await world.runner.runCheck(request(), 'manual'), { refused: /not assigned/ });
    const unsaved = await world.runner.runCheck(
      request({ monitorId: 0, assignment: anAssignment({ monitorId: 1 }), trace: true }),
      'manual',
    );
    t.match(JSON.parse(unsaved.outcomeJson.toString()), { outcome: 'fail', code: 'connect_refused' });
    t.match(unsaved.trace, [{ step: 'connect', detail: '192.0.2.1:80' }]);
    t.equal(world.recorded.length, 0);
    world.delta({ monitorId: 1, shard: 3, intervalSeconds: 3_600, confirmations: 1 });
    await until('the first scheduled one', () => world.recorded.length === 1);
    const answer = await world.runner.runCheck(request(), 'manual');
    t.ok(Math.abs(Number(answer.effectiveUs) / 1_000 - Date.now()) < 5_000);
    t.strictSame(answer.trace, []);
    t.match(world.recorded[1], { shard: 3, urgent: true, result: { kind: 'manual', outcome: 'fail' } });
  },
);

void t.test('what nobody waits for any more is not run, and what ends too late leaves no result', async (t) => {
  let nowMs = 1_000;
  const fixed = { nowMs: () => nowMs, checkForJump: () => false, effectiveUs: () => nowMs * 1_000 };
  let runs = 0;
  const world = running(t, [good], {
    clock: fixed,
    check: async () => {
      runs += 1;
      nowMs += 500;
      return good;
    },
  });
  world.snapshot([]);
  world.delta({ monitorId: 1, intervalSeconds: 86_400 });
  await until('the first scheduled one', () => world.recorded.length === 1);
  const ask = (expiresUs: bigint) => world.runner.runCheck(request({ expiresUs }), 'manual');
  const startMs = nowMs;
  t.match(await ask(BigInt(startMs) * 1_000n), { refused: /too long on its way/ });
  t.equal(runs, 1);
  t.match(await ask(BigInt(startMs + 500) * 1_000n), { refused: /too late/ });
  t.same([runs, world.recorded.length], [2, 1], 'it was run in vain');
  nowMs = startMs;
  t.match(await ask(BigInt(startMs + 501) * 1_000n), { refused: '' });
  t.match(world.recorded.slice(1), [{ result: { kind: 'manual' } }]);
  t.match(await ask(0n), { refused: '' }, 'a control plane that sets no end');
});

void t.test('a check by hand that the end of the agent cuts off leaves no result', async (t) => {
  const world = running(t, [good], {
    check: (_assignment, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ ...refused, outcome: 'skipped' }))),
  });
  world.snapshot([anAssignment({ monitorId: 1, intervalSeconds: 86_400 })]);
  const asked = world.runner.runCheck(request(), 'manual');
  await world.runner.stop();
  t.match(await asked, { refused: /stopping/ });
  t.same(world.recorded, []);
});

void t.test('a manual check beyond the capacity is refused, and a check type that throws refuses too', async (t) => {
  let release: (() => void) | undefined;
  const world = running(t, [good], {
    maxInFlight: 1,
    check: () => new Promise((resolve) => (release = () => resolve(good))),
  });
  world.snapshot([]);
  world.delta({ monitorId: 1 });
  await until('it runs', () => release !== undefined);
  t.match(await world.runner.runCheck(request(), 'manual'), { refused: /limit/ });
  release?.();
  const broken = running(t, [good], { check: () => Promise.reject(new Error('defect')) });
  broken.snapshot([]);
  t.match(await broken.runner.runCheck(request({ assignment: anAssignment({ monitorId: 1 }) }), 'manual'), {
    refused: /defect/,
  });
});

void t.test(
  'what the probe finds to be its own fault is recorded as such, and stopping records nothing more',
  async (t) => {
    const world = running(t, [refused], {
      examine: async (outcome) => ({ ...outcome, outcome: 'probe_error', source: 'probe', code: 'probe_uplink' }),
    });
    world.snapshot([]);
    world.delta({ monitorId: 1 });
    await until('recorded', () => world.recorded.length === 1);
    t.match(world.recorded[0]?.result, { outcome: 'probe_error', source: 'probe', error: errorCodes.probe_uplink });
    let aborted = false;
    const slow = running(t, [good], {
      check: (_assignment, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve({ ...refused, outcome: 'skipped' });
          }),
        ),
    });
    slow.snapshot([]);
    slow.delta({ monitorId: 1 });
    await until('it runs', () => slow.runner.inFlight === 1);
    await slow.runner.stop();
    t.ok(aborted);
    t.equal(slow.recorded.length, 0);
  },
);

void t.test('a slot that cannot run while the one before does is recorded as skipped', async (t) => {
  const world = running(t, [good], { check: () => new Promise((resolve) => setTimeout(() => resolve(good), 1_300)) });
  world.snapshot([]);
  world.delta({ monitorId: 1, intervalSeconds: 1 });
  await until('a skipped slot', () => world.recorded.some(({ result }) => result.outcome === 'skipped'));
  const skipped = world.recorded.find(({ result }) => result.outcome === 'skipped')?.result;
  t.match(skipped, { kind: 'scheduled', source: 'probe', error: errorCodes.overrun, totalUs: 0 });
  await until('the check itself', () => world.recorded.some(({ result }) => result.outcome === 'ok'));
});

void t.test('a failure is recorded after it was examined, with the time at which the check began', async (t) => {
  const waiting: (() => void)[] = [];
  let examinedUs = 0;
  const world = running(t, [refused], {
    examine: (outcome) => new Promise((resolve) => waiting.push(() => resolve(outcome))),
  });
  world.snapshot([]);
  world.delta({ monitorId: 1, intervalSeconds: 3_600 });
  await until('it is examined', () => waiting.length === 1);
  t.equal(world.recorded.length, 0);
  examinedUs = Date.now() * 1_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  waiting[0]?.();
  await until('recorded', () => world.recorded.length === 1);
  t.ok((world.recorded[0]?.result.effectiveUs ?? Infinity) < examinedUs + 15_000);
  const fine = running(t, [good], { examine: () => Promise.reject(new Error('asked')) });
  fine.snapshot([]);
  fine.delta({ monitorId: 1, intervalSeconds: 3_600 });
  await until('a good one is recorded without it', () => fine.recorded[0]?.result.outcome === 'ok');
});

void t.test('an agent that is offered three times its capacity makes its capacity and counts the rest', async (t) => {
  const skipped = { overrun: 0, overload: 0 };
  const warnings: object[] = [];
  const world = running(t, [good], {
    maxInFlight: 1,
    perHost: 1,
    check: () => new Promise((resolve) => setTimeout(() => resolve(good), 250)),
    onSkip: (why) => void (skipped[why] += 1),
    logger: { ...silentLogger, warn: (fields) => void warnings.push(fields) },
  });
  world.snapshot(
    Array.from({ length: 12 }, (_, index) =>
      anAssignment({ monitorId: index + 1, url: `http://h${index}.test/`, intervalSeconds: 1 }),
    ),
  );
  await until('some rounds', () => skipped.overload > 24);
  await until('every monitor was checked', () => {
    const ran = world.recorded.filter(({ result }) => result.outcome === 'ok');
    return new Set(ran.map(({ result }) => result.monitorId)).size === 12;
  });
  const written = world.recorded.filter(({ result }) => result.outcome === 'skipped');
  t.equal(written.length, new Set(written.map(({ result }) => result.monitorId)).size, 'one of each in ten seconds');
  world.runner.tellSkipped();
  world.runner.tellSkipped();
  t.strictSame(warnings, [{ ...skipped, in_flight: 1 }], 'one warning with the number');
});
