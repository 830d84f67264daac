import { groupHealths } from '@parallax/api-contract';
import type { GroupHealth, GroupStatus } from '@parallax/api-contract';

/** Members of a group by the categories of the list of monitors. */
export type CategoryCounts = Omit<GroupStatus['counts'], 'total'>;

/** The worst category that a member has, in the order of the list; what is paused does not count, and of none nothing is known. */
export function healthOf(counts: CategoryCounts): GroupHealth {
  return groupHealths.find((health) => counts[health] > 0) ?? 'unknown';
}

/** The status of a group as the API answers it. */
export function statusOf(isPaused: boolean, counts: CategoryCounts): GroupStatus {
  const { up, down, degraded, unknown, paused } = counts;
  return {
    status: isPaused ? 'paused' : 'active',
    health: healthOf(counts),
    counts: { total: up + down + degraded + unknown + paused, up, down, degraded, unknown, paused },
  };
}

/** A group with its members by category. */
export type CountedGroup = CategoryCounts & { readonly is_paused: boolean };

/** Counts groups: how many are paused, and the others by health. */
export function countGroups(groups: readonly CountedGroup[]): {
  readonly total: number;
  readonly active: number;
  readonly paused: number;
  readonly health: { readonly [health in GroupHealth]: number };
} {
  const health = { down: 0, degraded: 0, unknown: 0, up: 0 };
  const active = groups.filter((group) => !group.is_paused);
  for (const group of active) health[healthOf(group)] += 1;
  return { total: groups.length, active: active.length, paused: groups.length - active.length, health };
}
