import { groupProtocol, monitorGroupSchema, monitorSchema } from '@parallax/api-contract';
import { AsCodeError } from './errors.ts';
import { ApiError } from './gateway.ts';
import type { Client } from './gateway.ts';
import { differencesBetween } from './plan/difference.ts';
import type { GroupWrite } from './plan/groups.ts';
import type { MonitorWrite } from './plan/monitors.ts';
import { sizeOf, stepsOf } from './plan/plan.ts';
import type { Plan, Step } from './plan/plan.ts';
import { showDifferences } from './plan/show.ts';
import type { Remote } from './remote.ts';
import { currentGroup, currentMonitor } from './state.ts';

type Work = {
  readonly client: Client;
  readonly workspaceId: number;
  readonly remote: Remote;
  /** Told of each thing that is done. */
  readonly done: (line: string) => void;
};

type Fields = Readonly<Record<string, unknown>>;

const tagOf = (version: number): string => `"${version}"`;

/**
 * Does what a plan says, one thing after the other. Each change carries the version that the plan saw. Stops at the first that fails: what
 * was done stays, and the same command again plans the rest.
 * @throws AsCodeError which says what failed, what somebody else changed, and how much is left
 */
export async function applyPlan(plan: Plan, work: Work): Promise<void> {
  const known = { monitors: new Map(work.remote.monitorIds), groups: new Map(work.remote.groupIds) };
  const steps = stepsOf(plan).map((step) => runnable(step, work, known));
  for (const [index, [name, run]] of steps.entries()) {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof AsCodeError)) throw error;
      const changed = error instanceof ApiError ? await changedMeanwhile(error, plan, name, work) : [];
      const rest = `stopped: ${index} of ${sizeOf(plan)} done; what is done stays, and the same command again plans the rest`;
      throw new AsCodeError([`${name}: ${error.message}`, ...changed, rest].join('\n'));
    }
  }
}

/** Identifiers of what is there by now, by name. */
type Known = { readonly monitors: Map<string, number>; readonly groups: Map<string, number> };

function runnable(step: Step, work: Work, known: Known): readonly [name: string, run: () => Promise<void>] {
  const { client, done } = work;
  switch (step.kind) {
    case 'monitor': {
      const { write } = step;
      return [
        `monitor "${write.name}"`,
        async () => {
          known.monitors.set(write.name, await writeMonitor(write, work, known));
          done(`${write.current === undefined ? 'created' : 'changed'} monitor "${write.name}"`);
        },
      ];
    }
    case 'monitor removed': {
      const { id, name, version } = step.removed;
      return [
        `monitor "${name}"`,
        async () => {
          await client.send('DELETE', `/monitors/${id}`, { version: tagOf(version) });
          known.monitors.delete(name);
          done(`removed monitor "${name}"`);
        },
      ];
    }
    case 'group': {
      const { write } = step;
      return [
        `monitor group "${write.name}"`,
        async () => {
          known.groups.set(write.name, await writeGroup(write, work, known.monitors));
          done(`${write.current === undefined ? 'created' : 'changed'} monitor group "${write.name}"`);
        },
      ];
    }
    case 'group removed': {
      const { id, name, version } = step.removed;
      return [
        `monitor group "${name}"`,
        async () => {
          await client.send('DELETE', `/monitor-groups/${id}`, { version: tagOf(version) });
          done(`removed monitor group "${name}"`);
        },
      ];
    }
  }
}

async function writeMonitor(write: MonitorWrite, { client, workspaceId, remote }: Work, known: Known): Promise<number> {
  const { probes, ...fields } = write.fields;
  const open = write.protocol === groupProtocol ? byIdentifier(write.settings, known) : write.settings;
  const settings = { ...open, ...write.secrets };
  const body = {
    ...fields,
    ...(probes === undefined ? {} : { probe_ids: (probes as string[]).map((name) => remote.probeIds.get(name)) }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
  if (write.current === undefined) {
    const made = await client.send('POST', '/monitors', {
      body: { workspace_id: workspaceId, name: write.name, ...body },
    });
    return monitorSchema.parse(made.body).id;
  }
  const { id, version } = write.current;
  await client.send('PATCH', `/monitors/${id}`, { body, version: tagOf(version) });
  return id;
}

/** What a group monitor watches as requests have it; null, which takes it away, stays so. */
function byIdentifier({ monitors, group, ...others }: Fields, known: Known): Fields {
  const ids = Array.isArray(monitors) ? (monitors as string[]).map((name) => known.monitors.get(name)) : monitors;
  return {
    ...others,
    ...(monitors === undefined ? {} : { monitor_ids: ids }),
    ...(group === undefined ? {} : { group_id: typeof group === 'string' ? known.groups.get(group) : group }),
  };
}

async function writeGroup(
  write: GroupWrite,
  { client, workspaceId }: Work,
  monitorIds: ReadonlyMap<string, number>,
): Promise<number> {
  const ids = (names: readonly string[]) => names.flatMap((name) => monitorIds.get(name) ?? []);
  const { name, current, fields } = write;
  if (current === undefined) {
    const body = {
      workspace_id: workspaceId,
      name,
      ...fields,
      monitor_ids: ids(write.addMonitors),
      tags: write.addTags,
    };
    return monitorGroupSchema.parse((await client.send('POST', '/monitor-groups', { body })).body).id;
  }
  const path = `/monitor-groups/${current.id}`;
  let version = tagOf(current.version);
  // What is removed goes first: a group has no room for more than the wanted members and tags. Each part carries the version of the one before.
  const parts = [
    ['PUT', path, fields, Object.keys(fields)],
    ['DELETE', `${path}/monitors`, { monitor_ids: ids(write.removeMonitors) }, write.removeMonitors],
    ['POST', `${path}/monitors`, { monitor_ids: ids(write.addMonitors) }, write.addMonitors],
    ['DELETE', `${path}/tags`, { tags: write.removeTags }, write.removeTags],
    ['POST', `${path}/tags`, { tags: write.addTags }, write.addTags],
  ] as const;
  for (const [method, target, body, changes] of parts) {
    if (changes.length === 0) continue;
    const answer = await client.send(method, target, { body, version });
    version = answer.etag ?? version;
  }
  return current.id;
}

/** After a refused version: how the thing differs from what the plan saw. */
async function changedMeanwhile(
  { status }: ApiError,
  plan: Plan,
  failed: string,
  { client, remote }: Work,
): Promise<readonly string[]> {
  if (status !== 412 && status !== 404) return [];
  const monitors = [...plan.monitors.flatMap(({ current }) => current ?? []), ...plan.removedMonitors];
  const groups = [...plan.groups.flatMap(({ current }) => current ?? []), ...plan.removedGroups];
  const monitor = monitors.find(({ name }) => failed === `monitor "${name}"`);
  const group = groups.find(({ name }) => failed === `monitor group "${name}"`);
  const heading = 'somebody changed it after the plan was made:';
  try {
    if (monitor !== undefined) {
      const answer = await client.send('GET', `/monitors/${monitor.id}`);
      const now = currentMonitor(monitorSchema.parse(answer.body), remote.names);
      const seen = { name: monitor.name, ...monitor.fields, secrets: monitor.secrets };
      const found = { name: now.name, ...now.fields, secrets: now.secrets };
      const all = [
        ...differencesBetween('', seen, found),
        ...differencesBetween('settings.', monitor.settings, now.settings),
      ];
      return [heading, ...showDifferences(all)];
    }
    if (group !== undefined) {
      const answer = await client.send('GET', `/monitor-groups/${group.id}`);
      const now = currentGroup(monitorGroupSchema.parse(answer.body), remote.names.monitors);
      const found = { name: now.name, ...now.fields };
      return [heading, ...showDifferences(differencesBetween('', { name: group.name, ...group.fields }, found))];
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return ['somebody deleted it after the plan was made'];
    if (!(error instanceof AsCodeError)) throw error;
  }
  return [];
}
