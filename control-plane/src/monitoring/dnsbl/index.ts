import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { dnsblRoutes } from './routes.ts';

/** Blocklists of senders of spam. */
export const dnsblCapability: Capability<Context> = {
  name: 'dnsbl',
  routes: dnsblRoutes,
};
