import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueueHeld } from '../../../platform/outbox/enqueue.ts';

/** The kind of a row of the outbox: a page is another than before, or gone. Payload: `{ id, workspace_id }`. */
export const pageChanged = 'status_page.changed';

export type ChangedPage = { readonly id: number; readonly workspace_id: number };

/**
 * Says that pages have changed. No key is locked, since these rows may overtake each other: each says only that its page is to be read again.
 * Monitors that are deleted side by side would wait for each other's pages otherwise.
 */
export async function announceChanges(tx: Transaction, pages: readonly ChangedPage[]): Promise<void> {
  const byId = new Map(pages.map(({ id, workspace_id }) => [id, { id, workspace_id }]));
  const entries = [...byId.values()].map((page) => ({
    key: `status_page:${page.id}`,
    kind: pageChanged,
    payload: page,
  }));
  await enqueueHeld(tx, entries);
}
