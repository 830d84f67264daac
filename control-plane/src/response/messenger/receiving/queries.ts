import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Update } from '../updates/incoming.ts';
import { keepUpdates } from '../updates/queries.ts';
import { leaseMs } from './lease.ts';

const instant = (ms: number) => sql.timestamp(new Date(ms));

const receiver = z.object({
  next_offset: z
    .bigint()
    .nullable()
    .transform((value) => (value === null ? null : Number(value))),
  last_update_at: z.number().nullable(),
  is_new: z.boolean(),
});
/** Where the receiving for a bot stands; `isNew`: another one did it before, or nobody. */
export type Receiver = {
  readonly nextOffset: number | null;
  readonly lastUpdateMs: number | null;
  readonly isNew: boolean;
};

/** Takes or keeps the lease to receive for a bot; null while another replica has it. */
export async function holdReceiver(
  worker: DatabasePool,
  botId: number,
  owner: string,
  nowMs: number,
): Promise<Receiver | null> {
  const now = instant(nowMs);
  const row = await worker.maybeOne(sql.type(receiver)`
    with before as (select owner, leased_until from messenger_receivers where bot_id = ${botId})
    insert into messenger_receivers as r (bot_id, owner, leased_until)
    values (${botId}, ${owner}, ${instant(nowMs + leaseMs)})
    on conflict (bot_id) do update set owner = excluded.owner, leased_until = excluded.leased_until
      where r.owner is null or r.owner = excluded.owner or r.leased_until <= ${now}
    returning r.next_offset, r.last_update_at,
      not exists (select from before where before.owner = ${owner} and before.leased_until > ${now}) as is_new`);
  if (row === null) return null;
  return { nextOffset: row.next_offset, lastUpdateMs: row.last_update_at, isNew: row.is_new };
}

/** Gives the lease back, for another replica to take at once. */
export async function releaseReceiver(worker: DatabasePool, botId: number, owner: string): Promise<void> {
  await worker.query(sql.unsafe`
    update messenger_receivers set owner = null, leased_until = null where bot_id = ${botId} and owner = ${owner}`);
}

/**
 * Keeps what was received and how far that is, together: what is confirmed to the messenger is kept.
 * @returns false when the lease was lost; nothing is kept then, and the one who has it is told the same
 */
export async function keepReceived(
  worker: DatabasePool,
  of: { readonly botId: number; readonly owner: string },
  updates: readonly Update[],
  nowMs: number,
): Promise<boolean> {
  const next = Math.max(...updates.map(({ updateId }) => updateId)) + 1;
  return worker.transaction(async (tx) => {
    const held = await tx.query(sql.unsafe`
      update messenger_receivers set next_offset = ${next}, last_update_at = ${instant(nowMs)}
      where bot_id = ${of.botId} and owner = ${of.owner}`);
    if (held.rowCount === 0) return false;
    await keepUpdates(tx, of.botId, updates, nowMs);
    return true;
  });
}
