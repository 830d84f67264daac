import { consensusPolicySchema, groupProtocol } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { standingColumns, standingRow } from '../../../identity/unconfirmed/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { inNameOrder, namedGroupTarget, namedSettings } from '../../groups/check/index.ts';
import { loadCandidates } from '../../assignments/index.ts';
import type { ExportedMonitor } from './export/csv.ts';
import type { Existing } from './plan/facts.ts';
import type { NamedProbe } from './plan/references.ts';
import { normalTarget } from './plan/same-target.ts';

const exportedRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  workspace: z.string(),
  name: z.string(),
  url: z.string(),
  protocol: z.string(),
  description: z.string(),
  interval_seconds: z.number(),
  timeout_seconds: z.number(),
  confirmations: z.number(),
  consensus_policy: consensusPolicySchema,
  degraded_threshold_ms: z.number().nullable(),
  is_active: z.boolean(),
  tags: z.array(z.string()),
  probes: z.array(z.string()),
  regions: z.array(z.string()),
  dnsbl_servers: z.array(z.string()),
  certificate_thresholds_days: z.array(z.number()),
  domain_thresholds_days: z.array(z.number()),
  settings: z.record(z.string(), z.unknown()),
  secret_fields: z.array(z.string()),
});

// Probes that were revoked since are no longer a wish that anybody could have.
const exported = sql.fragment`
  select m.id, m.workspace_id, w.name as workspace, m.name, m.url, m.protocol, m.description, m.interval_seconds, m.timeout_seconds,
    m.confirmations, m.consensus_policy, m.degraded_threshold_ms, m.is_active, m.tags,
    array(
      select p.name from probes p where p.id = any(m.wanted_probe_ids) and p.revoked_at is null
      order by array_position(m.wanted_probe_ids, p.id)
    ) as probes,
    coalesce(m.wanted_regions, '{}') as regions, m.dnsbl_servers, m.certificate_thresholds_days, m.domain_thresholds_days, ${namedSettings} as settings,
    m.secret_fields
  from monitors m join workspaces w on w.id = m.workspace_id`;

/** Monitors of the scope as they are exported, by workspace and age. */
export async function exportedMonitors(
  connection: CommonQueryMethods,
  scope: Scope,
  filter: { readonly workspaceId: number | undefined; readonly isActive: boolean | undefined },
): Promise<readonly ExportedMonitor[]> {
  const rows = await connection.any(sql.type(exportedRow)`
    ${exported}
    where m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null
      and (${filter.workspaceId ?? null}::integer is null or m.workspace_id = ${filter.workspaceId ?? null})
      and (${filter.isActive ?? null}::boolean is null or m.is_active = ${filter.isActive ?? null})
    order by m.workspace_id, m.id`);
  return rows.map(asExported);
}

/** A group monitor as files have it: its members in the order of their names, and no identifier as its target. */
function asExported<Row extends z.output<typeof exportedRow>>(row: Row): Row {
  if (row.protocol !== groupProtocol) return row;
  const { monitors, ...others } = row.settings;
  const settings = Array.isArray(monitors) ? { ...others, monitors: inNameOrder(monitors.map(String)) } : others;
  return { ...row, url: namedGroupTarget(others), settings };
}

/** What a row of a file checks. */
export type Target = { readonly protocol: string; readonly url: string };

const targetRow = z.object({ id: z.number(), protocol: z.string(), url: z.string() });

/** Monitors of some of the scope's workspaces that have one of the targets in whatever way it is written, and all their group monitors if asked, oldest first. */
export async function possibleTwins(
  connection: CommonQueryMethods,
  scope: Scope,
  workspaceIds: readonly number[],
  { targets, groupMonitors }: { readonly targets: readonly Target[]; readonly groupMonitors: boolean },
): Promise<readonly Existing[]> {
  if (targets.length === 0 && !groupMonitors) return [];
  const here = sql.fragment`m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
    and m.workspace_id = any(${sql.array(workspaceIds, 'int4')}) and m.deleted_at is null`;
  // The database knows no normal form, so all targets are read, and the whole of those monitors alone that are twins.
  const known = await connection.any(sql.type(targetRow)`
    select m.id, m.protocol, m.url from monitors m where ${here} and ${targets.length > 0}`);
  const wanted = new Set(targets.map(({ protocol, url }) => normalTarget(protocol, url)));
  const twins = known.filter(({ protocol, url }) => wanted.has(normalTarget(protocol, url))).map(({ id }) => id);
  const rows = await connection.any(sql.type(exportedRow)`
    ${exported}
    where ${here} and (m.id = any(${sql.array(twins, 'int4')}) or (${groupMonitors} and m.protocol = ${groupProtocol}))
    order by m.id`);
  return rows.map(asExported);
}

const namedRow = z.object({ id: z.number(), workspace_id: z.number(), name: z.string() });
type NamedRow = z.output<typeof namedRow>;

/** Monitors and monitor groups of some of the scope's workspaces that have one of the names. */
export async function watchableByName(
  connection: CommonQueryMethods,
  scope: Scope,
  workspaceIds: readonly number[],
  names: { readonly monitors: readonly string[]; readonly groups: readonly string[] },
): Promise<{ readonly monitors: readonly NamedRow[]; readonly groups: readonly NamedRow[] }> {
  const here = sql.fragment`workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
    and workspace_id = any(${sql.array(workspaceIds, 'int4')})`;
  return {
    monitors: await connection.any(sql.type(namedRow)`
      select id, workspace_id, name from monitors
      where ${here} and name = any(${sql.array(names.monitors, 'text')}) and deleted_at is null`),
    groups: await connection.any(sql.type(namedRow)`
      select id, workspace_id, name from monitor_groups where ${here} and name = any(${sql.array(names.groups, 'text')})`),
  };
}

/** Probes that a workspace may use, with their names and load. */
export async function namedProbes(transaction: Transaction, workspaceId: number): Promise<readonly NamedProbe[]> {
  const candidates = await loadCandidates(transaction, workspaceId);
  const names = await transaction.any(sql.type(z.object({ id: z.number(), name: z.string() }))`
    select id, name from probes where id = any(${sql.array(
      candidates.map((candidate) => candidate.id),
      'int4',
    )})`);
  const byId = new Map(names.map((probe) => [probe.id, probe.name]));
  return candidates.map((candidate) => ({ ...candidate, name: byId.get(candidate.id) ?? '' }));
}

const ownerRow = z.object({
  id: z.number(),
  owner_id: z.number(),
  plan: z.enum(['free', 'paid', 'self_hosted']),
  ...standingRow,
});

/**
 * Owners and plans of workspaces. Read by the worker login, because a member does not see the owner's row; the caller has shown a role
 * in each.
 */
export async function workspaceOwners(
  worker: DatabasePool,
  workspaceIds: readonly number[],
): Promise<readonly z.infer<typeof ownerRow>[]> {
  return worker.any(sql.type(ownerRow)`
    select w.id, w.owner_id, owner.plan, ${standingColumns} from workspaces w join users owner on owner.id = w.owner_id
    where w.id = any(${sql.array(workspaceIds, 'int4')})`);
}

/** Names of the owners' monitors in all workspaces. Read by the worker login for the same reason. */
export async function namesOfOwners(
  worker: DatabasePool,
  ownerIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const rows = await worker.any(sql.type(z.object({ owner_id: z.number(), names: z.array(z.string()) }))`
    select m.owner_id, array_agg(m.name) as names from monitors m
    where m.owner_id = any(${sql.array(ownerIds, 'int4')}) and m.deleted_at is null group by m.owner_id`);
  return new Map(rows.map((row) => [row.owner_id, new Set(row.names)]));
}
