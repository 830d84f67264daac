import type { AnalyticsKind } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** Whose response times are read. */
export type LatencySelection = {
  readonly by: AnalyticsKind;
  readonly workspaceId: number | undefined;
  readonly keys: readonly string[] | undefined;
};

const storedRow = z.object({ key: z.string(), at: z.number(), summary: z.instanceof(Buffer) });
/** A stored summary with the day or hour that it is of, counted from the epoch. */
export type StoredSummary = z.infer<typeof storedRow>;

/** Response times of days of whole workspaces; for series of workspaces, probes and regions. */
export async function summariesOfWorkspaces(
  scope: Scope,
  tx: Transaction,
  { by, workspaceId, keys }: LatencySelection,
  days: readonly number[],
): Promise<readonly StoredSummary[]> {
  if (days.length === 0) return [];
  const key =
    by === 'workspace'
      ? sql.fragment`l.workspace_id::text`
      : by === 'probe'
        ? sql.fragment`l.probe_id::text`
        : region('l');
  return tx.any(sql.type(storedRow)`
    select ${key} as key, l.day as at, l.summary from latency_days l left join probes p on p.id = l.probe_id
    where l.workspace_id = any(${workspacesOf(scope, workspaceId)}) and l.day = any(${sql.array([...days], 'int4')})
      ${keys === undefined ? sql.fragment`` : sql.fragment`and ${key} = any(${sql.array([...keys], 'text')})`}`);
}

/** The last day that is summed for a workspace of the scope; null when none is. */
export async function lastSummedDay(
  scope: Scope,
  tx: Transaction,
  workspaceId: number | undefined,
): Promise<number | null> {
  return tx.oneFirst(sql.type(z.object({ day: z.number().nullable() }))`
    select max(l.day) as day from latency_days l where l.workspace_id = any(${workspacesOf(scope, workspaceId)})`);
}

/** Up to where hours are closed, in milliseconds; null when none is. */
export async function closedUntil(tx: Transaction): Promise<number | null> {
  return tx.oneFirst(
    sql.type(z.object({ until: z.number().nullable() }))`select min(closed_until) as until from shards`,
  );
}

/** Days or hours of the monitors of the scope, one summary for each monitor and probe. */
export type MonitorParts = { readonly of: 'day' | 'hour'; readonly at: readonly number[] };

/** How many summaries there are, but no more than one too many. */
export async function countSummaries(
  scope: Scope,
  tx: Transaction,
  selection: LatencySelection,
  parts: MonitorParts,
  most: number,
): Promise<number> {
  if (parts.at.length === 0) return 0;
  const { from } = partsOf(scope, selection, parts);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from (select ${from} limit ${most + 1}) as found`);
}

/** The summaries. */
export async function summariesOfMonitors(
  scope: Scope,
  tx: Transaction,
  selection: LatencySelection,
  parts: MonitorParts,
): Promise<readonly StoredSummary[]> {
  if (parts.at.length === 0) return [];
  const { key, from } = partsOf(scope, selection, parts);
  return tx.any(sql.type(storedRow)`select ${key} as key, r.at, r.summary ${from}`);
}

function partsOf(
  scope: Scope,
  { by, workspaceId, keys }: LatencySelection,
  parts: MonitorParts,
): { key: Fragment; from: Fragment } {
  const key = keyOf(by);
  const of = parts.of === 'day' ? sql.identifier(['result_days']) : sql.identifier(['result_hours']);
  const at = sql.identifier([parts.of]);
  const seconds = parts.of === 'day' ? 86_400 : 3_600;
  const joined =
    by === 'group'
      ? sql.fragment`join monitor_group_members g on g.monitor_id = m.id`
      : by === 'tag'
        ? sql.fragment`cross join lateral unnest(m.tags) as tag (name)`
        : sql.fragment``;
  const ids = by === 'monitor' && keys !== undefined ? keys.map(Number) : undefined;
  const only =
    keys === undefined
      ? sql.fragment``
      : ids !== undefined
        ? sql.fragment`and m.id = any(${sql.array(ids, 'int4')})`
        : sql.fragment`and ${key} = any(${sql.array([...keys], 'text')})`;
  // Bounds tell the planner which partitions there is nothing in.
  return {
    key,
    from: sql.fragment`from monitors m ${joined}
      join lateral (
        select d.${at} as at, d.probe_id, d.summary from ${of} d
        where d.monitor_id = m.id and d.${at} between ${Math.min(...parts.at)} and ${Math.max(...parts.at)}
          and d.${at} = any(${sql.array([...parts.at], 'int4')})) r on true
      left join probes p on p.id = r.probe_id
      where m.workspace_id = any(${workspacesOf(scope, workspaceId)}) and m.deleted_at is null
        and (m.reset_at is null or r.at >= floor(extract(epoch from m.reset_at) / ${seconds})) ${only}`,
  };
}

function keyOf(by: AnalyticsKind): Fragment {
  switch (by) {
    case 'workspace':
      return sql.fragment`m.workspace_id::text`;
    case 'monitor':
      return sql.fragment`m.id::text`;
    case 'group':
      return sql.fragment`g.group_id::text`;
    case 'tag':
      return sql.fragment`tag.name`;
    case 'probe':
      return sql.fragment`r.probe_id::text`;
    case 'region':
      return region('r');
  }
}

const region = (of: 'l' | 'r'): Fragment =>
  sql.fragment`case ${sql.identifier([of, 'probe_id'])} when 0 then 'central' else coalesce(p.region, 'unknown') end`;

function workspacesOf(scope: Scope, workspaceId: number | undefined) {
  const ids = scope.workspaceIds.filter((id) => workspaceId === undefined || id === workspaceId);
  return sql.array(ids, 'int4');
}
