import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';

type Page = { readonly id: number; readonly workspace_id: number };

/** Gives a locked page another domain, which waits for its proof; null takes the one away that it has. */
export async function writeDomain(
  tx: Transaction,
  page: Page,
  next: { readonly domain: string; readonly proof: string } | null,
): Promise<void> {
  if (next === null) {
    await tx.query(sql.unsafe`
      delete from status_page_domains where page_id = ${page.id} and workspace_id = ${page.workspace_id}`);
    return;
  }
  await tx.query(sql.unsafe`
    insert into status_page_domains (page_id, workspace_id, domain, proof)
    values (${page.id}, ${page.workspace_id}, ${next.domain}, ${next.proof})
    on conflict (page_id) do update set domain = excluded.domain, proof = excluded.proof, state = 'pending', checked_at = null, missing_since = null`);
}

/** The proof of a locked page stands. The index of verified domains makes it fail where that of another page stands. */
export async function markVerified(tx: Transaction, page: Page, nowMs: number): Promise<void> {
  await tx.query(sql.unsafe`
    update status_page_domains set state = 'verified', checked_at = ${at(nowMs)}, missing_since = null
    where page_id = ${page.id} and workspace_id = ${page.workspace_id}`);
}

const servedRow = z.object({
  domain: z.string(),
  slug: z.string(),
  workspace_id: z.number(),
  is_published: z.boolean(),
});
export type ServedDomain = z.output<typeof servedRow>;

/**
 * Verified domains of pages. For the worker login, since whoever asks for a host belongs to no workspace.
 * @param workspaceIds absent: of all
 */
export async function servedDomains(
  worker: CommonQueryMethods,
  workspaceIds?: readonly number[],
): Promise<readonly ServedDomain[]> {
  return worker.any(sql.type(servedRow)`
    select d.domain, p.slug, d.workspace_id, p.is_published
    from status_page_domains d join status_pages p on p.id = d.page_id and p.deleted_at is null
    where d.state = 'verified' and (
      ${workspaceIds === undefined ? null : sql.array([...workspaceIds], 'int4')}::integer[] is null
      or d.workspace_id = any(${sql.array([...(workspaceIds ?? [])], 'int4')}))`);
}

const dueRow = z.object({
  page_id: z.number(),
  workspace_id: z.number(),
  domain: z.string(),
  proof: z.string(),
  missing_since: z.number().nullable(),
});
export type DueDomain = z.output<typeof dueRow>;

const dayMs = 86_400_000;

/** Takes verified domains that were not looked at for a day; nobody else takes them for a day then. For the worker login. */
export async function takeDue(worker: DatabasePool, nowMs: number, most: number): Promise<readonly DueDomain[]> {
  return worker.any(sql.type(dueRow)`
    update status_page_domains d set checked_at = ${at(nowMs)}
    where d.page_id = any(array(
      select page_id from status_page_domains where state = 'verified' and checked_at <= ${at(nowMs - dayMs)}
      order by checked_at limit ${most} for update skip locked))
    returning d.page_id, d.workspace_id, d.domain, d.proof, d.missing_since`);
}

/** Notes since when a proof is gone. A domain that is another one meanwhile is left alone. */
export async function noteMissing(worker: CommonQueryMethods, due: DueDomain, missingMs: number | null): Promise<void> {
  await worker.query(sql.unsafe`
    update status_page_domains set missing_since = ${missingMs === null ? null : at(missingMs)}
    where page_id = ${due.page_id} and proof = ${due.proof} and state = 'verified'`);
}

const lostRow = z.object({ name: z.string(), email: z.string().nullable(), locale: z.enum(['en', 'ru']) });

/**
 * A page has lost its domain. @returns its name, and who owns its workspace; null: its domain is another one meanwhile
 */
export async function markLost(tx: Transaction, due: DueDomain): Promise<z.output<typeof lostRow> | null> {
  const { rowCount } = await tx.query(sql.unsafe`
    update status_page_domains set state = 'lost' where page_id = ${due.page_id} and proof = ${due.proof} and state = 'verified'`);
  if (rowCount === 0) return null;
  return tx.one(sql.type(lostRow)`
    with page as (
      update status_pages set version = version + 1, updated_at = clock_timestamp() where id = ${due.page_id}
      returning workspace_id, name)
    select page.name, case when u.email_verified then u.email end as email, u.locale
    from page join workspaces w on w.id = page.workspace_id join users u on u.id = w.owner_id`);
}

const at = (ms: number) => sql.timestamp(new Date(ms));
