import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** What the trigger of a table of migration 0066 notifies: the name of the table is the payload. */
const channel = 'parallax_changes';
/** A connection that was lost is opened again after so long; what waits is polled meanwhile. */
const reopenMs = 2_000;
/** A server, or a pooler before it, that has not handed back a notification after so long does not do so at all. */
const echoMs = 5_000;
const betweenWakesMs = 10;

/** Wakes work when a transaction that changed a table has committed, whoever wrote it, so that nobody has to ask again and again. */
export type TableSignals = {
  /**
   * Calls `wake` once changes are heard of, or cannot be; then after each commit that changed one of the tables in a way that its trigger tells of, and
   * when notifications may have been missed. The first call opens the connection that listens.
   */
  readonly on: (tables: readonly string[], wake: () => void) => { readonly stop: () => void };
  /** Whether notifications are known to arrive: else work is to be looked for as if there were none. */
  readonly isHeard: () => boolean;
  readonly close: () => Promise<void>;
};

/** One connection of a process listens for all of its work. @param connectionString of a login that may connect; notifications need no rights */
export function createTableSignals(connectionString: string): TableSignals {
  return new Listener(connectionString);
}

class Listener implements TableSignals {
  readonly #connectionString: string;
  readonly #wakes = new Map<string, Set<() => void>>();
  #client: pg.Client | undefined;
  #opening: Promise<void> | undefined;
  #reopening: NodeJS.Timeout | undefined;
  #isHeard = false;
  #isClosed = false;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
  }

  on = (tables: readonly string[], wake: () => void): { readonly stop: () => void } => {
    for (const table of tables) {
      const wakes = this.#wakes.get(table) ?? new Set();
      this.#wakes.set(table, wakes.add(wake));
    }
    if (this.#isHeard) setImmediate(wake);
    else this.#open();
    return {
      stop: () => {
        for (const table of tables) this.#wakes.get(table)?.delete(wake);
      },
    };
  };

  isHeard = (): boolean => this.#isHeard;

  close = async (): Promise<void> => {
    this.#isClosed = true;
    clearTimeout(this.#reopening);
    await this.#opening;
    await this.#client?.end().catch(() => undefined);
  };

  #open(): void {
    if (this.#isClosed || this.#client !== undefined || this.#opening !== undefined) return;
    this.#opening = this.#connect()
      .catch(() => this.#lose())
      .finally(() => {
        this.#opening = undefined;
      });
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      connectionTimeoutMillis: 5_000,
      application_name: 'parallax signals',
      keepAlive: true,
    });
    this.#client = client;
    const proof = `echo ${randomUUID()}`;
    const echo = Promise.withResolvers<void>();
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload = '' }) => {
      if (payload === proof) echo.resolve();
      else this.#wake(payload);
    });
    await client.connect();
    await client.query(`listen ${channel}`);
    // A pooler may take the statement and give the connection to somebody else: only what arrives shows that it listens.
    await client.query('select pg_notify($1, $2)', [channel, proof]);
    const waited = setTimeout(() => echo.reject(new Error('no notification came back')), echoMs);
    await echo.promise.finally(() => clearTimeout(waited));
    if (this.#client !== client) return;
    this.#isHeard = true;
    this.#wakeAll();
  }

  /** Opens another connection in place of this one, after a while. */
  #lose(client = this.#client): void {
    if (client === undefined || client !== this.#client) return;
    this.#client = undefined;
    this.#isHeard = false;
    void client.end().catch(() => undefined);
    if (this.#isClosed) return;
    this.#wakeAll();
    this.#reopening = setTimeout(() => this.#open(), reopenMs);
    this.#reopening.unref();
  }

  #wake(table: string): void {
    for (const wake of this.#wakes.get(table) ?? []) wake();
  }

  /** One after another: all at once would each open a connection of the pool, which cost PostgreSQL more than what is asked on them. */
  #wakeAll(): void {
    const wakes = new Set([...this.#wakes.values()].flatMap((some) => [...some]));
    for (const [place, wake] of [...wakes].entries()) setTimeout(wake, place * betweenWakesMs);
  }
}
