import { groupProtocol } from '@parallax/api-contract';
import type { FileGroup } from '../document/read.ts';
import { faultsError } from '../errors.ts';
import type { Fault, Place } from '../errors.ts';
import type { CurrentGroup, CurrentMonitor, CurrentState } from '../state.ts';
import { circleIn, compositionKey, compositionOf, membersFirst } from './composition.ts';
import { planGroup } from './groups.ts';
import type { GroupWrite } from './groups.ts';
import { planMonitor } from './monitors.ts';
import type { MonitorWrite } from './monitors.ts';
import type { WantedMonitor } from './wanted.ts';

/** What all files together want. Undefined: no file speaks of it. */
export type Wanted = {
  readonly monitors: readonly WantedMonitor[] | undefined;
  readonly groups: readonly FileGroup[] | undefined;
};

/** Nothing of it changes the version of what comes after it in `stepsOf`. */
export type Plan = {
  readonly monitors: readonly MonitorWrite[];
  readonly removedMonitors: readonly CurrentMonitor[];
  readonly removedGroups: readonly CurrentGroup[];
  readonly groups: readonly GroupWrite[];
  /** Of group monitors and monitor groups, by `compositionKey`: members come first. */
  readonly places: ReadonlyMap<string, number>;
  readonly unchanged: number;
  /** Secrets that are given and set already: they are left, and may differ. */
  readonly secretsLeft: number;
};

export type PlanOptions = {
  /** Remove what no file names, of the kinds that the files speak of. */
  readonly prune: boolean;
  readonly sendSecrets: boolean;
  /** Names of the probes that may be chosen. */
  readonly probes: ReadonlySet<string>;
};

/** @throws AsCodeError with the place of all that cannot be */
export function planOf(wanted: Wanted, current: CurrentState, { prune, sendSecrets, probes }: PlanOptions): Plan {
  const faults: Fault[] = [];
  const refuse = (fault: Fault): void => void faults.push(fault);
  const monitorsByName = new Map(current.monitors.map((monitor) => [monitor.name, monitor] as const));
  const groupsByName = new Map(current.groups.map((group) => [group.name, group] as const));
  refuseTwice('monitor', wanted.monitors ?? [], refuse);
  refuseTwice('monitor group', wanted.groups ?? [], refuse);
  refuseUnknown('probe', 'probes', wanted.monitors ?? [], probes, refuse);
  const removedMonitors = prune ? unnamed(current.monitors, wanted.monitors) : [];
  const removedGroups = prune ? unnamed(current.groups, wanted.groups) : [];
  const removed = new Set(removedMonitors.map(({ name }) => name));
  const monitors = (wanted.monitors ?? []).map((monitor) =>
    planMonitor(monitor, withoutMembers(monitorsByName.get(monitor.name), removed), { sendSecrets, refuse }),
  );
  const known = new Set(
    [...monitorsByName.keys(), ...monitors.map(({ name }) => name)].filter((name) => !removed.has(name)),
  );
  refuseUnknown('monitor', 'monitors', wanted.groups ?? [], known, refuse);
  const groups = (wanted.groups ?? []).map((group) => planGroup(group, groupsByName.get(group.name), removed));
  const goneGroups = new Set(removedGroups.map(({ name }) => name));
  refuseUnwatchable(wanted, current, { monitors: known, removed: goneGroups }, refuse);
  const composition = compositionOf({ monitors: wanted.monitors ?? [], groups: wanted.groups ?? [] }, current, {
    monitors: removed,
    groups: goneGroups,
  });
  const circle = circleIn(composition);
  if (circle !== undefined) {
    const message = `a group monitor would contain itself: ${circle.way}`;
    refuse({ place: placeOfCircle(wanted, circle.names), message });
  }
  if (faults.length > 0) throw faultsError(faults);
  const isChange = (write: MonitorWrite | GroupWrite): boolean =>
    write.current === undefined || write.differences.length > 0;
  return {
    monitors: monitors.filter(isChange),
    removedMonitors,
    removedGroups,
    groups: groups.filter(isChange),
    places: membersFirst(composition),
    unchanged: [...monitors, ...groups].filter((write) => !isChange(write)).length,
    secretsLeft:
      secretsOf(wanted.monitors ?? []) - monitors.reduce((sum, { secrets }) => sum + Object.keys(secrets).length, 0),
  };
}

/** One thing that a plan does. */
export type Step =
  | { readonly kind: 'monitor'; readonly write: MonitorWrite }
  | { readonly kind: 'group'; readonly write: GroupWrite }
  | { readonly kind: 'monitor removed'; readonly removed: CurrentMonitor }
  | { readonly kind: 'group removed'; readonly removed: CurrentGroup };

/** What a plan does, in order: what is contained is there before what contains it, and a monitor that goes leaves its groups by that. */
export function stepsOf({ monitors, removedMonitors, removedGroups, groups, places }: Plan): readonly Step[] {
  const ofMonitors = monitors.map((write) => ({ kind: 'monitor', write }) as const);
  const composed = [...ofMonitors, ...groups.map((write) => ({ kind: 'group', write }) as const)]
    .map((step) => ({ step, place: places.get(compositionKey(step.kind, step.write.name)) }))
    .flatMap(({ step, place }) => (place === undefined ? [] : [{ step, place }]))
    .sort((one, other) => one.place - other.place);
  return [
    ...ofMonitors.filter(({ write }) => !places.has(compositionKey('monitor', write.name))),
    ...removedMonitors.map((removed) => ({ kind: 'monitor removed', removed }) as const),
    ...composed.map(({ step }) => step),
    ...removedGroups.map((removed) => ({ kind: 'group removed', removed }) as const),
  ];
}

/** How many things a plan changes. */
export function sizeOf({ monitors, removedMonitors, removedGroups, groups }: Plan): number {
  return monitors.length + removedMonitors.length + removedGroups.length + groups.length;
}

function secretsOf(monitors: readonly WantedMonitor[]): number {
  return monitors.flatMap(({ secrets }) => Object.values(secrets).filter((secret) => 'value' in secret)).length;
}

function unnamed<Item extends { readonly name: string }>(
  items: readonly Item[],
  wanted: readonly { readonly name: string }[] | undefined,
): readonly Item[] {
  if (wanted === undefined) return [];
  const names = new Set(wanted.map(({ name }) => name));
  return items.filter(({ name }) => !names.has(name));
}

type Named = {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly placeOf: (...path: readonly PropertyKey[]) => Place;
};

function refuseTwice(what: string, items: readonly Named[], refuse: (fault: Fault) => void): void {
  const seen = new Map<string, Place>();
  for (const { name, placeOf } of items) {
    const place = placeOf('name');
    const first = seen.get(name);
    if (first === undefined) seen.set(name, place);
    else refuse({ place, message: `the ${what} "${name}" stands already in ${first.file}:${first.line}` });
  }
}

function refuseUnknown(
  what: string,
  field: string,
  items: readonly Named[],
  known: ReadonlySet<string>,
  refuse: (fault: Fault) => void,
): void {
  for (const { name, fields, placeOf } of items) {
    const names = fields[field];
    for (const [index, each] of (Array.isArray(names) ? (names as string[]) : []).entries()) {
      if (known.has(each)) continue;
      refuse({ place: placeOf(field, index), message: `${field} of "${name}": there is no ${what} "${each}"` });
    }
  }
}

/** A group monitor as it is when monitors that are removed have left it. */
function withoutMembers(monitor: CurrentMonitor | undefined, removed: ReadonlySet<string>): CurrentMonitor | undefined {
  const members = monitor?.fields['protocol'] === groupProtocol ? monitor.settings['monitors'] : undefined;
  if (monitor === undefined || !Array.isArray(members)) return monitor;
  const left = (members as string[]).filter((name) => !removed.has(name));
  return { ...monitor, settings: { ...monitor.settings, monitors: left } };
}

/** What group monitors watch has to be there, but for a group that stays as it is: who uses a key does not know the names of groups. */
function refuseUnwatchable(
  wanted: Wanted,
  current: CurrentState,
  known: { readonly monitors: ReadonlySet<string>; readonly removed: ReadonlySet<string> },
  refuse: (fault: Fault) => void,
): void {
  const all = [...current.groups, ...(wanted.groups ?? [])].map(({ name }) => name);
  const groups = new Set(all.filter((name) => !known.removed.has(name)));
  for (const { name, fields, settings, placeOf } of wanted.monitors ?? []) {
    if (fields['protocol'] !== groupProtocol || settings === undefined) continue;
    const { monitors, group } = settings.open;
    for (const each of Array.isArray(monitors) ? (monitors as string[]) : []) {
      if (known.monitors.has(each)) continue;
      const message = `monitors of "${name}": there is no monitor "${each}"`;
      refuse({ place: placeOf('settings', 'monitors'), message });
    }
    const before = current.monitors.find((monitor) => monitor.name === name)?.settings['group'];
    if (typeof group !== 'string' || groups.has(group) || (group === before && !known.removed.has(group))) continue;
    refuse({
      place: placeOf('settings', 'group'),
      message: `group of "${name}": there is no monitor group "${group}"`,
    });
  }
}

/** Where the file speaks of something on the circle. */
function placeOfCircle(wanted: Wanted, names: readonly string[]): Place {
  const monitor = wanted.monitors?.find(({ name, settings }) => names.includes(name) && settings !== undefined);
  const spoken = monitor ?? wanted.groups?.find(({ fields }) => fields.monitors?.some((name) => names.includes(name)));
  return monitor?.placeOf('settings') ?? spoken?.placeOf('monitors') ?? { file: '', line: 1, column: 1 };
}
