import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { documentBases } from './documents.ts';
import { changedConsumer, itemRoutes, pageRoutes } from './pages/index.ts';
import { createServing } from './serving/index.ts';
import { subscriberRoutes, subscriberServices } from './subscribers/index.ts';
import { findPublishedPage, readPageView } from './view/index.ts';

export { forgetOldPages, leavePagesOfDeleted, leavePagesOfMoved, removePagesOfWorkspace } from './pages/index.ts';
export { servePagesWhileAway } from './serving/index.ts';
export { readPageUptime } from './view/page-uptime.gateway.ts';
export type { ComponentStatus, Indicator } from './view/page-view.ts';
export { subjectStatus } from './view/status.queries.ts';

const serving = createServing({ find: findPublishedPage, read: readPageView }, documentBases);

/** Documents of pages that are in memory, asked before any route. */
export const preparedPages = serving.serverOf;
/** A published page as its readers see it at present. */
export const shownView = serving.viewOf;
/** Pages as the data folder keeps them, for a time without a database. */
export const { keptPages } = serving;

/** Pages that tell the public what is up. Tables: `status_pages`, `status_page_items`, `status_page_slugs`, and those of `subscribers`. */
export const statusPagesCapability: Capability<Context> = {
  name: 'status-pages',
  routes: (context) => [
    ...pageRoutes(context),
    ...itemRoutes(context),
    ...serving.routes(context),
    ...subscriberRoutes(context, { find: findPublishedPage, viewOf: serving.viewOf }),
  ],
  services: [serving.service, ...subscriberServices],
  consumers: [changedConsumer],
};
