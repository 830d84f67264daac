import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { linkMailConsumer } from './access/link-mails.consumer.ts';
import { documentBases } from './documents.ts';
import {
  domainFollowing,
  domainRechecks,
  domainsOf,
  keptDomains,
  preparedAsks,
  routesOfDomains,
} from './domains/index.ts';
import { readPageFile } from './files/files.gateway.ts';
import { fileRoutes } from './files/files.routes.ts';
import { changedConsumer, itemRoutes, pageRoutes, previewRoutes } from './pages/index.ts';
import { createServing } from './serving/index.ts';
import { subscriberRoutes, subscriberServices } from './subscribers/index.ts';
import { findPublishedPage, readPageView } from './view/index.ts';

export { privateHeaders } from './access/answers.ts';
export type { PageAccess } from './access/page-access.ts';
export type { PageGuard } from './access/page-guard.ts';
export { forgetOldPages, leavePagesOfDeleted, leavePagesOfMoved, removePagesOfWorkspace } from './pages/index.ts';
export { servePagesWhileAway } from './serving/index.ts';
export { readPageUptime } from './view/page-uptime.gateway.ts';
export type { ComponentStatus, Indicator } from './view/page-view.ts';
export { subjectStatus } from './view/status.queries.ts';

const serving = createServing({ find: findPublishedPage, read: readPageView, readFile: readPageFile }, documentBases);

/** Documents of pages that are in memory, asked before any route. */
export const preparedPages = serving.serverOf;
/** A published page as its readers see it at present, and who may read it. */
export const shownPage = serving.pageOf;
/** Lets readers of private pages in, wherever what those tell is served. */
export const pageGuard = serving.guardOf;
/** Pages as the data folder keeps them, for a time without a database. */
export const { keptPages } = serving;
/** Hosts that pages are served under, and whether one is; both answered before any route. */
export { domainsOf as hostsOfPages, keptDomains as keptHosts, preparedAsks };

/** Pages that tell the public what is up. Tables: `status_pages` and those whose names begin with `status_page_`. */
export const statusPagesCapability: Capability<Context> = {
  name: 'status-pages',
  routes: (context) => [
    ...pageRoutes(context),
    ...previewRoutes(context),
    ...itemRoutes(context),
    ...fileRoutes(context),
    ...routesOfDomains(context),
    ...serving.routes(context),
    ...subscriberRoutes(context, {
      find: findPublishedPage,
      viewOf: async (of, slug) => (await serving.pageOf(of, slug))?.view ?? null,
      mayRead: serving.mayRead,
    }),
  ],
  services: [domainFollowing, serving.service, domainRechecks, ...subscriberServices],
  consumers: [changedConsumer, linkMailConsumer],
};
