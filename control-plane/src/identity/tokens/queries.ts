import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const accessTokenRow = z.object({
  id: z.number(),
  name: z.string(),
  prefix: z.string(),
  read_only: z.boolean(),
  expires_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
  workspace_ids: z.array(z.number()).nullable(),
  created_at: z.number(),
});
export type AccessTokenRow = z.output<typeof accessTokenRow>;

const columns = sql.fragment`id, name, prefix, read_only, expires_at, last_used_at, workspace_ids, created_at`;

/** A page of the tokens of the scope's user that are not revoked, newest first; and how many there are. */
export async function listAccessTokens(
  scope: Scope,
  transaction: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly AccessTokenRow[]; readonly total: number }> {
  const rows = await transaction.any(sql.type(accessTokenRow)`
    select ${columns}
    from access_tokens
    where user_id = ${scope.userId} and revoked_at is null
    order by id desc
    limit ${page.limit} offset ${page.offset}
  `);
  return { rows, total: await countAccessTokens(scope, transaction) };
}

/** How many tokens the scope's user has that are not revoked. */
export async function countAccessTokens(scope: Scope, transaction: Transaction): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from access_tokens where user_id = ${scope.userId} and revoked_at is null
  `);
}

/** Stores a new token of the scope's user. */
export async function insertAccessToken(
  scope: Scope,
  transaction: Transaction,
  token: {
    readonly name: string;
    readonly prefix: string;
    readonly hash: Buffer;
    readonly readOnly: boolean;
    readonly expiresAt: Date | null;
    readonly workspaceIds: readonly number[] | null;
  },
): Promise<AccessTokenRow> {
  return transaction.one(sql.type(accessTokenRow)`
    insert into access_tokens (user_id, name, prefix, token_hash, read_only, expires_at, workspace_ids)
    values (
      ${scope.userId}, ${token.name}, ${token.prefix}, ${sql.binary(token.hash)}, ${token.readOnly},
      ${token.expiresAt === null ? null : sql.timestamp(token.expiresAt)},
      ${token.workspaceIds === null ? null : sql.array(token.workspaceIds, 'int4')}
    )
    returning ${columns}
  `);
}

/** Revokes a token of the scope's user; false when there is none that is not revoked. */
export async function revokeAccessToken(scope: Scope, transaction: Transaction, id: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update access_tokens set revoked_at = now()
    where id = ${id} and user_id = ${scope.userId} and revoked_at is null
  `);
  return rowCount > 0;
}

/** Makes those that add tokens of the same user wait for each other, so that their number can be bounded. */
export async function lockAccessTokens(scope: Scope, transaction: Transaction): Promise<void> {
  await transaction.query(
    sql.unsafe`select pg_advisory_xact_lock(hashtext('access_tokens'), ${scope.userId}::integer)`,
  );
}
