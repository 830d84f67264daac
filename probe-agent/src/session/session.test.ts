import { leakGuard } from '@parallax/testkit';
import { CheckKind } from '@parallax/wire';
import t from 'tap';
import { AssignmentStore } from '../assignments/store.ts';
import { register } from '../enrolment/register.ts';
import { monotonicUs, silentLogger } from '../ports.ts';
import { ServerClock } from '../runner/clock.ts';
import type { Identity } from '../state/identity.ts';
import { anAssignment, testControlPlane } from '../testing/control-plane.ts';
import type { TestControlPlane, TestSession } from '../testing/control-plane.ts';
import { scratchFolder } from '../testing/results.ts';
import { until } from '../testing/until.ts';
import { Session } from './session.ts';
import type { SessionEvents, SessionIdentity } from './session.ts';

leakGuard(t);

type Seen = { what: string; value: unknown };

/** A session of an enrolled probe with a control plane in this process. */
async function connected(
  t: Parameters<typeof testControlPlane>[0],
  changes: {
    clockMs?: number;
    controlPlane?: TestControlPlane;
    identity?: (identity: Identity) => Promise<SessionIdentity>;
  } = {},
) {
  const controlPlane = changes.controlPlane ?? (await testControlPlane(t));
  const identity = await register({
    stateDir: scratchFolder(t),
    controlPlane: controlPlane.enrolmentAddress,
    joinToken: controlPlane.joinToken(),
    publicAddresses: [],
  });
  const seen: Seen[] = [];
  const note = (what: string) => (value: unknown) => void seen.push({ what, value });
  const store = new AssignmentStore(note('assignments'));
  const clock = new ServerClock({ monotonicUs, wallMs: Date.now, onAnchor: () => {} });
  const events: SessionEvents = {
    connected: note('connected'),
    welcome: note('welcome'),
    credentials: note('credentials'),
    acknowledged: note('acknowledged'),
    resendFrom: note('resendFrom'),
    pace: note('pace'),
    runCheck: (request, kind) => {
      note('runCheck')({ request, kind });
      return Promise.resolve({
        requestId: request.requestId,
        effectiveUs: 5n,
        outcomeJson: Buffer.from('{}'),
        diagnosisJson: Buffer.alloc(0),
        chainJson: Buffer.alloc(0),
        trace: [],
        refused: '',
      });
    },
  };
  const session = new Session({
    identity: () => changes.identity?.(identity) ?? Promise.resolve(identity),
    store,
    clock,
    monotonicUs,
    wallMs: Date.now,
    random: Math.random,
    hello: () => ({
      bootId: 'b',
      agentVersion: '1',
      capabilities: ['icmp'],
      epochs: [3n, 9n],
      publicAddresses: [],
      sourceAddresses: [],
      maxInFlight: 5,
      privateTargetsBasis: '',
      obeysPrivateTargets: true,
    }),
    heartbeat: () => ({ oldestUnacknowledgedMs: 1n, inFlight: 2, unacknowledged: 3n, damagedRecords: 4n }),
    events,
    logger: silentLogger,
    heartbeatMs: 50,
    clockMs: changes.clockMs ?? 50,
    backOffFirstMs: 20,
    backOffMostMs: 100,
  });
  t.teardown(() => session.stop());
  session.start();
  return { controlPlane, session, store, clock, seen, identity };
}

const last = (controlPlane: TestControlPlane): TestSession | undefined => controlPlane.sessions.at(-1);

void t.test('the probe says who it is by its certificate, what it has and what it knows', async (t) => {
  const { controlPlane, session, clock, seen } = await connected(t);
  await until('the session stands', () => session.connected && controlPlane.sessions.length === 1);
  t.equal(last(controlPlane)?.probeId, 7);
  t.match(last(controlPlane)?.hello, {
    bootId: 'b',
    capabilities: ['icmp'],
    epochs: [3n, 9n],
    knownRevision: 0n,
    maxInFlight: 5,
  });
  await until('heartbeats and clock requests', () => {
    const kinds = last(controlPlane)?.received.map((message) => message.$case) ?? [];
    return (
      kinds.filter((kind) => kind === 'heartbeat').length > 2 &&
      kinds.filter((kind) => kind === 'clockRequest').length > 2
    );
  });
  const heartbeat = last(controlPlane)?.received.find((message) => message.$case === 'heartbeat');
  t.match(heartbeat?.value, { inFlight: 2, unacknowledged: 3n, damagedRecords: 4n });
  t.ok(clock.anchored);
  t.match(
    seen.map((each) => each.what),
    ['welcome', 'connected'],
  );
});

void t.test('the time is asked for several times at once, since the first answer may be slow', async (t) => {
  const { controlPlane, clock } = await connected(t, { clockMs: 60_000 });
  await until('four questions', () => {
    const asked = last(controlPlane)?.received.filter((message) => message.$case === 'clockRequest') ?? [];
    return asked.length === 4;
  });
  t.ok(clock.anchored);
});

void t.test('the clock is the server’s', async (t) => {
  const controlPlane = await testControlPlane(t);
  controlPlane.clockAheadMs = 3_600_000;
  const { clock } = await connected(t, { controlPlane });
  await until('synchronised', () => clock.anchored);
  t.ok(Math.abs(clock.nowMs() - (Date.now() + 3_600_000)) < 500);
});

void t.test(
  'assignments come as a snapshot, then as deltas, and a new stream asks only for what has changed',
  async (t) => {
    const { controlPlane, session, store } = await connected(t);
    await until('the session stands', () => session.connected && controlPlane.sessions.length === 1);
    const many = Array.from({ length: 1_200 }, (_, index) =>
      anAssignment({ monitorId: index + 1, revision: BigInt(index + 1) }),
    );
    last(controlPlane)?.sendSnapshot(many, 1_200n);
    await until('the snapshot is applied', () => store.size === 1_200);
    last(controlPlane)?.send({
      $case: 'assignmentDelta',
      value: { changed: [], removed: [{ monitorId: 3, revision: 1_201n }], revision: 1_201n },
    });
    await until('the delta is applied', () => store.size === 1_199);
    await until('both are confirmed', () => {
      const applied = last(controlPlane)?.received.filter((message) => message.$case === 'appliedRevision') ?? [];
      return applied.map((message) => message.value.revision).join() === '1200,1201';
    });
    last(controlPlane)?.end();
    await until('a new stream', () => controlPlane.sessions.length === 2);
    t.equal(last(controlPlane)?.hello.knownRevision, 1_201n);
  },
);

void t.test('a snapshot whose hash is wrong ends the stream, and the next one asks for all', async (t) => {
  const { controlPlane, session, store } = await connected(t);
  await until('the session stands', () => session.connected && controlPlane.sessions.length === 1);
  const first = last(controlPlane);
  first?.send({ $case: 'snapshotBegin', value: { revision: 4n, count: 1 } });
  first?.send({ $case: 'assignmentChunk', value: { assignments: [anAssignment({ monitorId: 1 })] } });
  first?.send({
    $case: 'snapshotEnd',
    value: { revision: 4n, count: 1, hash: Buffer.alloc(32), privateTargetsBasis: '' },
  });
  await until('a new stream', () => controlPlane.sessions.length === 2);
  t.equal(last(controlPlane)?.hello.knownRevision, 0n);
  t.equal(store.size, 0);
});

void t.test('what the control plane says reaches the parts, in numbers', async (t) => {
  const { controlPlane, session, seen } = await connected(t);
  await until('the session stands', () => session.connected && controlPlane.sessions.length === 1);
  const peer = last(controlPlane);
  peer?.send({ $case: 'acknowledgements', value: { positions: [{ epoch: 1_750_000_000_000n, shard: 1, seq: 77n }] } });
  peer?.send({ $case: 'resendFrom', value: { position: { epoch: 2n, shard: 0, seq: 5n } } });
  peer?.send({ $case: 'credentials', value: { jwt: 'j', expiresAtMs: 9n } });
  peer?.send({ $case: 'pace', value: { pauseMs: 250 } });
  peer?.send({
    $case: 'runCheck',
    value: {
      requestId: 'r',
      monitorId: 1,
      kind: CheckKind.RECHECK,
      deadlineMs: 1,
      assignment: undefined,
      trace: false,
      diagnose: false,
      readChain: false,
      expiresUs: 0n,
    },
  });
  await until(
    'the check is answered',
    () => peer?.received.some((message) => message.$case === 'checkAnswer') ?? false,
  );
  const of = (what: string): unknown => seen.find((each) => each.what === what)?.value;
  t.same(of('acknowledged'), [{ epoch: 1_750_000_000_000, shard: 1, seq: 77 }]);
  t.same(of('resendFrom'), { epoch: 2, shard: 0, seq: 5 });
  t.same(of('credentials'), { jwt: 'j', expiresAtMs: 9 });
  t.equal(of('pace'), 250);
  t.match(of('runCheck'), { kind: 'recheck' });
});

void t.test('a lost stream is made again, and a refused one does not end the agent', async (t) => {
  let refusedFirst = 0;
  const foreign = await testControlPlane(t);
  const stranger = await register({
    stateDir: scratchFolder(t),
    controlPlane: foreign.enrolmentAddress,
    joinToken: foreign.joinToken(),
    publicAddresses: [],
  });
  const { controlPlane, session, seen } = await connected(t, {
    identity: async (identity) => {
      refusedFirst += 1;
      if (refusedFirst === 1) throw new Error('renewal is not possible yet');
      // A certificate of another authority: the connection fails in the handshake.
      return refusedFirst === 2
        ? { ...identity, certificateDer: stranger.certificateDer, keyPem: stranger.keyPem }
        : identity;
    },
  });
  await until('it stands at the third try', () => session.connected);
  t.equal(refusedFirst, 3);
  await until('the server has seen it', () => controlPlane.sessions.length === 1);
  last(controlPlane)?.end();
  await until('it stands again', () => controlPlane.sessions.length === 2 && session.connected);
  t.same(
    seen.filter((each) => each.what === 'connected').map((each) => each.value),
    [true, false, true],
  );
});
