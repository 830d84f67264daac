import { sql } from '../../control-plane/src/platform/database/pools.ts';
import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

/** A webhook of the workspace. */
async function webhook(world: World): Promise<string> {
  const made = await world.make('POST', '/api/v1/webhooks', {
    workspace_id: world.workspaceId,
    name: `contract ${world.unique()}`,
    url: 'http://127.0.0.1:9/hook',
    events: ['webhook.test'],
  });
  return `/api/v1/webhooks/${String(made.body['id'])}`;
}

/** A webhook with a delivery that all attempts failed for. */
async function deadLetter(world: World): Promise<{ readonly path: string; readonly id: number }> {
  const path = await webhook(world);
  const id = await world.database.worker.oneFirst(sql.typeAlias('id')`
    insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, body, state, due_at, attempts, dlq_status, failed_at)
    values (${world.workspaceId}, ${Number(path.split('/').at(-1))}, ${`evt_${world.unique()}`}, 'monitor.down', now(), '{"data":{}}', 'failed',
      now(), 10, 'failed', now())
    returning id::integer as id`);
  return { path, id };
}

const of =
  (suffix = '', body?: unknown): Recipe =>
  async (world) => ({ path: `${await webhook(world)}${suffix}`, ...(body === undefined ? {} : { body }) });

const ofLetter =
  (suffix: (id: number) => string): Recipe =>
  async (world) => {
    const { path, id } = await deadLetter(world);
    return { path: `${path}${suffix(id)}` };
  };

/** Webhooks as the specification lists them. */
export const webhookRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/webhooks': async (world) => {
    await webhook(world);
    return { path: '/api/v1/webhooks' };
  },
  'POST /api/v1/webhooks': async (world) => ({
    path: '/api/v1/webhooks',
    body: { workspace_id: world.workspaceId, name: `contract ${world.unique()}`, url: 'https://hooks.example/' },
  }),
  'GET /api/v1/webhooks/events': async () => ({ path: '/api/v1/webhooks/events' }),
  'GET /api/v1/webhooks/{id}': of(),
  'PATCH /api/v1/webhooks/{id}': of('', { description: 'changed' }),
  'DELETE /api/v1/webhooks/{id}': of(),
  'POST /api/v1/webhooks/{id}/test': of('/test', {}),
  'POST /api/v1/webhooks/{id}/secret': of('/secret', { grace_seconds: 60 }),
  'GET /api/v1/webhooks/{id}/deliveries': of('/deliveries'),
  'GET /api/v1/webhooks/{id}/stats': of('/stats'),
  'GET /api/v1/webhooks/{id}/dlq': of('/dlq'),
  'POST /api/v1/webhooks/{id}/dlq/{dlq_id}/retry': ofLetter((id) => `/dlq/${id}/retry`),
  'POST /api/v1/webhooks/{id}/dlq/{dlq_id}/resolve': ofLetter((id) => `/dlq/${id}/resolve`),
};

/** Routes of webhooks beside those. */
export const moreWebhookRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/webhooks/:id/deliveries/:delivery_id': ofLetter((id) => `/deliveries/${id}`),
  'POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver': ofLetter((id) => `/deliveries/${id}/redeliver`),
  'POST /api/v1/webhooks/:id/redeliver': of('/redeliver', { since: '2026-01-01T00:00:00Z', only: 'failed' }),
};
