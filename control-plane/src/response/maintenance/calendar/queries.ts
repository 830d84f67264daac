import { createHash } from 'node:crypto';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';

/** All that is kept of a token: it is random enough that a slow hash would add nothing. */
const hashOf = (token: string) => sql.binary(createHash('sha256').update(token).digest());

const madeRow = z.object({ created_at: z.number() });

/** Gives a workspace a token in place of the one that it had. @returns when, in milliseconds since the epoch */
export async function putCalendarToken(
  tx: Transaction,
  workspaceId: number,
  token: string,
  userId: number,
): Promise<number> {
  const { created_at: madeMs } = await tx.one(sql.type(madeRow)`
    insert into calendar_tokens (workspace_id, token_hash, created_by) values (${workspaceId}, ${hashOf(token)}, ${userId})
    on conflict (workspace_id) do update set token_hash = excluded.token_hash, created_by = excluded.created_by, created_at = clock_timestamp()
    returning created_at`);
  return madeMs;
}

/** Takes the token of a workspace away. @returns whether it had one */
export async function removeCalendarToken(tx: Transaction, workspaceId: number): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`delete from calendar_tokens where workspace_id = ${workspaceId}`);
  return rowCount === 1;
}

/** The workspace whose token it is; null for a token that nobody has. */
export async function workspaceOfToken(tx: Transaction, token: string): Promise<number | null> {
  return tx.oneFirst(sql.type(z.object({ id: z.number().nullable() }))`
    select identity_calendar_workspace(${hashOf(token)}) as id`);
}
