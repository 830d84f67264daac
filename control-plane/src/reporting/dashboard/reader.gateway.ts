import type {
  DashboardAlertsSummary,
  DashboardIncidents,
  DashboardPart,
  DashboardStats,
  DashboardUptimeSummary,
} from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { keptAnswers } from '../../platform/kept-answers.ts';
import { readIncidents } from './incidents.queries.ts';
import { readMessages } from './messages.gateway.ts';
import { readStats } from './stats.gateway.ts';
import { readUptime } from './uptime.gateway.ts';

const keepMs = 10_000;
// An answer has some kilobytes, with a hundred incidents of each kind fifty.
const mostEntries = 200;

type Wanted = { readonly workspace_id?: number | undefined };
type WithHours = Wanted & { readonly hours: number };
type WithLimit = Wanted & { readonly limit: number };

/** Reads each part of the dashboard for a caller; an answer is kept for ten seconds. @throws Problem `not_found` for a foreign workspace */
export type DashboardReader = {
  readonly stats: (caller: Caller, wanted: Wanted) => Promise<DashboardStats>;
  readonly uptime_summary: (caller: Caller, wanted: WithHours) => Promise<DashboardUptimeSummary>;
  readonly alerts_summary: (caller: Caller, wanted: WithHours) => Promise<DashboardAlertsSummary>;
  readonly incidents: (caller: Caller, wanted: WithLimit) => Promise<DashboardIncidents>;
};

/** One for each process: what is kept is its own. */
export function dashboardReader(context: Context): DashboardReader {
  const kept = keptAnswers({ keepMs, mostEntries, now: context.now });

  async function part<Answer extends object>(
    name: DashboardPart,
    caller: Caller,
    wanted: Wanted,
    detail: number,
    read: (scope: Scope, tx: Transaction, nowMs: number) => Promise<Answer>,
  ): Promise<Answer & { as_of: string; workspace_id: number | null }> {
    const { workspace_id: workspaceId } = wanted;
    if (workspaceId !== undefined) requireRole(caller, workspaceId, 'viewer');
    const all = scopeOf(caller);
    const scope = workspaceId === undefined ? all : { ...all, workspaceIds: [workspaceId] };
    // By what the caller may see at this request: who lost a workspace gets nothing that was kept of it.
    const seen = [...caller.workspaces.keys()].toSorted((a, b) => a - b).join();
    return kept.get([name, caller.userId, seen, workspaceId ?? '', detail].join('/'), async () => {
      const nowMs = Math.floor(context.now());
      const answer = await inScope(context.database.api, scope, (tx) => read(scope, tx, nowMs));
      return { as_of: new Date(nowMs).toISOString(), workspace_id: workspaceId ?? null, ...answer };
    });
  }

  return {
    stats: (caller, wanted) => part('stats', caller, wanted, 0, readStats),
    uptime_summary: (caller, wanted) =>
      part('uptime_summary', caller, wanted, wanted.hours, (scope, tx, nowMs) =>
        readUptime(scope, tx, wanted.hours, nowMs),
      ),
    alerts_summary: (caller, wanted) =>
      part('alerts_summary', caller, wanted, wanted.hours, (scope, tx, nowMs) =>
        readMessages(scope, tx, wanted.hours, nowMs),
      ),
    incidents: (caller, wanted) =>
      part('incidents', caller, wanted, wanted.limit, (scope, tx, nowMs) =>
        readIncidents(scope, tx, wanted.limit, nowMs),
      ),
  };
}
