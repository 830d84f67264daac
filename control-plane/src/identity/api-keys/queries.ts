import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const apiKeyRow = z.object({
  id: z.number(),
  name: z.string(),
  prefix: z.string(),
  read_only: z.boolean(),
  expires_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
  workspace_ids: z.array(z.number()).nullable(),
  created_at: z.number(),
});
export type ApiKeyRow = z.output<typeof apiKeyRow>;

const columns = sql.fragment`id, name, prefix, read_only, expires_at, last_used_at, workspace_ids, created_at`;

/** A page of the keys of the scope's user that are not revoked, newest first; and how many there are. */
export async function listApiKeys(
  scope: Scope,
  transaction: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly ApiKeyRow[]; readonly total: number }> {
  const rows = await transaction.any(sql.type(apiKeyRow)`
    select ${columns}
    from api_keys
    where user_id = ${scope.userId} and revoked_at is null
    order by id desc
    limit ${page.limit} offset ${page.offset}
  `);
  return { rows, total: await countApiKeys(scope, transaction) };
}

/** How many keys the scope's user has that are not revoked. */
export async function countApiKeys(scope: Scope, transaction: Transaction): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from api_keys where user_id = ${scope.userId} and revoked_at is null
  `);
}

/** Stores a new key of the scope's user. */
export async function insertApiKey(
  scope: Scope,
  transaction: Transaction,
  key: {
    readonly name: string;
    readonly prefix: string;
    readonly hash: Buffer;
    readonly readOnly: boolean;
    readonly expiresAt: Date | null;
    readonly workspaceIds: readonly number[] | null;
  },
): Promise<ApiKeyRow> {
  return transaction.one(sql.type(apiKeyRow)`
    insert into api_keys (user_id, name, prefix, key_hash, read_only, expires_at, workspace_ids)
    values (
      ${scope.userId}, ${key.name}, ${key.prefix}, ${sql.binary(key.hash)}, ${key.readOnly},
      ${key.expiresAt === null ? null : sql.timestamp(key.expiresAt)},
      ${key.workspaceIds === null ? null : sql.array(key.workspaceIds, 'int4')}
    )
    returning ${columns}
  `);
}

/** Revokes a key of the scope's user; false when there is none that is not revoked. */
export async function revokeApiKey(scope: Scope, transaction: Transaction, id: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update api_keys set revoked_at = now()
    where id = ${id} and user_id = ${scope.userId} and revoked_at is null
  `);
  return rowCount > 0;
}

/** Makes those that add keys of the same user wait for each other, so that their number can be bounded. */
export async function lockApiKeys(scope: Scope, transaction: Transaction): Promise<void> {
  await transaction.query(sql.unsafe`select pg_advisory_xact_lock(hashtext('api_keys'), ${scope.userId}::integer)`);
}
