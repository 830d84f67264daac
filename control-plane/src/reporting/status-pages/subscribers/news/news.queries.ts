import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import type { Scope } from '../../../../platform/database/scope.ts';
import type { ToldMaintenance } from './changed-plans.ts';
import { endKey } from './news.ts';
import { newsFacts } from './news-facts.ts';
import type { News } from './news-facts.ts';

/** A subscriber gets one message about one incident in so long; what comes within it is put together. */
export const togetherSeconds = 300;

const pageRow = z.object({ id: z.number(), workspace_id: z.number() });
export type ListenedPage = z.output<typeof pageRow>;

/** Published pages that somebody has subscribed to. @param workspaceIds null: of all workspaces. For the worker login */
export async function listenedPages(
  worker: DatabasePool,
  workspaceIds: ReadonlySet<number> | null,
): Promise<readonly ListenedPage[]> {
  if (workspaceIds?.size === 0) return [];
  const among = workspaceIds === null ? null : sql.array([...workspaceIds], 'int4');
  return worker.any(sql.type(pageRow)`
    select p.id, p.workspace_id from status_pages p join workspaces w on w.id = p.workspace_id and w.deleted_at is null
    where p.is_published and p.deleted_at is null and (${among}::integer[] is null or p.workspace_id = any(${among}::integer[]))
      and exists (select from status_page_subscribers s where s.page_id = p.id and s.state = 'active')
    order by p.id`);
}

/** Holds the news of a page until the transaction ends. @returns false: another process looks at them */
export async function holdNews(tx: Transaction, pageId: number): Promise<boolean> {
  return tx.oneFirst(sql.type(z.object({ held: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('news of page ' || ${pageId}::integer, 0)) as held`);
}

const ms = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`floor(extract(epoch from ${column}) * 1000)::float8`;
const toldRow = z.object({
  id: z.string(),
  subject: z.string(),
  component_ids: z.array(z.string()),
  facts: z.unknown(),
  is_gone: z.boolean(),
  is_public: z.boolean(),
  notify: z.boolean(),
  is_recurring: z.boolean(),
  changed_at: z.number(),
  next_starts_at: z.number().nullable(),
  next_ends_at: z.number().nullable(),
});

/** What was told last of each maintenance, with how it stands now. */
export async function toldMaintenance(scope: Scope, tx: Transaction, pageId: number): Promise<ToldMaintenance[]> {
  const rows = await tx.any(sql.type(toldRow)`
    select n.id::text as id, n.subject, n.component_ids, n.facts, x.deleted_at is not null or x.status = 'cancelled' as is_gone, x.is_public,
      x.notify, x.rrule is not null as is_recurring, ${ms(sql.fragment`coalesce(x.deleted_at, x.updated_at)`)} as changed_at,
      ${ms(sql.fragment`x.next_starts_at`)} as next_starts_at, ${ms(sql.fragment`x.next_ends_at`)} as next_ends_at
    from (
      select distinct on (subject) * from status_page_news
      where page_id = ${pageId} and workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) and subject like 'maintenance %'
      order by subject, id desc) n
      join maintenance x on x.public_id = substr(n.subject, ${'maintenance '.length + 1}) and x.workspace_id = n.workspace_id`);
  return rows.flatMap((row): ToldMaintenance[] => {
    const facts = newsFacts.safeParse(row.facts);
    if (!facts.success || facts.data.type !== 'maintenance') return [];
    const { next_starts_at: startsMs, next_ends_at: endsMs } = row;
    return [
      {
        newsId: row.id,
        subject: row.subject,
        facts: facts.data,
        componentIds: row.component_ids,
        isGone: row.is_gone,
        isPublic: row.is_public,
        isQuiet: !row.notify,
        isRecurring: row.is_recurring,
        changedMs: row.changed_at,
        next: startsMs === null || endsMs === null ? null : { startsMs, endsMs },
      },
    ];
  });
}

/** Incidents that are open again will end again. */
export async function forgetEnds(
  scope: Scope,
  connection: CommonQueryMethods,
  pageId: number,
  subjects: readonly string[],
): Promise<void> {
  if (subjects.length === 0) return;
  await connection.query(sql.unsafe`
    update status_page_news set key = key || ' ' || id
    where page_id = ${pageId} and workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
      and subject = any(${sql.array([...subjects], 'text')}) and key = ${endKey}`);
}

/** Whatever waits of things that a page does not show any more is not sent. */
export async function dropHidden(
  scope: Scope,
  connection: CommonQueryMethods,
  pageId: number,
  shown: readonly string[],
): Promise<void> {
  await connection.query(sql.unsafe`
    update status_page_notices set told_id = wanted_id, claimed_id = null
    where page_id = ${pageId} and workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
      and told_id < wanted_id and subject <> all(${sql.array([...shown], 'text')})`);
}

/**
 * Stores what is new, and queues it for every subscriber whom it concerns: two statements for any number of subscribers. What was stored before is
 * told nobody again, whoever stores it.
 * @returns how many messages wait for it
 */
export async function queueNews(
  scope: Scope,
  tx: Transaction,
  page: ListenedPage,
  news: readonly News[],
): Promise<number> {
  if (news.length === 0 || !scope.workspaceIds.includes(page.workspace_id)) return 0;
  const rows = news.map(({ subject, key, componentIds, knownMs, facts }, place) => ({
    subject,
    key,
    component_ids: componentIds,
    known_at: new Date(knownMs).toISOString(),
    facts,
    place,
  }));
  const { rowCount } = await tx.query(sql.unsafe`
    with told as (
      insert into status_page_news (workspace_id, page_id, subject, key, component_ids, facts, known_at)
      select ${page.workspace_id}, ${page.id}, n.subject, n.key, n.component_ids, n.facts, n.known_at
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as n (subject text, key text, component_ids text[], known_at timestamptz, facts jsonb, place integer)
      order by n.place
      on conflict (page_id, subject, key) do nothing
      returning id, subject, component_ids, known_at)
    insert into status_page_notices as x (workspace_id, page_id, subscriber_id, subject, told_id, wanted_id)
    select s.workspace_id, s.page_id, s.id, n.subject, min(n.id) - 1, max(n.id)
    from told n join status_page_subscribers s on s.page_id = ${page.id} and s.state = 'active' and s.active_at <= n.known_at
      and (s.component_ids = '{}' or s.component_ids && n.component_ids)
    group by s.workspace_id, s.page_id, s.id, n.subject
    on conflict (subscriber_id, subject) do update set wanted_id = excluded.wanted_id,
      -- Between the last message and these, others of the subject may have been told that do not concern the subscriber.
      told_id = case when x.told_id = x.wanted_id then excluded.told_id else x.told_id end,
      attempts = case when x.told_id = x.wanted_id then 0 else x.attempts end,
      due_at = case when x.told_id = x.wanted_id
        then greatest(clock_timestamp(), x.told_at + make_interval(secs => ${togetherSeconds})) else x.due_at end`);
  return rowCount;
}
