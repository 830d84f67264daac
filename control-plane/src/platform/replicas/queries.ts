import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../database/pools.ts';

/** An address and port where a process of the product listens. */
export type ReplicaListener = { readonly address: string; readonly port: number };

/** A process of the control plane as it announces itself. */
export type Announcement = {
  readonly name: string;
  readonly roles: readonly string[];
  readonly listeners: readonly ReplicaListener[];
  /** What its own checks and webhooks leave from. */
  readonly sourceAddresses: readonly string[];
};

/**
 * Listeners count for so long after their replica was last seen. Longer than a restart takes, so that one which comes back to the same
 * ports changes nothing for anybody.
 */
export const rememberMinutes = 10;

const listenersRow = z.object({ listeners: z.array(z.object({ address: z.string(), port: z.number().int() })) });

/** Writes down that this replica lives and where it listens, and forgets those that have not been seen for a day. */
export async function announceReplica(
  pool: CommonQueryMethods,
  { name, roles, listeners, sourceAddresses }: Announcement,
): Promise<void> {
  await pool.query(sql.unsafe`
    insert into replicas (name, roles, listeners, source_addresses)
    values (${name}, ${sql.array([...roles], 'text')}, ${JSON.stringify(listeners)}::jsonb, ${sql.array([...sourceAddresses], 'text')})
    on conflict (name) do update
      set listeners = excluded.listeners, source_addresses = excluded.source_addresses, seen_at = clock_timestamp()`);
  await pool.query(sql.unsafe`
    delete from replicas where name in (
      select name from replicas where seen_at < now() - interval '1 day' for update skip locked)`);
}

/** Where the replicas listen that were seen lately: sorted, without repetition. */
export async function replicaListeners(pool: CommonQueryMethods): Promise<ReplicaListener[]> {
  const rows = await pool.any(sql.type(listenersRow)`
    select listeners from replicas where seen_at > now() - ${rememberMinutes} * interval '1 minute'`);
  return sortedListeners(rows.flatMap((row) => row.listeners));
}

/** What the checks and webhooks of the replicas that were seen lately leave from. */
export async function replicaSourceAddresses(pool: CommonQueryMethods): Promise<readonly string[]> {
  return pool.anyFirst(sql.type(z.object({ address: z.string() }))`
    select distinct unnest(source_addresses) as address from replicas
    where seen_at > now() - ${rememberMinutes} * interval '1 minute'`);
}

/** Pure: in one order, each once. */
export function sortedListeners(listeners: readonly ReplicaListener[]): ReplicaListener[] {
  const byText = new Map(listeners.map(({ address, port }) => [`${address} ${port}`, { address, port }]));
  return [...byText.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, listener]) => listener);
}
