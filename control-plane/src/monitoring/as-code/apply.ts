import { monitorGroupSchema, monitorSchema } from '@parallax/api-contract';
import { AsCodeError } from './errors.ts';
import { ApiError } from './gateway.ts';
import type { Client } from './gateway.ts';
import { differencesBetween } from './plan/difference.ts';
import type { GroupWrite } from './plan/groups.ts';
import type { MonitorWrite } from './plan/monitors.ts';
import { sizeOf } from './plan/plan.ts';
import type { Plan } from './plan/plan.ts';
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

const tagOf = (version: number): string => `"${version}"`;

/**
 * Does what a plan says, one thing after the other. Each change carries the version that the plan saw. Stops at the first that fails: what
 * was done stays, and the same command again plans the rest.
 * @throws AsCodeError which says what failed, what somebody else changed, and how much is left
 */
export async function applyPlan(plan: Plan, work: Work): Promise<void> {
  const { client, done } = work;
  const monitorIds = new Map(work.remote.monitorIds);
  const steps: (readonly [name: string, run: () => Promise<void>])[] = [
    ...plan.monitors.map((write) =>
      step(`monitor "${write.name}"`, async () => {
        monitorIds.set(write.name, await writeMonitor(write, work));
        done(`${write.current === undefined ? 'created' : 'changed'} monitor "${write.name}"`);
      }),
    ),
    ...plan.removedMonitors.map((monitor) =>
      step(`monitor "${monitor.name}"`, async () => {
        await client.send('DELETE', `/monitors/${monitor.id}`, { version: tagOf(monitor.version) });
        monitorIds.delete(monitor.name);
        done(`removed monitor "${monitor.name}"`);
      }),
    ),
    ...plan.removedGroups.map((group) =>
      step(`monitor group "${group.name}"`, async () => {
        await client.send('DELETE', `/monitor-groups/${group.id}`, { version: tagOf(group.version) });
        done(`removed monitor group "${group.name}"`);
      }),
    ),
    ...plan.groups.map((write) =>
      step(`monitor group "${write.name}"`, async () => {
        await writeGroup(write, work, monitorIds);
        done(`${write.current === undefined ? 'created' : 'changed'} monitor group "${write.name}"`);
      }),
    ),
  ];
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

function step(name: string, run: () => Promise<void>) {
  return [name, run] as const;
}

async function writeMonitor(write: MonitorWrite, { client, workspaceId, remote }: Work): Promise<number> {
  const { probes, ...fields } = write.fields;
  const settings = { ...write.settings, ...write.secrets };
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

async function writeGroup(
  write: GroupWrite,
  { client, workspaceId }: Work,
  monitorIds: ReadonlyMap<string, number>,
): Promise<void> {
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
    await client.send('POST', '/monitor-groups', { body });
    return;
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
      const probeNames = new Map([...remote.probeIds].map(([name, id]) => [id, name] as const));
      const now = currentMonitor(
        monitorSchema.parse((await client.send('GET', `/monitors/${monitor.id}`)).body),
        probeNames,
      );
      const seen = { name: monitor.name, ...monitor.fields, secrets: monitor.secrets };
      const found = { name: now.name, ...now.fields, secrets: now.secrets };
      const all = [
        ...differencesBetween('', seen, found),
        ...differencesBetween('settings.', monitor.settings, now.settings),
      ];
      return [heading, ...showDifferences(all)];
    }
    if (group !== undefined) {
      const names = new Map([...remote.monitorIds].map(([name, id]) => [id, name] as const));
      const answer = await client.send('GET', `/monitor-groups/${group.id}`);
      const now = currentGroup(monitorGroupSchema.parse(answer.body), names);
      const found = { name: now.name, ...now.fields };
      return [heading, ...showDifferences(differencesBetween('', { name: group.name, ...group.fields }, found))];
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return ['somebody deleted it after the plan was made'];
    if (!(error instanceof AsCodeError)) throw error;
  }
  return [];
}
