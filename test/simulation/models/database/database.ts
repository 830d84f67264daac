import type { ProbeSession } from '../../../../control-plane/src/monitoring/central-checks/queries.ts';
import { Process } from '../../engine/engine.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Machine } from '../../engine/machine.ts';
import type { Random } from '../../engine/random.ts';
import type { Network } from '../network.ts';
import { Configuration } from './configuration.ts';
import { Connection } from './connection.ts';
import { Results } from './results.ts';
import { ShardLocks } from './shard-locks.ts';

type OpenSession = {
  readonly sessionId: number;
  readonly openedUs: number;
  heardUs: number;
  oldestUnacknowledgedMs: number;
};

/** What becomes of a transaction at its end. */
export type Fate = 'commits' | 'commits_unheard' | 'is_lost' | 'fails';

/**
 * PostgreSQL, as far as the ingest and the sessions of probes use it: connections that may break, row and advisory locks, transactions
 * whose end may stay unknown to who asked for it, and tables that only a commit changes.
 */
export class Database {
  readonly engine: Engine;
  readonly network: Network;
  readonly machine: Machine;
  readonly configuration: Configuration;
  readonly results: Results;
  readonly locks: ShardLocks;
  readonly #random: Random;
  process: Process;
  #connections = new Set<Connection>();
  #pools = new Map<Process, Connection>();
  /** Share of transactions whose end goes wrong, and how. */
  trouble: { readonly share: number; readonly fates: readonly Fate[] } | undefined;
  #sessions = new Map<number, OpenSession>();
  #nextSession = 1;
  /** Told of each new term of a shard. */
  onClaimed: ((shard: number, term: number, owner: string) => void) | undefined;

  constructor(options: {
    readonly engine: Engine;
    readonly network: Network;
    readonly machine: Machine;
    readonly random: Random;
    readonly shards: number;
  }) {
    this.engine = options.engine;
    this.network = options.network;
    this.machine = options.machine;
    this.#random = options.random;
    this.process = this.#newProcess();
    this.configuration = new Configuration(options.engine);
    this.results = new Results(this.configuration);
    this.locks = new ShardLocks(options.engine, options.shards);
  }

  get isUp(): boolean {
    return this.process.isAlive;
  }

  /** Ends it at once: what was not committed is gone. */
  kill(): void {
    for (const connection of this.#connections) this.locks.release(connection);
    this.#connections.clear();
    this.#pools.clear();
    this.engine.kill(this.process);
  }

  start(): void {
    if (!this.isUp) this.process = this.#newProcess();
  }

  /** A connection of its own. Rejects when there is no way to the database. */
  async connect(): Promise<Connection> {
    const client = this.engine.current;
    if (client === undefined) throw new Error('nobody connects to the database');
    const isCut = this.network.isCut([client.machine.name, this.machine.name]);
    await this.engine.pause(isCut ? 5_000_000 : this.network.latencyUs() / 10);
    if (!this.isUp || this.network.isCut([client.machine.name, this.machine.name]))
      throw new Error('the database refuses connections');
    const connection = new Connection(this, client);
    this.#connections.add(connection);
    return connection;
  }

  /** Asks over a connection that all of the process share, made anew when it has broken. */
  async ask<Answer>(perform: () => Answer): Promise<Answer> {
    const connection = await this.#shared();
    return connection.ask(perform);
  }

  /** A statement over the shared connection. */
  async query(text: string, values: readonly unknown[] = []): Promise<{ rows: unknown[]; rowCount: number }> {
    const connection = await this.#shared();
    return connection.query(text, values);
  }

  /** The database has noticed that a connection is over, or ends it: its transaction is rolled back, its locks are free. */
  forget(connection: Connection): void {
    this.#connections.delete(connection);
    this.locks.release(connection);
  }

  fate(): Fate {
    const { trouble } = this;
    return trouble !== undefined && this.#random.chance(trouble.share) ? this.#random.pick(trouble.fates) : 'commits';
  }

  openSession(probeId: number): number {
    const sessionId = this.#nextSession;
    this.#nextSession += 1;
    const nowUs = this.engine.nowUs;
    this.#sessions.set(probeId, { sessionId, openedUs: nowUs, heardUs: nowUs, oldestUnacknowledgedMs: 0 });
    return sessionId;
  }

  /** The one that is open; undefined when none is. */
  sessionOf(probeId: number): number | undefined {
    return this.#sessions.get(probeId)?.sessionId;
  }

  report(sessionId: number, told: { readonly heardUs: number; readonly oldestUnacknowledgedMs: number }): void {
    for (const session of this.#sessions.values()) if (session.sessionId === sessionId) Object.assign(session, told);
  }

  closeSession(sessionId: number): void {
    for (const [probeId, session] of this.#sessions)
      if (session.sessionId === sessionId) this.#sessions.delete(probeId);
  }

  openSessions(): ProbeSession[] {
    return [...this.#sessions].map(([probeId, session]) => ({
      probeId,
      replica: 'some',
      remoteAddress: '203.0.113.7',
      openedMs: session.openedUs / 1_000,
      heardMs: session.heardUs / 1_000,
      oldestUnacknowledgedMs: session.oldestUnacknowledgedMs,
      isPaused: false,
    }));
  }

  async #shared(): Promise<Connection> {
    const client = this.engine.current;
    if (client === undefined) throw new Error('nobody asks the database');
    const known = this.#pools.get(client);
    if (known !== undefined && !known.isEnded) return known;
    const connection = await this.connect();
    this.#pools.set(client, connection);
    return connection;
  }

  #newProcess(): Process {
    return new Process({
      name: 'database',
      machine: this.machine,
      random: this.#random.fork('process'),
      nowUs: this.engine.nowUs,
    });
  }
}
