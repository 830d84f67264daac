import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

/** The badge of a new monitor of the workspace. */
async function badge(world: World): Promise<string> {
  const made = await world.make('POST', '/api/v1/badges', {
    workspace_id: world.workspaceId,
    type: 'monitor',
    id: await world.monitor(),
  });
  return `/api/v1/badges/${String(made.body['id'])}`;
}

/** Badges, which the specification does not list. */
export const badgeRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/badges': async (world) => {
    await badge(world);
    return { path: '/api/v1/badges' };
  },
  'POST /api/v1/badges': async (world) => ({
    path: '/api/v1/badges',
    body: { workspace_id: world.workspaceId, type: 'monitor', id: await world.monitor() },
  }),
  'GET /api/v1/badges/:id': async (world) => ({ path: await badge(world) }),
  'DELETE /api/v1/badges/:id': async (world) => ({ path: await badge(world) }),
  'POST /api/v1/badges/:id/rotate': async (world) => ({ path: `${await badge(world)}/rotate` }),
};
