import * as grpc from '@grpc/grpc-js';
import type { NatsAuthority } from '@parallax/pki';
import type { Logger } from '@parallax/telemetry';
import { ProbeService } from '@parallax/wire';
import type { Hello, ProbeServer } from '@parallax/wire';
import type { DatabasePool } from 'slonik';
import type { Bus } from '../../../platform/bus/bus.ts';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import { deltaSince, snapshotFor } from '../../assignments/index.ts';
import type { AssignmentReader } from '../../assignments/index.ts';
import { dispatchSubject } from '../dispatch-messages.ts';
import { cleanAddresses, peerAddress } from '../peer-address.ts';
import { KeyedBuckets } from '../token-bucket.ts';
import { holdMessages } from './held-messages.ts';
import type { HeldMessages } from './held-messages.ts';
import { presentedIdentity } from './identity.ts';
import type { SessionCall } from './outbound.ts';
import {
  closeSession,
  committedCursors,
  lostAfterSeconds,
  noticeLostProbes,
  openSession,
  probeStates,
  writeReports,
} from './queries.ts';
import type { PresentedIdentity } from './queries.ts';
import { ProbeSession } from './session.ts';
import type { SessionEnd } from './session.ts';
import { createSlots } from './slots.ts';

export type SessionGatewayOptions = {
  /** The worker's pool. */
  readonly pool: DatabasePool;
  readonly bus: Bus;
  readonly sealer: Sealer;
  readonly natsAuthority: NatsAuthority;
  readonly replica: string;
  readonly shards: number;
  /** "host:port" of the broker, as probes dial it. */
  readonly brokerAddress: string;
  readonly deniedListeners: readonly { readonly address: string; readonly port: number }[];
  /** The database's clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  readonly limits?: Partial<SessionLimits>;
};

/** Times in ms. Injected, so that tests need not wait. */
export type SessionLimits = {
  readonly pollMs: number;
  readonly reportMs: number;
  readonly helloMs: number;
  readonly credentialsMs: number;
  /** No probe counts as lost for so long after the start, and after the database was away. */
  readonly quietMs: number;
};

const defaults: SessionLimits = {
  pollMs: 500,
  reportMs: 2_000,
  helloMs: 10_000,
  credentialsMs: 24 * 3_600_000,
  quietMs: 60_000,
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
/** A tick that comes so late means that this process stood still. */
const standstillMs = 5_000;

/** Holds the sessions of probes: the service to add to a server, and the loops that keep them up to date. */
export class SessionGateway {
  readonly #options: SessionGatewayOptions;
  readonly #limits: SessionLimits;
  readonly #log: Logger;
  readonly #sessions = new Map<number, { session: ProbeSession; listening: { readonly stop: () => void } }>();
  readonly #openings = new KeyedBuckets(openingRate);
  readonly #withSnapshotSlot = createSlots(snapshotsAtOnce);
  readonly #closing = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[] = [];
  #poll: Promise<void> | undefined;
  #report: Promise<void> | undefined;
  #quietUntilMs: number;
  #lastTickMs: number;
  #isStopping = false;

  constructor(options: SessionGatewayOptions) {
    this.#options = options;
    this.#limits = { ...defaults, ...options.limits };
    this.#log = options.log;
    this.#quietUntilMs = performance.now() + this.#limits.quietMs;
    this.#lastTickMs = performance.now();
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
    this.#timers.push(setInterval(() => this.#pollSoon(), this.#limits.pollMs));
    this.#timers.push(setInterval(() => this.#reportSoon(), this.#limits.reportMs));
  }

  /** Ends every session, so that agents dial another replica at once. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([this.#poll, this.#report]);
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
    if (this.#isStopping || !this.#openings.take(String(identity.probeId), performance.now())) {
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
    await this.#open(call, identity, first.message.value, inbox, remoteAddress);
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
    };
    const session = new ProbeSession({
      call,
      identity,
      opened,
      hello,
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
      endStream: (kind, reason) => call.emit('error', { code: endCodes[kind], details: reason }),
      onClosed: (ended, reason) => this.#closed(ended, reason),
      onPollWanted: () => this.#pollSoon(),
    });
    const older = this.#sessions.get(identity.probeId)?.session;
    if (older !== undefined && older.sessionId > session.sessionId) {
      session.end('superseded', 'a newer session of this probe');
      return;
    }
    older?.end('superseded', 'a newer session of this probe');
    session.welcome({
      deniedListeners: this.#options.deniedListeners,
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
    this.#pollSoon();
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

  #pollSoon(): void {
    if (this.#isStopping) return;
    this.#poll ??= this.#pollOnce()
      .catch((error: unknown) => this.#databaseAway(error))
      .finally(() => {
        this.#poll = undefined;
      });
  }

  /** Looks for what hints may have missed: two queries for all connected probes. */
  async #pollOnce(): Promise<void> {
    const sessions = [...this.#sessions.values()].map((held) => held.session);
    if (sessions.length === 0) return;
    const sentBefore = new Map(sessions.map((session) => [session, session.feed.sentRevision]));
    const states = await probeStates(this.#options.pool, sessions);
    const cursors = await committedCursors(this.#options.pool, sessions);
    const byProbe = new Map(states.map((state) => [state.id, state]));
    for (const session of sessions) {
      if (session.isClosed) continue;
      const state = byProbe.get(session.probeId);
      if (state === undefined || state.is_revoked) {
        session.end('revoked', 'the probe was revoked');
      } else if (state.open_session !== null && Number(state.open_session) !== session.sessionId) {
        // Also when it is older: this session opened after the query was made.
        if (Number(state.open_session) > session.sessionId) session.end('superseded', 'a newer session of this probe');
      } else if (state.open_session === null) {
        session.end('superseded', 'the session was closed elsewhere');
      } else {
        const sent = sentBefore.get(session) ?? 0n;
        if (session.feed.isBehind(state.assignment_revision, sent)) session.wakeFeed();
        session.acknowledge(cursors.get(session.probeId) ?? []);
        session.renewCredentials(this.#options.now());
      }
    }
  }

  #reportSoon(): void {
    if (this.#isStopping) return;
    this.#report ??= this.#reportOnce()
      .catch((error: unknown) => this.#databaseAway(error))
      .finally(() => {
        this.#report = undefined;
      });
  }

  /** Writes heartbeats, ends sessions that fell silent, and gives notices of lost probes. */
  async #reportOnce(): Promise<void> {
    const tickMs = performance.now();
    const nowMs = this.#options.now();
    const sessions = [...this.#sessions.values()].map((held) => held.session);
    if (tickMs - this.#lastTickMs > this.#limits.reportMs + standstillMs) {
      for (const session of sessions) session.forgiveSilence(nowMs);
      this.#quietUntilMs = tickMs + this.#limits.quietMs;
    }
    this.#lastTickMs = tickMs;
    for (const session of sessions) {
      if (session.idleMs(nowMs) > lostAfterSeconds * 1_000) session.end('silent', 'no heartbeat for 45 s');
    }
    const due = sessions.flatMap((session) => {
      const report = session.isClosed ? undefined : session.takeReport(nowMs);
      return report === undefined ? [] : [{ session, report }];
    });
    try {
      await writeReports(
        this.#options.pool,
        due.map(({ report }) => report),
      );
    } catch (error) {
      for (const { session } of due) session.keepReport();
      throw error;
    }
    if (performance.now() < this.#quietUntilMs) return;
    for (const probe of await noticeLostProbes(this.#options.pool)) {
      this.#log.warn({ probe_id: probe.id, name: probe.name }, 'probe is lost');
    }
  }

  #databaseAway(error: unknown): void {
    this.#quietUntilMs = performance.now() + this.#limits.quietMs;
    this.#log.warn({ err: error }, 'the database could not be asked about probes');
  }
}

/** Capabilities are short words; unknown ones are kept, they are of a newer agent. */
function cleanCapabilities(capabilities: readonly string[]): string[] {
  return [...new Set(capabilities.filter((word) => /^[a-z0-9_-]{1,32}$/u.test(word)))].slice(0, 32);
}
