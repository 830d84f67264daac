import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';

const rangesRow = z.object({ private_targets: z.array(z.string()) });

/** CIDRs that the checks of a workspace may reach by themselves; undefined where there is no such workspace. */
export async function allowedRanges(
  worker: Pick<DatabasePool, 'maybeOne'>,
  workspaceId: number,
): Promise<readonly string[] | undefined> {
  const row = await worker.maybeOne(sql.type(rangesRow)`
    select private_targets from workspaces where id = ${workspaceId} and deleted_at is null`);
  return row?.private_targets;
}

/** Replaces them, which the audit log of the workspace tells its members. A trigger tells its probes. */
export async function allowRanges(
  worker: DatabasePool,
  workspaceId: number,
  ranges: readonly string[],
): Promise<readonly string[] | undefined> {
  return worker.transaction(async (transaction) => {
    const before = await transaction.maybeOne(sql.type(rangesRow)`
      select private_targets from workspaces where id = ${workspaceId} and deleted_at is null for no key update`);
    if (before === null) return undefined;
    await transaction.query(sql.unsafe`
      update workspaces set private_targets = ${sql.array([...ranges], 'text')}, version = version + 1, updated_at = clock_timestamp()
      where id = ${workspaceId}`);
    const detail = { before: before.private_targets, after: [...ranges] };
    await transaction.query(sql.unsafe`
      insert into audit_log (workspace_id, actor, action, subject_type, subject_id, detail)
      values (${workspaceId}, 'command', 'workspace.private_targets_set', 'workspace', ${String(workspaceId)}, ${sql.jsonb(detail)})`);
    return ranges;
  });
}
