import { createPool, createSqlTag, SchemaValidationError } from 'slonik';
import type { DatabasePool, DatabaseTransactionConnection, Interceptor } from 'slonik';
import pg from 'pg';
import { z } from 'zod';
import { createTableSignals } from './table-signals.ts';
import type { TableSignals } from './table-signals.ts';

/** URLs of the three logins: the owner migrates, requests cannot bypass row-level security, ingest and workers can. */
export type DatabaseUrls = { readonly owner: string; readonly api: string; readonly worker: string };

/** The pools of one process. */
export type Database = {
  /** Requests: subject to row-level security. Use it through `inScope`. */
  readonly api: DatabasePool;
  /** Workers, dispatchers, readers across tenants. */
  readonly worker: DatabasePool;
  /** The same login as `worker`, without slonik: COPY and transactions of the ingest. */
  readonly raw: pg.Pool;
  /** What was written by whomever wakes who waits for it. */
  readonly signals: TableSignals;
  readonly close: () => Promise<void>;
};

/** A transaction as queries take it. */
export type Transaction = DatabaseTransactionConnection;

type ResetConnection = (raw: { readonly query: (text: string) => Promise<void> }) => Promise<void>;

/**
 * Tagged templates whose rows are checked by a zod schema: `sql.type(schema)`. What each request or round asks and is one text whatever it is asked
 * with is `sql.prepared(name, schema)`: a connection parses it once, and after five times PostgreSQL keeps its plan where that is no worse than a plan made
 * for the values. To plan the read of one monitor took 6 of the 8 ms that PostgreSQL spent on it.
 */
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

/** Whether a statement may leave a setting to whoever takes its connection next. @param text of one statement */
function leavesSetting(text: string): boolean {
  if (/^\s*(?:set|reset|discard)\s(?!\s*local\b)/i.test(text)) return true;
  const settings = text.split('set_config(').length - 1;
  return settings > 0 && settings > text.split(', true)').length - 1;
}

/**
 * Resets a connection at its return once any statement of the pool may have left a setting, such as whose rows are seen. In the product none does: what a
 * statement sets ends with its transaction (`inScope`). To reset after each use cost two of seven statements of a request.
 */
function resetWhereNeeded(): { readonly interceptor: Interceptor; readonly resetConnection: ResetConnection } {
  let isNeeded = false;
  return {
    interceptor: {
      name: 'settings-that-stay',
      transformQuery: (_context, query) => {
        isNeeded ||= leavesSetting(query.sql);
        return query;
      },
    },
    // slonik's own DISCARD ALL would also throw away the plans of functions, which cost some ms to make.
    resetConnection: async ({ query }) => {
      if (isNeeded) await query('reset all');
    },
  };
}

/** Opens the pools; nothing is connected until the first query. `timestamptz` arrives as a number of milliseconds, `int8` as bigint. */
export async function openDatabase(urls: DatabaseUrls, sizes: { api: number; worker: number }): Promise<Database> {
  const common = {
    interceptors: [rowsThroughSchema],
    connectionTimeout: 5_000,
    // Longer than the minute after which most work comes again: a new connection costs PostgreSQL 0.1 s until it knows the tables.
    idleTimeout: 150_000,
    captureStackTrace: false,
  };
  const reset = resetWhereNeeded();
  const api = await createPool(urls.api, {
    ...common,
    interceptors: [reset.interceptor, ...common.interceptors],
    maximumPoolSize: sizes.api,
    statementTimeout: 15_000,
    resetConnection: reset.resetConnection,
  });
  const worker = await createPool(urls.worker, {
    ...common,
    maximumPoolSize: sizes.worker,
    statementTimeout: 60_000,
    // Nothing that it sees depends on a setting.
    resetConnection: () => Promise.resolve(),
  }).catch(async (error: unknown) => {
    await api.end();
    throw error;
  });
  const raw = new pg.Pool({ connectionString: urls.worker, max: sizes.worker, connectionTimeoutMillis: 5_000 });
  // A backend that is killed while idle must not end the process; the next query gets a new connection.
  raw.on('error', () => undefined);
  // Nor one that is killed in the moment in which its connection is handed over: the pool has stopped to listen then, and the receiver has not begun.
  raw.on('connect', (client) => client.on('error', () => undefined));
  const signals = createTableSignals(urls.worker);
  return {
    api,
    worker,
    raw,
    signals,
    close: async () => {
      await Promise.all([api.end(), worker.end(), raw.end(), signals.close()]);
    },
  };
}
