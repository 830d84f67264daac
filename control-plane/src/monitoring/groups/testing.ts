import type { TestContext } from '@parallax/testkit';
import { monitorGroupSchema } from '@parallax/api-contract';
import type { MonitorGroup } from '@parallax/api-contract';
import { z } from 'zod';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { monitorsApi } from '../testing.ts';
import type { MonitorsApi } from '../testing.ts';
import { groupsCapability, leaveGroupsOfDeleted } from './index.ts';

export type GroupsApi = MonitorsApi & {
  /** Calls below `/monitor-groups` as the owner. */
  readonly groups: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes a group of the owner; must succeed. */
  readonly group: (body?: Record<string, unknown>) => Promise<MonitorGroup>;
  /** Identifiers of so many new monitors, written by one statement. */
  readonly manyMonitors: (count: number) => Promise<readonly number[]>;
};

/** For tests: the API with monitors and their groups. */
export async function groupsApi(t: TestContext, more: Parameters<typeof monitorsApi>[1] = {}): Promise<GroupsApi> {
  const api = await monitorsApi(t, {
    ...more,
    monitors: { onMonitorDeleted: [leaveGroupsOfDeleted], ...more.monitors },
    more: [groupsCapability, ...(more.more ?? [])],
  });
  let made = 0;
  const groups: GroupsApi['groups'] = (method, path, body, call = {}) =>
    api.call(method, `/api/v1/monitor-groups${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...call,
    });
  return {
    ...api,
    groups,
    group: async (body = {}) => {
      made += 1;
      const answer = await groups('POST', '', { workspace_id: api.workspaceId, name: `group ${made}`, ...body });
      if (answer.status !== 201) throw new Error(`create: ${answer.status} ${answer.text}`);
      return monitorGroupSchema.parse(answer.body);
    },
    manyMonitors: (count) =>
      api.database.worker.anyFirst(sql.type(z.object({ id: z.number() }))`
        insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds)
        select ${api.workspaceId}, ${api.owner.id}, 'many ' || n, 'https://example.com/', 'https', 60, 10
        from generate_series(1, ${count}) n returning id`),
  };
}
