import { createPool, createSqlTag, SchemaValidationError } from 'slonik';
import type { DatabasePool, DatabaseTransactionConnection, Interceptor } from 'slonik';
import pg from 'pg';
import { z } from 'zod';

/** URLs of the three logins: the owner migrates, requests cannot bypass row-level security, ingest and workers can. */
export type DatabaseUrls = { readonly owner: string; readonly api: string; readonly worker: string };

/** The pools of one process. */
export type Database = {
  /** Requests: subject to row-level security. Use it through `inScope`. */
  readonly api: DatabasePool;
  /** Workers, dispatchers, readers across tenants. */
  readonly worker: DatabasePool;
  /** The same login as `worker`, without slonik: COPY, LISTEN and transactions of the ingest. */
  readonly raw: pg.Pool;
  readonly close: () => Promise<void>;
};

/** A transaction as queries take it. */
export type Transaction = DatabaseTransactionConnection;

/** Tagged templates whose rows are checked by a zod schema: `sql.type(schema)`. */
export const sql = createSqlTag({
  typeAliases: {
    void: z.object({}).strict(),
    id: z.object({ id: z.number() }),
  },
});

/** Rows leave the database through their schema, so a drifting query fails where it stands and not three layers on. */
const rowsThroughSchema: Interceptor = {
  name: 'rows-through-schema',
  transformRow: (context, query, row) => {
    const parser = context.resultParser;
    if (parser === undefined) return row;
    const parsed = parser['~standard'].validate(row);
    if (parsed instanceof Promise) throw new TypeError('row schemas must be synchronous');
    if (parsed.issues !== undefined) throw new SchemaValidationError(query, row, parsed.issues);
    return parsed.value as typeof row;
  },
};

/** Opens the pools; nothing is connected until the first query. `timestamptz` arrives as a number of milliseconds, `int8` as bigint. */
export async function openDatabase(urls: DatabaseUrls, sizes: { api: number; worker: number }): Promise<Database> {
  const common = {
    interceptors: [rowsThroughSchema],
    connectionTimeout: 5_000,
    idleTimeout: 60_000,
    captureStackTrace: false,
  };
  const api = await createPool(urls.api, {
    ...common,
    maximumPoolSize: sizes.api,
    statementTimeout: 15_000,
    // What a statement sets ends with its transaction (`inScope`); this is for what would be set beyond it by mistake, such as whose rows are seen.
    // slonik's own DISCARD ALL would also throw away the plans of functions, which cost some ms to make.
    resetConnection: ({ query }) => query('reset all'),
  });
  const worker = await createPool(urls.worker, {
    ...common,
    maximumPoolSize: sizes.worker,
    statementTimeout: 60_000,
    // Nothing that it sees depends on a setting, and it is asked thirty times a second while nothing happens.
    resetConnection: () => Promise.resolve(),
  });
  const raw = new pg.Pool({ connectionString: urls.worker, max: sizes.worker, connectionTimeoutMillis: 5_000 });
  // A backend that is killed while idle must not end the process; the next query gets a new connection.
  raw.on('error', () => undefined);
  // Nor one that is killed in the moment in which its connection is handed over: the pool has stopped to listen then, and the receiver has not begun.
  raw.on('connect', (client) => client.on('error', () => undefined));
  return {
    api,
    worker,
    raw,
    close: async () => {
      await Promise.all([api.end(), worker.end(), raw.end()]);
    },
  };
}
