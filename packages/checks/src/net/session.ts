import type { Socket } from 'node:net';
import type { CheckContext, CheckResult } from '../check.ts';
import type { Facts } from '../facts.ts';
import type { ErrorCode, Evidence, Phases } from '../outcome.ts';
import type { PeerFacts } from './certificate.ts';
import type { TlsMode } from './connection-settings.ts';
import { dial, type Endpoint, locate, named } from './dial.ts';
import { type Failure, failed } from './failure.ts';
import { awaitGoodbye } from './goodbye.ts';
import { printable } from './lines.ts';
import { secretWords } from './secret-words.ts';
import { type SessionPlan, tlsOptionsOf } from './session-plan.ts';
import { micro, type Seen, verdictOf } from './session-verdict.ts';
import { Ended, type Reader, Talk } from './talk.ts';
import { openTls, type TlsOpened } from './tls.ts';
import { openUdp, type UdpChannel, type UdpQuestion } from './udp.ts';

/** One conversation: its steps, times and evidence. Every step that goes wrong ends it by an exception of its own. */
export class Session {
  readonly context: CheckContext;
  /** Worth keeping beside the details: the status line of the answer and what else has a place of its own. */
  evidence: Evidence = {};
  /** What assertions may look at beyond the evidence. */
  facts: Facts | undefined;
  /** The line that is said last, when all is well; a server may log a warning about those who just leave. */
  goodbye: string | undefined;
  readonly #plan: SessionPlan;
  readonly #redact: (text: string) => string;
  readonly #startAt: number;
  readonly #phases: { -readonly [Phase in keyof Phases]: number } = {};
  readonly #details: Record<string, string | number | boolean> = {};
  /** Sockets in the order in which they came; the last of the first connection is the one to speak over. */
  readonly #sockets: Socket[] = [];
  /** The judged address; what was only tried is for the evidence. */
  #endpoint: Endpoint | undefined;
  #tried: Endpoint | undefined;
  #channel: UdpChannel | undefined;
  #talk: Talk | undefined;
  #socket: Socket | undefined;
  #peer: PeerFacts | undefined;
  #openedAt = 0;
  #firstAt: number | undefined;
  /** A trace gets the lines themselves, so it need not be told that there were some. */
  #tellsLines = false;
  #upgradeMs = 0;
  #isUnverified = false;
  #resumable: Buffer | undefined;

  constructor(plan: SessionPlan) {
    this.context = plan.context;
    this.#plan = plan;
    this.#redact = secretWords(plan.secrets);
    this.#startAt = plan.context.clock();
  }

  get tls(): TlsMode {
    return this.#plan.to.tls;
  }

  /** Whether what is said now goes through TLS. */
  get isSecure(): boolean {
    return this.#peer !== undefined;
  }

  /** What the other side showed in the handshake. */
  get peer(): PeerFacts | undefined {
    return this.#peer;
  }

  get endpoint(): Endpoint {
    return this.#endpoint ?? unopened();
  }

  /** `address:port`, for sentences. */
  get where(): string {
    return named(this.endpoint);
  }

  /** The connected socket, to look at; who wants to read from it borrows it by `lend`. */
  get socket(): Socket {
    return this.#socket ?? unopened();
  }

  /** Whole milliseconds that are left of the check, at least 1: what a server is told as the limit of a statement. */
  get remainingMs(): number {
    return Math.max(1, Math.floor(this.context.timeoutMs - (this.context.clock() - this.#startAt)));
  }

  /** Resolves and judges the target. `open` and `ask` do it when it was not done. */
  async locate(): Promise<Endpoint> {
    if (this.#endpoint !== undefined) return this.#endpoint;
    const { to, settings, purpose } = this.#plan;
    const located = await locate(to.host, to.port, this.context, {
      family: settings.ip_version,
      ...(purpose && { purpose }),
    });
    this.#phases.dns = located.dnsUs;
    this.#tried = located.endpoint;
    if (!located.ok) throw new Ended(located.failure);
    this.#endpoint = located.endpoint;
    return located.endpoint;
  }

  /** Connects, and shakes hands at once with implicit TLS. */
  async open(): Promise<void> {
    const endpoint = await this.locate();
    const dialed = await dial(endpoint, this.context);
    this.#phases.connect = dialed.connectUs;
    if (!dialed.ok) throw new Ended(dialed.failure);
    this.#speakOver(dialed.socket);
    if (this.tls === 'implicit') await this.#secure(this.socket);
    this.#openedAt = this.context.clock();
  }

  /**
   * Asks by datagrams, in place of a connection, and gives the answer. The time to the answers of all questions is that of the first byte,
   * without those that are `isExtra`. What is no answer counts as a breach of the protocol, unless the question says otherwise.
   */
  async ask<Answer>(question: UdpQuestion<Answer> & { readonly isExtra?: boolean }): Promise<Answer> {
    this.#channel ??= await this.#openChannel();
    const { codes, peer } = this.#plan;
    const garbled = failed(codes.breach, `${this.where} does not answer as ${peer} does.`);
    const asked = await this.#channel.ask({ garbled, ...question });
    if (!asked.ok) throw new Ended(asked.failure);
    if (question.isExtra !== true) this.#phases.first_byte = (this.#phases.first_byte ?? 0) + asked.tookUs;
    return asked.answer;
  }

  say(bytes: Uint8Array | string): void {
    this.context.trace?.('send', `${Buffer.byteLength(bytes)} bytes`);
    this.#reader.say(bytes);
  }

  /** Says one line. `shown` is what a trace says instead of it. */
  sayLine(line: string, shown = line): void {
    this.context.trace?.('send', printable(this.#redact(shown), 500));
    this.#tellsLines = true;
    this.#reader.say(`${line}\r\n`);
  }

  /** The next message; `waitingFor` names it in the sentence of a failure. */
  async hear<Value>(waitingFor: string, read: Reader<Value>): Promise<Value> {
    const talk = this.#reader;
    try {
      const heard = await talk.hear(waitingFor, read);
      if (!this.#tellsLines) this.context.trace?.('answer', waitingFor);
      return heard;
    } finally {
      this.#firstAt ??= talk.firstAt;
    }
  }

  /** Everything up to the end of the connection: see `Talk.rest`. */
  async hearAll(waitingFor: string): Promise<Buffer> {
    const talk = this.#reader;
    try {
      return await talk.rest(waitingFor);
    } finally {
      this.#firstAt ??= talk.firstAt;
    }
  }

  /** Lends the connection to a library, which has to be stopped by whoever lends it: see `Talk.lend`. */
  async lend<Value>(waitingFor: () => string, use: (socket: Socket) => Promise<Value>): Promise<Value> {
    const talk = this.#reader;
    this.context.trace?.('wait', `for ${waitingFor()}`);
    try {
      return await talk.lend(waitingFor, use);
    } finally {
      this.#firstAt ??= talk.firstAt;
    }
  }

  /**
   * Secures the connection after the other side has agreed. What came in the clear behind its answer could have been put there by anybody in
   * between, so it fails with `code` (CVE-2011-0411). `through` stands between the handshake and the connection where a protocol wraps it.
   * With `isUnverified` the certificate does not matter.
   */
  async startTls(
    options: {
      readonly code?: ErrorCode;
      readonly isUnverified?: boolean;
      readonly through?: (socket: Socket) => Socket;
    } = {},
  ): Promise<void> {
    const talk = this.#reader;
    if (talk.left > 0)
      this.fail(
        options.code ?? this.#plan.codes.breach,
        `${this.where} sent more in the clear behind its answer to the wish for TLS.`,
      );
    const bare = talk.release();
    const before = this.context.clock();
    try {
      await this.#secure(options.through?.(bare) ?? bare, options.isUnverified === true);
    } finally {
      this.#upgradeMs += this.context.clock() - before;
    }
  }

  /** A handshake of the protocol's own that stands in the place of TLS: its time counts as that, and the answer is what comes behind it. */
  async inPlaceOfTls(handshake: () => Promise<void>): Promise<void> {
    const before = this.context.clock();
    try {
      await handshake();
    } finally {
      this.#openedAt = this.context.clock();
      this.#phases.tls = micro(this.#openedAt - before);
    }
    this.#firstAt = undefined;
    this.#reader.firstAt = undefined;
  }

  /** Keeps the greeting and checks it against what is expected of it. */
  greeted(banner: string): void {
    this.note('banner', banner);
    this.received(banner);
    const { expected_banner: expected } = this.#plan.settings;
    if (expected !== undefined && !banner.includes(expected))
      this.fail('response_mismatch', `The greeting does not hold what is expected: "${this.show(banner)}".`);
  }

  /** Keeps a fact for the evidence, texts without secrets and at most 500 characters of them. */
  note(name: string, value: string | number | boolean): void {
    this.#details[name] = typeof value === 'string' ? printable(this.#redact(value), 500) : value;
  }

  noted(name: string): string | number | boolean | undefined {
    return this.#details[name];
  }

  /** Tells a trace what came. */
  received(text: string): void {
    this.#tellsLines = true;
    this.context.trace?.('receive', printable(this.#redact(text), 500));
  }

  /** Text of the other side for the middle of a sentence: one line without secrets, at most 200 characters, no full stop at its end. */
  readonly show = (text: string): string => printable(this.#redact(text), 200).replace(/[.\s]+$/, '');

  /** The same as a sentence of its own. */
  readonly quote = (text: string): string => {
    const shown = printable(this.#redact(text), 200);
    return shown === '' ? 'It gave no reason.' : `It said "${shown}".`;
  };

  /** Ends the conversation with a failure of the target. */
  fail(code: ErrorCode, message: string): never {
    throw new Ended(failed(code, message));
  }

  /** Ends it because the other side does not keep to the protocol. `what` is a whole sentence about it. */
  breach(what: string): never {
    throw new Ended(
      failed(this.#plan.codes.breach, `${this.where} does not speak as ${this.#plan.peer} does. ${what}`),
    );
  }

  /** Ends the conversation with a failure that was found elsewhere, if there is one. */
  demand(failure: Failure | undefined): void {
    if (failure !== undefined) throw new Ended(failure);
  }

  /** Another port of the target: at the address that was judged, or by the same proxy. The port is judged anew. */
  async beside(port: number): Promise<Endpoint> {
    const { context } = this;
    if (context.proxy !== undefined) {
      const located = await locate(this.#plan.to.host, port, context);
      if (!located.ok) throw new Ended(located.failure);
      return located.endpoint;
    }
    const endpoint = { address: this.endpoint.address, port };
    const denial = context.addresses.judge(endpoint.address, port);
    if (denial === undefined) return endpoint;
    return this.fail(
      'address_denied',
      `The data connection to ${named(endpoint)} may not be opened: ${denial.reason}.`,
    );
  }

  /** Takes a second connection of the session into its keeping: it ends when the session does. */
  adopt(socket: Socket): void {
    this.#sockets.push(socket);
  }

  /**
   * Shakes hands on a second connection as on the first, with the first one's TLS session: servers of FTP want to see by it that both belong
   * together. `rename` says how a failure there is told.
   */
  async secureBeside(socket: Socket, endpoint: Endpoint, rename: (failure: Failure) => Failure): Promise<Socket> {
    const resumed = this.#resumable && { session: this.#resumable };
    const opened = await openTls({ socket, endpoint }, { ...tlsOptionsOf(this.#plan), ...resumed }, this.context);
    if (!opened.ok) throw new Ended(rename(opened.failure));
    this.adopt(opened.socket);
    return opened.socket;
  }

  /** Says goodbye and gives the other side a moment to close. */
  async leave(): Promise<void> {
    const { signal } = this.context;
    if (this.goodbye === undefined || this.#socket === undefined || this.#socket.destroyed || signal.aborted) return;
    const socket = this.#socket;
    this.sayLine(this.goodbye);
    await awaitGoodbye(socket, signal);
  }

  destroy(): void {
    this.#channel?.close();
    // The TLS socket before the one that it goes over: Node 24 crashes the process the other way round.
    for (const socket of this.#sockets.toReversed()) socket.destroy();
  }

  /** The outcome of the conversation with its times and evidence. */
  verdict(failure: Failure | undefined): CheckResult {
    const seen: Seen = {
      startAt: this.#startAt,
      openedAt: this.#openedAt,
      firstAt: this.#firstAt,
      upgradeMs: this.#upgradeMs,
      now: this.context.clock(),
      phases: this.#phases,
      tried: this.#tried,
      peer: this.#peer,
      isUnverified: this.#isUnverified,
      evidence: this.evidence,
      details: this.#details,
      facts: this.facts,
    };
    return verdictOf(seen, this.#plan, failure, this.#redact);
  }

  get #reader(): Talk {
    return this.#talk ?? unopened();
  }

  async #openChannel(): Promise<UdpChannel> {
    const opened = await openUdp(await this.locate(), this.context);
    if (!opened.ok) throw new Ended(opened.failure);
    return opened.channel;
  }

  #speakOver(socket: Socket): void {
    this.#sockets.push(socket);
    this.#socket = socket;
    this.#talk = new Talk(socket, this.endpoint, this.context, this.#plan.codes, this.#plan.maxBytes);
  }

  async #secure(socket: Socket, isUnverified = false): Promise<void> {
    const opened = await this.#shakeHands(socket, isUnverified);
    if (opened.tlsUs !== undefined) this.#phases.tls = opened.tlsUs;
    this.#peer = opened.peer;
    if (!opened.ok) {
      socket.destroy();
      throw new Ended(opened.failure);
    }
    this.#speakOver(opened.socket);
    this.#resumable = opened.socket.getSession();
    // TLS 1.3 hands out what a session can be resumed by after the handshake only.
    opened.socket.on('session', (ticket: Buffer) => (this.#resumable = ticket));
  }

  #shakeHands(socket: Socket, isUnverified: boolean): Promise<TlsOpened> {
    const options = tlsOptionsOf(this.#plan);
    const over = { socket, endpoint: this.endpoint };
    if (!isUnverified) return openTls(over, options, this.context);
    this.#isUnverified = true;
    // Where the certificate does not matter, an old version of TLS does not either: in the clear would be good as well.
    return openTls(
      over,
      { ...options, verify: false, context: { ...options.context, anyVersion: true } },
      this.context,
    );
  }
}

function unopened(): never {
  throw new Error('The session was not opened.');
}
