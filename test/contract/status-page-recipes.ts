import { randomKeyHash } from '../../control-plane/src/platform/crypto/random-key.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { hostsOfPages } from '../../control-plane/src/reporting/status-pages/index.ts';
import { sealedFor, subscriberToken } from '../../control-plane/src/reporting/status-pages/subscribers/token.ts';
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

const pages = new WeakMap<World, ReturnType<typeof page>>();

/** A page that serves all who try something that leaves it as it was: a workspace has a bounded number of them. */
function sharedPage(world: World): ReturnType<typeof page> {
  const known = pages.get(world) ?? page(world);
  pages.set(world, known);
  return known;
}

const svg = { 'content-type': 'image/svg+xml' };
const picture = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg"><rect fill="${colour}" width="1" height="1"/></svg>`;

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

type PublishedPage = { readonly id: number; readonly slug: string };
const publishedPages = new WeakMap<World, Promise<PublishedPage>>();

/** A published page, the same for all who try. */
function publishedPage(world: World): Promise<PublishedPage> {
  const known = publishedPages.get(world) ?? publish(world);
  publishedPages.set(world, known);
  return known;
}

async function publish(world: World): Promise<PublishedPage> {
  const slug = `contract-${world.unique()}`.toLowerCase();
  const id = await world.database.worker.oneFirst(sql.typeAlias('id')`
    insert into status_pages (workspace_id, name, slug, is_published, timezone)
    values (${world.workspaceId}, 'Shop', ${slug}, true, 'Europe/Berlin') returning id`);
  return { id, slug };
}

/** A new subscriber of it. */
async function subscriber(world: World) {
  const { id: pageId, slug } = await publishedPage(world);
  const token = subscriberToken.make();
  const { sealer } = world.context;
  const sealed = (text: string, what: string) => sql.binary(sealer.seal(text, what));
  const id = await world.database.worker.oneFirst(sql.typeAlias('id')`
    insert into status_page_subscribers (workspace_id, page_id, kind, target_sealed, target_hash, locale, token_hash, token_sealed)
    values (${world.workspaceId}, ${pageId}, 'email', ${sealed('reader@example.com', sealedFor.target)},
      ${sql.binary(Buffer.from(String(world.unique())))}, 'en', ${sql.binary(randomKeyHash(token))}, ${sealed(token, sealedFor.token)}) returning id`);
  return { slug, token, of: `/api/v1/status-pages/${pageId}/subscribers`, id };
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Routes of status pages beside those. */
export const moreStatusPageRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/status-pages/:id/subscribers': async (world) => ({ path: (await subscriber(world)).of }),
  'POST /api/v1/status-pages/:id/subscribers': async (world) => ({
    path: (await subscriber(world)).of,
    body: { subscribers: [{ target: 'new@example.com' }] },
  }),
  'POST /api/v1/status-pages/:id/subscribers/import': async (world) => ({
    path: `${(await subscriber(world)).of}/import`,
    body: 'target\nnew@example.com\n',
    headers: { 'content-type': 'text/csv' },
  }),
  'DELETE /api/v1/status-pages/:id/subscribers/:subscriber_id': async (world) => {
    const { of: path, id } = await subscriber(world);
    return { path: `${path}/${id}` };
  },
  'POST /status/:slug/subscribe': async (world) => ({
    path: `/status/${(await subscriber(world)).slug}/subscribe`,
    body: 'target=new%40example.com',
    headers: form,
  }),
  'GET /status/:slug/subscription/:token': async (world) => {
    const { slug, token } = await subscriber(world);
    return { path: `/status/${slug}/subscription/${token}` };
  },
  'POST /status/:slug/subscription/:token': async (world) => {
    const { slug, token } = await subscriber(world);
    return { path: `/status/${slug}/subscription/${token}`, body: 'List-Unsubscribe=One-Click', headers: form };
  },
  'POST /api/v1/status-pages/:id/domain/verify': async (world) => {
    const { path } = await page(world);
    const domain = `contract-${world.unique()}.example`;
    const changed = await world.make('PUT', path, { domain });
    world.txt(`_parallax.${domain}`, String(changed.body['domain_txt']));
    return { path: `${path}/domain/verify` };
  },
  'PUT /api/v1/status-pages/:id/files/:kind': async (world) => ({
    path: `${(await sharedPage(world)).path}/files/logo-light`,
    body: picture('red'),
    headers: svg,
  }),
  'DELETE /api/v1/status-pages/:id/files/:kind': async (world) => {
    const path = `${(await sharedPage(world)).path}/files/favicon`;
    const { status, text } = await world.call('PUT', path, {
      token: world.token,
      body: picture('blue'),
      headers: svg,
    });
    if (status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`);
    return { path };
  },
  'GET /api/v1/public/domains/ask': async (world) => {
    const domain = 'contract.example';
    hostsOfPages(world.context).take([
      { domain, slug: 'contract', workspace_id: world.workspaceId, is_published: true },
    ]);
    return { path: `/api/v1/public/domains/ask?domain=${domain}` };
  },
};
