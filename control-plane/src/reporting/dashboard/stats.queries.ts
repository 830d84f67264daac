import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const incidentsRow = z.object({
  open: z.number(),
  acknowledged: z.number(),
  minor: z.number(),
  major: z.number(),
  critical: z.number(),
});

/** Incidents of the scope that are not resolved, by status and by severity. */
export async function countOpenIncidents(scope: Scope, tx: Transaction): Promise<z.output<typeof incidentsRow>> {
  return tx.one(sql.type(incidentsRow)`
    select count(*) filter (where i.status = 'open')::integer as open, count(*) filter (where i.status = 'acknowledged')::integer as acknowledged,
      count(*) filter (where i.severity = 'minor')::integer as minor, count(*) filter (where i.severity = 'major')::integer as major,
      count(*) filter (where i.severity = 'critical')::integer as critical
    from incidents i
    where i.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and i.deleted_at is null and i.resolved_at is null`);
}

const maintenanceRow = z.object({ active: z.number(), scheduled: z.number() });

/** Maintenance of the scope that lasts or is to come. */
export async function countLastingMaintenance(scope: Scope, tx: Transaction): Promise<z.output<typeof maintenanceRow>> {
  return tx.one(sql.type(maintenanceRow)`
    select count(*) filter (where m.status = 'active')::integer as active, count(*) filter (where m.status = 'scheduled')::integer as scheduled
    from maintenance m
    where m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null and m.status in ('active', 'scheduled')`);
}
