import type { FileGroup } from '../document/read.ts';
import type { CurrentGroup } from '../state.ts';
import { changedFields, differencesOf } from './difference.ts';
import type { Difference } from './difference.ts';

/** What is written of a group, monitors by name. */
export type GroupWrite = {
  readonly name: string;
  /** Undefined: it is new. */
  readonly current: CurrentGroup | undefined;
  readonly fields: { readonly description?: string; readonly is_paused?: boolean };
  readonly addMonitors: readonly string[];
  readonly removeMonitors: readonly string[];
  readonly addTags: readonly string[];
  readonly removeTags: readonly string[];
  readonly differences: readonly Difference[];
};

/**
 * What makes a group as it is wanted; no differences when it is so.
 * @param removed monitors that are gone before: they leave their groups by that
 */
export function planGroup(
  wanted: FileGroup,
  current: CurrentGroup | undefined,
  removed: ReadonlySet<string>,
): GroupWrite {
  const before = current?.fields;
  const members = before?.monitors.filter((name) => !removed.has(name)) ?? [];
  const { tags, monitors, ...plain } = wanted.fields;
  const own = { ...before, monitors: members };
  // The order of members and tags is not the file's: the API adds what is new behind the others.
  const lists = { tags: sorted(tags), monitors: sorted(monitors) };
  const changed = changedFields(own, { ...plain, ...lists });
  return {
    name: wanted.name,
    current,
    fields: changedFields(own, plain),
    ...added('Monitors', members, lists.monitors),
    ...added('Tags', before?.tags ?? [], lists.tags),
    differences: differencesOf('', before === undefined ? undefined : own, changed),
  } as GroupWrite;
}

function added(what: 'Monitors' | 'Tags', before: readonly string[], after: readonly string[] | undefined) {
  const now = after ?? before;
  return {
    [`add${what}`]: now.filter((name) => !before.includes(name)),
    [`remove${what}`]: before.filter((name) => !now.includes(name)),
  };
}

function sorted(names: unknown): readonly string[] | undefined {
  return Array.isArray(names) ? [...new Set(names as string[])].sort() : undefined;
}
