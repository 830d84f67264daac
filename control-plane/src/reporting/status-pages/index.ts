import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { changedConsumer, itemRoutes, pageRoutes } from './pages/index.ts';

export { forgetOldPages, leavePagesOfDeleted, leavePagesOfMoved, removePagesOfWorkspace } from './pages/index.ts';

/** Pages that tell the public what is up. Tables: `status_pages`, `status_page_items`, `status_page_slugs`. */
export const statusPagesCapability: Capability<Context> = {
  name: 'status-pages',
  routes: (context) => [...pageRoutes(context), ...itemRoutes(context)],
  consumers: [changedConsumer],
};
