import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Whether an address is one of this machine's own: loopback, or of one of its interfaces. Brackets and zones are passed over. */
export function isOwnAddress(address: string): boolean {
  const plain = canonical(address);
  if (plain === undefined) return false;
  if (ipaddr.process(plain).range() === 'loopback') return true;
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some((own) => canonical(own.address) === plain);
}

/** How long what a name stands for is remembered. */
const rememberedMs = 60_000;

/** Says whether a host (a name or an address) is this machine. A name that cannot be resolved keeps its last answer, false at first. */
export function createLocality(clock: () => number): (host: string) => Promise<boolean> {
  let known: { readonly host: string; readonly isLocal: boolean; readonly atMs: number } | undefined;
  return async (host) => {
    if (host === 'localhost') return true;
    if (isIP(host) !== 0 || host.startsWith('[')) return isOwnAddress(host);
    if (known?.host === host && clock() - known.atMs < rememberedMs) return known.isLocal;
    const before = known?.host === host && known.isLocal;
    const isLocal = await lookup(host, { all: true }).then(
      (found) => found.some(({ address }) => isOwnAddress(address)),
      () => before,
    );
    known = { host, isLocal, atMs: clock() };
    return isLocal;
  };
}

function canonical(address: string): string | undefined {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : undefined;
}
