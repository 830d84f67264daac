import type { Service } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { editorRoutes } from './editors.routes.ts';
import { newsService } from './news/news.job.ts';
import { challengeSender } from './sending/challenge.job.ts';
import { noticeSender } from './sending/sender.job.ts';
import { subscribeRoutes } from './subscribe.routes.ts';
import type { PublishedPages } from './subscribe.routes.ts';
import { subscriptionRoutes } from './subscription.routes.ts';
import { subscriberUpkeep } from './upkeep.job.ts';

/**
 * Who is told what a page tells: subscribers without accounts, who confirm it first and leave by a link; its editors see, add and remove them. Tables:
 * `status_page_subscribers`, `status_page_news`, `status_page_notices`.
 */
export function subscriberRoutes(context: Context, pages: PublishedPages): readonly Route[] {
  return [...subscribeRoutes(context, pages), ...subscriptionRoutes(context, pages), ...editorRoutes(context)];
}

export const subscriberServices: readonly Service<Context>[] = [
  newsService,
  noticeSender,
  challengeSender,
  subscriberUpkeep,
];
