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
export function askConsent(scope: Scope, tx: Transaction, address: string, tokenHash: Buffer): Promise<boolean> {
  return ask(scope, tx, address, tokenHash, sql.fragment`t.confirmed_at is null or t.unsubscribed_at is not null`);
}

/** The same where nobody was asked: false also where an earlier letter holds, the reader has unsubscribed, or the address was given up. */
export function askFirst(scope: Scope, tx: Transaction, address: string, tokenHash: Buffer): Promise<boolean> {
  return ask(scope, tx, address, tokenHash, isUnasked);
}

/** No letter holds, and nobody has answered one. */
const isUnasked = sql.fragment`
  t.confirmed_at is null and t.unsubscribed_at is null and t.disabled_at is null and coalesce(t.confirm_until <= now(), true)`;

async function ask(
  scope: Scope,
  tx: Transaction,
  address: string,
  tokenHash: Buffer,
  condition: ReturnType<typeof sql.fragment>,
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    insert into channel_targets as t (user_id, channel, target, confirm_hash, confirm_until)
    values (${scope.userId}, 'email', ${address}, ${sql.binary(tokenHash)}, now() + make_interval(days => ${days}))
    on conflict (user_id, channel, target) do update set confirm_hash = excluded.confirm_hash, confirm_until = excluded.confirm_until,
      updated_at = clock_timestamp()
    where ${condition}`);
  return rowCount > 0;
}

/** Of addresses, in their order, those of others whose readers nobody has asked for the scope's user. */
export async function unasked(scope: Scope, tx: Transaction, addresses: readonly string[]): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(z.object({ target: z.string() }))`
    select a.target from ${sql.unnest(
      addresses.map((address, place) => [address, place]),
      ['text', 'int4'],
    )} as a (target, place)
    join users u on u.id = ${scope.userId} and u.email is distinct from a.target
    left join channel_targets t on t.user_id = u.id and t.channel = 'email' and t.target = a.target
    where ${isUnasked} order by a.place`);
}
