import type { Engine } from '../../engine/engine.ts';
import type { Connection } from './connection.ts';

/** A row of `shards`. */
export type ShardRow = {
  owner: string | null;
  term: number;
  renewedUs: number | null;
  foldedUntilUs: number | null;
};

type Shard = {
  readonly row: ShardRow;
  /** Who holds the lock of the session. */
  advisory: Connection | undefined;
  /** Whose transaction has the row. */
  rowLock: Connection | undefined;
  /** Who waits for the row. */
  readonly queue: { readonly connection: Connection; readonly proceed: () => void }[];
};

/** The rows of the shards with their two locks: the advisory one of a session, and that of the row for the length of a transaction. */
export class ShardLocks {
  readonly #engine: Engine;
  readonly #shards: Shard[];

  constructor(engine: Engine, shards: number) {
    this.#engine = engine;
    this.#shards = Array.from({ length: shards }, () => ({
      row: { owner: null, term: 0, renewedUs: null, foldedUntilUs: null },
      advisory: undefined,
      rowLock: undefined,
      queue: [],
    }));
  }

  get rows(): readonly ShardRow[] {
    return this.#shards.map(({ row }) => row);
  }

  row(shard: number): ShardRow {
    return this.#shard(shard).row;
  }

  holder(shard: number): Connection | undefined {
    return this.#shard(shard).advisory;
  }

  tryAdvisory(shard: number, connection: Connection): boolean {
    const found = this.#shard(shard);
    if (found.advisory !== undefined && found.advisory !== connection) return false;
    found.advisory = connection;
    return true;
  }

  /** The session lives on and its lock is gone, as behind a pooler that changes sessions, or after a failover. */
  loseAdvisory(shard: number): void {
    this.#shard(shard).advisory = undefined;
  }

  /** Goes on once nobody else's transaction has the row; the row is then this connection's until `free`. */
  withRow(shard: number, connection: Connection, proceed: () => void): void {
    const found = this.#shard(shard);
    if (found.rowLock === undefined || found.rowLock === connection) {
      found.rowLock = connection;
      proceed();
    } else found.queue.push({ connection, proceed });
  }

  /** The transaction is over. */
  free(shard: number, connection: Connection): void {
    const found = this.#shard(shard);
    if (found.rowLock !== connection) return;
    found.rowLock = undefined;
    const next = found.queue.shift();
    if (next === undefined) return;
    found.rowLock = next.connection;
    this.#engine.after(0, next.connection.database.process, next.proceed);
  }

  /** A session is over, with all that it held and waited for. */
  release(connection: Connection): void {
    for (const [shard, found] of this.#shards.entries()) {
      if (found.advisory === connection) found.advisory = undefined;
      for (let at = found.queue.length - 1; at >= 0; at -= 1)
        if (found.queue[at]?.connection === connection) found.queue.splice(at, 1);
      this.free(shard, connection);
    }
  }

  #shard(shard: number): Shard {
    const found = this.#shards[shard];
    if (found === undefined) throw new Error(`there is no shard ${shard}`);
    return found;
  }
}
