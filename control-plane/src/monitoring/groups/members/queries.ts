import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { areGroupMonitors, leaveGroupMonitors, requireNoCycle } from '../check/index.ts';
import { settleGroupPauses } from '../pauses/queries.ts';

const leftRow = z.object({ monitor_id: z.number(), group_id: z.number() });

/**
 * Makes monitors, whose rows and group the caller has locked, members. Those that are stay. @returns who is new
 * @throws Problem `invalid_input` when a group monitor would contain itself by it
 */
export async function addMembers(
  scope: Scope,
  tx: Transaction,
  group: { readonly id: number; readonly workspace_id: number },
  monitorIds: readonly number[],
): Promise<readonly number[]> {
  if (monitorIds.length === 0) return [];
  const added = await tx.anyFirst(sql.typeAlias('id')`
    insert into monitor_group_members (workspace_id, group_id, monitor_id)
    select ${group.workspace_id}, ${group.id}, id from unnest(${sql.array(monitorIds, 'int4')}) as added (id)
    on conflict (group_id, monitor_id) do nothing returning monitor_id as id`);
  // Only a group monitor that becomes a member can close a circle.
  if (await areGroupMonitors(scope, tx, added)) await requireNoCycle(scope, tx, group.workspace_id, '/monitor_ids');
  return added;
}

/** Ends memberships; the same locks are held. @returns who was a member */
export async function removeMembers(
  tx: Transaction,
  groupId: number,
  monitorIds: readonly number[],
): Promise<readonly number[]> {
  return tx.anyFirst(sql.typeAlias('id')`
    delete from monitor_group_members
    where group_id = ${groupId} and monitor_id = any(${sql.array(monitorIds, 'int4')}) returning monitor_id as id`);
}

/** Hook of the deletion of a monitor. Its group's version stays: to change it here would turn the order of the locks around. */
export async function leaveGroupsOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from monitor_group_members where monitor_id = ${monitorId}`);
  await leaveGroupMonitors(tx, [monitorId]);
}

/** A membership that a move has ended: of a monitor group, or of a group monitor. */
export type LeftGroup = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'monitor_group' | 'monitor'; readonly id: number };
};

/**
 * Hook of the move of monitors to another workspace, before they are there: they leave all their groups, and the pauses that those gave
 * them end. The rows are locked by the caller. The versions of the groups stay, as with a deletion.
 */
export async function leaveGroupsOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
): Promise<readonly LeftGroup[]> {
  const ids = monitors.map(({ id }) => id);
  const left = await tx.any(sql.type(leftRow)`
    delete from monitor_group_members where monitor_id = any(${sql.array(ids, 'int4')}) returning monitor_id, group_id`);
  await settleGroupPauses(tx, ids);
  const watched = await leaveGroupMonitors(tx, ids);
  return [
    ...left.map(
      (row): LeftGroup => ({ monitorId: row.monitor_id, dropped: { type: 'monitor_group', id: row.group_id } }),
    ),
    ...watched.map((row): LeftGroup => ({ monitorId: row.monitorId, dropped: { type: 'monitor', id: row.groupId } })),
  ];
}
