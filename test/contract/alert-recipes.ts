import { makeAlertLinks } from '../../control-plane/src/response/alerts/index.ts';
import { addOccasion } from '../../control-plane/src/response/alerts/testing-occasions.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

/** The body of an alert that tells the own address of everything. */
export const alertBody = (world: World) => ({
  workspace_id: world.workspaceId,
  name: `contract ${world.unique()}`,
  steps: [{ after_seconds: 0, targets: [{ channel: 'email' }] }],
});

/** An alert of the workspace. */
export async function alert(world: World): Promise<string> {
  const made = await world.make('POST', '/api/v1/alerts', alertBody(world));
  return `/api/v1/alerts/${String(made.body['id'])}`;
}

const ofAlert =
  (suffix = '', body?: unknown): Recipe =>
  async (world) => ({ path: `${await alert(world)}${suffix}`, ...(body === undefined ? {} : { body }) });

/** Rows of the specification's table. */
export const alertRecipes: Readonly<Record<string, Recipe>> = {
  'POST /api/v1/alerts': async (world) => ({ path: '/api/v1/alerts', body: alertBody(world) }),
  'GET /api/v1/alerts': async () => ({ path: '/api/v1/alerts' }),
  'GET /api/v1/alerts/{alert_id}': ofAlert(),
  'PATCH /api/v1/alerts/{alert_id}': ofAlert('', { name: 'changed', muted_until: null }),
  'DELETE /api/v1/alerts/{alert_id}': ofAlert(),
  'POST /api/v1/alerts/{alert_id}/test': async (world) => {
    // Past what may be sent in an hour; a test of its own tries that.
    await world.database.worker.query(sql.unsafe`delete from rate_limits where key like 'channel-tests%'`);
    return { path: `${await alert(world)}/test` };
  },
  'POST /api/v1/alerts/{alert_id}/toggle': ofAlert('/toggle'),
  'GET /api/v1/alerts/{alert_id}/history': ofAlert('/history'),
  'GET /api/v1/alerts/history': async () => ({ path: '/api/v1/alerts/history' }),
};

/** The path of the page that a message leads to. */
async function linkPage(world: World): Promise<string> {
  const { workspaceId } = world;
  const occasionId = await addOccasion(world.database, { workspaceId, key: `contract:${world.unique()}` });
  const request = { workspaceId, occasionId, targetKey: 'contract', isIncident: false, title: 'Shop is down' };
  const [links] = await makeAlertLinks(world.database.worker, world.context.publicUrl, [request]);
  return new URL(links?.snooze ?? '').pathname;
}

/** Routes beside the table. */
export const moreAlertRecipes: Readonly<Record<string, Recipe>> = {
  'POST /api/v1/alerts/:alert_id/snooze': ofAlert('/snooze', { minutes: 5 }),
  'POST /api/v1/alerts/preview': async (world) => ({
    path: '/api/v1/alerts/preview',
    body: { workspace_id: world.workspaceId, event: 'monitor.down' },
  }),
  'GET /alerts/snooze/:token': async (world) => ({ path: await linkPage(world) }),
  'POST /alerts/snooze/:token': async (world) => ({
    path: await linkPage(world),
    body: 'action=snooze_1h',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
};
