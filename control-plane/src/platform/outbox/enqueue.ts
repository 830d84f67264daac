import type { CommonQueryMethods } from 'slonik';
import { sql } from '../database/pools.ts';

/** A state change for others to act on. */
export type OutboxEntry = {
  /** Rows of one key are handed out in the order in which they were written: `monitor:17`, `incident:4`. */
  readonly key: string;
  /** Picks the consumers. */
  readonly kind: string;
  /** Plain JSON. */
  readonly payload: unknown;
  /** The payload also says `by`, the number of the user in whose request it is written; null where no user asked for it. */
  readonly tellsActor?: true;
};

/** The insertion for a connection without slonik: arrays of keys, kinds and payloads as JSON text, of equal length. */
export const enqueueText = `insert into outbox (key, kind, payload)
  select key, kind, payload::jsonb from unnest($1::text[], $2::text[], $3::text[]) with ordinality as entry (key, kind, payload, position)
  order by position`;

/** The parameters of `enqueueText`. */
export function enqueueValues(entries: readonly OutboxEntry[]): [string[], string[], string[]] {
  return [
    entries.map((entry) => entry.key),
    entries.map((entry) => entry.kind),
    entries.map((entry) => JSON.stringify(entry.payload)),
  ];
}

/**
 * Writes state changes in the transaction of the change itself. The keys are locked until it ends, so that two writers of one
 * key get numbers in the order of their commits. For a few keys at a time.
 */
export async function enqueue(transaction: CommonQueryMethods, ...entries: readonly OutboxEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const keys = [...new Set(entries.map((entry) => entry.key))].sort();
  // In a statement of its own: the numbers must be drawn after the locks are held.
  await transaction.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('outbox ' || key, 0)) from unnest(${sql.array(keys, 'text')}) as key`);
  await enqueueHeld(transaction, entries);
}

/**
 * The same for any number of keys whose order something else keeps: the caller holds a lock that every other writer of these keys waits
 * for, such as that of a monitor's row for update. A thousand advisory locks would fill the server's table of locks.
 */
export async function enqueueHeld(transaction: CommonQueryMethods, entries: readonly OutboxEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const [keyColumn, kindColumn, payloadColumn] = enqueueValues(entries);
  const actorColumn = sql.array(
    entries.map(({ tellsActor = false }) => tellsActor),
    'bool',
  );
  // The user stands in the settings of the transaction (`inScope`).
  await transaction.query(sql.unsafe`
    insert into outbox (key, kind, payload)
    select key, kind, case when tells_actor
      then payload::jsonb || jsonb_build_object('by', nullif(current_setting('parallax.user_id', true), '')::integer) else payload::jsonb end
    from unnest(${sql.array(keyColumn, 'text')}, ${sql.array(kindColumn, 'text')}, ${sql.array(payloadColumn, 'text')}, ${actorColumn})
      with ordinality as entry (key, kind, payload, tells_actor, position)
    order by position`);
}
