import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { certificateFacts, ed25519PublicKey, signEd25519 } from '@parallax/pki';
import type { Heartbeat, Hello } from '@parallax/wire';
import { CertificateKeeper } from './enrolment/certificate-keeper.ts';
import { renew } from './enrolment/renew.ts';
import { sleptMs } from './machine/moments.ts';
import { OwnChecks } from './own-checks.ts';
import type { OwnChecksOptions } from './own-checks.ts';
import { createOwnUplink } from './own-uplink.ts';
import type { OwnUplink } from './own-uplink.ts';
import { monotonicUs } from './ports.ts';
import { BrokerConnection } from './results/broker.ts';
import { ResultLog } from './results/log.ts';
import type { LogLimits } from './results/log-options.ts';
import { Publisher } from './results/publisher.ts';
import { ServerClock } from './runner/clock.ts';
import { Session } from './session/session.ts';
import type { SessionEvents } from './session/session.ts';
import { writeIdentity } from './state/identity.ts';
import type { AgentStatus } from './state/lock.ts';
import { agentVersion } from './version.ts';

export type AgentOptions = OwnChecksOptions & {
  readonly capabilities: readonly string[];
  readonly publicAddresses: readonly string[];
  /** What checks leave from, asked anew when the session ended, since the network may be another then; absent: nothing is told. */
  readonly sourceAddresses?: () => Promise<readonly string[]>;
  /** "host:port" that must answer while the uplink stands (rule 12). */
  readonly canaries?: readonly string[];
  /** Nothing that is checked can be kept any more: the process has to end. */
  readonly onFatal: (error: Error) => void;
  readonly logLimits?: Partial<LogLimits>;
  /** False only in tests, whose broker has no TLS. */
  readonly brokerTls?: boolean;
};

const housekeepingMs = 1_000;
/** The control plane was heard so recently that the assignments are known to hold. */
const confirmedWithinMs = 9_000;

/** Puts the parts together and starts them: log, broker, publisher, checks, session. The state folder must be locked by the caller. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const startedAtMs = Date.now();
  const sources = await askSources(options);
  const log = await ResultLog.open({
    folder: path.join(options.stateDir, 'log'),
    bootId: options.bootId,
    monotonicUs,
    wallMs: Date.now,
    sleptMs,
    logger: options.logger,
    onFatal: options.onFatal,
    ...(options.logLimits === undefined ? {} : { limits: options.logLimits }),
  });
  const agent = new Agent(options, log, { sources, startedAtMs });
  await agent.start();
  return agent;
}

/** The parts of a probe and how they work together: results go through the log to the broker, and the session says what is checked. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #wallMs = Date.now;
  readonly #random = Math.random;
  readonly #startedAtMs: number;
  readonly #log: ResultLog;
  readonly #clock: ServerClock;
  readonly #broker: BrokerConnection;
  readonly #publisher: Publisher;
  readonly #uplink: OwnUplink;
  readonly #checks: OwnChecks;
  readonly #certificates: CertificateKeeper;
  readonly #session: Session;
  #sources: readonly string[];
  #housekeeping: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;

  constructor(
    options: AgentOptions,
    log: ResultLog,
    known: { readonly sources: readonly string[]; readonly startedAtMs: number },
  ) {
    this.#options = options;
    this.#startedAtMs = known.startedAtMs;
    this.#sources = known.sources;
    this.#log = log;
    this.#clock = this.#makeClock();
    this.#broker = this.#makeBroker();
    this.#publisher = this.#makePublisher();
    this.#uplink = this.#makeUplink();
    this.#checks = new OwnChecks(options, {
      clock: this.#clock,
      log,
      uplink: this.#uplink,
      isConnected: () => this.#session.connected,
      random: this.#random,
    });
    this.#certificates = this.#makeCertificates();
    this.#session = this.#makeSession();
  }

  async start(): Promise<void> {
    await this.#checks.restore();
    this.#publisher.start();
    this.#broker.start();
    this.#session.start();
    this.#uplink.start();
    this.#housekeeping = setInterval(() => this.#keepHouse(), housekeepingMs);
  }

  /** True while the session with the control plane stands. */
  connected(): boolean {
    return this.#session.connected;
  }

  status(): AgentStatus {
    const { identity } = this.#options;
    const { assignments } = this.#checks;
    const { results, oldestMs } = this.#log.waiting;
    const { quality } = this.#clock;
    return {
      pid: process.pid,
      version: agentVersion,
      probe_id: identity.probeId,
      name: identity.name,
      region: identity.region,
      control_plane: identity.sessionAddress,
      session_connected: this.#session.connected,
      broker_connected: this.#broker.connected,
      uplink_lost: this.#uplink.lost(),
      clock_synchronised: this.#clock.anchored,
      clock_error_us: quality && Math.round(quality.errorUs),
      clock_rate: quality?.rate,
      clock_offset_ms: quality && Math.round(this.#wallMs() - this.#clock.nowMs()),
      assignments: assignments.size,
      assignments_revision: Number(assignments.revision),
      in_flight: this.#checks.inFlight,
      unacknowledged_results: results,
      oldest_unacknowledged_ms: oldestMs,
      log_bytes: this.#log.bytes,
      damaged_records: this.#log.damagedRecords,
      certificate_not_after: new Date(
        certificateFacts(this.#certificates.identity.certificateDer).notAfterMs,
      ).toISOString(),
      started_at: new Date(this.#startedAtMs).toISOString(),
    };
  }

  /** Ends checks, writes the log out, closes everything. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    clearInterval(this.#housekeeping);
    this.#options.diagnosis?.stop();
    this.#uplink.stop();
    await this.#checks.stop();
    await this.#session.stop();
    await this.#log.flush().catch(() => {});
    this.#publisher.stop();
    await this.#checks.flush().catch(() => {});
    await this.#broker.stop();
    await this.#log.close().catch(() => {});
  }

  #keepHouse(): void {
    if (this.#clock.checkForJump()) {
      this.#options.logger.warn(
        {},
        'the wall clock has jumped or the machine slept: results wait for the next synchronisation',
      );
      this.#session.requestClock();
    }
    this.#checks.tellSkipped();
    this.#log.enforceLimits(this.#clock.anchored ? this.#clock.nowMs() * 1_000 : undefined);
    if (this.#session.connected && this.#session.silentMs < confirmedWithinMs) this.#checks.confirm();
    if (this.#session.connected) this.#certificates.tick();
    if (this.#session.connected && this.#certificates.wantsReconnect(!this.#checks.isAnswerAwaited))
      this.#session.reconnect('the certificate was renewed');
  }

  #makeClock(): ServerClock {
    return new ServerClock({
      monotonicUs,
      wallMs: this.#wallMs,
      sleptMs,
      onAnchor: (anchor) => {
        this.#log.anchor(anchor);
        if (anchor.kind === 'sync') this.#publisher.wake();
      },
      onLine: () => this.#checks.followClock(),
    });
  }

  #makeBroker(): BrokerConnection {
    const { identity, brokerTls, logger } = this.#options;
    return new BrokerConnection({
      probeId: identity.probeId,
      signingPublicKey: ed25519PublicKey(identity.signingSeed),
      sign: (content) => this.#sign(content),
      authorityDer: brokerTls === false ? undefined : identity.authorityDer,
      requestCredentials: () => this.#session.requestCredentials(),
      random: this.#random,
      wallMs: () => this.#clock.nowMs(),
      logger,
    });
  }

  #makePublisher(): Publisher {
    const { identity, logger } = this.#options;
    return new Publisher({
      log: this.#log,
      broker: this.#broker,
      probeId: identity.probeId,
      sign: (content) => this.#sign(content),
      nowMs: () => performance.now(),
      random: this.#random,
      logger,
    });
  }

  #sign(content: Uint8Array): Uint8Array {
    return signEd25519(this.#options.identity.signingSeed, content);
  }

  #makeUplink(): OwnUplink {
    const { canaries, identity, logger } = this.#options;
    return createOwnUplink({
      canaries: canaries ?? [],
      sessionAddress: identity.sessionAddress,
      session: {
        answers: (withinMs) => this.#session.answers(withinMs),
        silentMs: () => this.#session.silentMs,
      },
      logger,
    });
  }

  #makeCertificates(): CertificateKeeper {
    const { stateDir, identity, logger } = this.#options;
    return new CertificateKeeper({
      identity,
      nowMs: () => this.#clock.nowMs(),
      isSynchronised: () => this.#clock.isKnown,
      monotonicMs: () => monotonicUs() / 1_000,
      random: this.#random,
      renew,
      keep: (renewed) => writeIdentity(stateDir, renewed),
      onRefused: () => {
        logger.error({}, 'the control plane does not know this probe any more: nothing is checked and nothing is kept');
        this.#checks.forget();
      },
      logger,
    });
  }

  #makeSession(): Session {
    const bootId = randomUUID();
    return new Session({
      identity: (failures, wasRefused) => this.#certificates.forSession(failures, wasRefused),
      store: this.#checks.assignments,
      clock: this.#clock,
      monotonicUs,
      wallMs: this.#wallMs,
      random: this.#random,
      logger: this.#options.logger,
      hello: () => this.#hello(bootId),
      heartbeat: () => this.#heartbeat(),
      events: this.#sessionEvents(),
    });
  }

  #hello(bootId: string): Omit<Hello, 'knownRevision'> {
    const { capabilities, publicAddresses, maxInFlight } = this.#options;
    return {
      bootId,
      agentVersion,
      capabilities: [...capabilities],
      epochs: this.#log.epochs.map(BigInt),
      publicAddresses: [...publicAddresses],
      sourceAddresses: [...this.#sources],
      maxInFlight,
      privateTargetsBasis: this.#checks.assignments.privateTargetsBasis,
      obeysPrivateTargets: true,
    };
  }

  #heartbeat(): Omit<Heartbeat, 'monotonicUs' | 'wallMs'> {
    const { results, oldestMs } = this.#log.waiting;
    return {
      oldestUnacknowledgedMs: BigInt(oldestMs),
      inFlight: this.#checks.inFlight,
      unacknowledged: BigInt(results),
      damagedRecords: BigInt(this.#log.damagedRecords),
    };
  }

  #sessionEvents(): SessionEvents {
    return {
      connected: (connected) => {
        this.#publisher.sessionChanged(connected);
        if (connected) {
          this.#uplink.sessionStands();
          this.#certificates.reachable();
        } else {
          this.#checks.contactLost();
          void this.#renewSources();
        }
      },
      welcome: ({ deniedListeners, maxBatchResults, brokerAddress }) => {
        this.#checks.welcome(deniedListeners);
        this.#publisher.allowBatch(maxBatchResults);
        this.#broker.setAddress(brokerAddress === '' ? this.#options.identity.brokerAddress : brokerAddress);
      },
      credentials: (credentials) => this.#broker.setCredentials(credentials),
      acknowledged: (positions) => this.#publisher.acknowledge(positions),
      resendFrom: (position) => this.#publisher.resendFrom(position),
      pace: (pauseMs) => this.#publisher.pause(pauseMs),
      runCheck: (request, kind) => this.#checks.answer(request, kind),
    };
  }

  async #renewSources(): Promise<void> {
    this.#sources = await askSources(this.#options);
  }
}

async function askSources({ sourceAddresses }: AgentOptions): Promise<readonly string[]> {
  return (await sourceAddresses?.()) ?? [];
}
