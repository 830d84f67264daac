import type { DashboardStats } from '@parallax/api-contract';
import { countHeartbeatsByStatus } from '../../monitoring/heartbeats/index.ts';
import { countMonitorsByCategory } from '../../monitoring/monitors/index.ts';
import { countProbes } from '../../monitoring/probes/index.ts';
import { countWebhookChecksByStatus } from '../../monitoring/webhook-checks/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { countAlertsByState } from '../../response/alerts/index.ts';
import { countLastingMaintenance, countOpenIncidents } from './stats.queries.ts';

type Counts = Omit<DashboardStats, 'as_of' | 'workspace_id'>;

/** What there is in the scope, by its present state. */
export async function readStats(scope: Scope, tx: Transaction, nowMs: number): Promise<Counts> {
  const monitors = await countMonitorsByCategory(tx, scope);
  const heartbeats = await countHeartbeatsByStatus(scope, tx);
  const checks = await countWebhookChecksByStatus(scope, tx, nowMs);
  const alerts = await countAlertsByState(scope, tx, nowMs);
  const incidents = await countOpenIncidents(scope, tx);
  const { minor, major, critical } = incidents;
  return {
    monitors,
    heartbeats: withTotal({ new: 0, up: 0, late: 0, down: 0, paused: 0, ...byStatus(heartbeats) }),
    webhook_checks: withTotal({ new: 0, up: 0, late: 0, degraded: 0, down: 0, paused: 0, ...byStatus(checks) }),
    alerts: withTotal(alerts),
    incidents: {
      open: incidents.open,
      acknowledged: incidents.acknowledged,
      by_severity: withTotal({ minor, major, critical }),
    },
    maintenance: await countLastingMaintenance(scope, tx),
    probes: withTotal(await countProbes(scope, tx, nowMs)),
  };
}

function byStatus<Status extends string>(
  rows: readonly { readonly status: Status; readonly n: number }[],
): Partial<Record<Status, number>> {
  const counts: Partial<Record<Status, number>> = {};
  for (const { status, n } of rows) counts[status] = n;
  return counts;
}

function withTotal<Counts extends Readonly<Record<string, number>>>(counts: Counts): Counts & { total: number } {
  return { ...counts, total: Object.values(counts).reduce((sum, n) => sum + n, 0) };
}
