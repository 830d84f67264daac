import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

/**
 * The monitors of a workspace of the scope, locked until the transaction ends, in ascending order like everybody who locks several: of two
 * who set an order at once one waits for the other.
 */
export async function lockMonitorsOf(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
): Promise<ReadonlySet<number>> {
  const ids = await transaction.anyFirst(sql.typeAlias('id')`
    select m.id from monitors m
    where m.workspace_id = ${workspaceId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and m.deleted_at is null
    order by m.id for no key update`);
  return new Set(ids);
}

/**
 * Places the named monitors first and those that had a place behind them, in their order; who had none has none. Neither version nor time of
 * change moves: the order is the workspace's. The monitors are locked by the caller.
 * @returns how many places changed
 */
export async function placeMonitors(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  monitorIds: readonly number[],
): Promise<number> {
  const { rowCount } = await transaction.query(sql.unsafe`
    with placed as (
      select m.id, row_number() over (order by given.place nulls last, m.position, m.id)::integer as place
      from monitors m
      left join unnest(${sql.array(monitorIds, 'int4')}) with ordinality as given (id, place) on given.id = m.id
      where m.workspace_id = ${workspaceId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
        and m.deleted_at is null and (given.place is not null or m.position is not null)
    )
    update monitors m set position = placed.place from placed
    where m.id = placed.id and m.position is distinct from placed.place`);
  return rowCount;
}

/** The monitors of a workspace of the scope in their order; those without a place last, oldest first. */
export async function orderOf(scope: Scope, transaction: Transaction, workspaceId: number): Promise<readonly number[]> {
  return transaction.anyFirst(sql.typeAlias('id')`
    select m.id from monitors m
    where m.workspace_id = ${workspaceId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and m.deleted_at is null
    order by m.position nulls last, m.id`);
}
