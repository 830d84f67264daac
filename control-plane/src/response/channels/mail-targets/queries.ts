import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const linkRow = z.object({
  purpose: z.enum(['confirm', 'unsubscribe']).nullable(),
  target: z.string().nullable(),
  locale: z.enum(['en', 'ru']).nullable(),
});

/** What the token of a link is for; with `act` it is done. Nulls: there is no such link any more. Before the tenant is known. */
export async function useMailLink(
  pool: DatabasePool,
  tokenHash: Buffer,
  act: boolean,
): Promise<z.output<typeof linkRow>> {
  return pool.one(sql.type(linkRow)`
    select purpose, target, locale from identity_mail_target(${sql.binary(tokenHash)}, ${act})`);
}

/** Whether whoever reads an address has ended the alerts of the scope's user to it. */
export async function hasUnsubscribed(scope: Scope, tx: Transaction, address: string): Promise<boolean> {
  return tx.exists(sql.unsafe`
    select from channel_targets
    where user_id = ${scope.userId} and channel = 'email' and target = ${address} and unsubscribed_at is not null`);
}

const days = 7;

/** Notes that the reader of an address was asked, by a token that is good for 7 days; an earlier one ends. False: they have agreed already. */
export async function askConsent(scope: Scope, tx: Transaction, address: string, tokenHash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    insert into channel_targets as t (user_id, channel, target, confirm_hash, confirm_until)
    values (${scope.userId}, 'email', ${address}, ${sql.binary(tokenHash)}, now() + make_interval(days => ${days}))
    on conflict (user_id, channel, target) do update set confirm_hash = excluded.confirm_hash, confirm_until = excluded.confirm_until,
      updated_at = clock_timestamp()
    where t.confirmed_at is null or t.unsubscribed_at is not null`);
  return rowCount > 0;
}
