import type { DroppedReference } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { ListedMonitor } from './verdicts.ts';

/** What a hook has removed of a monitor that is moved. */
export type DroppedOfMonitor = { readonly monitorId: number; readonly dropped: DroppedReference };

/**
 * Acts, in the transaction that moves monitors to another workspace and before they are there, on what another capability keeps about them:
 * removes what refers to something of the old workspace, and says what that was. Rows that come along have a foreign key that cascades.
 */
export type OnMonitorsMoved = (
  transaction: Transaction,
  monitors: readonly { readonly id: number; readonly workspace_id: number }[],
  toWorkspaceId: number,
) => Promise<readonly DroppedOfMonitor[]>;

const listedRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  owner_id: z.number(),
  shard: z.number(),
  name: z.string(),
  interval_seconds: z.number(),
  tags: z.array(z.string()),
  is_active: z.boolean(),
  wanted_probe_ids: z.array(z.number()).nullable(),
});

/** The named monitors of the scope, locked in ascending order until the transaction ends; those that are not there are left out. */
export async function lockListed(
  scope: Scope,
  transaction: Transaction,
  monitorIds: readonly number[],
): Promise<readonly ListedMonitor[]> {
  return transaction.any(sql.type(listedRow)`
    select m.id, m.workspace_id, m.owner_id, m.shard, m.name, m.interval_seconds, m.tags, m.is_active, m.wanted_probe_ids
    from monitors m
    where m.id = any(${sql.array(monitorIds, 'int4')}) and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and m.deleted_at is null
    order by m.id for update`);
}

/** Gives monitors other tags as their next version; the rows are locked by the caller. Neither probes nor consensus know of tags. */
export async function writeTags(
  transaction: Transaction,
  changes: readonly { readonly id: number; readonly tags: readonly string[] }[],
): Promise<void> {
  const rows = changes.map(({ id, tags }) => [id, JSON.stringify(tags)]);
  await transaction.query(sql.unsafe`
    update monitors m set version = m.version + 1, updated_at = clock_timestamp(),
      tags = array(select each.tag from jsonb_array_elements_text(changed.tags::jsonb) with ordinality as each (tag, place) order by place)
    from ${sql.unnest(rows, ['int4', 'text'])} as changed (id, tags) where m.id = changed.id`);
}

/**
 * Which of the names an owner's monitors have, in all workspaces. Read by the worker login, because not all of them are of the caller's
 * scope; the caller has shown a role in a workspace of that owner.
 */
export async function namesTaken(
  worker: DatabasePool,
  ownerId: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const taken = await worker.anyFirst(sql.type(z.object({ name: z.string() }))`
    select m.name from monitors m
    where m.owner_id = ${ownerId} and m.deleted_at is null and m.name = any(${sql.array(names, 'text')})`);
  return new Set(taken);
}

/** Names of monitors that may be moved, as they are before; of the scope. */
export async function namesOf(
  scope: Scope,
  transaction: Transaction,
  monitorIds: readonly number[],
): Promise<readonly string[]> {
  return transaction.anyFirst(sql.type(z.object({ name: z.string() }))`
    select m.name from monitors m
    where m.id = any(${sql.array(monitorIds, 'int4')}) and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and m.deleted_at is null`);
}

/**
 * The private probes of the given workspaces, locked in ascending order like everybody who gives monitors other probes: a move looks at one
 * monitor after another, and two of them must not wait for each other in a circle.
 */
export async function lockPrivateProbes(
  scope: Scope,
  transaction: Transaction,
  workspaceIds: readonly number[],
): Promise<readonly { readonly id: number; readonly workspaceId: number }[]> {
  const visible = workspaceIds.filter((id) => scope.workspaceIds.includes(id));
  const rows = await transaction.any(sql.type(z.object({ id: z.number(), workspace_id: z.number() }))`
    select p.id, p.workspace_id from probes p
    where p.workspace_id = any(${sql.array(visible, 'int4')}) and p.revoked_at is null order by p.id`);
  if (rows.length > 0) {
    await transaction.query(sql.unsafe`
      select id from probes
      where revoked_at is null and (workspace_id is null or workspace_id = any(${sql.array(visible, 'int4')}))
      order by id for no key update`);
  }
  return rows.map((row) => ({ id: row.id, workspaceId: row.workspace_id }));
}

/**
 * Moves monitors to a workspace as their next version, without a place in its order; what is kept of them goes along by its foreign keys.
 * The rows are locked by the caller. Probes of the old workspace are wished for no longer.
 */
export async function moveMonitors(
  scope: Scope,
  transaction: Transaction,
  monitorIds: readonly number[],
  toWorkspaceId: number,
  droppedProbeIds: readonly number[],
): Promise<void> {
  if (!scope.workspaceIds.includes(toWorkspaceId)) throw new Error(`workspace ${toWorkspaceId} is not of the scope`);
  await transaction.query(sql.unsafe`
    update monitors m set workspace_id = ${toWorkspaceId},
      owner_id = (select w.owner_id from workspaces w where w.id = ${toWorkspaceId} for key share),
      position = null,
      wanted_probe_ids = (
        select nullif(array_agg(wanted.id order by wanted.place), '{}')
        from unnest(m.wanted_probe_ids) with ordinality as wanted (id, place)
        where wanted.id <> all(${sql.array(droppedProbeIds, 'int4')})),
      version = m.version + 1, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
    where m.id = any(${sql.array(monitorIds, 'int4')})`);
}
