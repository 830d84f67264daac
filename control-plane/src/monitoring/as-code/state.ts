import { groupProtocol } from '@parallax/api-contract';
import type { Monitor, MonitorGroup } from '@parallax/api-contract';
import { inNameOrder } from '../groups/check/index.ts';
import { monitorFields } from './document/shape.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A monitor as the API tells it, in the terms of files: references by name, secrets by their names. */
export type CurrentMonitor = {
  readonly id: number;
  readonly version: number;
  readonly name: string;
  /** Without name and settings. */
  readonly fields: Fields;
  /** Without secrets. */
  readonly settings: Fields;
  /** Names of the secrets that are set. */
  readonly secrets: readonly string[];
};

export type CurrentGroup = {
  readonly id: number;
  readonly version: number;
  readonly name: string;
  readonly fields: {
    readonly description: string;
    readonly is_paused: boolean;
    readonly tags: readonly string[];
    readonly monitors: readonly string[];
  };
};

/** What is there of a workspace. */
export type CurrentState = { readonly monitors: readonly CurrentMonitor[]; readonly groups: readonly CurrentGroup[] };

const mark = /^has_(.+)$/;

/** Names by identifier. */
export type Names = {
  readonly probes: ReadonlyMap<number, string>;
  readonly monitors: ReadonlyMap<number, string>;
  /** Undefined for who may not read them. */
  readonly groups: ReadonlyMap<number, string> | undefined;
};

/** A probe, or a group, that has no name here stands as `#7`, which none is named. */
export function currentMonitor(monitor: Monitor, names: Names): CurrentMonitor {
  const own: Fields = monitor;
  const isGroup = monitor.protocol === groupProtocol;
  const elsewhere = new Set(['name', 'settings', 'probes', ...(isGroup ? ['url'] : [])]);
  const fields = monitorFields
    .filter((name) => !elsewhere.has(name) && Object.hasOwn(own, name))
    .map((name) => [name, own[name]] as const);
  const probes = monitor.probe_ids.map((id) => names.probes.get(id) ?? `#${id}`);
  const secrets = Object.keys(monitor.settings).flatMap((key) => mark.exec(key)?.[1] ?? []);
  const hasLists = monitor.protocol === 'dnsbl' && monitor.dnsbl_servers.length > 0;
  const settings = Object.entries(monitor.settings).filter(
    ([key]) => !mark.test(key) && !(hasLists && key === 'lists'),
  );
  return {
    id: monitor.id,
    version: monitor.version,
    name: monitor.name,
    fields: { ...Object.fromEntries(fields), probes },
    settings: isGroup ? watched(monitor.settings, names) : Object.fromEntries(settings),
    secrets: secrets.sort(),
  };
}

/** Settings of a group monitor by name. One whose group was deleted watches nothing. */
function watched({ monitor_ids: ids, group_id: groupId, ...others }: Fields, { monitors, groups }: Names): Fields {
  const group = typeof groupId === 'number' ? (groups === undefined ? `#${groupId}` : groups.get(groupId)) : undefined;
  if (group !== undefined) return { ...others, group };
  const members = (Array.isArray(ids) ? (ids as number[]) : []).flatMap((id) => monitors.get(id) ?? []);
  return { ...others, monitors: inNameOrder(members) };
}

/** @param monitorNames by identifier, of the workspace */
export function currentGroup(group: MonitorGroup, monitorNames: ReadonlyMap<number, string>): CurrentGroup {
  const { id, version, name, description, is_paused, tags, monitor_ids } = group;
  const monitors = monitor_ids.flatMap((member) => monitorNames.get(member) ?? []).sort();
  return { id, version, name, fields: { description, is_paused, tags: [...tags].sort(), monitors } };
}
