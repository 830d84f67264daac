import { Problem } from '@parallax/api-contract';
import type { AnalyticsKind } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const nameRow = z.object({ key: z.string(), name: z.string() });

/** Where the names of numbered keys stand; `x` is the row. */
const named = {
  workspace: sql.fragment`workspaces x where x.deleted_at is null`,
  group: sql.fragment`monitor_groups x where true`,
  probe: sql.fragment`probes x where true`,
  monitor: sql.fragment`monitors x where x.deleted_at is null`,
} as const;

const isNumbered = (by: AnalyticsKind): by is keyof typeof named => by in named;

/** Names of keys, as far as they are in the scope: row-level security holds back the others. */
export async function namesOf(
  scope: Scope,
  tx: Transaction,
  by: AnalyticsKind,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (!isNumbered(by)) return new Map(keys.map((key) => [key, key]));
  const numbers = keys.map(Number).filter((id) => id > 0);
  const own =
    by === 'workspace'
      ? sql.fragment`and x.id = any(${sql.array([...scope.workspaceIds], 'int4')})`
      : by === 'probe'
        ? sql.fragment`and (x.workspace_id is null or x.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}))`
        : sql.fragment`and x.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})`;
  const rows = await tx.any(sql.type(nameRow)`
    select x.id::text as key, x.name from ${named[by]} ${own} and x.id = any(${sql.array(numbers, 'int4')})`);
  return new Map([...rows.map(({ key, name }): [string, string] => [key, name]), ...central(by, keys)]);
}

/** The control plane's own checks have the number 0. */
function central(by: AnalyticsKind, keys: readonly string[]): [string, string][] {
  return by === 'probe' && keys.includes('0') ? [['0', 'control plane']] : [];
}

/**
 * Holds that the named keys are there.
 * @throws Problem `not_found`
 */
export async function requireKeys(
  scope: Scope,
  tx: Transaction,
  by: AnalyticsKind,
  keys: readonly string[] | undefined,
): Promise<void> {
  if (keys === undefined) return;
  const names = await namesOf(scope, tx, by, keys);
  const missing = keys.find((key) => !names.has(key));
  if (missing !== undefined) throw new Problem('not_found', `there is no ${by} ${missing}`);
}

/** Monitors that a question is about, at most; those of groups and tags are not told apart. */
export async function countMonitors(
  scope: Scope,
  tx: Transaction,
  { workspaceId, ids }: { readonly workspaceId?: number | undefined; readonly ids?: readonly number[] | undefined },
): Promise<number> {
  const workspaces = scope.workspaceIds.filter((id) => workspaceId === undefined || id === workspaceId);
  const only = ids === undefined ? sql.fragment`` : sql.fragment`and id = any(${sql.array([...ids], 'int4')})`;
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from monitors
    where workspace_id = any(${sql.array(workspaces, 'int4')}) and deleted_at is null ${only}`);
}

const monitorRow = z.object({ monitor_id: z.number(), workspace_id: z.number(), name: z.string() });

/** Monitors of the scope by their number, with their names. */
export async function monitorsNamed(
  scope: Scope,
  tx: Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, z.infer<typeof monitorRow>>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.any(sql.type(monitorRow)`
    select id as monitor_id, workspace_id, name from monitors
    where id = any(${sql.array([...ids], 'int4')}) and workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
      and deleted_at is null`);
  return new Map(rows.map((row) => [row.monitor_id, row]));
}
