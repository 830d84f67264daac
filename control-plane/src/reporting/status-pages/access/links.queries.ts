import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { verifiedDomain } from '../view/page-address.ts';

/** A link is good for so long; it is asked for and opened at once. */
const goodMinutes = 15;

const pageRow = z.object({
  workspace_id: z.number(),
  slug: z.string(),
  domain: z.string().nullable(),
  access_version: z.number(),
  allowed_mail_domains: z.array(z.string()),
});

/** A published page, locked against other links. For the worker login. */
export async function lockAskedPage(tx: Transaction, pageId: number): Promise<z.output<typeof pageRow> | null> {
  return tx.maybeOne(sql.type(pageRow)`
    select p.workspace_id, p.slug, ${verifiedDomain} as domain, p.access_version, p.allowed_mail_domains from status_pages p
    where p.id = ${pageId} and p.is_published and p.deleted_at is null for no key update`);
}

/** How many links to a page an address was mailed in the last hour. For the worker login. */
export async function linksInLastHour(tx: Transaction, pageId: number, addressHash: Buffer): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from status_page_links
    where page_id = ${pageId} and address_hash = ${sql.binary(addressHash)} and created_at > clock_timestamp() - interval '1 hour'`);
}

/** Keeps a link that is about to be mailed. For the worker login. */
export async function insertLink(
  tx: Transaction,
  page: { readonly id: number; readonly workspaceId: number; readonly accessVersion: number },
  { tokenHash, addressHash }: { readonly tokenHash: Buffer; readonly addressHash: Buffer },
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into status_page_links (token_hash, workspace_id, page_id, access_version, address_hash, expires_at)
    values (${sql.binary(tokenHash)}, ${page.workspaceId}, ${page.id}, ${page.accessVersion}, ${sql.binary(addressHash)},
      clock_timestamp() + make_interval(mins => ${goodMinutes}))`);
}

/** Takes a link of a page. @returns whether it was good; of several requests at once one is told so */
export async function takeLink(
  scope: Scope,
  tx: CommonQueryMethods,
  pageId: number,
  tokenHash: Buffer,
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    update status_page_links l set used_at = clock_timestamp() from status_pages p
    where l.token_hash = ${sql.binary(tokenHash)} and l.page_id = ${pageId} and l.used_at is null and l.expires_at > clock_timestamp()
      and l.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
      and p.id = l.page_id and p.access_version = l.access_version and p.is_published and p.deleted_at is null`);
  return rowCount === 1;
}
