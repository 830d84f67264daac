import type { Context } from '../../../context.ts';
import { workspaceOwner } from '../../../monitoring/monitors/index.ts';

/** How many subscribers a page of a workspace may have; undefined: any number. */
export async function mostSubscribers(
  { database, limits }: Pick<Context, 'database' | 'limits'>,
  workspaceId: number,
): Promise<number | undefined> {
  return limits.plan((await workspaceOwner(database.worker, workspaceId)).plan).pageSubscribers;
}
