import type { CreateFeedback, SetFeedbackStatus } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

/** Whose items a request may see: those of its user, or of an administrator all. */
export type FeedbackScope = Scope & { readonly isAdministrator: boolean };

const feedbackRow = z.object({
  id: z.number(),
  user_id: z.number().nullable(),
  kind: z.enum(['bug', 'idea', 'question', 'praise']),
  message: z.string(),
  page: z.string().nullable(),
  may_contact: z.boolean(),
  version: z.string(),
  user_agent: z.string().nullable(),
  status: z.enum(['new', 'seen', 'planned', 'done', 'declined']),
  reply: z.string().nullable(),
  replied_at: z.number().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type FeedbackRow = z.output<typeof feedbackRow>;

const columns = sql.fragment`f.id, f.user_id, f.kind, f.message, f.page, f.may_contact, f.version, f.user_agent, f.status, f.reply,
  f.replied_at, f.created_at, f.updated_at`;
const visible = (scope: FeedbackScope) => sql.fragment`(${scope.isAdministrator} or f.user_id = ${scope.userId})`;
const instant = (ms: number) => sql.fragment`${sql.timestamp(new Date(ms))}::timestamptz`;
const dayMs = 86_400_000;

/** How many items the scope's user has sent in 24 hours, and when the oldest of them was sent. Two requests of one user wait for each other. */
export async function countOfDay(
  scope: Scope,
  transaction: Transaction,
  nowMs: number,
): Promise<{ readonly sent: number; readonly oldestMs: number | null }> {
  await transaction.query(sql.unsafe`select pg_advisory_xact_lock(hashtext('feedback'), ${scope.userId}::integer)`);
  const row = await transaction.one(sql.type(z.object({ sent: z.number(), oldest: z.number().nullable() }))`
    select count(*)::integer as sent, min(created_at) as oldest from feedback
    where user_id = ${scope.userId} and created_at > ${instant(nowMs - dayMs)}`);
  return { sent: row.sent, oldestMs: row.oldest };
}

/** Keeps an item of the scope's user. */
export async function insertFeedback(
  scope: Scope,
  transaction: Transaction,
  given: CreateFeedback,
  from: { readonly version: string; readonly userAgent: string | null; readonly nowMs: number },
): Promise<FeedbackRow> {
  return transaction.one(sql.type(feedbackRow)`
    insert into feedback as f (user_id, kind, message, page, may_contact, version, user_agent, created_at, updated_at)
    values (${scope.userId}, ${given.kind}, ${given.message}, nullif(${given.page ?? null}, ''), ${given.may_contact}, ${from.version},
      ${from.userAgent}, ${instant(from.nowMs)}, ${instant(from.nowMs)})
    returning ${columns}`);
}

/** A page of the visible items, newest first, and how many there are. */
export async function listFeedback(
  scope: FeedbackScope,
  transaction: Transaction,
  wanted: {
    readonly status: string | null;
    readonly kind: string | null;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<{ readonly rows: readonly FeedbackRow[]; readonly total: number }> {
  const where = sql.fragment`${visible(scope)} and (${wanted.status}::text is null or f.status = ${wanted.status})
    and (${wanted.kind}::text is null or f.kind = ${wanted.kind})`;
  const rows = await transaction.any(sql.type(feedbackRow)`
    select ${columns} from feedback f where ${where} order by f.id desc limit ${wanted.limit} offset ${wanted.offset}`);
  const total = await transaction.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from feedback f where ${where}`);
  return { rows, total };
}

/** A visible item, or null. */
export async function findFeedback(
  scope: FeedbackScope,
  transaction: Transaction,
  id: number,
): Promise<FeedbackRow | null> {
  return transaction.maybeOne(sql.type(feedbackRow)`
    select ${columns} from feedback f where f.id = ${id} and ${visible(scope)}`);
}

/**
 * The addresses of authors who may be contacted, by item. Row-level security hides other accounts, so this is a function of the closed list,
 * which answers administrators alone.
 */
export async function addressesOf(
  scope: FeedbackScope,
  transaction: Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (!scope.isAdministrator || ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(z.object({ id: z.number(), email: z.string() }))`
    select id, email from identity_feedback_addresses(${sql.array([...ids], 'int4')})`);
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** Sets the status and, where one is given, the reply; null when there is no such item. */
export async function setStatus(
  scope: FeedbackScope,
  transaction: Transaction,
  id: number,
  given: SetFeedbackStatus,
  nowMs: number,
): Promise<(FeedbackRow & { readonly has_new_reply: boolean }) | null> {
  const isGiven = given.reply !== undefined;
  const reply = given.reply ?? null;
  return transaction.maybeOne(sql.type(feedbackRow.extend({ has_new_reply: z.boolean() }))`
    with former as materialized (
      select f.id, ${isGiven} and f.reply is distinct from ${reply} as has_changed from feedback f
      where f.id = ${id} and ${visible(scope)} for update)
    update feedback f set
      status = ${given.status}, updated_at = ${instant(nowMs)},
      reply = case when former.has_changed then ${reply} else f.reply end,
      replied_at = case when not former.has_changed then f.replied_at when ${reply}::text is not null then ${instant(nowMs)} end
    from former where f.id = former.id
    returning ${columns}, former.has_changed and f.reply is not null as has_new_reply`);
}

/** Removes a visible item. False when there is none. */
export async function deleteFeedback(scope: FeedbackScope, transaction: Transaction, id: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    delete from feedback f where f.id = ${id} and ${visible(scope)}`);
  return rowCount === 1;
}
