import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

type Made = {
  readonly id: number;
  readonly slug: string;
  readonly secret: string;
  readonly uuid: string;
  readonly ping_key: string;
};

/** A heartbeat of the workspace, of which a ping has come. */
async function heartbeat(world: World): Promise<Made> {
  const path = `/api/v1/heartbeats?workspace_id=${world.workspaceId}`;
  const made = (await world.make('POST', path, { name: `contract ${world.unique()}` })).body as unknown as Made;
  await world.call('GET', `/ping/${made.uuid}`);
  return made;
}

const ofHeartbeat =
  (suffix: string, body?: (world: World) => unknown): Recipe =>
  async (world) => ({
    path: `/api/v1/heartbeats/${(await heartbeat(world)).id}${suffix}`,
    ...(body === undefined ? {} : { body: body(world) }),
  });

const bySlug =
  (suffix: string): Recipe =>
  async (world) => {
    const made = await heartbeat(world);
    return { path: `/api/v1/ping/${made.ping_key}/${made.slug}${suffix}`, headers: { 'x-secret': made.secret } };
  };

/** Heartbeats and their signals, as the specification lists them. */
export const heartbeatRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/heartbeats': async (world) => {
    await heartbeat(world);
    return { path: '/api/v1/heartbeats' };
  },
  'POST /api/v1/heartbeats': async (world) => ({
    path: `/api/v1/heartbeats?workspace_id=${world.workspaceId}`,
    body: { name: `contract ${world.unique()}`, expected_interval_seconds: 60, grace_period_seconds: 30 },
  }),
  'GET /api/v1/heartbeats/{id}': ofHeartbeat(''),
  'PATCH /api/v1/heartbeats/{id}': ofHeartbeat('', () => ({ grace_period_seconds: 60 })),
  'DELETE /api/v1/heartbeats/{id}': ofHeartbeat(''),
  'POST /api/v1/heartbeats/{id}/pause': ofHeartbeat('/pause'),
  'POST /api/v1/heartbeats/{id}/resume': ofHeartbeat('/resume'),
  'POST /api/v1/heartbeats/{id}/regenerate-secret': ofHeartbeat('/regenerate-secret'),
  'GET /api/v1/heartbeats/{id}/stats': ofHeartbeat('/stats'),
  'GET /api/v1/heartbeats/{id}/pings': ofHeartbeat('/pings'),
  'GET /api/v1/ping/{ping_key}/{slug}': bySlug(''),
  'POST /api/v1/ping/{ping_key}/{slug}': bySlug(''),
  'POST /api/v1/ping/{ping_key}/{slug}/start': bySlug('/start'),
  'POST /api/v1/ping/{ping_key}/{slug}/success': bySlug('/success'),
  'POST /api/v1/ping/{ping_key}/{slug}/fail': bySlug('/fail'),
};

const byUuid =
  (suffix: string): Recipe =>
  async (world) => ({ path: `/ping/${(await heartbeat(world)).uuid}${suffix}` });

let pushed = 0;

/** The same for signals that the specification does not list, by the contract's path. */
export const moreHeartbeatRecipes: Readonly<Record<string, Recipe>> = Object.fromEntries([
  [
    'POST /api/v1/heartbeats/import',
    async (world: World) => ({
      path: `/api/v1/heartbeats/import?workspace_id=${world.workspaceId}`,
      body: { checks: [{ name: `contract ${world.unique()}`, timeout: 3_600, grace: 60 }] },
    }),
  ],
  ...['GET', 'POST'].flatMap((method): [string, Recipe][] => [
    ...['start', 'success', 'fail', 'log', 'keepalive'].map((word): [string, Recipe] => [
      `${method} /api/v1/ping/:ping_key/:slug/${word}`,
      bySlug(`/${word}`),
    ]),
    [`${method} /api/v1/ping/:ping_key/:slug/:exit_code`, bySlug('/0')],
    [`${method} /ping/:uuid`, byUuid('')],
    [`${method} /ping/:place/:signal`, byUuid('/start')],
    [
      `${method} /ping/:ping_key/:slug/:signal`,
      async (world) => {
        const { path, headers } = await bySlug('/log')(world);
        return { path: path.replace('/api/v1', ''), ...(headers === undefined ? {} : { headers }) };
      },
    ],
    [
      `${method} /api/push/:token`,
      async (world) => {
        pushed += 1;
        const token = `contract-push-token-${pushed}`;
        const file = { monitorList: [{ type: 'push', name: `contract ${world.unique()}`, pushToken: token }] };
        await world.make('POST', `/api/v1/heartbeats/import?workspace_id=${world.workspaceId}`, file);
        return { path: `/api/push/${token}` };
      },
    ],
  ]),
]);
