import { sql } from '../../control-plane/src/platform/database/pools.ts';
import type { Recipe } from './recipes.ts';

/** Status pages as anybody reads them. */
export const publicStatusRecipes: Readonly<Record<string, Recipe>> = {
  'GET /api/v1/public/status/{slug}': async (world) => {
    const slug = `contract-${world.unique()}`.toLowerCase();
    const monitorId = await world.monitor();
    const pageId = await world.database.worker.oneFirst(sql.typeAlias('id')`
      insert into status_pages (workspace_id, name, slug, is_published, timezone)
      values (${world.workspaceId}, 'Contract', ${slug}, true, 'Europe/Berlin') returning id`);
    await world.database.worker.query(sql.unsafe`
      insert into status_page_items (workspace_id, page_id, monitor_id, display_name, position)
      values (${world.workspaceId}, ${pageId}, ${monitorId}, 'Shop', 0)`);
    return { path: `/api/v1/public/status/${slug}` };
  },
};
