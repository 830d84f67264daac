import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Cursor } from '../../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../../platform/ordered-log/present.queries.ts';

/** Workspaces that something has happened in, and the place after it. For the worker login, since readers of pages belong to no workspace. */
export async function changedSince(
  worker: CommonQueryMethods,
  after: Cursor,
): Promise<{ readonly workspaceIds: ReadonlySet<number>; readonly next: Cursor }> {
  // Asked first: what a later snapshot sees beyond it is read next time.
  const next = await presentCursor(worker);
  const ids = await worker.anyFirst(sql.type(z.object({ workspace_id: z.number() }))`
    select distinct e.workspace_id from events e
    where (e.xid, e.id) > (${String(after.xid)}::xid8, ${String(after.id)}::bigint) and e.xid < ${String(next.xid)}::xid8`);
  return { workspaceIds: new Set(ids), next };
}
