import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { z } from 'zod';
import type { World } from './world.ts';

/** A call that must succeed. */
export type Prepared = {
  readonly path: string;
  readonly body?: unknown;
  /** An access token of its own, where the call would end the session of the others. */
  readonly token?: string;
};

/** Makes what a row needs and says how to call it. A row that is built and has no recipe fails. */
export type Recipe = (world: World) => Promise<Prepared>;

const plain =
  (path: string): Recipe =>
  async () => ({ path });

const ofMonitor =
  (suffix: string, body?: (world: World) => unknown): Recipe =>
  async (world) => ({
    path: `/api/v1/monitors/${await world.monitor()}${suffix}`,
    ...(body === undefined ? {} : { body: body(world) }),
  });

const password = 'a rather long phrase 7';

/** An incident of a new monitor. */
async function incident(world: World): Promise<number> {
  const monitorId = await world.monitor();
  return world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into incidents (workspace_id, monitor_id, title, started_at, cause)
    values (${world.workspaceId}, ${monitorId}, 'down', now(), '{"status": "DOWN", "evidence": {}}') returning id`);
}

/** A session of its own, so that ending it harms no other call. */
async function session(world: World): Promise<{ accessToken: string; refreshToken: string }> {
  return world.account(`session${world.unique()}@example.com`);
}

export const recipes: Readonly<Record<string, Recipe>> = {
  'GET /health': plain('/health'),
  'GET /health/liveness': plain('/health/liveness'),
  'GET /health/readiness': plain('/health/readiness'),
  'GET /health/deep': plain('/health/deep'),
  'GET /version': plain('/version'),

  'POST /api/v1/auth/register': async (world) => ({
    path: '/api/v1/auth/register',
    body: { email: `new${world.unique()}@example.com`, password },
  }),
  'POST /api/v1/auth/login': async () => ({
    path: '/api/v1/auth/login',
    body: { email: 'contract@example.com', password },
  }),
  'POST /api/v1/auth/refresh': async (world) => ({
    path: '/api/v1/auth/refresh',
    body: { refresh_token: (await session(world)).refreshToken },
  }),
  'GET /api/v1/auth/me': plain('/api/v1/auth/me'),
  'POST /api/v1/auth/logout': async (world) => {
    const own = await session(world);
    return { path: '/api/v1/auth/logout', body: { refresh_token: own.refreshToken }, token: own.accessToken };
  },
  'POST /api/v1/auth/logout/all': async (world) => ({
    path: '/api/v1/auth/logout/all',
    token: (await session(world)).accessToken,
  }),

  'GET /api/v1/api-keys': plain('/api/v1/api-keys'),
  'POST /api/v1/api-keys': async () => ({ path: '/api/v1/api-keys', body: { name: 'another' } }),
  'DELETE /api/v1/api-keys/{id}': async (world) => {
    const made = await world.make('POST', '/api/v1/api-keys', { name: 'to be revoked' });
    return { path: `/api/v1/api-keys/${String(made.body['id'])}` };
  },

  'GET /api/v1/workspaces': plain('/api/v1/workspaces'),

  'POST /api/v1/monitors': async (world) => ({
    path: '/api/v1/monitors',
    body: { workspace_id: world.workspaceId, name: `new ${world.unique()}`, url: world.target },
  }),
  'GET /api/v1/monitors': async (world) => {
    await world.monitor();
    return { path: '/api/v1/monitors' };
  },
  'GET /api/v1/monitors/{monitor_id}': ofMonitor(''),
  'PATCH /api/v1/monitors/{monitor_id}': ofMonitor('', (world) => ({ name: `renamed ${world.unique()}` })),
  'DELETE /api/v1/monitors/{monitor_id}': ofMonitor(''),
  'POST /api/v1/monitors/{monitor_id}/pause': ofMonitor('/pause'),
  'POST /api/v1/monitors/{monitor_id}/resume': ofMonitor('/resume'),
  'POST /api/v1/monitors/test': async (world) => ({ path: '/api/v1/monitors/test', body: { url: world.target } }),
  'POST /api/v1/monitors/{monitor_id}/check': ofMonitor('/check'),
  'GET /api/v1/monitors/{monitor_id}/results': async (world) => {
    const id = await world.monitor();
    await world.make('POST', `/api/v1/monitors/${id}/check`);
    return { path: `/api/v1/monitors/${id}/results` };
  },
  'GET /api/v1/monitors/{monitor_id}/status-ranges': async (world) => {
    const id = await world.monitor();
    await world.database.worker.query(sql.unsafe`
      insert into status_ranges (monitor_id, started_at, status) values (${id}, now(), 'UP')`);
    return { path: `/api/v1/monitors/${id}/status-ranges` };
  },
  'GET /api/v1/monitors/{monitor_id}/timeline': async (world) => {
    const id = await world.monitor();
    await world.make('POST', `/api/v1/monitors/${id}/check`);
    return { path: `/api/v1/monitors/${id}/timeline` };
  },
  'POST /api/v1/monitors/{monitor_id}/reset-stats': ofMonitor('/reset-stats', () => ({ confirm: true })),
  'GET /api/v1/monitors/{monitor_id}/stats': ofMonitor('/stats'),
  'GET /api/v1/monitors/{monitor_id}/response-time-distribution': ofMonitor('/response-time-distribution'),
  'GET /api/v1/monitors/{monitor_id}/sla': ofMonitor('/sla'),
  'GET /api/v1/monitors/{monitor_id}/sla/export/csv': ofMonitor('/sla/export/csv'),
  'GET /api/v1/monitors/{monitor_id}/sla/export/pdf': ofMonitor('/sla/export/pdf'),

  'GET /api/v1/incidents': async (world) => {
    await incident(world);
    return { path: '/api/v1/incidents' };
  },
  'GET /api/v1/incidents/{id}': async (world) => ({ path: `/api/v1/incidents/${await incident(world)}` }),

  'GET /api/v1/probe/ips': plain('/api/v1/probe/ips'),
};

/** Values that only mean something beside what the call made. */
export const meaningful: Readonly<Record<string, (world: World) => string>> = {
  workspace_id: (world) => String(world.workspaceId),
};
