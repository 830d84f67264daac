import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';

const locale = z.enum(['en', 'ru']);
const hourMs = 3_600_000;
const mostAtOnce = 500;
const instant = (ms: number) => sql.fragment`${sql.timestamp(new Date(ms))}::timestamptz`;

const readerRow = z.object({ id: z.number(), email: z.string(), locale });

/** The administrators of the installation whose address is confirmed. */
export async function administrators(transaction: Transaction): Promise<readonly z.output<typeof readerRow>[]> {
  return transaction.any(sql.type(readerRow)`
    select id, email, locale from users
    where is_administrator and deleted_at is null and email is not null and email_verified order by id`);
}

/** Notes that a bundle is mailed now. False when one was in the last hour, or when nothing waits. */
export async function beginHour(transaction: Transaction, nowMs: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update feedback_mailing set mailed_at = ${instant(nowMs)}
    where mailed_at <= ${instant(nowMs - hourMs)} and exists (select from feedback where mailed_at is null)`);
  return rowCount === 1;
}

const itemRow = z.object({
  id: z.number(),
  user_id: z.number().nullable(),
  kind: z.enum(['bug', 'idea', 'question', 'praise']),
  message: z.string(),
});
export type FeedbackItem = z.output<typeof itemRow>;

/** Takes the oldest items that the administrators were not mailed about, oldest first. */
export async function takeUnmailed(transaction: Transaction, nowMs: number): Promise<readonly FeedbackItem[]> {
  return transaction.any(sql.type(itemRow)`
    with taken as (
      update feedback set mailed_at = ${instant(nowMs)}
      where id in (select id from feedback where mailed_at is null order by id limit ${mostAtOnce})
      returning id, user_id, kind, message)
    select id, user_id, kind, message from taken order by id`);
}

const replyRow = z.object({ email: z.string(), locale, message: z.string(), reply: z.string() });

/** The reply of that time with its author, whose address is confirmed; null when it no longer stands or nobody can be mailed. */
export async function findReply(
  transaction: Transaction,
  id: number,
  repliedAtMs: number,
): Promise<z.output<typeof replyRow> | null> {
  return transaction.maybeOne(sql.type(replyRow)`
    select u.email, u.locale, f.message, f.reply from feedback f join users u on u.id = f.user_id
    where f.id = ${id} and f.reply is not null and f.replied_at = ${instant(repliedAtMs)}
      and u.deleted_at is null and u.email is not null and u.email_verified`);
}

/** Removes items that are older than three years. */
export async function sweepFeedback(worker: DatabasePool, nowMs: number): Promise<void> {
  await worker.query(sql.unsafe`delete from feedback where created_at < ${instant(nowMs)} - interval '3 years'`);
}
