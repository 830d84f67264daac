import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { deliveryRoutes, redeliveryRoutes } from './deliveries/routes.ts';
import { startWebhooks } from './job.ts';
import { webhookRoutes } from './routes.ts';

export { takeEvents } from './taker.queries.ts';
export { leaveWebhooksOfDeleted, leaveWebhooksOfMoved, removeWebhooksOfWorkspace } from './upkeep/queries.ts';

/** Other systems that are sent events, signed after Standard Webhooks. */
export const webhooksCapability: Capability<Context> = {
  name: 'webhooks',
  routes: (context) => [...webhookRoutes(context), ...deliveryRoutes(context), ...redeliveryRoutes(context)],
  services: [{ name: 'webhook-sender', role: 'worker', start: startWebhooks }],
};
