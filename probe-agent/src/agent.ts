import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { certificateFacts, ed25519PublicKey, signEd25519 } from '@parallax/pki';
import { AssignmentStore } from './assignments/store.ts';
import { certificateState, renew } from './enrolment/renew.ts';
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
import type { SessionIdentity } from './session/session.ts';
import { gatewayAnswers } from './self-check/gateway.ts';
import { Uplink } from './self-check/uplink.ts';
import { writeIdentity } from './state/identity.ts';
import type { Identity } from './state/identity.ts';
import type { AgentStatus } from './state/lock.ts';
import { agentVersion } from './version.ts';

export type AgentOptions = {
  readonly stateDir: string;
  readonly identity: Identity;
  readonly bootId: string;
  readonly capabilities: readonly string[];
  readonly publicAddresses: readonly string[];
  readonly maxInFlight: number;
  readonly check: CheckRunner;
  /** The product's own listeners, which no check may reach. */
  readonly denyListeners: (listeners: readonly { readonly address: string; readonly port: number }[]) => void;
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

const housekeepingMs = 1_000;
const renewalCheckMs = 3_600_000;
const renewAfterFailures = 20;

/** Puts the parts together and starts them: log, broker, publisher, runner, session. The state folder must be locked by the caller. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { logger } = options;
  const wallMs = Date.now;
  const random = Math.random;
  const startedAtMs = wallMs();
  let { identity } = options;
  const sign = (content: Uint8Array): Uint8Array => signEd25519(identity.signingSeed, content);
  const log = await ResultLog.open({
    folder: path.join(options.stateDir, 'log'),
    bootId: options.bootId,
    monotonicUs,
    wallMs,
    logger,
    onFatal: options.onFatal,
    ...(options.logLimits === undefined ? {} : { limits: options.logLimits }),
  });
  const clock = new ServerClock({
    monotonicUs,
    wallMs,
    onAnchor: (anchor) => {
      log.anchor(anchor);
      if (anchor.kind === 'sync') publisher.wake();
    },
  });
  const broker = new BrokerConnection({
    probeId: identity.probeId,
    signingPublicKey: ed25519PublicKey(identity.signingSeed),
    sign,
    authorityDer: options.brokerTls === false ? undefined : identity.authorityDer,
    requestCredentials: () => session.requestCredentials(),
    random,
    wallMs,
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
  const uplink = new Uplink({
    sessionSilentMs: () => session.silentMs,
    gatewayAnswers: () => gatewayAnswers(1_000),
    onChange: (lost) => {
      if (lost) logger.warn({}, 'the uplink of this probe is lost: failures of targets elsewhere are its own');
      else logger.info({}, 'the uplink of this probe is back');
    },
  });
  const store = new AssignmentStore((change) => runner.apply(change));
  const runner = new Runner(store, {
    probeId: identity.probeId,
    maxInFlight: options.maxInFlight,
    clock,
    monotonicUs,
    check: options.check,
    examine: (outcome) => uplink.examine(outcome),
    record: (shard, atUs, result, urgent) => void log.append(shard, atUs, result, urgent),
    logger,
  });

  async function currentIdentity(failures: number): Promise<SessionIdentity> {
    const state = certificateState(identity.certificateDer, clock.nowMs());
    // A machine with a wrong clock cannot see that its certificate has run out: after some failures it asks.
    const isSuspicious = failures > 0 && failures % renewAfterFailures === 0;
    if (state !== 'good' || isSuspicious) await renewCertificate(state === 'expired');
    return identity;
  }

  /** A renewal that fails matters only when the certificate held has run out by its own dates. */
  async function renewCertificate(isNeeded: boolean): Promise<boolean> {
    try {
      identity = await renew(identity, wallMs());
      await writeIdentity(options.stateDir, identity);
      logger.info(
        { not_after: new Date(certificateFacts(identity.certificateDer).notAfterMs).toISOString() },
        'the certificate was renewed',
      );
      return true;
    } catch (error) {
      if (isNeeded) throw error;
      logger.warn({ error: messageOf(error) }, 'the certificate could not be renewed yet; the one held is still valid');
      return false;
    }
  }

  async function renewAhead(): Promise<void> {
    if (await renewCertificate(false)) session.reconnect('the certificate was renewed');
  }

  const bootId = randomUUID();
  const session: Session = new Session({
    identity: currentIdentity,
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
      maxInFlight: options.maxInFlight,
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
      connected: (connected) => publisher.sessionChanged(connected),
      welcome: (welcome) => {
        options.denyListeners(welcome.deniedListeners);
        broker.setAddress(welcome.brokerAddress === '' ? identity.brokerAddress : welcome.brokerAddress);
      },
      credentials: (credentials) => broker.setCredentials(credentials),
      acknowledged: (positions) => publisher.acknowledge(positions),
      resendFrom: (position) => publisher.resendFrom(position),
      pace: (pauseMs) => publisher.pause(pauseMs),
      runCheck: (request, kind) => runner.runCheck(request, kind),
    },
  });

  publisher.start();
  broker.start();
  session.start();
  uplink.start();
  const housekeeping = setInterval(() => {
    if (clock.checkForJump()) {
      logger.warn({}, 'the wall clock has jumped or the machine slept: results wait for the next synchronisation');
      session.requestClock();
    }
    log.enforceLimits(clock.anchored ? clock.effectiveUs(monotonicUs()) : undefined);
  }, housekeepingMs);
  // Jitter keeps many probes that were registered together from renewing together.
  const renewal = setInterval(
    () => {
      if (certificateState(identity.certificateDer, clock.nowMs()) === 'good') return;
      void renewAhead();
    },
    renewalCheckMs * (0.75 + random() / 2),
  );

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    clearInterval(housekeeping);
    clearInterval(renewal);
    uplink.stop();
    await runner.stop();
    await session.stop();
    await log.flush().catch(() => {});
    publisher.stop();
    await broker.stop();
    await log.close().catch(() => {});
  }

  return {
    connected: () => session.connected,
    status: () => {
      const { results, oldestMs } = log.waiting;
      return {
        pid: process.pid,
        version: agentVersion,
        probe_id: identity.probeId,
        name: identity.name,
        region: identity.region,
        control_plane: identity.sessionAddress,
        session_connected: session.connected,
        broker_connected: broker.connected,
        uplink_lost: uplink.lost,
        clock_synchronised: clock.anchored,
        assignments: store.size,
        assignments_revision: Number(store.revision),
        in_flight: runner.inFlight,
        unacknowledged_results: results,
        oldest_unacknowledged_ms: oldestMs,
        log_bytes: log.bytes,
        damaged_records: log.damagedRecords,
        certificate_not_after: new Date(certificateFacts(identity.certificateDer).notAfterMs).toISOString(),
        started_at: new Date(startedAtMs).toISOString(),
      };
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
