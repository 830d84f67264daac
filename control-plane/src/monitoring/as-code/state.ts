import type { Monitor, MonitorGroup } from '@parallax/api-contract';
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

/** @param probeNames by identifier; one that is not among them stands as `#7`, which no probe is named */
export function currentMonitor(monitor: Monitor, probeNames: ReadonlyMap<number, string>): CurrentMonitor {
  const own: Fields = monitor;
  const fields = monitorFields
    .filter((name) => name !== 'name' && name !== 'settings' && name !== 'probes' && Object.hasOwn(own, name))
    .map((name) => [name, own[name]] as const);
  const probes = monitor.probe_ids.map((id) => probeNames.get(id) ?? `#${id}`);
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
    settings: Object.fromEntries(settings),
    secrets: secrets.sort(),
  };
}

/** @param monitorNames by identifier, of the workspace */
export function currentGroup(group: MonitorGroup, monitorNames: ReadonlyMap<number, string>): CurrentGroup {
  const { id, version, name, description, is_paused, tags, monitor_ids } = group;
  const monitors = monitor_ids.flatMap((member) => monitorNames.get(member) ?? []).sort();
  return { id, version, name, fields: { description, is_paused, tags: [...tags].sort(), monitors } };
}
