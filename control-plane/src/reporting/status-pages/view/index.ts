import type { Capability } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import { publicStatusRoutes } from './public-status.routes.ts';

export { findPublishedPage, readPageView } from './page-view.gateway.ts';
export type { PublishedPage } from './page-view.gateway.ts';
export { publicStatusRoutes } from './public-status.routes.ts';

/** What status pages tell strangers. */
export const publicStatusCapability: Capability<Context> = { name: 'public-status', routes: publicStatusRoutes };
