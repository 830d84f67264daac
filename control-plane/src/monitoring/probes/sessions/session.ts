import type { Logger } from '@parallax/telemetry';
import { maxBatchResults } from '@parallax/wire';
import type { AgentMessage, Heartbeat, Hello } from '@parallax/wire';
import { dispatchMessageSchema } from '../dispatch-messages.ts';
import type { ChainAnswer, DiagnoseRequest, DiagnosisAnswer, DispatchPosition } from '../dispatch-messages.ts';
import type { ReadChainRequest, RunCheckAnswer, RunCheckRequest, UnsavedAssignment } from '../dispatch-messages.ts';
import { TokenBucket } from '../token-bucket.ts';
import { AssignmentFeed } from './assignment-feed.ts';
import type { AssignmentSource } from './assignment-feed.ts';
import { Outbound } from './outbound.ts';
import type { SessionCall } from './outbound.ts';
import { PendingChecks, readAnswer, readChainAnswer, readDiagnosisAnswer } from './pending-checks.ts';
import { diagnoseMessage, readChainMessage, recheckMessage, runCheckMessage } from './run-check-messages.ts';
import type { OpenedSession, PresentedIdentity, SessionReport } from './queries.ts';

/** Messages of an agent: one heartbeat in 15 s, one clock request in 4 s and answers; more is a fault or an attack. */
const inboundRate = { burst: 1_000, perSecond: 100 };
/** Rechecks that are passed on; the ingest asks again when they matter. */
const recheckRate = { burst: 500, perSecond: 100 };
/** What the trip to the probe and back may take beside the check itself. */
const answerGraceMs = 2_000;
/** The same of a check by hand: less than its asker waits, who so learns that the probe is silent and not the broker. */
const checkGraceMs = 1_000;

const tooOld = 'the agent of this probe is too old to limit private targets to workspaces: update it';

/** Why the control plane ends a session: another took its place, too much came, what came was wrong, the probe may not, it fell silent, we go. */
export type SessionEnd = 'superseded' | 'too_much' | 'invalid' | 'revoked' | 'silent' | 'stopping';

/** What a session is given; it does no I/O of its own but its stream. */
export type SessionPorts = {
  readonly call: SessionCall;
  readonly identity: PresentedIdentity;
  readonly opened: OpenedSession;
  readonly hello: Hello;
  readonly remoteAddress: string | undefined;
  readonly log: Logger;
  /** Server time, ms. */
  readonly now: () => number;
  /** Fresh credentials for the broker. */
  readonly mintCredentials: () => { readonly jwt: string; readonly expiresAtMs: number };
  readonly assignments: AssignmentSource;
  /** What the private targets of assignments depend on beside the database. */
  readonly privateTargetsBasis: string;
  /** Ends the stream with what the agent is told. */
  readonly endStream: (kind: SessionEnd, reason: string) => void;
  /** Called once when the stream is over, whoever ended it. */
  readonly onClosed: (session: ProbeSession, reason: string) => void;
  /** The session wants the poll to look at once. */
  readonly onPollWanted: () => void;
};

/** One probe's stream after its hello was accepted. */
export class ProbeSession {
  readonly probeId: number;
  readonly sessionId: number;
  readonly serial: string;
  readonly feed: AssignmentFeed;
  /** Epochs below are gone from the agent's log. */
  readonly oldestEpoch: bigint;
  readonly #ports: SessionPorts;
  readonly #outbound: Outbound;
  readonly #pending = new PendingChecks();
  readonly #inbound: TokenBucket;
  readonly #rechecks: TokenBucket;
  readonly #acknowledged = new Map<string, number>();
  #lastHeardMs: number;
  #isDirty = true;
  #isClosed = false;
  #report = { appliedRevision: 0n, oldestUnacknowledgedMs: 0, inFlight: 0, damagedRecords: 0 };
  #toldListeners = '';
  #credentialsExpireMs = 0;
  #credentialsMintedMs = 0;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.probeId = ports.identity.probeId;
    this.serial = ports.identity.serial;
    this.sessionId = ports.opened.sessionId;
    this.#lastHeardMs = ports.now();
    this.#inbound = new TokenBucket(inboundRate, ports.now());
    this.#rechecks = new TokenBucket(recheckRate, ports.now());
    this.#outbound = new Outbound(ports.call, () => this.end('too_much', 'the agent does not read'));
    const { epochs, knownRevision } = ports.hello;
    this.oldestEpoch = epochs.reduce((least, epoch) => (epoch < least ? epoch : least), epochs[0] ?? 0n);
    this.#report.appliedRevision = knownRevision;
    this.feed = new AssignmentFeed({
      source: ports.assignments,
      outbound: this.#outbound,
      knownRevision,
      privateTargetsBasis: ports.privateTargetsBasis,
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Milliseconds since the last sign of life. */
  idleMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#lastHeardMs);
  }

  /** The product's own listeners as the agent was told them, as JSON. */
  get toldListeners(): string {
    return this.#toldListeners;
  }

  /** After a standstill of this process the silence is ours, not the probe's. */
  forgiveSilence(nowMs: number): void {
    this.#lastHeardMs = nowMs;
  }

  welcome(welcome: {
    readonly deniedListeners: readonly { readonly address: string; readonly port: number }[];
    readonly brokerAddress: string;
    readonly shards: number;
  }): void {
    this.#toldListeners = JSON.stringify(welcome.deniedListeners);
    this.#outbound.send({
      $case: 'welcome',
      value: {
        serverUs: this.#serverUs(),
        probeId: this.probeId,
        name: this.#ports.opened.name,
        region: this.#ports.opened.region,
        deniedListeners: welcome.deniedListeners.map(({ address, port }) => ({ address, port })),
        brokerAddress: welcome.brokerAddress,
        credentials: this.#freshCredentials(),
        shards: welcome.shards,
        maxBatchResults,
      },
    });
  }

  /** A message of the agent after its hello. */
  receive(message: AgentMessage): void {
    if (this.#isClosed) return;
    if (!this.#inbound.take(this.#ports.now())) {
      this.end('too_much', 'the agent sends too many messages');
      return;
    }
    const body = message.message;
    switch (body?.$case) {
      case 'heartbeat':
        this.#heartbeat(body.value);
        break;
      case 'clockRequest':
        this.#outbound.send({ $case: 'clockReply', value: { nonce: body.value.nonce, serverUs: this.#serverUs() } });
        break;
      case 'checkAnswer':
        this.#pending.answer(body.value);
        break;
      case 'appliedRevision':
        this.#report = { ...this.#report, appliedRevision: body.value.revision };
        this.#isDirty = true;
        break;
      case 'credentialsRequest':
        this.sendCredentials();
        break;
      case 'hello':
        this.end('invalid', 'a second hello on one stream');
        break;
      case undefined:
        // A message of a newer agent; this version has nothing to do for it.
        break;
    }
  }

  /** A message from the bus. What is returned answers the asker. */
  dispatched(message: unknown): Promise<RunCheckAnswer | DiagnosisAnswer | ChainAnswer> | undefined {
    const parsed = dispatchMessageSchema.safeParse(message);
    if (!parsed.success) {
      this.#ports.log.warn({ probe_id: this.probeId }, 'a dispatch message was not understood');
      return undefined;
    }
    const body = parsed.data;
    switch (body.type) {
      case 'run_check':
        return this.#runCheck(body);
      case 'diagnose':
        return this.#diagnose(body);
      case 'read_chain':
        return this.#readChain(body);
      case 'recheck':
        for (const monitorId of body.monitor_ids) this.#recheck(monitorId);
        return undefined;
      case 'assignments':
        this.wakeFeed();
        return undefined;
      case 'acknowledged':
        this.acknowledge(body.positions);
        return undefined;
      case 'resend':
        this.#outbound.send({
          $case: 'resendFrom',
          value: { position: { epoch: BigInt(body.epoch), shard: body.shard, seq: BigInt(body.seq) } },
        });
        return undefined;
      case 'revoked':
        // Only the database revokes.
        this.#ports.onPollWanted();
        return undefined;
      case 'superseded':
        if (body.session_id > this.sessionId) this.end('superseded', 'a newer session of this probe');
        return undefined;
    }
  }

  /** There may be something new for the agent. */
  wakeFeed(): void {
    this.feed.wake().catch((error: unknown) => {
      this.#ports.log.warn({ err: error, probe_id: this.probeId }, 'assignments not sent; they are tried again');
    });
  }

  /** Tells the agent what is committed; what it knows already is left out, and nothing is queued for one that does not read. */
  acknowledge(positions: readonly DispatchPosition[]): void {
    if (this.#isClosed || this.#outbound.isBlocked) return;
    const news = positions.filter(
      ({ epoch, shard, seq }) =>
        BigInt(epoch) >= this.oldestEpoch && seq > (this.#acknowledged.get(`${epoch}:${shard}`) ?? 0),
    );
    if (news.length === 0) return;
    for (const { epoch, shard, seq } of news) this.#acknowledged.set(`${epoch}:${shard}`, seq);
    this.#outbound.send({
      $case: 'acknowledgements',
      value: {
        positions: news.map(({ epoch, shard, seq }) => ({ epoch: BigInt(epoch), shard, seq: BigInt(seq) })),
      },
    });
  }

  /** New credentials before the held ones end: when two thirds of their life are over. */
  renewCredentials(nowMs: number): void {
    const life = this.#credentialsExpireMs - this.#credentialsMintedMs;
    if (nowMs > this.#credentialsMintedMs + (life * 2) / 3) this.sendCredentials();
  }

  sendCredentials(): void {
    this.#outbound.send({ $case: 'credentials', value: this.#freshCredentials() });
  }

  /** What is to be written of this session, if there is anything new. */
  takeReport(nowMs: number): SessionReport | undefined {
    if (!this.#isDirty) return undefined;
    this.#isDirty = false;
    return { sessionId: this.sessionId, idleMs: Math.round(this.idleMs(nowMs)), ...this.#report };
  }

  /** The report could not be written and is due again. */
  keepReport(): void {
    this.#isDirty = true;
  }

  /** True when no check of this probe is waited for. */
  get isIdle(): boolean {
    return this.#pending.isIdle;
  }

  /** Resolves when no check of this probe is waited for. */
  idle(): Promise<void> {
    return this.#pending.idle();
  }

  /** Ends the stream with a status; the reason is told to the agent and logged. */
  end(kind: SessionEnd, reason: string): void {
    if (this.#isClosed) return;
    this.closed(reason);
    this.#ports.endStream(kind, reason);
  }

  /** The stream is over. */
  closed(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.feed.stop();
    this.#outbound.close();
    this.#pending.refuseAll("the probe's session has ended");
    this.#ports.onClosed(this, reason);
  }

  #heartbeat(heartbeat: Heartbeat): void {
    this.#lastHeardMs = this.#ports.now();
    this.#report = {
      ...this.#report,
      oldestUnacknowledgedMs: bounded(Number(heartbeat.oldestUnacknowledgedMs), Number.MAX_SAFE_INTEGER),
      inFlight: bounded(heartbeat.inFlight, 2_147_483_647),
      damagedRecords: bounded(Number(heartbeat.damagedRecords), Number.MAX_SAFE_INTEGER),
    };
    this.#isDirty = true;
  }

  #runCheck(request: RunCheckRequest): Promise<RunCheckAnswer> {
    const { deadline_ms: mostMs, expires_at_ms: expiresMs = Infinity } = request;
    const deadlineMs = Math.min(mostMs, Math.floor(expiresMs - this.#ports.now()));
    if (deadlineMs < 1) return Promise.resolve({ refused: 'the request was too long on its way to the probe' });
    if (this.#isBeyond(request.assignment)) return Promise.resolve({ refused: tooOld });
    return this.#pending.ask(deadlineMs + checkGraceMs, readAnswer, async (requestId) => {
      // Who saves a monitor and checks it at once is faster than the news of it: the agent gets that first. Without the database it is
      // asked for what it knows.
      if (request.assignment === undefined) await this.feed.wake().catch(() => undefined);
      if (!this.#isClosed)
        this.#outbound.send(runCheckMessage(requestId, { ...this.#forThisProbe(request), deadline_ms: deadlineMs }));
    });
  }

  #diagnose(request: DiagnoseRequest): Promise<DiagnosisAnswer> {
    return this.#pending.ask(request.deadline_ms + answerGraceMs, readDiagnosisAnswer, async (requestId) => {
      this.#outbound.send(diagnoseMessage(requestId, request));
    });
  }

  #readChain(request: ReadChainRequest): Promise<ChainAnswer> {
    if (this.#isBeyond(request.assignment)) return Promise.resolve({ refused: tooOld });
    return this.#pending.ask(request.deadline_ms + answerGraceMs, readChainAnswer, async (requestId) => {
      // As for a check: a target that was changed just now is looked at as it is.
      if (request.assignment === undefined) await this.feed.wake().catch(() => undefined);
      if (!this.#isClosed) this.#outbound.send(readChainMessage(requestId, this.#forThisProbe(request)));
    });
  }

  /** Whether this agent would reach more than an assignment may. */
  #isBeyond(assignment: UnsavedAssignment | undefined): boolean {
    const isLimited = assignment !== undefined && !assignment.private_targets.all && !this.#ports.opened.isPrivate;
    return isLimited && !this.#ports.hello.obeysPrivateTargets;
  }

  /** A private probe belongs to the workspace: its own list is the whole rule. */
  #forThisProbe<Request extends { readonly assignment?: UnsavedAssignment | undefined }>(request: Request): Request {
    const { assignment } = request;
    if (assignment === undefined || !this.#ports.opened.isPrivate) return request;
    return { ...request, assignment: { ...assignment, private_targets: { all: true, ranges: [] } } };
  }

  #recheck(monitorId: number): void {
    if (this.#outbound.isBlocked || !this.#rechecks.take(this.#ports.now())) return;
    this.#outbound.send(recheckMessage(monitorId));
  }

  #freshCredentials(): { jwt: string; expiresAtMs: bigint } {
    const { jwt, expiresAtMs } = this.#ports.mintCredentials();
    this.#credentialsMintedMs = this.#ports.now();
    this.#credentialsExpireMs = expiresAtMs;
    return { jwt, expiresAtMs: BigInt(Math.floor(expiresAtMs)) };
  }

  #serverUs(): bigint {
    return BigInt(Math.round(this.#ports.now() * 1_000));
  }
}

function bounded(value: number, most: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(0, Math.trunc(value)), most) : 0;
}
