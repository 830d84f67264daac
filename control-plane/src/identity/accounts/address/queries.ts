import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const confirmedRow = z.object({ former_email: z.string().nullable(), locale: z.enum(['en', 'ru']) });

/**
 * Makes a proven address the one of the scope's user.
 * @returns the address before, which may be the same; null when the account was deleted meanwhile
 * @throws UniqueIntegrityConstraintViolationError when another account has taken it
 */
export async function setProvenAddress(
  scope: Scope,
  transaction: Transaction,
  email: string,
): Promise<z.output<typeof confirmedRow> | null> {
  return transaction.maybeOne(sql.type(confirmedRow)`
    update users set email = ${email}, email_verified = true, version = users.version + 1, updated_at = now()
    from users as former
    where users.id = ${scope.userId} and former.id = users.id and users.deleted_at is null
    returning former.email as former_email, users.locale`);
}
