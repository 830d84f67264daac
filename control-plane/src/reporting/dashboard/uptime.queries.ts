import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const ofScope = (scope: Scope) =>
  sql.fragment`m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`;

const shardRow = z.object({ monitors: z.number(), folded_until: z.number().nullable() });

/** The shards of the scope's monitors: how many monitors each has, and how far it is evaluated; null before its first round. */
export async function shardsOf(scope: Scope, tx: Transaction): Promise<readonly z.output<typeof shardRow>[]> {
  return tx.any(sql.type(shardRow)`
    select count(*)::integer as monitors, max(s.folded_until) as folded_until
    from monitors m left join shards s on s.shard = m.shard where ${ofScope(scope)} group by m.shard`);
}

// Places of DOWN and TIMEOUT among the columns of `subject_days`.
const isFailing = sql.fragment`d.tail in (2, 3)`;

/** Monitors of the scope that may have had downtime in the days from the first to the last: all that had, and a few others. */
export async function failedOnDays(
  scope: Scope,
  tx: Transaction,
  { firstDay, lastDay }: { readonly firstDay: number; readonly lastDay: number },
): Promise<readonly number[]> {
  return tx.anyFirst(sql.type(z.object({ id: z.number() }))`
    select distinct d.subject_id as id from subject_days d
    where d.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and d.subject_type = 'monitor' and (
      (d.day between ${firstDay} and ${lastDay} and (d.down_ms > 0 or d.timeout_ms > 0 or ${isFailing}))
      or (d.day < ${firstDay} and ${isFailing}))`);
}

const nameRow = z.object({ id: z.number(), workspace_id: z.number(), name: z.string() });

/** Names of monitors of the scope. */
export async function namesOf(
  scope: Scope,
  tx: Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, z.output<typeof nameRow>>> {
  const rows = await tx.any(sql.type(nameRow)`
    select m.id, m.workspace_id, m.name from monitors m where m.id = any(${sql.array([...ids], 'int4')}) and ${ofScope(scope)}`);
  return new Map(rows.map((row) => [row.id, row]));
}
