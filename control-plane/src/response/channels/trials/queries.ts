import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const testerRow = z.object({
  email: z.string().nullable(),
  email_verified: z.boolean(),
  locale: z.enum(['en', 'ru']),
  timezone: z.string(),
});

/** What a test needs to know of the scope's user. */
export async function readTester(scope: Scope, tx: Transaction): Promise<z.output<typeof testerRow>> {
  return tx.one(sql.type(testerRow)`
    select email, email_verified, locale, timezone from users where id = ${scope.userId}`);
}
