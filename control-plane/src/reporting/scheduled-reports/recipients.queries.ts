import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import type { Sealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { reportToken, tokenSealedFor } from './links/token.ts';
import type { Recipient } from './row.ts';
import type { StoredRecipient } from './values.ts';

const recipientRow = z.object({
  id: z.number(),
  report_id: z.number(),
  address: z.string(),
  locale: z.enum(['en', 'ru']).nullable(),
  is_own: z.boolean(),
  is_verified: z.boolean(),
  has_ended_this: z.boolean(),
  has_ended_all: z.boolean(),
  has_agreed: z.boolean(),
  is_given_up: z.boolean(),
  sealed: z.instanceof(Buffer),
});
type RecipientRow = z.output<typeof recipientRow>;

/** A recipient with what a mail to it needs. */
export type MailedRecipient = Recipient & { readonly reportId: number; readonly sealed: Buffer };

/** What may be sent to a recipient, by the rules of mail targets: to those who have agreed, and to the owner's own confirmed address. */
function stateOf(row: RecipientRow): Recipient['state'] {
  if (row.has_ended_this || row.has_ended_all) return 'unsubscribed';
  if (row.is_given_up) return 'asked';
  return row.has_agreed || (row.is_own && row.is_verified) ? 'active' : 'asked';
}

/**
 * The listed recipients of reports, in their order, with what their readers have said; in one statement. An own address that is not there, since its
 * owner has none or is gone, is left out. For the worker login: what readers have said stands with the owner of the report.
 */
export async function recipientsOf(
  worker: CommonQueryMethods,
  reportIds: readonly number[],
): Promise<ReadonlyMap<number, readonly MailedRecipient[]>> {
  if (reportIds.length === 0) return new Map();
  const rows = await worker.any(sql.type(recipientRow)`
    select p.id, p.report_id, a.address, p.locale, coalesce(a.address = u.email, false) as is_own,
      coalesce(u.email_verified, false) as is_verified, p.unsubscribed_at is not null as has_ended_this,
      t.unsubscribed_at is not null as has_ended_all, t.confirmed_at is not null as has_agreed,
      t.disabled_at is not null as is_given_up, p.unsubscribe_sealed as sealed
    from scheduled_report_recipients p
    join scheduled_reports r on r.id = p.report_id
    left join users u on u.id = r.owner_id and u.deleted_at is null
    cross join lateral (select coalesce(p.address, u.email) as address) a
    left join channel_targets t on t.user_id = r.owner_id and t.channel = 'email' and t.target = a.address
    where p.report_id = any(${sql.array(reportIds, 'int4')}) and p.is_listed and a.address is not null
    order by p.report_id, p.place`);
  const recipients = rows.map((row) => ({
    id: row.id,
    reportId: row.report_id,
    address: row.address,
    locale: row.locale,
    state: stateOf(row),
    sealed: row.sealed,
  }));
  return Map.groupBy(recipients, ({ reportId }) => reportId);
}

/**
 * Lists recipients in place of those that are listed. Who stays keeps their link, and whoever has unsubscribed stays so, also when their address is taken
 * out and listed anew.
 */
export async function writeRecipients(
  tx: Transaction,
  sealer: Sealer,
  report: { readonly id: number; readonly workspaceId: number },
  recipients: readonly StoredRecipient[],
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from scheduled_report_recipients p where p.report_id = ${report.id} and p.unsubscribed_at is null
      and not exists (
        select from ${sql.unnest(
          recipients.map(({ address }) => [address]),
          ['text'],
        )} as g (address) where g.address is not distinct from p.address)`);
  await tx.query(sql.unsafe`
    update scheduled_report_recipients set is_listed = false where report_id = ${report.id} and is_listed`);
  const rows = recipients.map(({ address, locale }, place) => {
    const token = reportToken.make();
    return [address, locale, place, randomKeyHash(token), sealer.seal(token, tokenSealedFor)];
  });
  await tx.query(sql.unsafe`
    insert into scheduled_report_recipients as p (workspace_id, report_id, address, locale, place, unsubscribe_hash, unsubscribe_sealed)
    select ${report.workspaceId}, ${report.id}, g.address, g.locale, g.place, g.hash, g.sealed
    from ${sql.unnest(rows, ['text', 'text', 'int2', 'bytea', 'bytea'])} as g (address, locale, place, hash, sealed)
    on conflict (report_id, address) do update set locale = excluded.locale, place = excluded.place, is_listed = true`);
}
