import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startMisses, startTidying } from './deadlines/job.ts';
import { eventRoutes } from './events/routes.ts';
import { receiverRoutes } from './receiver/routes.ts';
import { checkRoutes } from './routes.ts';

export { webhookCheckFigures } from './events/figures.queries.ts';
export type { WebhookCheckFigures } from './events/figures.queries.ts';
export { moveWebhookDeadlines } from './deadlines/queries.ts';
export { countWebhookChecksByStatus, removeWebhookChecksOfWorkspace } from './queries.ts';

/** Services that tell by signed deliveries how they are. */
export const webhookChecksCapability: Capability<Context> = {
  name: 'webhook-checks',
  routes: (context) => [...checkRoutes(context), ...eventRoutes(context), ...receiverRoutes(context)],
  services: [
    { name: 'webhook-misses', role: 'worker', start: startMisses },
    { name: 'webhook-tidying', role: 'worker', start: startTidying },
  ],
};
