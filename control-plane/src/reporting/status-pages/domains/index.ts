import type { Service } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { DomainAsks } from './domain-asks.ts';
import { domainRoutes } from './domains.routes.ts';
import { followDomains } from './follow.job.ts';
import { readKeptDomains } from './kept-domains.gateway.ts';
import { ServedDomains } from './served-domains.ts';

export { domainRechecks } from './recheck.job.ts';

const known = new WeakMap<Context, ServedDomains>();

/** Hosts that pages are served under. */
export function domainsOf(context: Context): ServedDomains {
  const there = known.get(context) ?? new ServedDomains();
  known.set(context, there);
  return there;
}

/** Whether a domain is one of ours, asked before any route. */
export const preparedAsks = (context: Context): DomainAsks => new DomainAsks(domainsOf(context));

export const routesOfDomains = (context: Context): Route[] => domainRoutes(context, domainsOf(context));

/** Follows which domains are verified. */
export const domainFollowing: Service<Context> = {
  name: 'domains of status pages',
  role: 'api',
  start: (context, log) => followDomains(context, domainsOf(context), log),
};

/** Hosts as they were kept in a data folder, for a time without a database. */
export async function keptDomains(dataDir: string, log: Context['log']): Promise<ServedDomains> {
  const domains = new ServedDomains();
  domains.take(await readKeptDomains(dataDir, log));
  return domains;
}
