import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueueHeld } from '../../../platform/outbox/enqueue.ts';
import { touchAssignments } from '../../assignments/index.ts';

/** What is to be told after the commit: shards whose monitors changed, and probes that have something new. */
export type Switched = { readonly shards: readonly number[]; readonly probeIds: readonly number[] };

const changedRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  shard: z.number(),
  is_active: z.boolean(),
  at: z.number(),
});

const inPausedGroup = sql.fragment`exists (
  select from monitor_group_members gm join monitor_groups g on g.id = gm.group_id
  where gm.monitor_id = changed.id and g.is_paused)`;

/**
 * Brings the group pauses of monitors to what their groups say now: one is open exactly while a monitor belongs to a paused group. What
 * changes the paused flag or the members calls it afterwards, in its transaction. The monitors' rows are locked for update by the caller, in
 * ascending order; whoever gets a lock later sees what the one before has done, so of two changes at once the last one settles it.
 * A handful of statements, however many monitors there are.
 */
export async function settleGroupPauses(tx: Transaction, monitorIds: readonly number[]): Promise<Switched> {
  if (monitorIds.length === 0) return { shards: [], probeIds: [] };
  const ids = sql.array(monitorIds, 'int4');
  const paused = await tx.anyFirst(sql.typeAlias('id')`
    insert into pauses (monitor_id, started_at, paused_by)
    select changed.id, clock_timestamp(), 'group' from unnest(${ids}) as changed (id) where ${inPausedGroup}
    on conflict (monitor_id, paused_by) where ended_at is null do nothing returning monitor_id as id`);
  // A pause is never empty, whatever the clock did.
  const resumed = await tx.anyFirst(sql.typeAlias('id')`
    update pauses set ended_at = greatest(clock_timestamp(), started_at + interval '1 microsecond')
    from unnest(${ids}) as changed (id)
    where pauses.monitor_id = changed.id and pauses.paused_by = 'group' and pauses.ended_at is null and not ${inPausedGroup}
    returning pauses.monitor_id as id`);
  if (paused.length + resumed.length === 0) return { shards: [], probeIds: [] };
  // What is set here is how the ingest learns of the pause; the monitors themselves have not changed.
  const changed = await tx.any(sql.type(changedRow)`
    update monitors set changed_xid = pg_current_xact_id()
    where id = any(${sql.array([...paused, ...resumed], 'int4')})
    returning id, workspace_id, shard, is_active, clock_timestamp() as at`);
  // One that its own switch has paused was paused before and stays so.
  const switched = changed.filter((monitor) => monitor.is_active);
  const isPaused = new Set(paused);
  await enqueueHeld(
    tx,
    switched.map(({ id, workspace_id, at }) => ({
      key: `monitor:${id}`,
      kind: isPaused.has(id) ? 'monitor.paused' : 'monitor.resumed',
      tellsActor: true,
      payload: { monitor_id: id, workspace_id, at: new Date(at).toISOString() },
    })),
  );
  const probeIds = await touchAssignments(tx, ...switched.map(({ id }) => id));
  return { shards: [...new Set(changed.map(({ shard }) => shard))], probeIds };
}

/**
 * Monitors of a workspace that are not deleted, of those named, locked for update until the transaction ends. In ascending order, like
 * everybody who locks several.
 */
export async function lockMonitors(
  tx: Transaction,
  workspaceId: number,
  monitorIds: readonly number[],
): Promise<readonly number[]> {
  if (monitorIds.length === 0) return [];
  return tx.anyFirst(sql.typeAlias('id')`
    select id from monitors
    where id = any(${sql.array(monitorIds, 'int4')}) and workspace_id = ${workspaceId} and deleted_at is null
    order by id for update`);
}
