import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { dnsblConsumers } from './consumer.ts';
import { startHistoryRetention } from './job.ts';
import { dnsblRoutes } from './routes.ts';

export { removeListings } from './queries.ts';

/** Blocklists of senders of spam. */
export const dnsblCapability: Capability<Context> = {
  name: 'dnsbl',
  routes: dnsblRoutes,
  services: [{ name: 'dnsbl-history', role: 'worker', start: startHistoryRetention }],
  consumers: dnsblConsumers,
};
