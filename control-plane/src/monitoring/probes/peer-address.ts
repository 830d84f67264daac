import ipaddr from 'ipaddr.js';

/** The address in what gRPC calls a peer ("127.0.0.1:5", "[::1]:5", "ipv4:…"); undefined for anything else. */
export function peerAddress(peer: string): string | undefined {
  const text = peer.replace(/^ipv[46]:/u, '');
  const host = /^\[(.+)\]:\d+$/u.exec(text)?.[1] ?? /^(.+):\d+$/u.exec(text)?.[1] ?? text;
  return ipaddr.isValid(host) ? ipaddr.process(host).toString() : undefined;
}

/** Who is counted as one sender: an IPv4 address, an IPv6 /64. */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}

/** Addresses of the public Internet; others say nothing to those who have to let probes in. */
export function isGlobalAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/** Valid addresses in their usual form, without doubles, at most `limit`. */
export function cleanAddresses(addresses: readonly string[], limit = 32): string[] {
  const valid = addresses
    .filter((address) => ipaddr.isValid(address))
    .map((address) => ipaddr.process(address).toString());
  return [...new Set(valid)].slice(0, limit);
}

/** The address as a network of one: `192.0.2.1/32`. */
export function asCidr(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
