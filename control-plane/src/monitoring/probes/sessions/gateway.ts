import * as grpc from '@grpc/grpc-js';
import type { NatsAuthority } from '@parallax/pki';
import type { Logger } from '@parallax/telemetry';
import { ProbeService } from '@parallax/wire';
import type { Hello, ProbeServer } from '@parallax/wire';
import type { DatabasePool } from 'slonik';
import type { Bus } from '../../../platform/bus/bus.ts';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import { deltaSince, privateTargetsBasis as basisOf, snapshotFor } from '../../assignments/index.ts';
import type { AssignmentReader } from '../../assignments/index.ts';
import { dispatchSubject } from '../../../platform/bus/subjects.ts';
import { cleanAddresses, peerAddress } from '../peer-address.ts';
import { isPlainText } from '../plain-text.ts';
import { KeyedBuckets } from '../token-bucket.ts';
import { holdMessages } from './held-messages.ts';
import type { HeldMessages } from './held-messages.ts';
import { knownHere } from '../restored/queries.ts';
import { presentedIdentity } from './identity.ts';
import type { SessionCall } from './outbound.ts';
import { SessionUpkeep } from './job.ts';
import type { UpkeepLimits } from './job.ts';
import { closeSession, openSession } from './queries.ts';
import type { PresentedIdentity } from './queries.ts';
import { ProbeSession } from './session.ts';
import type { SessionEnd } from './session.ts';
import { createSlots } from './slots.ts';
import type { TableSignals } from '../../../platform/database/table-signals.ts';

export type SessionGatewayOptions = {
  /** The worker's pool. */
  readonly pool: DatabasePool;
  /** Absent: nothing is signalled. */
  readonly signals?: Pick<TableSignals, 'on' | 'isHeard'>;
  readonly bus: Bus;
  readonly sealer: Sealer;
  readonly natsAuthority: Pick<NatsAuthority, 'mintProbeJwt'>;
  readonly replica: string;
  readonly shards: number;
  /** "host:port" of the broker, as probes dial it. */
  readonly brokerAddress: string;
  /** The product's own listeners as they are now. */
  readonly deniedListeners: () => readonly { readonly address: string; readonly port: number }[];
  /** CIDRs that every workspace may reach although they are not public. */
  readonly allowedPrivateTargets: readonly string[];
  /** The database's clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  readonly limits?: Partial<SessionLimits>;
};

/** Times in ms. Injected, so that tests need not wait. */
export type SessionLimits = UpkeepLimits & {
  readonly helloMs: number;
  readonly credentialsMs: number;
  /** How long a session whose probe owes an answer outlives the stop. */
  readonly partingMs: number;
};

const defaults: SessionLimits = {
  pollMs: 500,
  reportMs: 2_000,
  helloMs: 10_000,
  credentialsMs: 24 * 3_600_000,
  quietMs: 60_000,
  partingMs: 5_000,
};

/** Largest message of an agent: the answer of a manual check with its evidence and trace. */
export const maxSessionMessageBytes = 1024 * 1024;
const endCodes: Record<SessionEnd, grpc.status> = {
  superseded: grpc.status.ABORTED,
  too_much: grpc.status.RESOURCE_EXHAUSTED,
  invalid: grpc.status.INVALID_ARGUMENT,
  revoked: grpc.status.UNAUTHENTICATED,
  silent: grpc.status.DEADLINE_EXCEEDED,
  stopping: grpc.status.UNAVAILABLE,
};
const snapshotsAtOnce = 4;
/** Streams that one probe may open. */
const openingRate = { burst: 10, perSecond: 0.5 };

/** Holds the sessions of probes: the service to add to a server. */
export class SessionGateway {
  readonly #options: SessionGatewayOptions;
  readonly #limits: SessionLimits;
  readonly #log: Logger;
  readonly #sessions = new Map<number, { session: ProbeSession; listening: { readonly stop: () => void } }>();
  readonly #openings = new KeyedBuckets(openingRate);
  readonly #withSnapshotSlot = createSlots(snapshotsAtOnce);
  readonly #closing = new Set<Promise<void>>();
  readonly #upkeep: SessionUpkeep;
  #isStopping = false;

  constructor(options: SessionGatewayOptions) {
    this.#options = options;
    this.#limits = { ...defaults, ...options.limits };
    this.#log = options.log;
    this.#upkeep = new SessionUpkeep({
      ...options,
      limits: this.#limits,
      sessions: () => [...this.#sessions.values()].map(({ session }) => session),
    });
  }

  /** Probes with a session here. */
  get connected(): readonly number[] {
    return [...this.#sessions.keys()];
  }

  addTo(server: grpc.Server): void {
    const service: ProbeServer = {
      session: (call) => {
        this.#accept(call).catch((error: unknown) => {
          this.#log.error({ err: error }, 'session of a probe failed');
          call.emit('error', { code: grpc.status.UNAVAILABLE, details: 'not possible at present: try again' });
        });
      },
    };
    server.addService(ProbeService, service);
  }

  start(): void {
    this.#upkeep.start();
  }

  /**
   * Ends every session, so that agents dial another replica at once; one that somebody waits for an answer of is ended a moment
   * later, with the answer.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const upkeepStopped = this.#upkeep.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#limits.partingMs);
    });
    await Promise.all(
      [...this.#sessions.values()].map(async ({ session }) => {
        await Promise.race([session.idle(), late]);
        session.end('stopping', 'the control plane is stopping');
      }),
    );
    clearTimeout(timer);
    await upkeepStopped;
    // A stream whose hello was under way may have become a session meanwhile.
    for (const { session } of this.#sessions.values()) session.end('stopping', 'the control plane is stopping');
    await Promise.all(this.#closing);
  }

  async #accept(call: SessionCall): Promise<void> {
    const remoteAddress = peerAddress(call.getPeer());
    const identity = presentedIdentity(call);
    if (identity === undefined) {
      this.#refuse(call, grpc.status.UNAUTHENTICATED, 'the certificate names no probe', {
        remote_address: remoteAddress,
      });
      return;
    }
    const facts = { probe_id: identity.probeId, serial: identity.serial, remote_address: remoteAddress };
    if (this.#isStopping) {
      this.#refuse(call, grpc.status.UNAVAILABLE, 'this control plane is stopping: dial again', facts);
      return;
    }
    if (!this.#openings.take(String(identity.probeId), performance.now())) {
      this.#refuse(call, grpc.status.RESOURCE_EXHAUSTED, 'too many streams of this probe: wait a little', facts);
      return;
    }
    // What arrives while the database is asked waits in the stream's own buffer, which does not grow while nobody reads.
    const inbox = holdMessages(call);
    const first = await inbox.first(this.#limits.helloMs);
    if (first?.message?.$case !== 'hello') {
      this.#refuse(call, grpc.status.INVALID_ARGUMENT, 'a session begins with a hello', facts);
      return;
    }
    const hello = first.message.value;
    if (!isPlainText(hello.bootId) || !isPlainText(hello.agentVersion)) {
      const detail = 'boot_id and agent_version are texts without control characters';
      this.#refuse(call, grpc.status.INVALID_ARGUMENT, detail, facts);
      return;
    }
    await this.#open(call, identity, hello, inbox, remoteAddress);
  }

  async #open(
    call: SessionCall,
    identity: PresentedIdentity,
    hello: Hello,
    inbox: HeldMessages,
    remoteAddress: string | undefined,
  ): Promise<void> {
    const { pool, bus, sealer, natsAuthority, shards, now } = this.#options;
    const facts = { probe_id: identity.probeId, serial: identity.serial, remote_address: remoteAddress };
    const opened = await openSession(pool, identity, {
      bootId: hello.bootId.slice(0, 100),
      agentVersion: hello.agentVersion.slice(0, 100),
      capabilities: cleanCapabilities(hello.capabilities),
      publicAddresses: cleanAddresses(hello.publicAddresses),
      sourceAddresses: cleanAddresses(hello.sourceAddresses),
      knownRevision: hello.knownRevision < 0n ? 0n : hello.knownRevision,
      replica: this.#options.replica,
      remoteAddress: remoteAddress ?? null,
    });
    if (opened === undefined) {
      this.#refuse(
        call,
        grpc.status.UNAUTHENTICATED,
        'the certificate or its probe is not known here or was revoked',
        facts,
      );
      return;
    }
    const reader: AssignmentReader = {
      pool,
      sealer,
      onUnreadable: (monitorId, error) =>
        this.#log.error({ err: error, monitor_id: monitorId }, 'secrets of a monitor do not open; it is not checked'),
      everybodysTargets: this.#options.allowedPrivateTargets,
      obeysPrivateTargets: hello.obeysPrivateTargets,
    };
    if (!hello.obeysPrivateTargets)
      this.#log.warn(
        facts,
        'the agent is too old to limit private targets: only workspaces of administrators are checked there',
      );
    const privateTargetsBasis = basisOf(this.#options.allowedPrivateTargets);
    const session = new ProbeSession({
      call,
      identity,
      opened,
      hello: { ...hello, knownRevision: await knownHere(pool, knownOnBasis(hello, privateTargetsBasis)) },
      remoteAddress,
      log: this.#log,
      now,
      mintCredentials: () => {
        const nowMs = now();
        const expiresAtMs = nowMs + this.#limits.credentialsMs;
        const request = { probeId: identity.probeId, publicKey: opened.signingPublicKey, shards, nowMs, expiresAtMs };
        return { jwt: natsAuthority.mintProbeJwt(request), expiresAtMs };
      },
      assignments: {
        snapshot: () => this.#withSnapshotSlot(() => snapshotFor(reader, identity.probeId)),
        deltasSince: (revision) => deltaSince(reader, identity.probeId, revision),
      },
      privateTargetsBasis,
      endStream: (kind, reason) => call.emit('error', { code: endCodes[kind], details: reason }),
      onClosed: (ended, reason) => this.#closed(ended, reason),
      onPollWanted: () => this.#upkeep.pollSoon(),
    });
    const older = this.#sessions.get(identity.probeId)?.session;
    if (older !== undefined && older.sessionId > session.sessionId) {
      session.end('superseded', 'a newer session of this probe');
      return;
    }
    older?.end('superseded', 'a newer session of this probe');
    session.welcome({
      deniedListeners: this.#options.deniedListeners(),
      brokerAddress: this.#options.brokerAddress,
      shards,
    });
    const subject = dispatchSubject(identity.probeId);
    const listening = bus.listen(subject, (message) => session.dispatched(message));
    this.#sessions.set(identity.probeId, { session, listening });
    bus.hint(subject, { type: 'superseded', session_id: session.sessionId });
    this.#log.info(
      {
        ...facts,
        session_id: session.sessionId,
        boot_id: hello.bootId.slice(0, 100),
        known_revision: String(hello.knownRevision),
      },
      'session of a probe opened',
    );
    inbox.deliver(
      (message) => session.receive(message),
      (reason) => session.closed(reason),
    );
    this.#upkeep.pollSoon();
    await session.feed.wake().catch((error: unknown) => {
      this.#log.warn({ err: error, ...facts }, 'assignments not sent; they are tried again');
    });
  }

  #refuse(call: SessionCall, code: grpc.status, details: string, facts: Record<string, unknown>): void {
    this.#log.warn({ ...facts, detail: details }, 'session of a probe refused');
    call.emit('error', { code, details });
  }

  #closed(session: ProbeSession, reason: string): void {
    const held = this.#sessions.get(session.probeId);
    if (held?.session === session) {
      held.listening.stop();
      this.#sessions.delete(session.probeId);
    }
    this.#log.info({ probe_id: session.probeId, session_id: session.sessionId, reason }, 'session of a probe ended');
    const idleMs = Math.round(session.idleMs(this.#options.now()));
    const closing = closeSession(this.#options.pool, session.sessionId, reason, idleMs).catch((error: unknown) => {
      // It has no heartbeats any more, so it is found lost in the end.
      this.#log.warn({ err: error, session_id: session.sessionId }, 'the end of a session was not recorded');
    });
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

/**
 * What an agent knows, if that was made from what counts now; else nothing, so that it gets a snapshot. An agent that obeys no private targets
 * gets one each time: it may hold what an older control plane sent it.
 */
function knownOnBasis({ knownRevision, privateTargetsBasis, obeysPrivateTargets }: Hello, basis: string): bigint {
  return obeysPrivateTargets && privateTargetsBasis === basis ? knownRevision : 0n;
}

/** Capabilities are short words; unknown ones are kept, they are of a newer agent. */
function cleanCapabilities(capabilities: readonly string[]): string[] {
  return [...new Set(capabilities.filter((word) => /^[a-z0-9_-]{1,32}$/u.test(word)))].slice(0, 32);
}
