import { createAddressPolicy, createResolver } from '@parallax/checks';
import type { AddressPolicy, Listener, Resolver } from '@parallax/checks';
import { exchange } from './exchange.ts';
import type { ExchangeOptions, OutboundRequest, OutboundResponse } from './exchange-types.ts';

export { KeptConnections } from './kept-connections.ts';
export { OutboundError } from './outbound-error.ts';
export type { OutboundErrorCode } from './outbound-error.ts';
export type { ExchangeOptions, OutboundRequest, OutboundResponse, OutboundStep } from './exchange-types.ts';

/** One HTTP exchange. @throws OutboundError, and nothing else that the other side can bring about */
export type OutboundClient = (request: OutboundRequest, options: ExchangeOptions) => Promise<OutboundResponse>;

/** How this process speaks HTTP to others. Made once. */
export type OutboundClients = {
  /** For addresses that tenants name: dialled only where the address policy allows it. */
  readonly guarded: OutboundClient;
  /** For addresses that the operator set or the product knows. */
  readonly trusted: OutboundClient;
};

export type OutboundOptions = {
  /** CIDRs that tenants' addresses may lie in although they are not public. */
  readonly allowedPrivateTargets: readonly string[];
  /** The product's own listeners, as they are now. */
  readonly deniedListeners: () => readonly Listener[];
  readonly now: () => number;
  readonly version: string;
  /** PEM text of authorities in place of the public ones, for tests. */
  readonly caCertificates?: string | undefined;
  /** For tests; by default the hosts file and the name servers of the system. */
  readonly resolver?: Resolver;
};

const anywhere: AddressPolicy = {
  judge: () => undefined,
  setDeniedListeners: () => undefined,
  within: () => anywhere,
};

/** Makes the two clients. Nothing runs while nobody asks. */
export function createOutboundClients(options: OutboundOptions): OutboundClients {
  const policy = createAddressPolicy({ allowedPrivate: options.allowedPrivateTargets });
  const shared = {
    resolver: options.resolver ?? createResolver(),
    now: options.now,
    userAgent: `Parallax/${options.version}`,
    caCertificates: options.caCertificates,
  };
  let denied: readonly Listener[] = [];
  return {
    guarded: (request, how) => {
      if (denied !== options.deniedListeners()) {
        denied = options.deniedListeners();
        policy.setDeniedListeners(denied);
      }
      return exchange(request, how, { ...shared, addresses: policy });
    },
    trusted: (request, how) => exchange(request, how, { ...shared, addresses: anywhere }),
  };
}
