import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import { CheckKind, ProbeClient } from '@parallax/wire';
import type { AgentMessage, CheckAnswer, ControlMessage, Heartbeat, Hello, RunCheck, Welcome } from '@parallax/wire';
import type { AssignmentStore } from '../assignments/store.ts';
import { BackOff } from '../back-off.ts';
import { messageOf, sleep } from '../ports.ts';
import type { Logger } from '../ports.ts';
import type { BrokerCredentials } from '../results/broker.ts';
import { burst } from '../runner/clock.ts';
import type { ServerClock } from '../runner/clock.ts';
import { channelOptions, mutualTls } from './channel.ts';
import { ClockExchange } from './clock-exchange.ts';
import { describeSessionError, isRefusal } from './session-error.ts';

/** A position in a stream of results, in numbers. */
export type StreamPosition = { readonly epoch: number; readonly shard: number; readonly seq: number };

/** What the session hands on. All are called in the order of the messages. */
export type SessionEvents = {
  readonly connected: (connected: boolean) => void;
  readonly welcome: (welcome: Welcome) => void;
  readonly credentials: (credentials: BrokerCredentials) => void;
  readonly acknowledged: (positions: readonly StreamPosition[]) => void;
  readonly resendFrom: (position: StreamPosition) => void;
  readonly pace: (pauseMs: number) => void;
  readonly runCheck: (request: RunCheck, kind: 'manual' | 'recheck') => Promise<CheckAnswer>;
};

/** What a connection needs of the probe's identity, as it is at that moment. */
export type SessionIdentity = {
  readonly sessionAddress: string;
  readonly authorityDer: Uint8Array;
  readonly certificateDer: Uint8Array;
  readonly keyPem: string;
};

export type SessionOptions = {
  /** What to connect with; may reject, then the session is tried again later. Is told how often it failed in a row, and whether the control plane refused it. */
  readonly identity: (failures: number, wasRefused: boolean) => Promise<SessionIdentity>;
  readonly store: AssignmentStore;
  readonly clock: ServerClock;
  readonly monotonicUs: () => number;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly hello: () => Omit<Hello, 'knownRevision'>;
  readonly heartbeat: () => Omit<Heartbeat, 'monotonicUs' | 'wallMs'>;
  readonly events: SessionEvents;
  readonly logger: Logger;
  readonly heartbeatMs?: number;
  readonly clockMs?: number;
  readonly backOffFirstMs?: number;
  readonly backOffMostMs?: number;
};

type Stream = ClientDuplexStream<AgentMessage, ControlMessage>;
const welcomeWithinMs = 15_000;
/** A session that stood for so long was a good one: the next try comes at once. */
const stableAfterUs = 10_000_000;

/** The session with the control plane: one stream, kept for ever, made again with back-off whenever it ends. */
export class Session {
  readonly #options: SessionOptions;
  readonly #stop = new AbortController();
  readonly #backOff: BackOff;
  readonly #exchange: ClockExchange;
  #stream: Stream | undefined;
  #end: ((reason: string) => void) | undefined;
  #running: Promise<void> | undefined;
  #welcomed = false;
  #welcomedAtUs = 0;
  #lastHeardUs = -Infinity;
  #wake = new AbortController();
  #wasRefused = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { backOffFirstMs = 250, backOffMostMs = 15_000, random } = options;
    this.#backOff = new BackOff({ firstMs: backOffFirstMs, mostMs: backOffMostMs, random });
    const { clock, monotonicUs } = options;
    const send = (nonce: bigint): void => this.#send({ $case: 'clockRequest', value: { nonce } });
    this.#exchange = new ClockExchange({ clock, monotonicUs, send });
  }

  /** True between welcome and end of a stream. */
  get connected(): boolean {
    return this.#welcomed;
  }

  /** Milliseconds since the control plane was last heard; it answers a clock request every 4 s. Infinity before it was ever heard. */
  get silentMs(): number {
    return (this.#options.monotonicUs() - this.#lastHeardUs) / 1_000;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the stream and makes no other. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    this.#end?.('the agent stops');
    await this.#running;
  }

  /** Ends the stream; the next one is made at once, with the identity as it is then. */
  reconnect(reason: string): void {
    this.#backOff.reset();
    this.#end?.(reason);
    this.#wake.abort();
  }

  /** Asks for fresh credentials for the broker; nothing happens without a session, whose welcome brings them anyway. */
  requestCredentials(): void {
    if (this.#welcomed) this.#send({ $case: 'credentialsRequest', value: {} });
  }

  /** Asks for the server's time now. */
  requestClock(): void {
    if (this.#welcomed) this.#exchange.request();
  }

  /** Whether the control plane answers a question that is asked now; false at once without a session. */
  answers(withinMs: number): Promise<boolean> {
    return this.#welcomed ? this.#exchange.isAnswered(withinMs) : Promise.resolve(false);
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#runOnce(await this.#options.identity(this.#backOff.attempts, this.#wasRefused));
      } catch (error) {
        if (!this.#stop.signal.aborted) {
          const attempts = this.#backOff.attempts;
          const fields = { error: messageOf(error), attempts: attempts + 1 };
          if (attempts < 3 || attempts % 20 === 0)
            this.#options.logger.warn(fields, 'the session with the control plane has ended; trying again');
        }
      }
      if (!this.#stop.signal.aborted) await sleep(this.#backOff.next(), this.#wake.signal);
    }
  }

  async #runOnce(identity: SessionIdentity): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#wasRefused = false;
    const channel = mutualTls(identity.authorityDer, identity.certificateDer, identity.keyPem);
    const client = new ProbeClient(identity.sessionAddress, channel, channelOptions);
    const timers: NodeJS.Timeout[] = [];
    try {
      await new Promise<void>((_resolve, reject) => {
        const stream = client.session();
        this.#stream = stream;
        this.#end = (reason) => reject(new Error(reason));
        const helloAtUs = this.#options.monotonicUs();
        stream.on('data', (message: ControlMessage) => this.#onMessage(message, helloAtUs, timers));
        stream.on('error', (error: ServiceError) => {
          this.#wasRefused ||= isRefusal(error);
          reject(new Error(describeSessionError(error, identity.sessionAddress)));
        });
        stream.on('end', () => reject(new Error('the control plane ended the session')));
        timers.push(
          setTimeout(() => {
            if (!this.#welcomed)
              reject(new Error(`${identity.sessionAddress} did not answer within ${welcomeWithinMs / 1_000} s`));
          }, welcomeWithinMs),
        );
        this.#send({
          $case: 'hello',
          value: { ...this.#options.hello(), knownRevision: this.#options.store.revision },
        });
      });
    } finally {
      for (const timer of timers) clearTimeout(timer);
      this.#stream?.on('error', () => {});
      this.#stream?.cancel();
      client.close();
      this.#stream = undefined;
      this.#end = undefined;
      this.#exchange.end();
      this.#options.store.forgetIncoming();
      if (this.#welcomed) {
        this.#welcomed = false;
        // Two agents with one identity cut each other off: without this they would do so several times a second.
        if (this.#options.monotonicUs() - this.#welcomedAtUs > stableAfterUs) this.#backOff.reset();
        this.#options.events.connected(false);
      }
    }
  }

  #onMessage(control: ControlMessage, helloAtUs: number, timers: NodeJS.Timeout[]): void {
    const { message } = control;
    this.#lastHeardUs = this.#options.monotonicUs();
    const { events, store } = this.#options;
    if (message === undefined) return;
    if (message.$case === 'welcome') {
      this.#onWelcome(message.value, helloAtUs, timers);
      return;
    }
    if (!this.#welcomed) return;
    switch (message.$case) {
      case 'snapshotBegin':
        store.beginSnapshot(message.value);
        break;
      case 'assignmentChunk':
        this.#endOn(store.addChunk(message.value.assignments));
        break;
      case 'snapshotEnd':
        this.#endOn(store.endSnapshot(message.value));
        this.#sendApplied();
        break;
      case 'assignmentDelta':
        store.applyDelta(message.value);
        this.#sendApplied();
        break;
      case 'runCheck':
        void this.#runCheck(message.value);
        break;
      case 'acknowledgements':
        events.acknowledged(message.value.positions.map(toNumbers));
        break;
      case 'resendFrom':
        if (message.value.position !== undefined) events.resendFrom(toNumbers(message.value.position));
        break;
      case 'credentials':
        events.credentials({ jwt: message.value.jwt, expiresAtMs: Number(message.value.expiresAtMs) });
        break;
      case 'clockReply':
        this.#exchange.answered(message.value.nonce, message.value.serverUs);
        break;
      case 'pace':
        events.pace(message.value.pauseMs);
        break;
    }
  }

  #onWelcome(welcome: Welcome, helloAtUs: number, timers: NodeJS.Timeout[]): void {
    if (this.#welcomed) return;
    this.#welcomed = true;
    this.#welcomedAtUs = this.#options.monotonicUs();
    const { clock, monotonicUs, events, logger, heartbeatMs = 15_000, clockMs = 4_000 } = this.#options;
    if (!clock.anchored)
      clock.synchronise({ sentUs: helloAtUs, receivedUs: monotonicUs(), serverUs: Number(welcome.serverUs) });
    logger.info(
      { probe_id: welcome.probeId, name: welcome.name, region: welcome.region },
      'the session with the control plane stands',
    );
    events.welcome(welcome);
    if (welcome.credentials !== undefined) {
      events.credentials({ jwt: welcome.credentials.jwt, expiresAtMs: Number(welcome.credentials.expiresAtMs) });
    }
    events.connected(true);
    this.requestClock();
    for (let number = 1; number < burst.samples; number += 1)
      timers.push(setTimeout(() => this.requestClock(), number * burst.everyMs));
    this.#sendHeartbeat();
    timers.push(setInterval(() => this.#sendHeartbeat(), heartbeatMs));
    timers.push(setInterval(() => this.requestClock(), clockMs));
  }

  async #runCheck(request: RunCheck): Promise<void> {
    const stream = this.#stream;
    const kind = request.kind === CheckKind.RECHECK ? 'recheck' : 'manual';
    const value = await this.#options.events.runCheck(request, kind);
    if (request.requestId !== '' && stream === this.#stream) this.#send({ $case: 'checkAnswer', value });
  }

  #sendHeartbeat(): void {
    const value: Heartbeat = {
      ...this.#options.heartbeat(),
      monotonicUs: BigInt(this.#options.monotonicUs()),
      wallMs: BigInt(this.#options.wallMs()),
    };
    this.#send({ $case: 'heartbeat', value });
  }

  #sendApplied(): void {
    this.#send({ $case: 'appliedRevision', value: { revision: this.#options.store.revision } });
  }

  #endOn(problem: string | undefined): void {
    if (problem !== undefined) this.#end?.(problem);
  }

  #send(message: NonNullable<AgentMessage['message']>): void {
    this.#stream?.write({ message });
  }
}

const toNumbers = (position: { epoch: bigint; shard: number; seq: bigint }): StreamPosition => ({
  epoch: Number(position.epoch),
  shard: position.shard,
  seq: Number(position.seq),
});
