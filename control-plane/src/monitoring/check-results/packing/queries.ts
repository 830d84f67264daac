import type pg from 'pg';

// Any class of advisory locks that nothing else on this database uses; the second number is the shard.
const lockClass = 715_203_703;

/** What a transaction of the packing works with. */
export type Packing = {
  readonly client: pg.ClientBase;
  readonly shard: number;
  /** Before this hour there are no rows in `check_results`; minus infinity for a database that never dropped a day. */
  readonly hotFromHour: number;
};

/**
 * One transaction of the packing of a shard. They take turns, whoever begins them, so what one has read no other changes; a process that hangs in
 * one loses it after ten seconds. @returns undefined, without having done anything, while another one is at it
 */
export async function whilePacking<Result>(
  pool: pg.Pool,
  shard: number,
  work: (packing: Packing) => Promise<Result>,
): Promise<Result | undefined> {
  return inTransaction(pool, async (client) => {
    const answer = await client.query<{ is_mine: boolean }>(
      'select pg_try_advisory_xact_lock($1::integer, $2::integer) as is_mine',
      [lockClass, shard],
    );
    if (answer.rows[0]?.is_mine !== true) return undefined;
    return work({ client, shard, hotFromHour: await readHotFromHour(client) });
  });
}

/** The same for a command that somebody waits for: it waits for its turn. */
export async function whenPacking<Result>(
  pool: pg.Pool,
  shard: number,
  work: (packing: Packing) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1::integer, $2::integer)', [lockClass, shard]);
    return work({ client, shard, hotFromHour: await readHotFromHour(client) });
  });
}

/** Runs work in a transaction that hangs or waits for a lock for some seconds at most. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  // The error of a query says what happened; without a listener the same would end the process.
  const ignore = () => undefined;
  client.on('error', ignore);
  let failure: unknown;
  try {
    await client.query(`begin; set local statement_timeout = '60s'; set local lock_timeout = '5s';
      set local idle_in_transaction_session_timeout = '10s'`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error;
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    // A connection that an error left in an unknown state is not used again, and may still tell of its end.
    if (failure === undefined) client.off('error', ignore);
    client.release(failure !== undefined);
  }
}

async function readHotFromHour(client: pg.ClientBase): Promise<number> {
  const found = await client.query<{ hour: number | null }>(
    `select case when isfinite(hot_from) then (extract(epoch from hot_from) / 3600)::integer end as hour from result_storage`,
  );
  return found.rows[0]?.hour ?? Number.NEGATIVE_INFINITY;
}

/** Makes the partitions of packed results that are not known to exist. */
export type PackedPartitions = {
  /** Makes sure of those for the hours [first, last] and their days. */
  readonly ensure: (firstHour: number, lastHour: number) => Promise<void>;
};

const hoursAtOnce = 59 * 24;

/** The partitions of packed results that are known to exist. */
export function createPackedPartitions(pool: pg.Pool): PackedPartitions {
  let knownFrom = Number.POSITIVE_INFINITY;
  let knownTo = Number.NEGATIVE_INFINITY;

  async function make(firstHour: number, lastHour: number): Promise<void> {
    for (let first = firstHour; first <= lastHour; first += hoursAtOnce + 1) {
      const last = Math.min(lastHour, first + hoursAtOnce);
      await inTransaction(pool, (client) => client.query('select ensure_packed_partitions($1, $2)', [first, last]));
    }
  }

  return {
    ensure: async (firstHour, lastHour) => {
      const from = Math.min(firstHour, knownFrom, lastHour);
      const to = Math.max(lastHour, knownTo, firstHour);
      if (from >= knownFrom && to <= knownTo) return;
      await make(from, to);
      knownFrom = from;
      knownTo = to;
    },
  };
}
