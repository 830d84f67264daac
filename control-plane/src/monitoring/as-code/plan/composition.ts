import { groupProtocol } from '@parallax/api-contract';
import { findCycle, tellCycle } from '../../groups/check/index.ts';
import type { FileGroup } from '../document/read.ts';
import type { CurrentState } from '../state.ts';
import type { WantedMonitor } from './wanted.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What contains what, by name, as it will be. */
export type Composition = {
  /** Group monitors: their members, or the monitor group that they watch. */
  readonly monitors: ReadonlyMap<string, { readonly members: readonly string[]; readonly group: string | undefined }>;
  /** Monitor groups and their members. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
};

/** What is there, after what files want, without what is removed. */
export function compositionOf(
  wanted: { readonly monitors: readonly WantedMonitor[]; readonly groups: readonly FileGroup[] },
  current: CurrentState,
  removed: { readonly monitors: ReadonlySet<string>; readonly groups: ReadonlySet<string> },
): Composition {
  const monitors = new Map<string, ReturnType<typeof watchedBy>>();
  const there = new Map(current.monitors.map((monitor) => [monitor.name, monitor.settings] as const));
  for (const { name, fields, settings } of current.monitors)
    if (fields['protocol'] === groupProtocol && !removed.monitors.has(name)) monitors.set(name, watchedBy(settings));
  for (const { name, fields, settings } of wanted.monitors) {
    if (fields['protocol'] === groupProtocol) monitors.set(name, watchedBy(settings?.open ?? there.get(name) ?? {}));
    else monitors.delete(name);
  }
  const groups = new Map<string, readonly string[]>();
  for (const { name, fields } of current.groups) if (!removed.groups.has(name)) groups.set(name, fields.monitors);
  for (const { name, fields } of wanted.groups) groups.set(name, fields.monitors ?? groups.get(name) ?? []);
  return { monitors, groups };
}

function watchedBy({ monitors, group }: Fields) {
  return {
    members: Array.isArray(monitors) ? (monitors as string[]) : [],
    group: typeof group === 'string' ? group : undefined,
  };
}

/** A way on which a group monitor contains itself: in words, and the names on it. */
export function circleIn({
  monitors,
  groups,
}: Composition): { readonly way: string; readonly names: readonly string[] } | undefined {
  const ids = new Map([...monitors.keys()].map((name, index) => [name, index] as const));
  const nodes = [...monitors].map(([name, { members, group }], id) => {
    const all = group === undefined ? members : (groups.get(group) ?? []);
    return { id, name, group: group ?? null, members: all.flatMap((member) => ids.get(member) ?? []) };
  });
  const cycle = findCycle(nodes);
  return cycle === undefined ? undefined : { way: tellCycle(cycle), names: cycle.map(({ name }) => name) };
}

/** The key of something in `membersFirst`. */
export function compositionKey(kind: 'monitor' | 'group', name: string): string {
  return `${kind} ${name}`;
}

/**
 * Group monitors and monitor groups by their place in an order in which members come first, by `compositionKey`. In this order nothing names what
 * is not there yet; and no circle arises on the way: what is done names only what is done, and the rest is as it was.
 */
export function membersFirst({ monitors, groups }: Composition): ReadonlyMap<string, number> {
  const below = new Map<string, readonly string[]>();
  const containers = (members: readonly string[]) =>
    members.filter((name) => monitors.has(name)).map((name) => compositionKey('monitor', name));
  for (const [name, { members, group }] of monitors) {
    const watched = group !== undefined && groups.has(group) ? [compositionKey('group', group)] : [];
    below.set(compositionKey('monitor', name), [...containers(members), ...watched]);
  }
  for (const [name, members] of groups) below.set(compositionKey('group', name), containers(members));
  const above = new Map<string, string[]>([...below.keys()].map((key) => [key, []]));
  const waitsFor = new Map([...below].map(([key, keys]) => [key, new Set(keys).size] as const));
  for (const [key, keys] of below) for (const each of new Set(keys)) above.get(each)?.push(key);
  const ready = [...below.keys()].filter((key) => waitsFor.get(key) === 0);
  // The list grows while it is walked.
  for (const key of ready) {
    for (const other of above.get(key) ?? []) {
      const left = (waitsFor.get(other) ?? 0) - 1;
      waitsFor.set(other, left);
      if (left === 0) ready.push(other);
    }
  }
  return new Map(ready.map((key, place) => [key, place]));
}
