import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../database/pools.ts';
import type { Transaction } from '../database/pools.ts';

/** Longer than a mailer may take. */
const leaseSeconds = 120;
const atOnce = 4;
const keepGivenUpDays = 7;

const mailRow = z.object({
  id: z.string(),
  sealed: z.instanceof(Buffer),
  attempts: z.number(),
  created_at: z.number(),
  file_ids: z.array(z.string()),
});
/** A mail that this process may send now. */
export type QueuedMail = z.output<typeof mailRow>;

/** Takes over a mail from the outbox, in the transaction that ends its row there; the row keeps nothing of what was in it. */
export async function queueMail(
  transaction: Transaction,
  outboxId: number,
  mail: { readonly sealed: Buffer; readonly priority: number; readonly fileIds: readonly string[] },
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into mails (sealed, priority, file_ids)
    values (${sql.binary(mail.sealed)}, ${mail.priority}, ${sql.array([...mail.fileIds], 'uuid')})`);
  await transaction.query(sql.unsafe`update outbox set payload = '{}' where id = ${outboxId}`);
}

/** Leases the mails that are due, at most four; another process gets one whose lease ran out. */
export async function claimMails(worker: DatabasePool): Promise<readonly QueuedMail[]> {
  return worker.any(sql.prepared('mails-claimed', mailRow)`
    update mails set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    where id in (
      select id from mails
      where given_up_at is null and due_at <= now() and (leased_until is null or leased_until < now())
      order by priority, due_at limit ${atOnce} for update skip locked)
    returning id, sealed, attempts, created_at, file_ids`);
}

/** The mail is with the server: nothing of it is kept. */
export async function removeSent(worker: DatabasePool, id: string): Promise<void> {
  await worker.query(sql.unsafe`delete from mails where id = ${id}::uuid`);
}

/** It failed and is tried again. */
export async function putBack(worker: DatabasePool, id: string, error: string, afterSeconds: number): Promise<void> {
  await worker.query(sql.unsafe`
    update mails set leased_until = null, last_error = ${error},
      due_at = clock_timestamp() + make_interval(secs => ${afterSeconds})
    where id = ${id}::uuid`);
}

/** It will not be sent: what was in it goes, why it failed is kept for a week. */
export async function giveUp(worker: DatabasePool, id: string, error: string): Promise<void> {
  await worker.query(sql.unsafe`
    update mails set sealed = null, given_up_at = clock_timestamp(), leased_until = null, last_error = ${error}
    where id = ${id}::uuid`);
}

/** Removes what was given up a week ago. */
export async function sweepGivenUp(worker: DatabasePool): Promise<void> {
  await worker.query(
    sql.unsafe`delete from mails where given_up_at < now() - make_interval(days => ${keepGivenUpDays})`,
  );
}

/** When one is due next, a query of one instant. */
export const firstDue = sql.fragment`
  select min(greatest(due_at, coalesce(leased_until, due_at))) from mails where given_up_at is null`;
