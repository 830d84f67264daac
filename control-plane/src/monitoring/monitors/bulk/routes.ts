import { bulkMonitorsRoute } from '@parallax/api-contract';
import type { BulkMonitors } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudits } from '../../../identity/audit/index.ts';
import type { AuditEvent } from '../../../identity/audit/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, roles, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { announceChanges } from '../gateway.ts';
import { markAllDeleted, switchMonitors } from '../lifecycle/queries.ts';
import type { OnMonitorDeleted } from '../lifecycle/queries.ts';
import { lackOf } from '../lifecycle/resumable.ts';
import { findMonitors } from '../queries.ts';
import { openSecrets } from '../secrets.ts';
import { moveListed, withDestination } from './move/queries.ts';
import { lockListed, writeTags } from './queries.ts';
import type { OnMonitorsMoved } from './queries.ts';
import { judgeTags, reportOf, tagsAfter } from './verdicts.ts';
import type { ListedMonitor, Outcome } from './verdicts.ts';

export type BulkOptions = {
  readonly onDeleted: readonly OnMonitorDeleted[];
  readonly onMoved: readonly OnMonitorsMoved[];
};

/** What an action came to: what becomes of each monitor, what the log says of it, and whom to hint. */
type Done = {
  readonly outcomes: ReadonlyMap<number, Outcome>;
  readonly events: readonly AuditEvent[];
  readonly probeIds: readonly number[];
};

/** The same for many monitors. */
export function bulkRoutes(context: Context, options: BulkOptions): Route[] {
  return [
    handle(bulkMonitorsRoute, async ({ body, caller, request }) => {
      if (body.action === 'move') requireRole(caller, body.workspace_id, 'editor');
      const scope = scopeOf(caller);
      const act = (destination: Parameters<typeof moveListed>[2] | undefined) =>
        inScope(context.database.api, scope, async (tx) => {
          const listed = await lockListed(scope, tx, body.monitor_ids);
          const refused = refusedByRole(caller, listed);
          const ids = new Map(body.monitor_ids.map((id, index) => [id, index]));
          // In the order of the request: of two with one name that are moved the first keeps it.
          const allowed = listed
            .filter(({ id }) => !refused.has(id))
            .toSorted((a, b) => (ids.get(a.id) ?? 0) - (ids.get(b.id) ?? 0));
          const done =
            body.action === 'move' && destination !== undefined
              ? await moveListed(scope, tx, destination, allowed, options.onMoved)
              : await actOn(tx, body, allowed, {
                  ...options,
                  lacking: (monitors) => lacksOf(context, scope, tx, monitors),
                });
          await recordAudits(tx, caller, request, done.events);
          return { ...done, listed, outcomes: new Map([...refused, ...done.outcomes]) };
        });
      const done = body.action === 'move' ? await withDestination(context, scope, body, act) : await act(undefined);
      const changed = done.listed.filter(({ id }) => done.outcomes.get(id)?.kind === 'changed');
      announceChanges(
        context.bus,
        changed.map(({ shard }) => shard),
        done.probeIds,
      );
      return {
        action: body.action,
        ...(body.action === 'delete' ? { results_removed: 'in_background' as const } : {}),
        ...reportOf(body.monitor_ids, done.outcomes),
      };
    }),
  ];
}

function refusedByRole(caller: Caller, listed: readonly ListedMonitor[]): ReadonlyMap<number, Outcome> {
  return new Map(
    listed.flatMap(({ id, workspace_id: workspaceId }): [number, Outcome][] => {
      const role = caller.workspaces.get(workspaceId) ?? 'viewer';
      if (roles.indexOf(role) >= roles.indexOf('editor')) return [];
      const detail = `this needs the role editor in workspace ${workspaceId}, yours is ${role}`;
      return [[id, { kind: 'refused', refusal: { code: 'forbidden', detail } }]];
    }),
  );
}

async function actOn(
  tx: Transaction,
  body: BulkMonitors,
  monitors: readonly ListedMonitor[],
  options: BulkOptions & {
    readonly lacking: (monitors: readonly ListedMonitor[]) => Promise<ReadonlyMap<number, Outcome>>;
  },
): Promise<Done> {
  switch (body.action) {
    case 'pause':
    case 'resume': {
      const isActive = body.action === 'resume';
      const wanted = monitors.filter((monitor) => monitor.is_active !== isActive);
      const refused = isActive ? await options.lacking(wanted) : new Map<number, Outcome>();
      const switched = wanted.filter(({ id }) => !refused.has(id));
      const probeIds = switched.length === 0 ? [] : await switchMonitors(tx, switched, isActive);
      const { outcomes, events } = changedOf(monitors, switched, isActive ? 'monitor.resumed' : 'monitor.paused');
      return { outcomes: new Map([...outcomes, ...refused]), events, probeIds };
    }
    case 'delete': {
      // Hooks of one monitor after another lock what is below it: in the order in which the monitors are locked.
      const ids = monitors.map(({ id }) => id).toSorted((a, b) => a - b);
      const probeIds = ids.length === 0 ? [] : await markAllDeleted(tx, ids, options.onDeleted);
      return { ...changedOf(monitors, monitors, 'monitor.deleted'), probeIds };
    }
    case 'add_tags':
    case 'remove_tags':
      return tagListed(tx, body.action, body.tags, monitors);
    case 'move':
      throw new Error('a move needs its destination');
  }
}

/** Those of the monitors, locked by the caller, that lack a secret which their check needs. */
async function lacksOf(
  context: Context,
  scope: Scope,
  tx: Transaction,
  monitors: readonly ListedMonitor[],
): Promise<ReadonlyMap<number, Outcome>> {
  if (monitors.length === 0) return new Map();
  const rows = await findMonitors(
    tx,
    scope,
    monitors.map(({ id }) => id),
  );
  return new Map(
    rows.flatMap((row): [number, Outcome][] => {
      const lack = lackOf(row, openSecrets(context.sealer, row));
      return lack === undefined
        ? []
        : [[row.id, { kind: 'refused', refusal: { code: 'secret_missing', detail: lack.detail } }]];
    }),
  );
}

async function tagListed(
  tx: Transaction,
  action: 'add_tags' | 'remove_tags',
  tags: readonly string[],
  monitors: readonly ListedMonitor[],
): Promise<Done> {
  const wanted = monitors.map((monitor) => ({ id: monitor.id, tags: tagsAfter(monitor.tags, action, tags) }));
  const outcomes = new Map(
    monitors.map((monitor, index) => [monitor.id, judgeTags(monitor, wanted[index]?.tags ?? [])] as const),
  );
  const isChanged = ({ id }: { readonly id: number }) => outcomes.get(id)?.kind === 'changed';
  const changes = wanted.filter(isChanged);
  if (changes.length > 0) await writeTags(tx, changes);
  const { events } = changedOf(monitors, monitors.filter(isChanged), 'monitor.updated');
  return { outcomes, events, probeIds: [] };
}

function changedOf(
  monitors: readonly ListedMonitor[],
  changed: readonly ListedMonitor[],
  action: string,
): Pick<Done, 'outcomes' | 'events'> {
  const ids = new Set(changed.map(({ id }) => id));
  return {
    outcomes: new Map(monitors.map(({ id }) => [id, { kind: ids.has(id) ? 'changed' : 'unchanged' }])),
    events: changed.map(({ id, workspace_id: workspaceId }) => ({
      action,
      workspaceId,
      subjectType: 'monitor',
      subjectId: id,
    })),
  };
}
