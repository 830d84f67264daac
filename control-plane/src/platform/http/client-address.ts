import type { IncomingHttpHeaders } from 'node:http';
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

/** What proxies add to what they pass on, be they trusted or not: RFC 9110 section 7.6.3, RFC 7239 and what came before it. */
const forwardedHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
];

/**
 * True when the other end of the connection is this machine and nothing says that it speaks for somebody else. A proxy that the operator
 * forgot to name is on this machine, too, and its clients are not.
 */
export function isFromThisMachine(headers: IncomingHttpHeaders, peer: string | undefined): boolean {
  if (peer === undefined || !ipaddr.isValid(peer) || ipaddr.process(peer).range() !== 'loopback') return false;
  return forwardedHeaders.every((name) => headers[name] === undefined);
}
