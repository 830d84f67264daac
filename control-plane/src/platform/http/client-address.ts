import ipaddr from 'ipaddr.js';

/**
 * What limits per client count: an IPv4 address, or the /64 of an IPv6 address, since one subscriber has a whole /64.
 * IPv4 addresses mapped into IPv6 are unwrapped; text that is no address stays as it is.
 */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/**
 * The address of a client: the forwarded one where a trusted proxy told it, unless it is none, since that is text from outside.
 * @param told what the framework made of the forwarded headers
 * @param peer the other end of the connection
 */
export function clientAddress(told: string, peer: string | undefined): string {
  return ipaddr.isValid(told) ? told : (peer ?? 'unknown');
}

/** True for addresses inside one of the networks (CIDRs). */
export function addressMatcher(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some((range) => range[0].kind() === parsed.kind() && parsed.match(range));
  };
}
