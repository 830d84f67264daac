import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const ownedRow = z.object({ id: z.number(), name: z.string(), others: z.number() });
/** An own workspace, and how many others are members of it. */
export type OwnedWorkspace = z.output<typeof ownedRow>;

/** The workspaces that the scope's user owns, locked: until the transaction ends nobody joins one of them. */
export async function lockOwnWorkspaces(scope: Scope, transaction: Transaction): Promise<readonly OwnedWorkspace[]> {
  const ids = await transaction.anyFirst(sql.typeAlias('id')`
    select id from workspaces where owner_id = ${scope.userId} and deleted_at is null order by id for no key update`);
  // In a statement of its own, which sees what those who were waited for have done.
  return transaction.any(sql.type(ownedRow)`
    select w.id, w.name, (
      select count(*)::integer from workspace_members m where m.workspace_id = w.id and m.user_id <> ${scope.userId}) as others
    from workspaces w where w.id = any(${sql.array(ids, 'int4')}) and w.owner_id = ${scope.userId} order by w.id`);
}

/**
 * Whether the scope's user is the only administrator of the installation. Other administrators who ask wait until the transaction has ended,
 * so that of two who are deleted at once one stays.
 */
export async function isLastAdministrator(_scope: Scope, transaction: Transaction): Promise<boolean> {
  return transaction.oneFirst(sql.type(z.object({ last: z.boolean() }))`
    select identity_is_last_administrator() as last`);
}

/** Takes away everything that the scope's user is known by and could sign in with; a number remains. False when that was done before. */
export async function markAccountDeleted(scope: Scope, transaction: Transaction): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update users set deleted_at = clock_timestamp(), email = null, password_hash = null, display_name = null,
      email_verified = false, is_administrator = false, version = version + 1, updated_at = clock_timestamp()
    where id = ${scope.userId} and deleted_at is null`);
  await transaction.query(sql.unsafe`delete from workspace_members where user_id = ${scope.userId}`);
  return rowCount === 1;
}

const referenceRow = z.object({
  schema: z.string(),
  table: z.string(),
  column: z.string(),
  on_delete: z.enum(['c', 'n']),
});

/**
 * Removes what would go, or be cleared, with the row of a deleted account, which stays because marks of its monitors refer to it: whatever
 * refers to an account by `on delete cascade` or `on delete set null`, those of later capabilities included. By the worker login.
 */
export async function removeWhatBelongsTo(scope: Scope, transaction: Transaction): Promise<void> {
  const references = await transaction.any(sql.type(referenceRow)`
    select n.nspname as schema, t.relname as table, a.attname as column, c.confdeltype as on_delete
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'users'::regclass and cardinality(c.conkey) = 1
      and c.confdeltype in ('c', 'n') and c.conparentid = 0
    order by t.relname, a.attname`);
  for (const { schema, table, column, on_delete } of references) {
    const place = sql.identifier([schema, table]);
    const name = sql.identifier([column]);
    await transaction.query(
      on_delete === 'c'
        ? sql.unsafe`delete from ${place} where ${name} = ${scope.userId}`
        : sql.unsafe`update ${place} set ${name} = null where ${name} = ${scope.userId}`,
    );
  }
}

/**
 * Forgets what the audit log tells of a deleted account: its own rows and those of its workspaces go, but that it was deleted; in the logs
 * of others its addresses are cleared. By the worker login.
 */
export async function forgetInAuditLog(scope: Scope, transaction: Transaction): Promise<void> {
  await transaction.query(sql.unsafe`
    delete from audit_log
    where (user_id = ${scope.userId} and workspace_id is null and action <> 'user.deleted')
      or workspace_id in (select id from workspaces where owner_id = ${scope.userId})`);
  await transaction.query(sql.unsafe`
    update audit_log set remote_address = null where user_id = ${scope.userId} and remote_address is not null`);
}
