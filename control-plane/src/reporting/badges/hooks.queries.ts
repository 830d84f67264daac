import type { DatabasePool } from 'slonik';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';

/** Hook of the deletion of a monitor: its badge ends with it. A badge moves along with its monitor, by its foreign key. */
export async function removeBadgeOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from badges where monitor_id = ${monitorId}`);
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeBadgesOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from badges where workspace_id = ${workspaceId}`);
}

/** Forgets badges of what was deleted and stays as a row for a while; they are not shown any more. For the worker login. @returns how many */
export async function forgetOldBadges(worker: DatabasePool): Promise<number> {
  const { rowCount } = await worker.query(sql.unsafe`
    delete from badges b where b.id in (
      select b.id from badges b join heartbeats h on h.id = b.heartbeat_id where h.deleted_at is not null
      union all select b.id from badges b join webhook_checks c on c.id = b.webhook_check_id where c.deleted_at is not null
      union all select b.id from badges b join status_pages p on p.id = b.page_id where p.deleted_at is not null)`);
  return rowCount;
}
