import type { FileGroup } from '../document/read.ts';
import { faultsError } from '../errors.ts';
import type { Fault, Place } from '../errors.ts';
import type { CurrentGroup, CurrentMonitor, CurrentState } from '../state.ts';
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

/** In the order in which it is done: nothing of it changes the version of what comes after it. */
export type Plan = {
  readonly monitors: readonly MonitorWrite[];
  readonly removedMonitors: readonly CurrentMonitor[];
  readonly removedGroups: readonly CurrentGroup[];
  readonly groups: readonly GroupWrite[];
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
  const monitors = (wanted.monitors ?? []).map((monitor) =>
    planMonitor(monitor, monitorsByName.get(monitor.name), { sendSecrets, refuse }),
  );
  const removedMonitors = prune ? unnamed(current.monitors, wanted.monitors) : [];
  const removed = new Set(removedMonitors.map(({ name }) => name));
  const known = new Set(
    [...monitorsByName.keys(), ...monitors.map(({ name }) => name)].filter((name) => !removed.has(name)),
  );
  refuseUnknown('monitor', 'monitors', wanted.groups ?? [], known, refuse);
  const groups = (wanted.groups ?? []).map((group) => planGroup(group, groupsByName.get(group.name), removed));
  if (faults.length > 0) throw faultsError(faults);
  const isChange = (write: MonitorWrite | GroupWrite): boolean =>
    write.current === undefined || write.differences.length > 0;
  return {
    monitors: monitors.filter(isChange),
    removedMonitors,
    removedGroups: prune ? unnamed(current.groups, wanted.groups) : [],
    groups: groups.filter(isChange),
    unchanged: [...monitors, ...groups].filter((write) => !isChange(write)).length,
    secretsLeft:
      secretsOf(wanted.monitors ?? []) - monitors.reduce((sum, { secrets }) => sum + Object.keys(secrets).length, 0),
  };
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
