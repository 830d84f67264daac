import { Problem } from '@parallax/api-contract';
import type { DroppedReference } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { Context } from '../../../../context.ts';
import type { AuditEvent } from '../../../../identity/audit/index.ts';
import { requireRoom } from '../../../../identity/unconfirmed/index.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { inScope } from '../../../../platform/database/scope.ts';
import type { Scope } from '../../../../platform/database/scope.ts';
import { assignMonitor } from '../../../assignments/index.ts';
import { planLimits } from '../../plan-limits.ts';
import { workspaceOwner } from '../../queries.ts';
import { lockPrivateProbes, moveMonitors, namesOf, namesTaken } from '../queries.ts';
import type { OnMonitorsMoved } from '../queries.ts';
import { judgeMoves } from '../verdicts.ts';
import type { Destination, ListedMonitor, Outcome } from '../verdicts.ts';

/** Where monitors are moved to, with what asks whether the owner may have as many more. */
export type OpenDestination = Destination & {
  readonly requireRoomFor: (tx: Transaction, count: number) => Promise<void>;
};

/** Each time somebody took a name meanwhile; then the whole request is tried again. */
const attempts = 5;

/**
 * Runs a move with what is known of where it goes. The names that are taken there are read before; where one is taken since, which the
 * unique index tells, all is judged anew.
 * @throws Problem `conflict` when names are taken faster than they can be read
 */
export async function withDestination<Result>(
  context: Context,
  scope: Scope,
  body: {
    readonly monitor_ids: readonly number[];
    readonly workspace_id: number;
    /** What the monitors will be called, where the move renames them. */
    readonly names?: readonly string[] | undefined;
  },
  move: (destination: OpenDestination) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const owner = await workspaceOwner(context.database.worker, body.workspace_id);
    const { ownerId } = owner;
    const names =
      body.names ?? (await inScope(context.database.api, scope, (tx) => namesOf(scope, tx, body.monitor_ids)));
    const takenNames = await namesTaken(context.database.worker, ownerId, names);
    const limits = planLimits(context, owner);
    try {
      const requireRoomFor = (tx: Transaction, count: number) =>
        requireRoom(context, tx, 'monitors', new Map([[body.workspace_id, count]]));
      return await move({ workspaceId: body.workspace_id, ownerId, takenNames, requireRoomFor, ...limits });
    } catch (error) {
      const isTaken = error instanceof UniqueIntegrityConstraintViolationError && error.constraint === 'monitors_name';
      if (!isTaken) throw error;
      if (attempt >= attempts) {
        throw new Problem('conflict', 'names of these monitors were taken again and again meanwhile; try again');
      }
    }
  }
}

/** A reference that a move takes away, by monitor. */
type Dropped = Map<number, DroppedReference[]>;

/** Moves those that may, in one statement; where private probes play a part, one after another, since each then needs probes anew. */
export async function moveListed(
  scope: Scope,
  tx: Transaction,
  destination: OpenDestination,
  monitors: readonly ListedMonitor[],
  hooks: readonly OnMonitorsMoved[],
): Promise<{
  readonly outcomes: ReadonlyMap<number, Outcome>;
  readonly events: readonly AuditEvent[];
  readonly probeIds: readonly number[];
}> {
  const { workspaceId } = destination;
  const outcomes = new Map(judgeMoves(monitors, destination));
  const moving = monitors.filter(({ id }) => outcomes.get(id)?.kind === 'changed');
  if (moving.length === 0) return { outcomes, events: [], probeIds: [] };
  const gained = moving.filter((monitor) => monitor.owner_id !== destination.ownerId).length;
  if (gained > 0) await destination.requireRoomFor(tx, gained);
  const from = [...new Set(moving.map((monitor) => monitor.workspace_id))];
  const probes = await lockPrivateProbes(scope, tx, [...from, workspaceId]);
  const droppedProbes = probes.filter((probe) => probe.workspaceId !== workspaceId).map(({ id }) => id);
  const told = new Set<number>();
  const groups = probes.length === 0 ? [moving] : moving.map((monitor) => [monitor]);
  for (const group of groups) {
    const moved = await tryMove(scope, tx, { workspaceId, group, droppedProbes, hooks, choose: probes.length > 0 });
    for (const probeId of moved.probeIds) told.add(probeId);
    for (const { id } of group) outcomes.set(id, moved.outcomes.get(id) ?? { kind: 'unchanged' });
  }
  const done = moving.filter(({ id }) => outcomes.get(id)?.kind === 'changed');
  return { outcomes, events: done.flatMap((monitor) => eventsOf(monitor, workspaceId)), probeIds: [...told] };
}

type Group = {
  readonly workspaceId: number;
  readonly group: readonly ListedMonitor[];
  readonly droppedProbes: readonly number[];
  readonly hooks: readonly OnMonitorsMoved[];
  /** The probes must be chosen anew. */
  readonly choose: boolean;
};

/** In a part of the transaction of its own, which is undone when no probe of the destination can do a check. */
async function tryMove(
  scope: Scope,
  tx: Transaction,
  group: Group,
): Promise<{ readonly outcomes: ReadonlyMap<number, Outcome>; readonly probeIds: readonly number[] }> {
  try {
    return await tx.transaction((part) => moveGroup(scope, part, group));
  } catch (error) {
    const problem = error instanceof Problem ? error : undefined;
    if (problem?.code !== 'no_probe_able' && problem?.code !== 'invalid_input') throw error;
    const refusal = { code: 'no_probe_able' as const, detail: `in workspace ${group.workspaceId}: ${problem.message}` };
    return { outcomes: new Map(group.group.map(({ id }) => [id, { kind: 'refused', refusal }])), probeIds: [] };
  }
}

async function moveGroup(scope: Scope, tx: Transaction, { workspaceId, group, droppedProbes, hooks, choose }: Group) {
  const dropped: Dropped = new Map(
    group.map(({ id, wanted_probe_ids: wanted }) => [
      id,
      (wanted ?? []).filter((probe) => droppedProbes.includes(probe)).map((probe) => ({ type: 'probe', id: probe })),
    ]),
  );
  for (const hook of hooks) {
    for (const { monitorId, dropped: reference } of await hook(tx, group, workspaceId)) {
      dropped.get(monitorId)?.push(reference);
    }
  }
  const ids = group.map(({ id }) => id);
  await moveMonitors(scope, tx, ids, workspaceId, droppedProbes);
  const probeIds: number[] = [];
  if (choose) for (const id of ids) probeIds.push(...(await assignMonitor(tx, id)));
  return {
    outcomes: new Map<number, Outcome>(ids.map((id) => [id, { kind: 'changed', dropped: dropped.get(id) ?? [] }])),
    probeIds,
  };
}

/** Both workspaces have it in their log. */
function eventsOf(monitor: ListedMonitor, toWorkspaceId: number): AuditEvent[] {
  const detail = { from_workspace_id: monitor.workspace_id, to_workspace_id: toWorkspaceId };
  return [monitor.workspace_id, toWorkspaceId].map((workspaceId) => ({
    action: 'monitor.moved',
    workspaceId,
    subjectType: 'monitor',
    subjectId: monitor.id,
    detail,
  }));
}
