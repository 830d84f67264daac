import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { CredentialKind } from './kind.ts';

const credentialRow = z.object({
  id: z.number(),
  name: z.string(),
  prefix: z.string(),
  read_only: z.boolean(),
  expires_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
  workspace_ids: z.array(z.number()).nullable(),
  scopes: z.array(z.string()).nullable(),
  created_at: z.number(),
});
export type CredentialRow = z.output<typeof credentialRow>;

const common = sql.fragment`id, name, prefix, read_only, expires_at, last_used_at, workspace_ids, created_at`;
const columnsOf = ({ hasScopes }: CredentialKind) =>
  hasScopes ? sql.fragment`${common}, scopes` : sql.fragment`${common}, null::text[] as scopes`;
const tableOf = ({ table }: CredentialKind) => sql.identifier([table]);

/** A page of the credentials of the scope's user that are not revoked, newest first; and how many there are. */
export async function listCredentials(
  scope: Scope,
  transaction: Transaction,
  kind: CredentialKind,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly CredentialRow[]; readonly total: number }> {
  const rows = await transaction.any(sql.type(credentialRow)`
    select ${columnsOf(kind)}
    from ${tableOf(kind)}
    where user_id = ${scope.userId} and revoked_at is null
    order by id desc
    limit ${page.limit} offset ${page.offset}
  `);
  return { rows, total: await countCredentials(scope, transaction, kind) };
}

/** How many of a kind the scope's user has that are not revoked. */
export async function countCredentials(scope: Scope, transaction: Transaction, kind: CredentialKind): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from ${tableOf(kind)} where user_id = ${scope.userId} and revoked_at is null
  `);
}

/** Stores a new credential of the scope's user. */
export async function insertCredential(
  scope: Scope,
  transaction: Transaction,
  kind: CredentialKind,
  credential: {
    readonly name: string;
    readonly prefix: string;
    readonly hash: Buffer;
    readonly readOnly: boolean;
    readonly expiresAt: Date | null;
    readonly workspaceIds: readonly number[] | null;
    /** For a kind that has them. */
    readonly scopes: readonly string[] | null;
  },
): Promise<CredentialRow> {
  const { name, prefix, hash, readOnly, expiresAt, workspaceIds, scopes } = credential;
  const given = scopes === null ? sql.fragment`null::text[]` : sql.array(scopes, 'text');
  return transaction.one(sql.type(credentialRow)`
    insert into ${tableOf(kind)}
      (user_id, name, prefix, ${sql.identifier([kind.hashColumn])}, read_only, expires_at, workspace_ids${kind.hasScopes ? sql.fragment`, scopes` : sql.fragment``})
    values (
      ${scope.userId}, ${name}, ${prefix}, ${sql.binary(hash)}, ${readOnly},
      ${expiresAt === null ? null : sql.timestamp(expiresAt)},
      ${workspaceIds === null ? null : sql.array(workspaceIds, 'int4')}${kind.hasScopes ? sql.fragment`, ${given}` : sql.fragment``}
    )
    returning ${columnsOf(kind)}
  `);
}

/** Revokes a credential of the scope's user; false when there is none that is not revoked. */
export async function revokeCredential(
  scope: Scope,
  transaction: Transaction,
  kind: CredentialKind,
  id: number,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update ${tableOf(kind)} set revoked_at = now()
    where id = ${id} and user_id = ${scope.userId} and revoked_at is null
  `);
  return rowCount > 0;
}

/** Makes those that add credentials of one kind and user wait for each other, so that their number can be bounded. */
export async function lockCredentials(scope: Scope, transaction: Transaction, kind: CredentialKind): Promise<void> {
  await transaction.query(
    sql.unsafe`select pg_advisory_xact_lock(hashtext(${kind.table}::text), ${scope.userId}::integer)`,
  );
}
