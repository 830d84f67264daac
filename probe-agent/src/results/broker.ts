import { connect } from '@nats-io/transport-node';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { certificatePem, controlPlaneServerName, inboxPrefix, nkeyPublic } from '@parallax/pki';
import { BackOff } from '../back-off.ts';
import { messageOf, sleep } from '../ports.ts';
import type { Logger } from '../ports.ts';
import type { Broker } from './publisher-options.ts';
import { StreamPublisher } from './stream-publisher.ts';

/** A JWT for the probe's own key and when it ends. */
export type BrokerCredentials = { readonly jwt: string; readonly expiresAtMs: number };

export type BrokerOptions = {
  readonly probeId: number;
  /** Raw Ed25519 public key of the probe; its private half answers the broker's challenge. */
  readonly signingPublicKey: Uint8Array;
  readonly sign: (content: Uint8Array) => Uint8Array;
  /** The installation's authority, DER; undefined connects without TLS (only a test's broker has none). */
  readonly authorityDer: Uint8Array | undefined;
  /** Asks for credentials; they come by `setCredentials`. */
  readonly requestCredentials: () => void;
  readonly random: () => number;
  readonly wallMs: () => number;
  readonly logger: Logger;
};

/** The connection to the broker: made as soon as address and credentials are known, and again for ever when it is lost. */
export class BrokerConnection implements Broker {
  readonly #options: BrokerOptions;
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  readonly #stopped = new Promise<undefined>((resolve) => {
    this.#stop.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  readonly #connectedListeners: (() => void)[] = [];
  readonly #disconnectedListeners: (() => void)[] = [];
  #address: string | undefined;
  #credentials: BrokerCredentials | undefined;
  #wake = new AbortController();
  #connection: NatsConnection | undefined;
  #stream: StreamPublisher | undefined;
  #connected = false;
  #running: Promise<void> | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#backOff = new BackOff({ firstMs: 100, mostMs: 5_000, random: options.random });
  }

  get connected(): boolean {
    return this.#connected;
  }

  onConnected(listener: () => void): void {
    this.#connectedListeners.push(listener);
  }

  onDisconnected(listener: () => void): void {
    this.#disconnectedListeners.push(listener);
  }

  /** "host:port" as the control plane tells it at every session. A new one is used at the next connection. */
  setAddress(address: string): void {
    if (address === this.#address) return;
    const moved = this.#address !== undefined;
    this.#address = address;
    if (moved) void this.#connection?.close();
    this.#nudge();
  }

  /** Fresh credentials; asks for the next ones when two thirds of their life are over. */
  setCredentials(credentials: BrokerCredentials): void {
    this.#credentials = credentials;
    clearTimeout(this.#renewal);
    const leftMs = credentials.expiresAtMs - this.#options.wallMs();
    const waitMs = Math.min(Math.max((leftMs * 2) / 3, 1_000), 2 ** 31 - 1);
    this.#renewal = setTimeout(() => this.#options.requestCredentials(), waitMs);
    this.#nudge();
  }

  /** Begins to connect. */
  start(): void {
    this.#running ??= this.#run();
  }

  publish(subject: string, payload: Uint8Array, timeoutMs: number): Promise<void> {
    if (this.#stream === undefined || !this.#connected) return Promise.reject(new Error('the broker is not connected'));
    return this.#stream.publish(subject, payload, timeoutMs);
  }

  /** Closes for good. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#renewal);
    this.#nudge();
    await this.#connection?.close();
    await this.#running;
  }

  #nudge(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (this.#address === undefined || this.#credentials === undefined) {
        await sleep(60_000, this.#wake.signal);
        continue;
      }
      try {
        await this.#connectOnce(this.#address);
      } catch (error) {
        this.#options.logger.warn(
          { address: this.#address, error: messageOf(error) },
          'there is no connection to the broker; trying again',
        );
        if (/auth|expired|revoked/i.test(messageOf(error))) this.#options.requestCredentials();
      }
      this.#setConnected(false);
      if (!this.#stop.signal.aborted) await sleep(this.#backOff.next(), this.#wake.signal);
    }
  }

  /** Connects and returns when that connection has ended for good. */
  async #connectOnce(address: string): Promise<void> {
    const connecting = connect(this.#connectOptions(address));
    const connection = await Promise.race([connecting, this.#stopped]);
    if (connection === undefined) {
      void connecting.then((late) => late.close()).catch(() => {});
      return;
    }
    this.#connection = connection;
    const stream = new StreamPublisher(connection, inboxPrefix(this.#options.probeId), () => performance.now());
    this.#stream = stream;
    this.#backOff.reset();
    this.#options.logger.info({ address }, 'connected to the broker');
    this.#setConnected(true);
    void this.#follow(connection, stream);
    const error = await connection.closed();
    this.#setConnected(false);
    this.#connection = undefined;
    this.#stream = undefined;
    stream.fail(new Error('the connection to the broker has ended'));
    if (error instanceof Error) throw error;
    if (!this.#stop.signal.aborted) throw new Error('the connection was closed');
  }

  #connectOptions(address: string): NodeConnectionOptions {
    const { probeId, signingPublicKey, sign, authorityDer } = this.#options;
    // The library hands what it does not know on to node:tls, which checks the server's certificate for this name.
    const tls = {
      ca: authorityDer === undefined ? '' : certificatePem(authorityDer),
      servername: controlPlaneServerName,
    };
    return {
      servers: address,
      name: `probe-${probeId}`,
      inboxPrefix: inboxPrefix(probeId),
      authenticator: (nonce) => ({
        jwt: this.#credentials?.jwt ?? '',
        nkey: nkeyPublic('user', signingPublicKey),
        sig: nonce === undefined ? '' : Buffer.from(sign(Buffer.from(nonce))).toString('base64url'),
      }),
      tls: authorityDer === undefined ? null : tls,
      // Each connection is made by the loop above: its own reconnecting would wait by other rules and buffer what is published meanwhile.
      reconnect: false,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
      pingInterval: 10_000,
      maxPingOut: 2,
      timeout: 10_000,
    };
  }

  async #follow(connection: NatsConnection, stream: StreamPublisher): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') this.#setConnected(false);
      else if (status.type === 'error') {
        this.#options.logger.warn({ error: messageOf(status.error) }, 'the broker reports an error');
        // What it may not publish the server only reports so.
        stream.fail(status.error);
      }
    }
  }

  #setConnected(connected: boolean): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    for (const listener of connected ? this.#connectedListeners : this.#disconnectedListeners) listener();
  }
}
