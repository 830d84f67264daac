import { randomKeyHash } from '../../control-plane/src/platform/crypto/random-key.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { reportToken } from '../../control-plane/src/reporting/scheduled-reports/links/token.ts';
import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

/** A scheduled report of the workspace. */
async function report(world: World): Promise<string> {
  const made = await world.make('POST', '/api/v1/scheduled-reports', {
    workspace_id: world.workspaceId,
    name: `contract ${world.unique()}`,
    recipients: [],
  });
  return `/api/v1/scheduled-reports/${String(made.body['id'])}`;
}

const of =
  (suffix = '', body?: unknown): Recipe =>
  async (world) => ({ path: `${await report(world)}${suffix}`, ...(body === undefined ? {} : { body }) });

/** A file of a run that is over. */
const ofFile =
  (format: 'pdf' | 'csv'): Recipe =>
  async (world) => {
    const path = await report(world);
    const runId = await world.database.worker.oneFirst(sql.typeAlias('id')`
      insert into scheduled_report_runs (workspace_id, report_id, from_at, to_at, trigger, status)
      values (${world.workspaceId}, ${Number(path.split('/').at(-1))}, now() - interval '1 day', now(), 'schedule', 'sent') returning id`);
    await world.database.worker.query(sql.unsafe`
      insert into scheduled_report_files (workspace_id, run_id, format, content)
      values (${world.workspaceId}, ${runId}, ${format}, ${sql.binary(Buffer.from('name,value\r\n'))})`);
    return { path: `${path}/runs/${runId}/${format}` };
  };

/** The token of a recipient's link. */
async function linkToken(world: World): Promise<string> {
  const path = await report(world);
  const token = reportToken.make();
  await world.database.worker.query(sql.unsafe`
    insert into scheduled_report_recipients (workspace_id, report_id, address, place, unsubscribe_hash, unsubscribe_sealed)
    values (${world.workspaceId}, ${Number(path.split('/').at(-1))}, 'reader@example.com', 0, ${sql.binary(randomKeyHash(token))}, '')`);
  return token;
}

/** Scheduled reports as the specification lists them. */
export const reportRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/scheduled-reports': async (world) => {
    await report(world);
    return { path: '/api/v1/scheduled-reports' };
  },
  'POST /api/v1/scheduled-reports': async (world) => ({
    path: '/api/v1/scheduled-reports',
    body: { workspace_id: world.workspaceId, name: `contract ${world.unique()}`, frequency: 'monthly' },
  }),
  'GET /api/v1/scheduled-reports/{id}': of(),
  'PUT /api/v1/scheduled-reports/{id}': of('', { frequency: 'daily' }),
  'DELETE /api/v1/scheduled-reports/{id}': of(),
  'POST /api/v1/scheduled-reports/{id}/pause': of('/pause'),
  'POST /api/v1/scheduled-reports/{id}/resume': of('/resume'),
  'POST /api/v1/scheduled-reports/{id}/toggle': of('/toggle'),
  'POST /api/v1/scheduled-reports/{id}/run': of('/run', { deliver: false }),
  'GET /api/v1/scheduled-reports/{id}/runs': of('/runs'),
};

/** Routes of scheduled reports beside those. */
export const moreReportRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/scheduled-reports/:id/runs/:run_id/pdf': ofFile('pdf'),
  'GET /api/v1/scheduled-reports/:id/runs/:run_id/csv': ofFile('csv'),
  'GET /api/v1/public/reports/:token': async (world) => ({ path: `/api/v1/public/reports/${await linkToken(world)}` }),
  'POST /api/v1/public/reports/:token': async (world) => ({
    path: `/api/v1/public/reports/${await linkToken(world)}`,
    body: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
};
