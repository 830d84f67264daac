import { consensusPolicySchema } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { standingColumns, standingOf, standingRow } from '../../identity/unconfirmed/index.ts';
import type { AddressStanding } from '../../identity/unconfirmed/index.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { reachOf, workspaceReachColumns } from '../assignments/index.ts';
import type { WorkspaceReach } from '../assignments/index.ts';
import { presentSettings } from '../groups/check/index.ts';

const monitorRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  owner_id: z.number(),
  shard: z.number(),
  name: z.string(),
  description: z.string(),
  url: z.string(),
  protocol: z.string(),
  interval_seconds: z.number(),
  timeout_seconds: z.number(),
  confirmations: z.number(),
  consensus_policy: consensusPolicySchema,
  degraded_threshold_ms: z.number().nullable(),
  settings: z.record(z.string(), z.unknown()),
  sealed_secrets: z.instanceof(Buffer).nullable(),
  secret_fields: z.array(z.string()),
  tags: z.array(z.string()),
  wanted_probe_ids: z.array(z.number()).nullable(),
  wanted_regions: z.array(z.string()).nullable(),
  dnsbl_servers: z.array(z.string()),
  certificate_thresholds_days: z.array(z.number()),
  domain_thresholds_days: z.array(z.number()),
  is_active: z.boolean(),
  version: z.number(),
  probe_revision: z.number(),
  created_at: z.number(),
});
/** A monitor as it is stored; secrets are sealed. */
export type MonitorRow = z.infer<typeof monitorRow>;

/** What a create or an update writes. */
export type MonitorValues = Pick<
  MonitorRow,
  | 'name'
  | 'description'
  | 'url'
  | 'protocol'
  | 'interval_seconds'
  | 'timeout_seconds'
  | 'confirmations'
  | 'consensus_policy'
  | 'degraded_threshold_ms'
  | 'settings'
  | 'secret_fields'
  | 'tags'
  | 'wanted_probe_ids'
  | 'wanted_regions'
  | 'dnsbl_servers'
  | 'certificate_thresholds_days'
  | 'domain_thresholds_days'
  | 'is_active'
> & { readonly sealed_secrets: Buffer | null };

const columns = sql.fragment`m.id, m.workspace_id, m.owner_id, m.shard, m.name, m.description, m.url, m.protocol,
  m.interval_seconds, m.timeout_seconds, m.confirmations, m.consensus_policy, m.degraded_threshold_ms,
  ${presentSettings} as settings, m.sealed_secrets, m.secret_fields, m.tags, m.wanted_probe_ids, m.wanted_regions, m.dnsbl_servers,
  m.certificate_thresholds_days, m.domain_thresholds_days, m.is_active, m.version, m.probe_revision, m.created_at`;

/** A monitor of the scope, or null: none, deleted, or another's. */
export async function findMonitor(
  connection: CommonQueryMethods,
  scope: Scope,
  monitorId: number,
): Promise<MonitorRow | null> {
  return connection.maybeOne(sql.type(monitorRow)`
    select ${columns} from monitors m
    where m.id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`);
}

/** Those of the named monitors that are in the scope. */
export async function findMonitors(
  connection: CommonQueryMethods,
  scope: Scope,
  monitorIds: readonly number[],
): Promise<readonly MonitorRow[]> {
  return connection.any(sql.type(monitorRow)`
    select ${columns} from monitors m
    where m.id = any(${sql.array(monitorIds, 'int4')}) and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and m.deleted_at is null`);
}

/** One monitor, locked until the transaction ends, so that writers of one monitor go one after another. */
export async function lockMonitor(
  transaction: Transaction,
  scope: Scope,
  monitorId: number,
): Promise<MonitorRow | null> {
  return transaction.maybeOne(sql.prepared('monitor-locked', monitorRow)`
    select ${columns} from monitors m
    where m.id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null
    for update`);
}

const ownerRow = z.object({
  owner_id: z.number(),
  plan: z.enum(['free', 'paid', 'self_hosted']),
  is_administrators: z.boolean(),
  private_targets: z.array(z.string()),
  has_private_probe: z.boolean(),
  ...standingRow,
});

/** Whose a workspace is, and what follows from it. */
export type WorkspaceOwner = {
  readonly ownerId: number;
  readonly plan: z.infer<typeof ownerRow>['plan'];
  /** What its checks may reach beyond public addresses. */
  readonly reach: WorkspaceReach;
  readonly hasPrivateProbe: boolean;
  /** Whether the owner's mail address is confirmed. */
  readonly standing: AddressStanding;
};

/**
 * Who owns a workspace and on what plan. Read by the worker login, because a member does not see the owner's row; the caller has
 * shown a role in the workspace.
 */
export async function workspaceOwner(worker: DatabasePool, workspaceId: number): Promise<WorkspaceOwner> {
  const row = await worker.one(sql.prepared('workspace-owner', ownerRow)`
    select workspace.owner_id, owner.plan, ${workspaceReachColumns}, ${standingColumns},
      exists (select from probes where workspace_id = workspace.id and revoked_at is null) as has_private_probe
    from workspaces workspace join users owner on owner.id = workspace.owner_id where workspace.id = ${workspaceId}`);
  return {
    ownerId: row.owner_id,
    plan: row.plan,
    reach: reachOf(row),
    hasPrivateProbe: row.has_private_probe,
    standing: standingOf(row),
  };
}

/** Names of an owner's monitors that are `name` or begin with it, in all workspaces. Read by the worker login for the same reason. */
export async function namesLike(worker: DatabasePool, ownerId: number, name: string): Promise<ReadonlySet<string>> {
  const names = await worker.anyFirst(sql.type(z.object({ name: z.string() }))`
    select m.name from monitors m
    where m.owner_id = ${ownerId} and m.deleted_at is null and starts_with(m.name, ${name})`);
  return new Set(names);
}

/** Reserves the identifier of a monitor that will be inserted, because its secrets are sealed for that identifier. */
export async function reserveMonitorId(transaction: Transaction): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ id: z.number() }))`select nextval('monitors_id_seq')::integer as id`);
}

/** The owner of a workspace as it stands at the insertion: a transfer that is under way is waited for. */
const ownerNow = (workspaceId: number) =>
  sql.fragment`(select w.owner_id from workspaces w where w.id = ${workspaceId} for key share)`;

/**
 * Inserts a monitor, with its history and, when it starts paused, its pause.
 * @param shards how many there are: the shard follows from the identifier and never changes
 */
export async function insertMonitor(
  transaction: Transaction,
  place: { readonly id: number; readonly workspaceId: number; readonly shards: number },
  values: MonitorValues,
): Promise<MonitorRow> {
  const row = await transaction.one(sql.type(monitorRow)`
    insert into monitors as m (
      id, workspace_id, owner_id, shard, name, description, url, protocol, interval_seconds, timeout_seconds, confirmations,
      consensus_policy, degraded_threshold_ms, settings, sealed_secrets, secret_fields, tags, wanted_probe_ids, wanted_regions,
      dnsbl_servers, certificate_thresholds_days, domain_thresholds_days, is_active, created_at, updated_at
    ) overriding system value values (
      ${place.id}, ${place.workspaceId}, ${ownerNow(place.workspaceId)}, (hashint4(${place.id}) & 2147483647) % ${place.shards},
      ${values.name}, ${values.description}, ${values.url}, ${values.protocol}, ${values.interval_seconds},
      ${values.timeout_seconds}, ${values.confirmations}, ${sql.jsonb(values.consensus_policy)},
      ${values.degraded_threshold_ms}, ${jsonb(values.settings)}, ${binary(values.sealed_secrets)},
      ${sql.array(values.secret_fields, 'text')}, ${sql.array(values.tags, 'text')}, ${ids(values.wanted_probe_ids)},
      ${texts(values.wanted_regions)}, ${sql.array(values.dnsbl_servers, 'text')},
      ${sql.array(values.certificate_thresholds_days, 'int4')}, ${sql.array(values.domain_thresholds_days, 'int4')},
      ${values.is_active}, clock_timestamp(), clock_timestamp()
    ) returning ${columns}`);
  await appendHistory(transaction, row.id);
  if (!values.is_active) await openPauses(transaction, [row.id]);
  return row;
}

/**
 * Writes what changed as the next version; the row is locked by the caller.
 * @param checkedChanged what is checked is another: results of the old revision do not vote
 */
export async function updateMonitor(
  transaction: Transaction,
  monitorId: number,
  values: MonitorValues,
  checkedChanged: boolean,
): Promise<void> {
  await transaction.query(sql.unsafe`
    update monitors set
      name = ${values.name}, description = ${values.description}, url = ${values.url}, protocol = ${values.protocol},
      interval_seconds = ${values.interval_seconds}, timeout_seconds = ${values.timeout_seconds},
      confirmations = ${values.confirmations}, consensus_policy = ${sql.jsonb(values.consensus_policy)},
      degraded_threshold_ms = ${values.degraded_threshold_ms}, settings = ${jsonb(values.settings)},
      sealed_secrets = ${binary(values.sealed_secrets)}, secret_fields = ${sql.array(values.secret_fields, 'text')},
      tags = ${sql.array(values.tags, 'text')}, wanted_probe_ids = ${ids(values.wanted_probe_ids)},
      wanted_regions = ${texts(values.wanted_regions)}, dnsbl_servers = ${sql.array(values.dnsbl_servers, 'text')},
      certificate_thresholds_days = ${sql.array(values.certificate_thresholds_days, 'int4')},
      domain_thresholds_days = ${sql.array(values.domain_thresholds_days, 'int4')},
      probe_revision = probe_revision + ${checkedChanged ? 1 : 0},
      version = version + 1, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
    where id = ${monitorId}`);
  await appendHistory(transaction, monitorId);
}

/** Keeps the configuration that holds from now on. The row is locked or new, so the times of one monitor ascend. */
async function appendHistory(transaction: Transaction, monitorId: number): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into monitor_history (monitor_id, effective_at, version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds)
    select id, clock_timestamp(), version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds
    from monitors where id = ${monitorId}`);
}

/** Begins a pause by the monitors' own switches; nothing where there is one. */
async function openPauses(transaction: Transaction, monitorIds: readonly number[]): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by)
    select id, clock_timestamp(), 'self' from unnest(${sql.array(monitorIds, 'int4')}) as id
    on conflict (monitor_id, paused_by) where ended_at is null do nothing`);
}

/** Ends them. A pause is never empty, whatever the clock did. */
async function closePauses(transaction: Transaction, monitorIds: readonly number[]): Promise<void> {
  await transaction.query(sql.unsafe`
    update pauses set ended_at = greatest(clock_timestamp(), started_at + interval '1 microsecond')
    where monitor_id = any(${sql.array(monitorIds, 'int4')}) and paused_by = 'self' and ended_at is null`);
}

const switchedRow = z.object({ id: z.number(), updated_at: z.number() });

/**
 * Switches monitors on or off as their next version; the rows are locked by the caller.
 * @returns when each was, in milliseconds
 */
export async function setActive(
  transaction: Transaction,
  monitorIds: readonly number[],
  isActive: boolean,
): Promise<ReadonlyMap<number, number>> {
  await (isActive ? closePauses(transaction, monitorIds) : openPauses(transaction, monitorIds));
  const rows = await transaction.any(sql.type(switchedRow)`
    update monitors set is_active = ${isActive}, version = version + 1, updated_at = clock_timestamp(),
      changed_xid = pg_current_xact_id()
    where id = any(${sql.array(monitorIds, 'int4')}) returning id, updated_at`);
  return new Map(rows.map((row) => [row.id, row.updated_at]));
}

/** Which of these monitors a group that they belong to pauses now. */
export async function pausedByGroup(
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const ids = await connection.anyFirst(sql.typeAlias('id')`
    select monitor_id as id from pauses
    where monitor_id = any(${sql.array(monitorIds, 'int4')}) and paused_by = 'group' and ended_at is null`);
  return new Set(ids);
}

const spanRow = z.object({
  probe_id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  supplement: z.boolean(),
});
/** A time in which a probe was assigned; milliseconds, `ended_at` null while it is. */
export type AssignmentSpan = z.infer<typeof spanRow>;

/** All times in which probes were assigned to a monitor, oldest first. */
export async function assignmentSpans(connection: CommonQueryMethods, monitorId: number): Promise<AssignmentSpan[]> {
  const rows = await connection.any(sql.type(spanRow)`
    select a.probe_id, a.started_at, a.ended_at, a.supplement from assignments a
    where a.monitor_id = ${monitorId} order by a.started_at, a.id`);
  return [...rows];
}

const seatRow = z.object({ probe_id: z.number(), region: z.string(), supplement: z.boolean() });

/** The probes that are assigned to a monitor now. */
export async function openSeats(
  connection: CommonQueryMethods,
  monitorId: number,
): Promise<{ readonly probeId: number; readonly region: string; readonly supplement: boolean }[]> {
  const rows = await connection.any(sql.type(seatRow)`
    select a.probe_id, a.region, a.supplement from assignments a
    where a.monitor_id = ${monitorId} and a.ended_at is null order by a.probe_id`);
  return rows.map((row) => ({ probeId: row.probe_id, region: row.region, supplement: row.supplement }));
}

/** As text, because slonik asks for a type of plain JSON that values out of a schema do not have. */
function jsonb(value: Readonly<Record<string, unknown>>) {
  return sql.fragment`${JSON.stringify(value)}::jsonb`;
}

function binary(value: Buffer | null) {
  return value === null ? sql.fragment`null` : sql.binary(value);
}

function ids(values: readonly number[] | null) {
  return values === null ? sql.fragment`null` : sql.array(values, 'int4');
}

function texts(values: readonly string[] | null) {
  return values === null ? sql.fragment`null` : sql.array(values, 'text');
}
