import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const sessionRow = z.object({
  id: z.string(),
  user_agent: z.string().nullable(),
  remote_address: z.string().nullable(),
  created_at: z.number(),
  last_used_at: z.number(),
  expires_at: z.number(),
});
export type SessionRow = z.output<typeof sessionRow>;

const lives = sql.fragment`revoked_at is null and idle_until > now() and absolute_until > now()`;

/** A page of the living sessions of the scope's user, the last used one first; and how many there are. */
export async function listSessions(
  scope: Scope,
  transaction: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly SessionRow[]; readonly total: number }> {
  const total = await transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from sessions where user_id = ${scope.userId} and ${lives}`);
  const rows = await transaction.any(sql.type(sessionRow)`
    select id, user_agent, remote_address, created_at, last_used_at, least(idle_until, absolute_until) as expires_at
    from sessions where user_id = ${scope.userId} and ${lives}
    order by last_used_at desc, id limit ${page.limit} offset ${page.offset}`);
  return { rows, total };
}

/** Ends a living session of the scope's user. @returns false when there is none */
export async function endOwnSession(scope: Scope, transaction: Transaction, sessionId: string): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update sessions set revoked_at = now(), revoked_reason = 'ended'
    where id = ${sessionId}::uuid and user_id = ${scope.userId} and ${lives}`);
  return rowCount === 1;
}
