import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { CheckOutcome } from '@parallax/checks';
import { certificateFacts, ed25519PublicKey, signEd25519 } from '@parallax/pki';
import type { ResultRecord } from '@parallax/wire';
import { AssignmentCache } from './assignments/cache.ts';
import { AssignmentStore } from './assignments/store.ts';
import type { DiagnosisDesk } from './diagnosis/desk.ts';
import { CertificateKeeper } from './enrolment/certificate-keeper.ts';
import { renew } from './enrolment/renew.ts';
import { momentNow, sleptMs } from './machine/moments.ts';
import type { AgentObserver } from './metrics.ts';
import { createOwnUplink } from './own-uplink.ts';
import { messageOf, monotonicUs } from './ports.ts';
import type { Logger } from './ports.ts';
import { BrokerConnection } from './results/broker.ts';
import { ResultLog } from './results/log.ts';
import type { LogLimits } from './results/log-options.ts';
import { Publisher } from './results/publisher.ts';
import { ServerClock } from './runner/clock.ts';
import { Runner } from './runner/runner.ts';
import type { CheckRunner } from './runner/runner.ts';
import { Session } from './session/session.ts';
import { writeIdentity } from './state/identity.ts';
import type { Identity } from './state/identity.ts';
import type { AgentStatus } from './state/lock.ts';
import { agentVersion } from './version.ts';
import { WorkerPool } from './workers/pool.ts';
import type { WantedWorkers } from './workers/wanted.ts';

export type AgentOptions = {
  readonly stateDir: string;
  readonly identity: Identity;
  readonly bootId: string;
  readonly capabilities: readonly string[];
  readonly publicAddresses: readonly string[];
  /** What checks leave from, asked anew when the session ended, since the network may be another then; absent: nothing is told. */
  readonly sourceAddresses?: () => Promise<readonly string[]>;
  readonly maxInFlight: number;
  /** "host:port" that must answer while the uplink stands (rule 12). */
  readonly canaries?: readonly string[];
  readonly check: CheckRunner;
  /** Threads that run the scheduled checks; absent: this one does, with `check`. */
  readonly workers?: WantedWorkers | undefined;
  /** The product's own listeners, which no check may reach. */
  readonly denyListeners: (listeners: AgentListeners) => void;
  readonly observer?: AgentObserver;
  /** Looks at targets step by step when voters differ; absent: such requests are answered by a check. */
  readonly diagnosis?: DiagnosisDesk;
  readonly logger: Logger;
  /** Nothing that is checked can be kept any more: the process has to end. */
  readonly onFatal: (error: Error) => void;
  readonly logLimits?: Partial<LogLimits>;
  /** False only in tests, whose broker has no TLS. */
  readonly brokerTls?: boolean;
};

/** A running agent. */
export type Agent = {
  readonly status: () => AgentStatus;
  /** True while the session with the control plane stands. */
  readonly connected: () => boolean;
  /** Ends checks, writes the log out, closes everything. */
  readonly stop: () => Promise<void>;
};

type AgentListeners = readonly { readonly address: string; readonly port: number }[];

const housekeepingMs = 1_000;
/** The control plane was heard so recently that the assignments are known to hold. */
const confirmedWithinMs = 9_000;

/** Puts the parts together and starts them: log, broker, publisher, runner, session. The state folder must be locked by the caller. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { logger } = options;
  const wallMs = Date.now;
  const random = Math.random;
  const startedAtMs = wallMs();
  const { identity } = options;
  let sources: readonly string[] = [];
  const askSources = async (): Promise<void> => {
    sources = (await options.sourceAddresses?.()) ?? [];
  };
  await askSources();
  const sign = (content: Uint8Array): Uint8Array => signEd25519(identity.signingSeed, content);
  const log = await ResultLog.open({
    folder: path.join(options.stateDir, 'log'),
    bootId: options.bootId,
    monotonicUs,
    wallMs,
    sleptMs,
    logger,
    onFatal: options.onFatal,
    ...(options.logLimits === undefined ? {} : { limits: options.logLimits }),
  });
  const clock = new ServerClock({
    monotonicUs,
    wallMs,
    sleptMs,
    onAnchor: (anchor) => {
      log.anchor(anchor);
      if (anchor.kind === 'sync') publisher.wake();
    },
    onLine: () => {
      if (runner instanceof WorkerPool) runner.followClock();
    },
  });
  const broker = new BrokerConnection({
    probeId: identity.probeId,
    signingPublicKey: ed25519PublicKey(identity.signingSeed),
    sign,
    authorityDer: options.brokerTls === false ? undefined : identity.authorityDer,
    requestCredentials: () => session.requestCredentials(),
    random,
    wallMs: () => clock.nowMs(),
    logger,
  });
  const publisher = new Publisher({
    log,
    broker,
    probeId: identity.probeId,
    sign,
    nowMs: () => performance.now(),
    random,
    logger,
  });
  const uplink = createOwnUplink({
    canaries: options.canaries ?? [],
    sessionAddress: identity.sessionAddress,
    session: { answers: (withinMs) => session.answers(withinMs), silentMs: () => session.silentMs },
    logger,
  });
  const store = new AssignmentStore((change) => {
    runner.apply(change);
    if (session.connected) cache.confirm();
    cache.changed();
  });
  let deniedListeners: AgentListeners = [];
  function denyListeners(listeners: AgentListeners): void {
    deniedListeners = listeners.map(({ address, port }) => ({ address, port }));
    options.denyListeners(deniedListeners);
    options.diagnosis?.denyListeners(deniedListeners);
    if (runner instanceof WorkerPool) runner.denyListeners(deniedListeners);
  }
  const cache = new AssignmentCache({
    stateDir: options.stateDir,
    owner: { probeId: identity.probeId, secret: identity.signingSeed },
    now: () => momentNow(options.bootId, clock.nowMs()),
    present: () =>
      store.revision === 0n
        ? undefined
        : {
            revision: store.revision,
            assignments: store.all,
            privateTargetsBasis: store.privateTargetsBasis,
            deniedListeners,
          },
    logger,
  });
  const runs = {
    probeId: identity.probeId,
    maxInFlight: options.maxInFlight,
    clock,
    examine: (outcome: CheckOutcome) => uplink.examine(outcome),
    record: (shard: number, atUs: number, result: ResultRecord, urgent: boolean) => {
      log.append(shard, atUs, result, urgent);
      options.observer?.recorded(result.outcome, result.kind);
    },
    ...(options.observer && { onBegin: options.observer.began, onSkip: options.observer.skipped }),
    logger,
  };
  const runner: Runner | WorkerPool =
    options.workers === undefined
      ? new Runner(store, { ...runs, monotonicUs, check: options.check })
      : new WorkerPool({ ...runs, ...options.workers, assignments: store, random });

  const certificates = new CertificateKeeper({
    identity,
    nowMs: () => clock.nowMs(),
    isSynchronised: () => clock.isKnown,
    monotonicMs: () => monotonicUs() / 1_000,
    random,
    renew,
    keep: (renewed) => writeIdentity(options.stateDir, renewed),
    onRefused: () => {
      logger.error({}, 'the control plane does not know this probe any more: nothing is checked and nothing is kept');
      store.clear();
      void cache.remove().catch((error: unknown) => {
        logger.error({ error: messageOf(error) }, 'the kept assignments could not be removed');
      });
    },
    logger,
  });

  /** Checks under way whose answer the control plane awaits. */
  let askedChecks = 0;
  const bootId = randomUUID();
  const session: Session = new Session({
    identity: (failures, wasRefused) => certificates.forSession(failures, wasRefused),
    store,
    clock,
    monotonicUs,
    wallMs,
    random,
    logger,
    hello: () => ({
      bootId,
      agentVersion,
      capabilities: [...options.capabilities],
      epochs: log.epochs.map(BigInt),
      publicAddresses: [...options.publicAddresses],
      sourceAddresses: [...sources],
      maxInFlight: options.maxInFlight,
      privateTargetsBasis: store.privateTargetsBasis,
      obeysPrivateTargets: true,
    }),
    heartbeat: () => {
      const { results, oldestMs } = log.waiting;
      return {
        oldestUnacknowledgedMs: BigInt(oldestMs),
        inFlight: runner.inFlight,
        unacknowledged: BigInt(results),
        damagedRecords: BigInt(log.damagedRecords),
      };
    },
    events: {
      connected: (connected) => {
        publisher.sessionChanged(connected);
        if (!connected) {
          cache.changed();
          void askSources();
          return;
        }
        uplink.sessionStands();
        certificates.reachable();
      },
      welcome: (welcome) => {
        cache.allow();
        denyListeners(welcome.deniedListeners);
        publisher.allowBatch(welcome.maxBatchResults);
        broker.setAddress(welcome.brokerAddress === '' ? identity.brokerAddress : welcome.brokerAddress);
      },
      credentials: (credentials) => broker.setCredentials(credentials),
      acknowledged: (positions) => publisher.acknowledge(positions),
      resendFrom: (position) => publisher.resendFrom(position),
      pace: (pauseMs) => publisher.pause(pauseMs),
      runCheck: async (request, kind) => {
        askedChecks += 1;
        const { diagnosis } = options;
        const asked =
          request.diagnose && diagnosis !== undefined
            ? diagnosis.answer(request, request.assignment ?? store.get(request.monitorId))
            : runner.runCheck(request, kind);
        return asked.finally(() => {
          askedChecks -= 1;
        });
      },
    },
  });

  const kept = await cache.read();
  if (kept !== undefined) {
    denyListeners(kept.deniedListeners);
    store.restore(kept.revision, kept.assignments, kept.privateTargetsBasis);
    logger.info(
      { assignments: store.size, revision: kept.revision.toString() },
      'kept assignments are checked until the control plane says what has changed',
    );
  }
  publisher.start();
  broker.start();
  session.start();
  uplink.start();
  const housekeeping = setInterval(() => {
    if (clock.checkForJump()) {
      logger.warn({}, 'the wall clock has jumped or the machine slept: results wait for the next synchronisation');
      session.requestClock();
    }
    runner.tellSkipped();
    log.enforceLimits(clock.anchored ? clock.nowMs() * 1_000 : undefined);
    if (session.connected && session.silentMs < confirmedWithinMs) cache.confirm();
    if (session.connected) certificates.tick();
    if (session.connected && certificates.wantsReconnect(askedChecks === 0))
      session.reconnect('the certificate was renewed');
  }, housekeepingMs);
  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    clearInterval(housekeeping);
    options.diagnosis?.stop();
    uplink.stop();
    await runner.stop();
    await session.stop();
    await log.flush().catch(() => {});
    publisher.stop();
    await cache.flush().catch(() => {});
    await broker.stop();
    await log.close().catch(() => {});
  }

  return {
    connected: () => session.connected,
    status: () => {
      const { results, oldestMs } = log.waiting;
      const { quality } = clock;
      return {
        pid: process.pid,
        version: agentVersion,
        probe_id: identity.probeId,
        name: identity.name,
        region: identity.region,
        control_plane: identity.sessionAddress,
        session_connected: session.connected,
        broker_connected: broker.connected,
        uplink_lost: uplink.lost(),
        clock_synchronised: clock.anchored,
        clock_error_us: quality && Math.round(quality.errorUs),
        clock_rate: quality?.rate,
        clock_offset_ms: quality && Math.round(wallMs() - clock.nowMs()),
        assignments: store.size,
        assignments_revision: Number(store.revision),
        in_flight: runner.inFlight,
        unacknowledged_results: results,
        oldest_unacknowledged_ms: oldestMs,
        log_bytes: log.bytes,
        damaged_records: log.damagedRecords,
        certificate_not_after: new Date(
          certificateFacts(certificates.identity.certificateDer).notAfterMs,
        ).toISOString(),
        started_at: new Date(startedAtMs).toISOString(),
      };
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
