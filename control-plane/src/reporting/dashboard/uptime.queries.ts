import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const ofScope = (scope: Scope) =>
  sql.fragment`m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`;

/** How far the shards of the scope's monitors are evaluated, milliseconds; a shard before its first round is left out. */
export async function evaluatedUntil(scope: Scope, tx: Transaction): Promise<readonly number[]> {
  return tx.anyFirst(sql.type(z.object({ ms: z.number() }))`
    select s.folded_until as ms from shards s
    where s.folded_until is not null and s.shard in (select distinct m.shard from monitors m where ${ofScope(scope)})`);
}

/** How many monitors of the scope there were before an instant. */
export async function countMonitors(scope: Scope, tx: Transaction, beforeMs: number): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from monitors m where ${ofScope(scope)} and m.created_at < ${sql.timestamp(new Date(beforeMs))}`);
}

// Places of DOWN and TIMEOUT among the columns of `subject_days`.
const failingTails = [2, 3];

/** Monitors of the scope that may have had downtime in the days from the first to the last: all that had, and a few others. */
export async function failedOnDays(
  scope: Scope,
  tx: Transaction,
  { firstDay, lastDay }: { readonly firstDay: number; readonly lastDay: number },
): Promise<readonly number[]> {
  return tx.anyFirst(sql.type(z.object({ id: z.number() }))`
    select distinct d.subject_id as id from subject_days d
    where d.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and d.subject_type = 'monitor' and (
      (d.day between ${firstDay} and ${lastDay} and (d.down_ms > 0 or d.timeout_ms > 0))
      or (d.day <= ${lastDay} and d.tail = any(${sql.array(failingTails, 'int2')})))`);
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
