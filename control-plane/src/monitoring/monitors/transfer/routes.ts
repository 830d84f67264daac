import { exportMonitorsRoute, importMonitorsRoute } from '@parallax/api-contract';
import type { ImportFormat, ImportRow } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudits } from '../../../identity/audit/index.ts';
import type { AuditEvent } from '../../../identity/audit/index.ts';
import { requireRoom, standingOf } from '../../../identity/unconfirmed/index.ts';
import { listWorkspaces } from '../../../identity/workspaces/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { attachment } from '../../../platform/http/attachment.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { announceChange } from '../gateway.ts';
import { planLimits } from '../plan-limits.ts';
import { monitorsCsv } from './export/csv.ts';
import type { ImportedMonitor } from './formats/imported.ts';
import { readFile } from './formats/read-file.ts';
import type { ImportedFile } from './formats/read-file.ts';
import { insertMonitors } from './insert/queries.ts';
import type { Inserted } from './insert/queries.ts';
import { placeOf } from './plan/place.ts';
import type { Workspace } from './plan/place.ts';
import { planImport } from './plan/plan.ts';
import type { PlacedRow, PlanFacts, PlannedRow, WorkspaceFacts } from './plan/facts.ts';
import { nameKey } from './plan/watching.ts';
import {
  exportedMonitors,
  namedProbes,
  namesOfOwners,
  possibleTwins,
  watchableByName,
  workspaceOwners,
} from './queries.ts';
import type { Target } from './queries.ts';

/** Nobody is a member of more workspaces; of these the names are known. */
const maxWorkspaces = 10_000;

/** Monitors as a file, and from one. */
export function transferRoutes(context: Context): Route[] {
  return [
    handle(exportMonitorsRoute, async ({ query, caller, request }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const filter = { workspaceId: query.workspace_id, isActive: query.is_active };
      const monitors = await inScope(context.database.api, scope, (tx) => exportedMonitors(tx, scope, filter));
      const day = new Date(context.now()).toISOString().slice(0, 10);
      request.reply.header('content-disposition', attachment(`monitors-${day}.csv`));
      return monitorsCsv(monitors);
    }),

    handle(importMonitorsRoute, async ({ query, caller, request, file }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'editor');
      const read = readFile(file.bytes);
      const rows = await place(context, caller, read, query.workspace_id);
      const owners = await ownersOf(context, rows);
      const done = await inScope(context.database.api, scopeOf(caller), async (tx) => {
        const facts = await gather(tx, context, caller, rows, owners, query.on_duplicate);
        const planned = planImport(rows, facts);
        if (query.dry_run) return { reports: planned.map(({ report }) => report), shards: [], probeIds: [] };
        return create(tx, context, { caller, request }, { format: read.format, planned, facts });
      });
      tell(context, done.shards, done.probeIds);
      return { dry_run: query.dry_run, format: read.format, ...totals(done.reports), rows: [...done.reports] };
    }),
  ];
}

async function place(
  context: Context,
  caller: Caller,
  read: ImportedFile,
  wanted: number | undefined,
): Promise<readonly PlacedRow[]> {
  const workspaces = wanted === undefined ? await workspacesOf(context, caller) : [];
  return read.rows.map((row) => ({
    row,
    place: placeOf(wanted, row.kind === 'monitor' ? row.workspace : undefined, workspaces),
  }));
}

/** An API key may be confined to some of its owner's workspaces. */
async function workspacesOf(context: Context, caller: Caller): Promise<readonly Workspace[]> {
  const scope = scopeOf(caller);
  const page = { limit: maxWorkspaces, offset: 0 };
  const { rows } = await inScope(context.database.api, scope, (tx) => listWorkspaces(scope, tx, page));
  return rows.flatMap((row) => {
    const role = caller.workspaces.get(row.id);
    return role === undefined ? [] : [{ id: row.id, name: row.name.normalize('NFC'), role, isDefault: row.is_default }];
  });
}

type Owners = {
  readonly byWorkspace: Awaited<ReturnType<typeof workspaceOwners>>;
  readonly taken: PlanFacts['taken'];
};

/** Read before the transaction, by another login. A name that is taken in between is found by the unique index. */
async function ownersOf(context: Context, rows: readonly PlacedRow[]): Promise<Owners> {
  const ids = [...new Set(rows.flatMap(({ place: at }) => (at.kind === 'at' ? [at.workspaceId] : [])))];
  if (ids.length === 0) return { byWorkspace: [], taken: new Map() };
  const byWorkspace = await workspaceOwners(context.database.worker, ids);
  const ownerIds = [...new Set(byWorkspace.map((row) => row.owner_id))];
  return { byWorkspace, taken: await namesOfOwners(context.database.worker, ownerIds) };
}

async function gather(
  tx: Transaction,
  context: Context,
  caller: Caller,
  rows: readonly PlacedRow[],
  owners: Owners,
  onDuplicate: 'skip' | 'create',
): Promise<PlanFacts> {
  const workspaces = new Map<number, WorkspaceFacts>();
  for (const { id, owner_id: ownerId, plan, ...row } of owners.byWorkspace) {
    const limits = planLimits(context, { plan, standing: standingOf(row) });
    workspaces.set(id, { ownerId, limits, probes: await namedProbes(tx, id) });
  }
  const monitors = rows.flatMap(({ row }) => (row.kind === 'monitor' ? [row] : []));
  const targets = monitors.flatMap(({ body, watches }) => (watches === undefined ? [targetOf(body)] : []));
  const watching = monitors.flatMap(({ watches }) => watches ?? []);
  const ids = [...workspaces.keys()];
  const existing = await possibleTwins(tx, scopeOf(caller), ids, {
    targets,
    groupMonitors: watching.length > 0,
  });
  const named = await watchableByName(tx, scopeOf(caller), ids, {
    monitors: [...new Set(watching.flatMap((each) => each.monitors ?? []))],
    groups: [...new Set(watching.flatMap((each) => each.group ?? []))],
  });
  return {
    onDuplicate,
    workspaces,
    existing,
    taken: owners.taken,
    monitors: idsByName(named.monitors),
    groups: idsByName(named.groups),
  };
}

/** Without a protocol that of the scheme. A row that has neither is judged later, and has no twin. */
function targetOf({ url, protocol }: ImportedMonitor['body']): Target {
  const scheme = URL.canParse(url) ? new URL(url).protocol.slice(0, -1) : '';
  return { url, protocol: typeof protocol === 'string' ? protocol : scheme };
}

function idsByName(rows: readonly { readonly id: number; readonly workspace_id: number; readonly name: string }[]) {
  return new Map(rows.map(({ id, workspace_id: workspaceId, name }) => [nameKey(workspaceId, name), id]));
}

type Actor = { readonly caller: Caller; readonly request: RequestFacts };
type Planned = {
  readonly format: ImportFormat;
  readonly planned: readonly PlannedRow[];
  readonly facts: PlanFacts;
};

async function create(tx: Transaction, context: Context, actor: Actor, { format, planned, facts }: Planned) {
  const monitors = planned.flatMap(({ create: wanted }, row) => (wanted === undefined ? [] : [{ ...wanted, row }]));
  if (monitors.length === 0) return { reports: planned.map((row) => written(row)), shards: [], probeIds: [] };
  const probes = [...facts.workspaces.values()].flatMap((workspace) => workspace.probes);
  const placeFor = { sealer: context.sealer, shards: context.shards, probes };
  const adding = Map.groupBy(monitors, ({ workspaceId }) => workspaceId);
  await requireRoom(context, tx, 'monitors', new Map([...adding].map(([id, { length }]) => [id, length])));
  const { inserted, probeIds } = await insertMonitors(tx, placeFor, monitors);
  const byRow = new Map(monitors.map(({ row }, index) => [row, inserted[index] ?? null]));
  const reports = planned.map((row, index) => written(row, byRow.get(index), membersLost(row, planned, byRow)));
  await recordAudits(tx, actor.caller, actor.request, eventsOf(format, reports));
  const shards = [...new Set(inserted.flatMap((row) => (row === null ? [] : [row.shard])))];
  return { reports, shards, probeIds };
}

/** Names of members of a group monitor that were to be created and were not. */
function membersLost(
  { create: wanted }: PlannedRow,
  planned: readonly PlannedRow[],
  byRow: ReadonlyMap<number, Inserted>,
): readonly string[] {
  const lost = (wanted?.memberRows ?? []).filter((row) => byRow.get(row) === null);
  return lost.map((row) => planned[row]?.report.name ?? '');
}

/** The report of what was done, which says less than that of a dry run. */
function written({ report }: PlannedRow, inserted?: Inserted, membersLeftOut: readonly string[] = []): ImportRow {
  const { fields: _fields, differences: _differences, ...rest } = report;
  if (report.status !== 'created') return rest;
  if (inserted !== null && inserted !== undefined) {
    const said = membersLeftOut.map((name) => `left out, since it was not created: "${name}"`);
    return { ...rest, warnings: [...rest.warnings, ...said], monitor_id: inserted.id };
  }
  const reason = `another monitor of this owner was named "${report.name ?? ''}" in the meantime`;
  return { ...rest, status: 'skipped', code: 'name_taken', reason };
}

/** One event for each monitor, as when it is created alone, and one for the import in each workspace that it wrote to. */
function eventsOf(format: ImportFormat, reports: readonly ImportRow[]): readonly AuditEvent[] {
  const created = reports.flatMap(({ status, workspace_id: workspaceId, monitor_id: id }) =>
    status === 'created' && workspaceId !== null && id !== undefined ? [{ workspaceId, id }] : [],
  );
  const byWorkspace = Map.groupBy(created, (each) => each.workspaceId);
  return [
    ...created.map(({ workspaceId, id }) => ({
      action: 'monitor.created',
      workspaceId,
      subjectType: 'monitor',
      subjectId: id,
    })),
    ...[...byWorkspace].map(([workspaceId, monitors]) => ({
      action: 'monitors.imported',
      workspaceId,
      subjectType: 'workspace',
      subjectId: workspaceId,
      detail: { format, rows: reports.length, created: monitors.length },
    })),
  ];
}

/** Each shard and each probe once, after the commit. */
function tell(context: Context, shards: readonly number[], probeIds: readonly number[]): void {
  for (const [index, shard] of shards.entries()) announceChange(context.bus, shard, index === 0 ? probeIds : []);
}

function totals(reports: readonly ImportRow[]) {
  const count = (status: ImportRow['status']) => reports.filter((report) => report.status === status).length;
  return { total: reports.length, created: count('created'), skipped: count('skipped'), failed: count('failed') };
}
