import { importMaintenanceRoute, invalidInput, maintenanceLimits, Problem } from '@parallax/api-contract';
import type { ImportedMaintenanceEvent } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudits } from '../../../identity/audit/index.ts';
import type { AuditEvent } from '../../../identity/audit/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { readEvent } from '../calendar/event.ts';
import { readCalendar } from '../calendar/read.ts';
import { requireWorkspace } from '../gateway.ts';
import { countToCome, findByUid, insertMaintenance } from '../queries.ts';
import { isZone } from '../recurrence/zone.ts';
import { requireFound, scopeOfQuery } from '../scope/given.ts';
import type { Covered } from '../scope/given.ts';
import { missingOf } from '../scope/queries.ts';
import { planImport, reportOf } from './plan.ts';
import type { PlannedEvent } from './plan.ts';

/** Maintenance from a calendar file. */
export function maintenanceImportRoutes(context: Context): Route[] {
  return [
    handle(importMaintenanceRoute, async ({ query, caller, request, file }) => {
      const { workspace_id: workspaceId, dry_run: dryRun } = query;
      requireRole(caller, workspaceId, 'editor');
      const covered = scopeOfQuery(query);
      if (!isZone(query.timezone))
        throw invalidInput('query', '/timezone', 'unknown_timezone', `there is no time zone "${query.timezone}"`);
      const read = readCalendar(file.bytes);
      if ('problem' in read) throw new Problem('invalid_input', read.problem);
      const events = read.events.map((event) => readEvent(event, query.timezone, context.now()));
      const scope = scopeOf(caller);
      const reports = await inScope(context.database.api, scope, async (tx) => {
        await requireWorkspace(scope, tx, workspaceId);
        requireFound(workspaceId, covered, await missingOf(tx, workspaceId, covered));
        const room = maintenanceLimits.ofWorkspace - (await countToCome(scope, tx, workspaceId));
        const uids = events.flatMap(({ uid }) => (uid === null ? [] : [uid]));
        const planned = planImport(events, await findByUid(scope, tx, workspaceId, uids), room);
        if (dryRun) return planned.map((event, index) => reportOf(event, index, null));
        const written = await create(tx, workspaceId, covered, planned);
        await recordAudits(tx, caller, request, eventsOf(workspaceId, written));
        return written;
      });
      const count = (status: ImportedMaintenanceEvent['status']) =>
        reports.filter((each) => each.status === status).length;
      return {
        dry_run: dryRun,
        total: reports.length,
        created: count('created'),
        skipped: count('skipped'),
        failed: count('failed'),
        events: reports,
      };
    }),
  ];
}

async function create(
  tx: Transaction,
  workspaceId: number,
  covered: Covered,
  planned: readonly PlannedEvent[],
): Promise<ImportedMaintenanceEvent[]> {
  const reports: ImportedMaintenanceEvent[] = [];
  for (const [index, event] of planned.entries()) {
    const id =
      event.kind === 'create'
        ? await insertMaintenance(tx, { workspaceId, covered, uid: event.read.uid, ...event.maintenance })
        : null;
    reports.push(reportOf(event, index, id));
  }
  return reports;
}

/** One event for each maintenance, as when it is created alone, and one for the import. */
function eventsOf(workspaceId: number, reports: readonly ImportedMaintenanceEvent[]): readonly AuditEvent[] {
  const created = reports.flatMap(({ status, maintenance_id: id }) =>
    status === 'created' && id !== null ? [id] : [],
  );
  if (created.length === 0) return [];
  return [
    ...created.map((id) => ({
      action: 'maintenance.created',
      workspaceId,
      subjectType: 'maintenance',
      subjectId: id,
    })),
    {
      action: 'maintenance.imported',
      workspaceId,
      subjectType: 'workspace',
      subjectId: workspaceId,
      detail: { events: reports.length, created: created.length },
    },
  ];
}
