import type { MonitorGroup, UpdateMonitorGroup } from '@parallax/api-contract';

/** What of an update differs from a group, for its next version; null when nothing does. */
export function changeOf(group: MonitorGroup, update: UpdateMonitorGroup): UpdateMonitorGroup | null {
  const description = update.description === null ? '' : update.description;
  const change: UpdateMonitorGroup = {
    ...(update.name === undefined || update.name === group.name ? {} : { name: update.name }),
    ...(description === undefined || description === group.description ? {} : { description }),
    ...(update.is_paused === undefined || update.is_paused === group.is_paused ? {} : { is_paused: update.is_paused }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

/** The tags of a group with others behind them, each once. */
export function withTags(tags: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...tags, ...more])];
}

/** The tags of a group without some. */
export function withoutTags(tags: readonly string[], gone: readonly string[]): string[] {
  const removed = new Set(gone);
  return tags.filter((tag) => !removed.has(tag));
}
