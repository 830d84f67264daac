import type { DatabasePool } from 'slonik';
import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { removeGroupsOf } from './groups/queries.ts';
import { groupRoutes } from './groups/routes.ts';
import { consequences } from './consequences/gateway.ts';
import type { MessengerHooks } from './hooks.ts';
import { personRoutes } from './people/routes.ts';
import { beginDeparture } from './queries.ts';
import { startBot } from './updates/job.ts';
import { updateRoutes } from './updates/routes.ts';

export type { ChatOfWorkspace, MessengerHooks } from './hooks.ts';

/** Hook of a deleted workspace: its groups are linked to it no more. For the worker login. */
export async function removeMessengerGroupsOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await beginDeparture(worker, await removeGroupsOf(worker, workspaceId));
}

/** The messenger: its groups, its people, and the bot that they speak with. */
export function createMessengerCapability(hooks: MessengerHooks = consequences): Capability<Context> {
  return {
    name: 'messenger',
    routes: (context) => [...groupRoutes(context), ...personRoutes(context), ...updateRoutes(context)],
    services: [{ name: 'messenger bot', role: 'worker', start: (context, log) => startBot(context, log, hooks) }],
  };
}
