import { statusPageLimits } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { announceChanges } from './announce.gateway.ts';

const leftRow = z.object({ monitor_id: z.number(), id: z.number(), workspace_id: z.number() });

/** Hook of the deletion of a monitor: no page shows it any more. */
export async function leavePagesOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  const left = await tx.any(sql.type(leftRow)`
    delete from status_page_items where monitor_id = ${monitorId} returning monitor_id, page_id as id, workspace_id`);
  await announceChanges(tx, left);
}

/** A page that a monitor has left. */
export type LeftPage = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'status_page'; readonly id: number };
};

/** Hook of the move of monitors to another workspace: no page of the old one shows them any more. */
export async function leavePagesOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
): Promise<readonly LeftPage[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const left = await tx.any(sql.type(leftRow)`
    delete from status_page_items where monitor_id = any(${ids}) returning monitor_id, page_id as id, workspace_id`);
  await announceChanges(tx, left);
  return left.map((row) => ({ monitorId: row.monitor_id, dropped: { type: 'status_page', id: row.id } }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. Its slugs stay taken as those of deleted pages. */
export async function removePagesOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  const { deletedDays } = statusPageLimits;
  await worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`delete from status_page_items where workspace_id = ${workspaceId}`);
    await tx.query(sql.unsafe`delete from status_page_domains where workspace_id = ${workspaceId}`);
    await tx.query(sql.unsafe`delete from status_page_files where workspace_id = ${workspaceId}`);
    await tx.query(sql.unsafe`delete from status_page_subscribers where workspace_id = ${workspaceId}`);
    const deleted = await tx.any(sql.type(z.object({ id: z.number(), slug: z.string() }))`
      update status_pages set deleted_at = clock_timestamp() where workspace_id = ${workspaceId} and deleted_at is null returning id, slug`);
    const until = sql.fragment`clock_timestamp() + make_interval(days => ${deletedDays})`;
    await tx.query(sql.unsafe`
      update status_page_slugs set page_id = null, taken_until = greatest(taken_until, ${until}) where workspace_id = ${workspaceId}`);
    const slugs = sql.array(
      deleted.map(({ slug }) => slug),
      'text',
    );
    await tx.query(sql.unsafe`
      insert into status_page_slugs (slug, workspace_id, taken_until) select slug, ${workspaceId}, ${until} from unnest(${slugs}) as slug`);
    await announceChanges(
      tx,
      deleted.map(({ id }) => ({ id, workspace_id: workspaceId })),
    );
  });
}

/** Forgets slugs whose time is over, links that nobody counts any more, and pages that were deleted long ago. For the worker login. @returns how many rows */
export async function forgetOldPages(worker: DatabasePool): Promise<number> {
  const slugs = await worker.query(sql.unsafe`delete from status_page_slugs where taken_until <= clock_timestamp()`);
  const pages = await worker.query(sql.unsafe`
    delete from status_pages where deleted_at <= clock_timestamp() - make_interval(days => ${statusPageLimits.deletedDays})`);
  const links = await worker.query(sql.unsafe`
    delete from status_page_links where created_at <= clock_timestamp() - interval '1 hour'`);
  return slugs.rowCount + pages.rowCount + links.rowCount;
}
