import type { BulkFailure, BulkItem, DroppedReference } from '@parallax/api-contract';

/** A monitor as the bulk actions see it. */
export type ListedMonitor = {
  readonly id: number;
  readonly workspace_id: number;
  readonly owner_id: number;
  readonly shard: number;
  readonly name: string;
  readonly interval_seconds: number;
  readonly tags: readonly string[];
  readonly is_active: boolean;
  readonly wanted_probe_ids: readonly number[] | null;
};

/** Why an action is not done to a monitor; the others go on. */
export type Refusal = { readonly code: BulkFailure; readonly detail: string };

/** What becomes of each monitor of a request. */
export type Outcome =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly dropped?: readonly DroppedReference[] };

/** Most tags of a monitor. */
export const maxTags = 20;

/** The report of a request, each monitor in its place. A monitor without an outcome is not there, or is another's. */
export function reportOf(
  monitorIds: readonly number[],
  outcomes: ReadonlyMap<number, Outcome>,
): { readonly ok: number; readonly failed: number; readonly not_found: number; readonly monitors: BulkItem[] } {
  const monitors = monitorIds.map((id) => itemOf(id, outcomes.get(id)));
  const count = (result: BulkItem['result']): number => monitors.filter((item) => item.result === result).length;
  return { ok: count('ok'), failed: count('failed'), not_found: count('not_found'), monitors };
}

function itemOf(id: number, outcome: Outcome | undefined): BulkItem {
  if (outcome === undefined) {
    const detail = `there is no monitor ${id}`;
    return { monitor_id: id, result: 'not_found', changed: false, code: 'not_found', detail };
  }
  switch (outcome.kind) {
    case 'refused':
      return { monitor_id: id, result: 'failed', changed: false, ...outcome.refusal };
    case 'unchanged':
      return { monitor_id: id, result: 'ok', changed: false };
    case 'changed':
      return {
        monitor_id: id,
        result: 'ok',
        changed: true,
        ...(outcome.dropped === undefined ? {} : { dropped: [...outcome.dropped] }),
      };
  }
}

/** A monitor's tags with others added or taken away; the order of those that stay is kept. */
export function tagsAfter(
  tags: readonly string[],
  action: 'add_tags' | 'remove_tags',
  given: readonly string[],
): readonly string[] {
  return action === 'add_tags' ? [...new Set([...tags, ...given])] : tags.filter((tag) => !given.includes(tag));
}

/** What becomes of a monitor whose tags would be these. */
export function judgeTags(monitor: Pick<ListedMonitor, 'id' | 'tags'>, wanted: readonly string[]): Outcome {
  if (wanted.length > maxTags && wanted.length > monitor.tags.length) {
    const detail = `monitor ${monitor.id} would have ${wanted.length} tags, ${maxTags} are allowed; remove some first`;
    return { kind: 'refused', refusal: { code: 'too_many_tags', detail } };
  }
  return { kind: wanted.length === monitor.tags.length ? 'unchanged' : 'changed' };
}

/** Where monitors are moved to, as it is before. */
export type Destination = {
  readonly workspaceId: number;
  readonly ownerId: number;
  readonly plan: string;
  readonly minimumIntervalSeconds: number;
  /** What an unconfirmed address of the owner allows; 0: it does not rule. */
  readonly unconfirmedIntervalSeconds: number;
  /** Names among those of the request that the owner's monitors have already. */
  readonly takenNames: ReadonlySet<string>;
};

/**
 * Which monitors may move. Names stay unique among the monitors of one owner, also among those that come together: the first in the
 * request keeps its name. The plan's interval rules only where the owner changes: after a downgrade what is there stays.
 */
export function judgeMoves(monitors: readonly ListedMonitor[], destination: Destination): ReadonlyMap<number, Outcome> {
  const names = new Set(destination.takenNames);
  const outcomes = new Map<number, Outcome>();
  for (const monitor of monitors) {
    const outcome = judgeMove(monitor, destination, names);
    if (outcome.kind === 'changed') names.add(monitor.name);
    outcomes.set(monitor.id, outcome);
  }
  return outcomes;
}

function judgeMove(monitor: ListedMonitor, to: Destination, names: ReadonlySet<string>): Outcome {
  if (monitor.workspace_id === to.workspaceId) return { kind: 'unchanged' };
  if (monitor.owner_id === to.ownerId) return { kind: 'changed' };
  if (names.has(monitor.name)) {
    const detail = `the owner of workspace ${to.workspaceId} already has a monitor named "${monitor.name}"; rename one of them`;
    return { kind: 'refused', refusal: { code: 'name_taken', detail } };
  }
  if (monitor.interval_seconds < to.minimumIntervalSeconds) {
    const detail =
      `monitor ${monitor.id} is checked every ${monitor.interval_seconds} s, the plan ${to.plan} of the owner of workspace ` +
      `${to.workspaceId} allows ${to.minimumIntervalSeconds} s; change its interval first`;
    return { kind: 'refused', refusal: { code: 'interval_below_plan', detail } };
  }
  if (monitor.interval_seconds < to.unconfirmedIntervalSeconds) {
    const detail =
      `monitor ${monitor.id} is checked every ${monitor.interval_seconds} s; the owner of workspace ${to.workspaceId} may have monitors of ` +
      `${to.unconfirmedIntervalSeconds} s and more until they have confirmed their mail address`;
    return { kind: 'refused', refusal: { code: 'address_unconfirmed', detail } };
  }
  return { kind: 'changed' };
}
