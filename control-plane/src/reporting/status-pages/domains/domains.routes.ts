import { askPublicDomainRoute, domainOf, Problem, verifyStatusPageDomainRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { shown } from '../pages/pages.gateway.ts';
import { verifyDomain } from './domains.gateway.ts';
import type { ServedDomains } from './served-domains.ts';

/** Verifying a domain, and asking for one. */
export function domainRoutes(context: Context, domains: ServedDomains): Route[] {
  return [
    handle(verifyStatusPageDomainRoute, async ({ params, caller, request }) => {
      const actor = { caller, request };
      return shown(context, actor, await verifyDomain(context, actor, params.id));
    }),

    handle(askPublicDomainRoute, async ({ query }) => {
      const domain = domainOf(query.domain);
      if (domain === undefined || !domains.isPublished(domain)) {
        throw new Problem('not_found', 'no published status page is served under this domain');
      }
      return { domain };
    }),
  ];
}
