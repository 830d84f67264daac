import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

/** Language of the caller, BCP 47. */
export async function localeOf(connection: CommonQueryMethods, scope: Scope): Promise<string> {
  const locale = await connection.maybeOneFirst(
    sql.type(z.object({ locale: z.string() }))`select locale from users where id = ${scope.userId}`,
  );
  return locale ?? 'en';
}
