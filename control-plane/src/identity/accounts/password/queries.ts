import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

/**
 * Sets the password of the scope's user in place of the one that was proven.
 * @param provenHash the hash that the present password was compared with; null: the account had none
 * @returns false when it was changed meanwhile
 */
export async function replacePassword(
  scope: Scope,
  transaction: Transaction,
  provenHash: string | null,
  newHash: string,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update users set password_hash = ${newHash}, version = version + 1, updated_at = now()
    where id = ${scope.userId} and password_hash is not distinct from ${provenHash} and deleted_at is null`);
  return rowCount === 1;
}

const resetRow = z.object({ email: z.string().nullable(), locale: z.enum(['en', 'ru']), was_verified: z.boolean() });

/**
 * Sets the password of the scope's user by a mailed token, which also proves the address when the account still has it.
 * @returns the account; null when it was deleted meanwhile
 */
export async function resetPassword(
  scope: Scope,
  transaction: Transaction,
  newHash: string,
  mailedTo: string,
): Promise<z.output<typeof resetRow> | null> {
  return transaction.maybeOne(sql.type(resetRow)`
    update users set password_hash = ${newHash}, version = users.version + 1, updated_at = now(),
      email_verified = users.email_verified or users.email = ${mailedTo}
    from users as former
    where users.id = ${scope.userId} and former.id = users.id and users.deleted_at is null
    returning users.email, users.locale, former.email_verified as was_verified`);
}

const addresseeRow = z.object({ id: z.number(), locale: z.enum(['en', 'ru']) });

/** The account of an address, locked. By the worker login, since nobody's scope is known yet. */
export async function lockAddressee(
  transaction: Transaction,
  email: string,
): Promise<z.output<typeof addresseeRow> | null> {
  return transaction.maybeOne(sql.type(addresseeRow)`
    select id, locale from users where email = ${email} and deleted_at is null for no key update`);
}
