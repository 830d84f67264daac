import { Problem, statusPageLimits } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { slugsToTry } from './slug-of-name.ts';
import type { WantedSlug } from './values.ts';

/** Each time another page took the slug between the look and the write. */
const attempts = 5;

/** The slug belongs to another page, or did until lately. */
function slugTaken(slug: string): Problem {
  return new Problem('slug_taken', `the slug ${slug} is taken`, {
    errors: [{ in: 'body', path: '/slug', code: 'slug_taken', message: 'must be unique; it may be free later' }],
  });
}

/**
 * Gives a page a slug that nobody has. The unique index settles races of two pages; that no page gave the slug up lately is looked at after the
 * write: a page that gives a slug up while this one waits for the index is seen then.
 * @param write writes the slug. @returns the page's number
 * @throws Problem `slug_taken`
 */
export async function withFreeSlug(
  tx: Transaction,
  wanted: Exclude<WantedSlug, { kind: 'kept' }>,
  write: (part: Transaction, slug: string) => Promise<number>,
): Promise<number> {
  if (wanted.kind === 'given') return tryTaking(tx, wanted.slug, write);
  for (let attempt = 1; ; attempt += 1) {
    const slug = await firstFree(tx, slugsToTry(wanted.base, Math.random));
    try {
      return await tryTaking(tx, slug, write);
    } catch (error) {
      if (attempt === attempts || !(error instanceof Problem) || error.code !== 'slug_taken') throw error;
    }
  }
}

/** In a part of the transaction of its own, which is undone when the slug is taken. */
async function tryTaking(
  tx: Transaction,
  slug: string,
  write: (part: Transaction, slug: string) => Promise<number>,
): Promise<number> {
  try {
    return await tx.transaction(async (part) => {
      await part.query(sql.unsafe`select identity_forget_status_page_slug(${slug})`);
      const id = await write(part, slug);
      const isFree = await part.oneFirst(sql.type(z.object({ is_free: z.boolean() }))`
        select identity_status_page_slug_is_free(${slug}, ${id}) as is_free`);
      if (!isFree) throw slugTaken(slug);
      return id;
    });
  } catch (error) {
    if (error instanceof UniqueIntegrityConstraintViolationError && error.constraint === 'status_pages_slug') {
      throw slugTaken(slug);
    }
    throw error;
  }
}

async function firstFree(tx: Transaction, slugs: readonly string[]): Promise<string> {
  const free = await tx.maybeOneFirst(sql.type(z.object({ slug: z.string() }))`
    select given.slug from unnest(${sql.array(slugs, 'text')}) with ordinality as given (slug, place)
    where identity_status_page_slug_is_free(given.slug, null) order by given.place limit 1`);
  if (free === null) throw slugTaken(slugs[0] ?? '');
  return free;
}

type Page = { readonly id: number; readonly workspace_id: number; readonly slug: string };

/** Gives a locked page another slug; the former one leads to it for a while. */
export async function renamePage(tx: Transaction, page: Page, slug: string): Promise<number> {
  const { formerSlugDays } = statusPageLimits;
  await tx.query(sql.unsafe`delete from status_page_slugs where page_id = ${page.id} and slug = ${slug}`);
  await tx.query(sql.unsafe`
    insert into status_page_slugs (slug, workspace_id, page_id, taken_until)
    values (${page.slug}, ${page.workspace_id}, ${page.id}, clock_timestamp() + make_interval(days => ${formerSlugDays}))`);
  await freeOldest(tx, page.workspace_id);
  await tx.query(sql.unsafe`update status_pages set slug = ${slug} where id = ${page.id}`);
  return page.id;
}

/** Keeps the slugs of a page that is deleted from others for a while; they lead nowhere. */
export async function keepSlugs(tx: Transaction, page: Page): Promise<void> {
  const until = sql.fragment`clock_timestamp() + make_interval(days => ${statusPageLimits.deletedDays})`;
  await tx.query(sql.unsafe`
    update status_page_slugs set page_id = null, taken_until = greatest(taken_until, ${until}) where page_id = ${page.id}`);
  await tx.query(sql.unsafe`
    insert into status_page_slugs (slug, workspace_id, taken_until) values (${page.slug}, ${page.workspace_id}, ${until})`);
  await freeOldest(tx, page.workspace_id);
}

/** Of the slugs that a workspace keeps without using them, those beyond the bound are free again: the ones that end first. */
async function freeOldest(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query(sql.unsafe`
    delete from status_page_slugs where workspace_id = ${workspaceId} and slug in (
      select s.slug from status_page_slugs s where s.workspace_id = ${workspaceId}
      order by s.taken_until desc offset ${statusPageLimits.heldSlugs})`);
}
