import type { TestContext } from '@parallax/testkit';
import { statusPageSchema } from '@parallax/api-contract';
import type { StatusPage } from '@parallax/api-contract';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { TestAnswer, TestCall } from '../../../identity/testing.ts';
import { groupsApi } from '../../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../../monitoring/groups/testing.ts';
import { heartbeatsCapability } from '../../../monitoring/heartbeats/index.ts';
import { webhookChecksCapability } from '../../../monitoring/webhook-checks/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import { leavePagesOfDeleted, leavePagesOfMoved, preparedPages, statusPagesCapability } from '../index.ts';

export type PagesApi = GroupsApi & {
  /** Calls below `/status-pages` as the owner. */
  readonly pages: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes a page of the owner; must succeed. */
  readonly page: (body?: Record<string, unknown>) => Promise<StatusPage>;
  /** A page as it is now. */
  readonly read: (id: number) => Promise<StatusPage>;
  /** Identifiers of one new subject of each type. */
  readonly subjects: () => Promise<Readonly<Record<'monitor' | 'heartbeat' | 'webhook_check' | 'group', number>>>;
  /** Pages of which the outbox says that they have changed, since this was asked last. */
  readonly changed: () => Promise<readonly number[]>;
};

/** For tests: the API with subjects of every kind and status pages. */
export async function pagesApi(t: TestContext, context: Partial<Context> = {}): Promise<PagesApi> {
  const api = await groupsApi(t, {
    context: { publicUrl: 'https://parallax.example', ...context },
    monitors: { onMonitorDeleted: [leavePagesOfDeleted], onMonitorsMoved: [leavePagesOfMoved] },
    more: [heartbeatsCapability, webhookChecksCapability, statusPagesCapability],
    prepared: preparedPages,
  });
  const pages: PagesApi['pages'] = (method, path, body, call = {}) =>
    api.call(method, `/api/v1/status-pages${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...call,
    });
  const make = async (path: string, body: Record<string, unknown>): Promise<number> => {
    const made = await api.call('POST', path, { token: api.token, body });
    if (made.status !== 201) throw new Error(`${path}: ${made.status} ${made.text}`);
    return Number(made.body['id']);
  };
  return {
    ...api,
    pages,
    page: async (body = {}) => {
      const made = await pages('POST', '', { workspace_id: api.workspaceId, name: 'Shop', ...body });
      if (made.status !== 201) throw new Error(`create: ${made.status} ${made.text}`);
      return statusPageSchema.parse(made.body);
    },
    read: async (id) => statusPageSchema.parse((await pages('GET', `/${id}`)).body),
    subjects: async () => {
      const workspace = { workspace_id: api.workspaceId };
      return {
        monitor: (await api.monitor()).id,
        heartbeat: await make(`/api/v1/heartbeats?workspace_id=${api.workspaceId}`, { name: 'nightly' }),
        webhook_check: await make('/api/v1/webhook-checks', { ...workspace, name: 'deploys' }),
        group: (await api.group()).id,
      };
    },
    changed: async () => {
      const rows = await api.database.worker.any(
        sql.type(
          z.object({ payload: z.object({ id: z.number(), workspace_id: z.number() }) }),
        )`delete from outbox where kind = 'status_page.changed' returning payload`,
      );
      return rows.map(({ payload }) => payload.id).toSorted((a, b) => a - b);
    },
  };
}
