import { listDnsblProvidersRoute } from '@parallax/api-contract';
import { defaultAddressLists, defaultDomainLists } from '@parallax/checks';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';

/** Which blocklists are asked where a monitor names none. */
export function dnsblRoutes(): Route[] {
  return [
    handle(listDnsblProvidersRoute, async () => ({
      address: [...defaultAddressLists],
      domain: [...defaultDomainLists],
    })),
  ];
}
