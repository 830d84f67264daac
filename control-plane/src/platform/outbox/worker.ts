import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { RunningService } from '../running-service.ts';
import type { Bus } from '../bus/bus.ts';
import { sql } from '../database/pools.ts';
import type { Transaction } from '../database/pools.ts';
import type { OutboxConsumer, OutboxRow } from './consumer.ts';
import { outboxSubject } from '../bus/subjects.ts';
import { untilFirstDue } from '../database/first-due.queries.ts';
import type { TableSignals } from '../database/table-signals.ts';
import { repeatWhenDue } from '../repeat-when-due.ts';
import { repeat } from '../repeat.ts';

/** After so many failures a row is left as it is, with its last error, and the rows behind it go on. */
export const poisonAttempts = 20;

/**
 * A worker that holds rows and asks nothing of the database for so long has hung or its host is gone: the database ends its
 * transaction, and others get the rows. A worker that dies gives them back at once.
 */
export const leaseSeconds = 10;

/** What others hold, or what waits for an elder of its key that failed, is looked at again after so long. */
const againMs = 500;
const rowsAtOnce = 20;
/** Of kinds whose consumers all take many at once. */
const manyAtOnce = 100;
/** Workspaces that take turns in one round of a flood. */
const workspacesAtOnce = 20;
const keepDoneHours = 24;
const cleanEveryMs = 60_000;

/** What the worker itself needs of the context that it hands to consumers. */
export type OutboxContext = {
  readonly database: { readonly worker: DatabasePool; readonly signals: Pick<TableSignals, 'on' | 'isHeard'> };
  readonly bus: Pick<Bus, 'listen'>;
  readonly log: Logger;
};

const claimedRow = z.object({
  id: z.bigint(),
  key: z.string(),
  kind: z.string(),
  payload: z.unknown(),
  created_at: z.number(),
  attempts: z.number(),
});

/** Seconds until a row that failed is tried again: 1, 2, 4 … at most 300. `attempts` counts the failures before this one. */
export function backOffSeconds(attempts: number): number {
  return Math.min(300, 2 ** Math.min(attempts, 9));
}

/** Up to which workspace a worker has come, of those that take turns in a flood. */
export type Turn = { afterWorkspace: number };

/**
 * Hands out a round of rows and runs their consumers: only the oldest unfinished row of each key, so that a later change never
 * overtakes an earlier one, however many workers there are. In a flood workspaces take turns for a part of each round: what one of them brings about
 * does not make the others wait for all of it. The rows stay locked until the round's transaction ends; a worker that
 * dies gives them back by that, one that falls silent after `leaseSeconds`. A consumer that fails takes only its own row's writes with it.
 * @returns how many rows were handed out
 */
export async function workOnce<Context extends OutboxContext>(
  context: Context,
  consumers: readonly OutboxConsumer<Context>[],
  turn: Turn = { afterWorkspace: 0 },
): Promise<number> {
  // Nothing waits most of the time: one statement says so, where a round is seven.
  if (!(await context.database.worker.exists(sql.unsafe`select from outbox o where ${isDue}`))) return 0;
  return context.database.worker.transaction(async (transaction) => {
    await transaction.query(
      sql.unsafe`select set_config('idle_in_transaction_session_timeout', ${`${leaseSeconds}s`}, true)`,
    );
    await readInOrder(transaction, true);
    const first = await claim(transaction, sql.fragment`true`, rowsAtOnce);
    const rows =
      first.length < rowsAtOnce ? first : [...first, ...(await claimMore(transaction, first, consumers, turn))];
    await readInOrder(transaction, false);
    if (await handOverTogether(transaction, rows, context, consumers)) return rows.length;
    for (const row of rows) await handOver(transaction, row, context, consumers);
    return rows.length;
  });
}

/**
 * What a round takes beside the oldest rows when many wait: one of each of the next workspaces, and of the rest what is taken together. What is
 * not keeps its transactions short.
 */
async function claimMore<Context>(
  transaction: Transaction,
  first: readonly OutboxRow[],
  consumers: readonly OutboxConsumer<Context>[],
  turn: Turn,
): Promise<OutboxRow[]> {
  const inTurn = await claimInTurn(transaction, first, turn);
  const together = kindsTakenTogether(consumers);
  if (!first.some(({ kind }) => together.includes(kind))) return inTurn;
  const taken = [...first, ...inTurn];
  const which = sql.fragment`o.kind = any(${sql.array(together, 'text')}) and o.id <> all(${idsOf(taken)})`;
  return [...inTurn, ...(await claim(transaction, which, manyAtOnce - taken.length))];
}

const workspaceRow = z.object({ workspace_id: z.number() });

/** The oldest row of each of the workspaces that come next; of those whose rows this transaction has claimed already, the one after these. */
async function claimInTurn(transaction: Transaction, claimed: readonly OutboxRow[], turn: Turn): Promise<OutboxRow[]> {
  // By leaps through the index from one workspace to the next, however much each of them has.
  const workspaces = await transaction.anyFirst(sql.type(workspaceRow)`
    with recursive leaps (workspace_id) as (
      select min(workspace_id) from outbox where done_at is null and workspace_id > ${turn.afterWorkspace}
      union all
      select (select min(o.workspace_id) from outbox o where o.done_at is null and o.workspace_id > leaps.workspace_id)
      from leaps where leaps.workspace_id is not null)
    select workspace_id from leaps where workspace_id is not null limit ${workspacesAtOnce}`);
  const isFirstOfAll = turn.afterWorkspace === 0;
  turn.afterWorkspace = workspaces.length < workspacesAtOnce ? 0 : (workspaces.at(-1) ?? 0);
  if (isFirstOfAll && workspaces.length <= 1) return [];
  const rows = await transaction.any(sql.type(claimedRow)`
    select o.id, o.key, o.kind, o.payload, o.created_at, o.attempts
    from unnest(${sql.array(workspaces, 'int4')}) as w (workspace_id) cross join lateral (
        select o.id from outbox o
        where o.workspace_id = w.workspace_id and ${isDue} and o.id <> all(${idsOf(claimed)}) and ${isOldestOfKey}
        order by o.id limit 1) eldest
      join outbox o on o.id = eldest.id
    where ${isDue}
    for update of o skip locked`);
  return rows.map(outboxRow);
}

const idsOf = (rows: readonly OutboxRow[]) =>
  sql.array(
    rows.map(({ id }) => id),
    'int8',
  );

/**
 * Has the database read what waits by its number and stop when there is enough, or choose for itself again. Its statistics are of calm times, when
 * hardly anything waits: it would read and sort all of a flood for each round.
 */
async function readInOrder(transaction: Transaction, only: boolean): Promise<void> {
  const others = only ? 'off' : 'on';
  await transaction.query(
    sql.unsafe`select set_config('enable_sort', ${others}, true), set_config('enable_bitmapscan', ${others}, true)`,
  );
}

// A row that another worker has finished since a snapshot is read again after its lock and no longer matches; one whose elder is unfinished in it
// waits for a later round.
const isDue = sql.fragment`o.done_at is null and o.available_at <= now() and o.attempts < ${poisonAttempts}`;

const firstDue = sql.fragment`select min(available_at) from outbox where done_at is null and attempts < ${poisonAttempts}`;

// With an offset it is asked of each row in turn, until there are enough: all that waits in a flood is not read for each round.
const isOldestOfKey = sql.fragment`not exists (
  select from outbox elder
  where elder.key = o.key and elder.done_at is null and elder.attempts < ${poisonAttempts} and elder.id < o.id
  offset 0)`;

async function claim(
  transaction: Transaction,
  which: ReturnType<typeof sql.fragment>,
  most: number,
): Promise<OutboxRow[]> {
  const rows = await transaction.any(sql.type(claimedRow)`
    select o.id, o.key, o.kind, o.payload, o.created_at, o.attempts from outbox o
    where ${isDue} and ${which} and ${isOldestOfKey}
    order by o.id limit ${most}
    for update of o skip locked`);
  return rows.map(outboxRow);
}

/** Kinds that somebody consumes, and nobody row by row. */
function kindsTakenTogether<Context>(consumers: readonly OutboxConsumer<Context>[]): readonly string[] {
  const single = new Set(consumers.filter(({ consumeMany }) => consumeMany === undefined).map(({ kind }) => kind));
  return [...new Set(consumers.map(({ kind }) => kind))].filter((kind) => !single.has(kind));
}

/**
 * Hands a round over in one go where a consumer takes many rows at once. @returns false when there is none, or something failed and nothing of it
 * has happened: then the rows are handed over one by one
 */
async function handOverTogether<Context extends OutboxContext>(
  transaction: Transaction,
  rows: readonly OutboxRow[],
  context: Context,
  consumers: readonly OutboxConsumer<Context>[],
): Promise<boolean> {
  const kinds = new Set(rows.map(({ kind }) => kind));
  if (rows.length < 2 || !consumers.some(({ kind, consumeMany }) => consumeMany !== undefined && kinds.has(kind)))
    return false;
  try {
    await transaction.transaction(async (inner) => {
      for (const row of rows) {
        for (const { kind, consume, consumeMany } of consumers) {
          if (kind === row.kind && consumeMany === undefined) await consume(inner, row, context);
        }
      }
      for (const { kind, consumeMany } of consumers) {
        const own = rows.filter((row) => row.kind === kind);
        if (consumeMany !== undefined && own.length > 0) await consumeMany(inner, own, context);
      }
    });
    await transaction.query(sql.unsafe`
      update outbox set done_at = clock_timestamp(), last_error = null
      where id = any(${sql.array(
        rows.map(({ id }) => id),
        'int8',
      )})`);
    return true;
  } catch (error) {
    context.log.debug({ err: error, rows: rows.length }, 'a round of state changes is handed over one by one');
    return false;
  }
}

async function handOver<Context extends OutboxContext>(
  transaction: Transaction,
  row: OutboxRow,
  context: Context,
  consumers: readonly OutboxConsumer<Context>[],
): Promise<void> {
  try {
    // A savepoint: what a failing consumer wrote goes, the lock on the row stays.
    await transaction.transaction(async (inner) => {
      for (const consumer of consumers) if (consumer.kind === row.kind) await consumer.consume(inner, row, context);
    });
    await transaction.query(
      sql.unsafe`update outbox set done_at = clock_timestamp(), last_error = null where id = ${row.id}`,
    );
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    await transaction.query(sql.unsafe`
      update outbox set attempts = attempts + 1, last_error = ${text},
        available_at = clock_timestamp() + make_interval(secs => ${backOffSeconds(row.attempts)})
      where id = ${row.id}`);
    const fields = { err: error, outbox_id: row.id, key: row.key, kind: row.kind, attempts: row.attempts + 1 };
    if (row.attempts + 1 >= poisonAttempts) context.log.error(fields, 'state change given up; it stays in the outbox');
    else context.log.warn(fields, 'state change put back');
  }
}

/** Deletes a batch of rows that were finished a day ago or earlier. @returns how many */
export async function cleanOnce(pool: DatabasePool): Promise<number> {
  const deleted = await pool.query(sql.unsafe`
    delete from outbox where id in (
      select id from outbox where done_at < now() - make_interval(hours => ${keepDoneHours}) limit 1000)`);
  return deleted.rowCount;
}

/** Works until stopped: woken by whoever writes a row, and when one that failed is due again. Stopping waits for the round that runs. */
export async function startOutboxWorker<Context extends OutboxContext>(
  context: Context,
  consumers: readonly OutboxConsumer<Context>[],
): Promise<RunningService> {
  const { log } = context;
  const { worker: pool, signals } = context.database;
  const turn: Turn = { afterWorkspace: 0 };
  const working = repeatWhenDue({
    signals,
    tables: ['outbox'],
    unheardMs: againMs,
    leastMs: 0,
    work: async (isStopped) => {
      while (!isStopped() && (await workOnce(context, consumers, turn)) > 0);
      return untilFirstDue(pool, firstDue, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'outbox: the database did not answer'),
  });
  const cleaning = repeat({
    everyMs: cleanEveryMs,
    work: () => cleanOnce(pool),
    onError: (error) => log.warn({ err: error }, 'outbox: not cleaned'),
  });
  // Where the database tells of rows, a hint tells of nothing more.
  const hints = context.bus.listen(outboxSubject, () => {
    if (!signals.isHeard()) void working.soon();
  });
  return {
    stop: async () => {
      hints.stop();
      await Promise.all([working.stop(), cleaning.stop()]);
    },
  };
}

function outboxRow(row: z.infer<typeof claimedRow>): OutboxRow {
  return {
    id: Number(row.id),
    key: row.key,
    kind: row.kind,
    payload: row.payload,
    createdAtMs: row.created_at,
    attempts: row.attempts,
  };
}
