import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

/** A status page of the workspace that shows a new monitor. */
async function page(world: World): Promise<{ readonly path: string; readonly monitorId: number }> {
  const monitorId = await world.monitor();
  const made = await world.make('POST', '/api/v1/status-pages', {
    workspace_id: world.workspaceId,
    name: `contract ${world.unique()}`,
    items: [{ type: 'monitor', id: monitorId }],
  });
  return { path: `/api/v1/status-pages/${String(made.body['id'])}`, monitorId };
}

const of =
  (body?: unknown): Recipe =>
  async (world) => ({ path: (await page(world)).path, ...(body === undefined ? {} : { body }) });

/** Status pages as the specification lists them. */
export const statusPageRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/status-pages': async (world) => {
    await page(world);
    return { path: '/api/v1/status-pages' };
  },
  'POST /api/v1/status-pages': async (world) => ({
    path: '/api/v1/status-pages',
    body: {
      workspace_id: world.workspaceId,
      name: `contract ${world.unique()}`,
      theme: { dark: { accent: '#ff8800' } },
    },
  }),
  'GET /api/v1/status-pages/{id}': of(),
  'PUT /api/v1/status-pages/{id}': of({ description: 'changed', days: 30 }),
  'DELETE /api/v1/status-pages/{id}': of(),
  'POST /api/v1/status-pages/{id}/monitors': async (world) => ({
    path: `${(await page(world)).path}/monitors`,
    body: { monitor_ids: [await world.monitor()] },
  }),
  'DELETE /api/v1/status-pages/{id}/monitors/{monitor_id}': async (world) => {
    const { path, monitorId } = await page(world);
    return { path: `${path}/monitors/${monitorId}` };
  },
};
