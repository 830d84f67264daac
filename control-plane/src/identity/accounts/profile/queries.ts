import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

/** What a profile may be changed to; what is absent stays. */
export type ProfileChange = {
  readonly display_name?: string | null | undefined;
  readonly locale?: 'en' | 'ru' | undefined;
  readonly timezone?: string | undefined;
};

/** Changes the profile of the scope's user. */
export async function changeProfile(scope: Scope, transaction: Transaction, change: ProfileChange): Promise<void> {
  const { display_name: name, locale, timezone } = change;
  await transaction.query(sql.unsafe`
    update users set
      display_name = case when ${name !== undefined} then ${name ?? null} else display_name end,
      locale = coalesce(${locale ?? null}, locale), timezone = coalesce(${timezone ?? null}, timezone),
      version = version + 1, updated_at = now()
    where id = ${scope.userId}`);
}

const profileRow = z.object({ user_id: z.number().nullable(), display_name: z.string().nullable() });

/** What anybody may know of a user; nulls when there is none. Before the tenant is known. */
export async function findPublicProfile(pool: DatabasePool, userId: number): Promise<z.output<typeof profileRow>> {
  return pool.one(sql.type(profileRow)`select user_id, display_name from identity_public_profile(${userId})`);
}

const loaded = new WeakMap<DatabasePool, Promise<ReadonlyMap<string, string>>>();

/** Time zones that the database knows, by their lower case; read once, since the view reads some thousand files. */
export async function databaseTimezones(pool: DatabasePool): Promise<ReadonlyMap<string, string>> {
  const known = loaded.get(pool);
  if (known !== undefined) return known;
  const loading = pool
    .anyFirst(sql.type(z.object({ name: z.string() }))`
      select name from pg_timezone_names where name !~ '^(posix|right)/' and name not in ('posixrules', 'localtime', 'Factory')`)
    .then((names) => new Map(names.map((name) => [name.toLowerCase(), name])));
  loaded.set(pool, loading);
  try {
    return await loading;
  } catch (error) {
    loaded.delete(pool);
    throw error;
  }
}
