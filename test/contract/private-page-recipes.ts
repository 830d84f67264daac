import { randomKeyHash } from '../../control-plane/src/platform/crypto/random-key.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { linkToken } from '../../control-plane/src/reporting/status-pages/access/link-mails.consumer.ts';
import type { Recipe } from './recipes.ts';
import type { World } from './world.ts';

const password = 'correct horse';

type PrivatePage = { readonly id: number; readonly slug: string };
const pages = new WeakMap<World, Promise<PrivatePage>>();

/** A published page that has a password. One serves all who try, for a workspace has a bounded number of them. */
function privatePage(world: World): Promise<PrivatePage> {
  const known = pages.get(world) ?? makePrivatePage(world);
  pages.set(world, known);
  return known;
}

async function makePrivatePage(world: World): Promise<PrivatePage> {
  const slug = `private-${world.unique()}`.toLowerCase();
  const made = await world.make('POST', '/api/v1/status-pages', {
    workspace_id: world.workspaceId,
    name: slug,
    slug,
    password,
  });
  const id = Number(made.body['id']);
  await world.database.worker.query(sql.unsafe`update status_pages set is_published = true where id = ${id}`);
  return { id, slug };
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** The path of a new template of incidents. */
async function template(world: World): Promise<string> {
  const made = await world.make('POST', '/api/v1/incident-templates', templateBody(world));
  return `/api/v1/incident-templates/${String(made.body['id'])}`;
}

const templateBody = (world: World) => ({
  workspace_id: world.workspaceId,
  name: `contract ${world.unique()}`,
  title: 'Payments fail',
  update: { kind: 'investigating', body: 'We look into it.' },
});

/** Private pages, previews and templates of incidents, by the contract's path. */
export const privatePageRecipes: Readonly<Record<string, Recipe>> = {
  'POST /status/:slug/unlock': async (world) => ({
    path: `/status/${(await privatePage(world)).slug}/unlock`,
    body: new URLSearchParams({ password }).toString(),
    headers: form,
  }),
  'POST /status/:slug/unlock/:token': async (world) => {
    const { id, slug } = await privatePage(world);
    const token = linkToken.make();
    await world.database.worker.query(sql.unsafe`
      insert into status_page_links (token_hash, workspace_id, page_id, access_version, address_hash, expires_at)
      values (${sql.binary(randomKeyHash(token))}, ${world.workspaceId}, ${id}, 1, ${sql.binary(Buffer.alloc(32))}, now() + interval '1 hour')`);
    return { path: `/status/${slug}/unlock/${token}`, body: '', headers: form };
  },
  'POST /api/v1/status-pages/preview': async (world) => ({
    path: '/api/v1/status-pages/preview',
    body: {
      workspace_id: world.workspaceId,
      name: 'contract',
      items: [{ type: 'monitor', id: await world.monitor() }],
    },
  }),

  'GET /api/v1/incident-templates': async (world) => {
    await template(world);
    return { path: '/api/v1/incident-templates' };
  },
  'POST /api/v1/incident-templates': async (world) => ({
    path: '/api/v1/incident-templates',
    body: templateBody(world),
  }),
  'GET /api/v1/incident-templates/:id': async (world) => ({ path: await template(world) }),
  'PUT /api/v1/incident-templates/:id': async (world) => ({
    path: await template(world),
    body: { title: `changed ${world.unique()}` },
  }),
  'DELETE /api/v1/incident-templates/:id': async (world) => ({ path: await template(world) }),
};
