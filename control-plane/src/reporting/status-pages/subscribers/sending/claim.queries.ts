import { subscriberKinds } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { verifiedDomain } from '../../view/page-address.ts';
import { locales } from '../../view/locale.ts';
import { staleMs } from '../news/news.ts';
import { togetherSeconds } from '../news/news.queries.ts';

/**
 * Messages that the installation sends to subscribers in a second, all processes together: what servers of mail take from one sender without
 * slowing it down, with room for alerts beside them.
 */
export const mostPerSecond = 20;
/** Longer than a mail server may take. */
const leaseSeconds = 120;
/** Messages that are given up one after another until the subscriber is. */
const mostFailures = 3;

const claimedRow = z.object({
  id: z.string(),
  subscriber_id: z.number(),
  subject: z.string(),
  told_id: z.string(),
  claimed_id: z.string(),
  attempts: z.number(),
  kind: z.enum(subscriberKinds),
  locale: z.enum(locales),
  target_sealed: z.instanceof(Buffer),
  secret_sealed: z.instanceof(Buffer).nullable(),
  token_sealed: z.instanceof(Buffer),
  page_id: z.number(),
  page_name: z.string(),
  page_public_id: z.string(),
  slug: z.string(),
  domain: z.string().nullable(),
  timezone: z.string(),
});
/** A message that this process may send now. */
export type ClaimedNotice = z.output<typeof claimedRow>;

/** Whether any message is due: the one statement of a second in which nothing is. */
async function areDue(worker: DatabasePool): Promise<boolean> {
  return worker.exists(sql.unsafe`
    select from status_page_notices where told_id < wanted_id and due_at <= clock_timestamp()`);
}

/**
 * Leases the messages that are due, of all pages in turn, as many as the second has room for. One whose sender was killed comes again when its lease
 * is over, with what it told then. Pages that are not published, and subscribers who have left, have none.
 */
export async function claimNotices(worker: DatabasePool): Promise<readonly ClaimedNotice[]> {
  if (!(await areDue(worker))) return [];
  return worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended('notices of status pages', 0))`);
    return tx.any(sql.type(claimedRow)`
      with busy as (
        select distinct page_id from status_page_notices where told_id < wanted_id and due_at <= clock_timestamp()),
      due as (
        select c.id, row_number() over (partition by c.page_id order by c.due_at, c.id) as turn
        from busy join status_pages p on p.id = busy.page_id and p.is_published and p.deleted_at is null
          join workspaces w on w.id = p.workspace_id and w.deleted_at is null
          cross join lateral (
            select n.id, n.page_id, n.due_at from status_page_notices n
              join status_page_subscribers s on s.id = n.subscriber_id and s.state = 'active'
            where n.page_id = busy.page_id and n.told_id < n.wanted_id and n.due_at <= clock_timestamp()
              and (n.leased_until is null or n.leased_until <= clock_timestamp())
            order by n.due_at, n.id limit ${mostPerSecond}) c),
      chosen as (
        select id from due order by turn, id limit greatest(0, ${mostPerSecond} - (
          select count(*) from status_page_notices where tried_at > clock_timestamp() - interval '1 second'))),
      -- Those that get more news now come next time.
      locked as (select n.id from status_page_notices n where n.id in (select id from chosen) for update skip locked),
      claimed as (
        update status_page_notices set claimed_id = coalesce(claimed_id, wanted_id), attempts = attempts + 1,
          tried_at = clock_timestamp(), leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
        where id in (select id from locked)
        returning id, subscriber_id, subject, told_id, claimed_id, attempts)
      select c.id::text as id, c.subscriber_id, c.subject, c.told_id::text as told_id, c.claimed_id::text as claimed_id, c.attempts, s.kind,
        s.locale, s.target_sealed, s.secret_sealed, s.token_sealed, p.id as page_id, p.name as page_name, p.public_id as page_public_id,
        p.slug, ${verifiedDomain} as domain, p.timezone
      from claimed c join status_page_subscribers s on s.id = c.subscriber_id join status_pages p on p.id = s.page_id
      order by c.id`);
  });
}

const newsRow = z.object({ page_id: z.number(), subject: z.string(), id: z.string(), facts: z.unknown() });
export type StoredNews = z.output<typeof newsRow>;

/** All news that some messages tell of. */
export async function newsOfNotices(
  worker: DatabasePool,
  notices: readonly ClaimedNotice[],
): Promise<readonly StoredNews[]> {
  if (notices.length === 0) return [];
  const ids = sql.array(
    notices.map(({ id }) => id),
    'int8',
  );
  return worker.any(sql.type(newsRow)`
    select distinct on (n.id) n.page_id, n.subject, n.id::text as id, n.facts
    from status_page_notices x join status_page_news n on n.page_id = x.page_id and n.subject = x.subject
      and n.id > x.told_id and n.id <= x.claimed_id
    where x.id = any(${ids}) order by n.id`);
}

type Lease = Pick<ClaimedNotice, 'id' | 'claimed_id' | 'subscriber_id'>;

/** Whoever's lease ran out may be told by another process at the same time; what they note is the same. */
const isThis = ({ id, claimed_id: claimedId }: Lease) =>
  sql.fragment`id = ${id}::bigint and claimed_id = ${claimedId}::bigint and told_id < ${claimedId}::bigint`;

/** The message is with its receiver. What came in the meantime waits until it may be told. */
export async function noteTold(worker: DatabasePool, lease: Lease): Promise<void> {
  await worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`
      update status_page_notices set told_id = claimed_id, claimed_id = null, leased_until = null, attempts = 0, told_at = clock_timestamp(),
        due_at = clock_timestamp() + make_interval(secs => ${togetherSeconds})
      where ${isThis(lease)}`);
    await tx.query(sql.unsafe`
      update status_page_subscribers set failures = 0 where id = ${lease.subscriber_id} and failures > 0`);
  });
}

/** It failed and is tried again. */
export async function putBack(worker: DatabasePool, lease: Lease, afterSeconds: number): Promise<void> {
  await worker.query(sql.unsafe`
    update status_page_notices set leased_until = null, due_at = clock_timestamp() + make_interval(secs => ${afterSeconds})
    where ${isThis(lease)}`);
}

/** It is not sent. @param fault that of the receiver: `message` counts against them, `gone` ends it at once, `none` says nothing of them */
export async function giveUp(worker: DatabasePool, lease: Lease, fault: 'none' | 'message' | 'gone'): Promise<void> {
  await worker.transaction(async (tx) => {
    const { rowCount } = await tx.query(sql.unsafe`
      update status_page_notices set told_id = claimed_id, claimed_id = null, leased_until = null, attempts = 0,
        due_at = clock_timestamp()
      where ${isThis(lease)}`);
    if (rowCount === 1 && fault !== 'none') await countFailure(tx, lease.subscriber_id, fault === 'gone');
  });
}

async function countFailure(tx: Transaction, id: number, isGone: boolean): Promise<void> {
  const { rowCount } = await tx.query(sql.unsafe`
    update status_page_subscribers set failures = failures + 1,
      state_at = case when ${isGone} or failures + 1 >= ${mostFailures} then clock_timestamp() else state_at end,
      state = case when ${isGone} or failures + 1 >= ${mostFailures} then 'failed' else state end
    where id = ${id} and state = 'active' returning id`);
  if (rowCount === 0) return;
  await tx.query(sql.unsafe`
    delete from status_page_notices n using status_page_subscribers s
    where s.id = ${id} and s.state = 'failed' and n.subscriber_id = s.id and n.told_id < n.wanted_id`);
}

/** Forgets who did not confirm, who left, what is no news any more, and what was told long ago. For the worker login. */
export async function sweepSubscribers(
  worker: DatabasePool,
  { pendingDays, unsubscribedDays }: { readonly pendingDays: number; readonly unsubscribedDays: number },
): Promise<void> {
  await worker.query(sql.unsafe`
    delete from status_page_subscribers
    where (state = 'pending' and greatest(state_at, asked_at) < now() - make_interval(days => ${pendingDays}))
      or (state in ('unsubscribed', 'failed') and state_at < now() - make_interval(days => ${unsubscribedDays}))`);
  await worker.query(sql.unsafe`
    update status_page_notices set told_id = wanted_id, claimed_id = null, leased_until = null
    where told_id < wanted_id and due_at < now() - interval '1 millisecond' * ${staleMs}`);
  await worker.query(sql.unsafe`
    delete from status_page_notices where told_id = wanted_id and due_at < now() - interval '30 days'`);
  await worker.query(sql.unsafe`
    delete from status_page_news n where n.created_at < now() - interval '30 days'
      and not exists (select from status_page_notices x
        where x.page_id = n.page_id and x.subject = n.subject and x.told_id < x.wanted_id)`);
}

/** When one is due next, a query of one instant. */
export const firstDue = sql.fragment`select min(due_at) from status_page_notices where told_id < wanted_id`;
