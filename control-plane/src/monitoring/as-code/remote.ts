import { monitorGroupSchema, monitorSchema, workspaceSchema } from '@parallax/api-contract';
import { z } from 'zod';
import { AsCodeError } from './errors.ts';
import type { Client } from './gateway.ts';
import { currentGroup, currentMonitor } from './state.ts';
import type { CurrentState, Names } from './state.ts';

/** A workspace as commands know it: a key may not read names. */
export type Place = { readonly id: number; readonly name: string | undefined };

/** What is there, and what names in files mean. */
export type Remote = {
  readonly state: CurrentState;
  readonly probeIds: ReadonlyMap<string, number>;
  readonly monitorIds: ReadonlyMap<string, number>;
  readonly groupIds: ReadonlyMap<string, number>;
  readonly names: Names;
};

const probeSchema = z.object({ id: z.number(), name: z.string() });

/**
 * @param wanted name or number; undefined is the default workspace of the caller
 * @throws AsCodeError when there is none, or several have the name
 */
export async function findWorkspace(client: Client, wanted: string | number | undefined): Promise<Place> {
  if (client.isKey) {
    const id = Number(wanted);
    if (!Number.isInteger(id) || id < 1) {
      throw new AsCodeError(
        'an API key may not read workspaces: name the workspace by number, or use a personal access token',
      );
    }
    return { id, name: undefined };
  }
  if (wanted === undefined) {
    const answer = await client.send('GET', '/workspaces/default');
    return workspaceSchema.parse(answer.body);
  }
  const all = await client.list('/workspaces', 'workspaces', workspaceSchema);
  const named = all.filter(({ name }) => name === wanted);
  const found = named.length > 0 ? named : all.filter(({ id }) => String(id) === String(wanted));
  const [first] = found;
  if (first === undefined) throw new AsCodeError(`you have no workspace ${JSON.stringify(wanted)}`);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new AsCodeError(
      `${found.length} workspaces are named ${JSON.stringify(wanted)}: name one by number with --workspace (${ids})`,
    );
  }
  return first;
}

/** Reads all monitors and groups of a workspace; with a key no groups, which keys may not read. */
export async function readRemote(client: Client, workspaceId: number): Promise<Remote> {
  const query = `?workspace_id=${workspaceId}`;
  const probes = client.isKey ? [] : await client.list(`/probes${query}`, 'probes', probeSchema);
  const monitors = await client.list(`/monitors${query}&sort=name`, 'monitors', monitorSchema);
  const groups = client.isKey ? [] : await client.list(`/monitor-groups${query}`, 'monitor_groups', monitorGroupSchema);
  const probeNames = new Map(probes.map(({ id, name }) => [id, name] as const));
  // Of probes with the same name only one could be meant: none is.
  const unique = probes.filter(({ id, name }) => probes.every((other) => other.id === id || other.name !== name));
  for (const monitor of monitors) {
    for (const { probe_id: id, name } of monitor.assigned_probes) if (!probeNames.has(id)) probeNames.set(id, name);
  }
  const monitorNames = new Map(monitors.map(({ id, name }) => [id, name] as const));
  const groupNames = new Map(groups.map(({ id, name }) => [id, name] as const));
  const names = { probes: probeNames, monitors: monitorNames, groups: client.isKey ? undefined : groupNames };
  return {
    names,
    state: {
      monitors: monitors.map((monitor) => currentMonitor(monitor, names)),
      groups: groups.map((group) => currentGroup(group, monitorNames)),
    },
    probeIds: new Map(unique.map(({ id, name }) => [name, id] as const)),
    monitorIds: new Map(monitors.map(({ id, name }) => [name, id] as const)),
    groupIds: new Map(groups.map(({ id, name }) => [name, id] as const)),
  };
}
