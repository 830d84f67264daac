import { Problem } from '@parallax/api-contract';
import { isLoopbackHost } from '@parallax/settings';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { isMapped } from './mapped-hosts.ts';

/**
 * Refuses requests that were addressed to another host (421). A page of a stranger whose name was rebound to this address would otherwise
 * count as a page of this origin, and read what loopback alone may see. `X-Forwarded-Host` does not count, since such a page may send it.
 * @param names hosts beside loopback and that of the public URL
 */
export function guardHost(app: FastifyInstance, publicUrl: string, names: readonly string[]): void {
  const known = knownHosts(publicUrl, names);
  app.addHook('onRequest', async (request) => {
    const { host } = request.headers;
    // A browser always sends one; without it the request is judged by the rules of its version of HTTP.
    if (host === undefined || isMapped(request.raw) || isKnownHost(host, known, request.socket.localAddress)) return;
    throw new Problem(
      'misdirected_request',
      'this installation is not known by the host of the request: name it in PARALLAX_PUBLIC_URL or PARALLAX_ALLOWED_HOSTS',
    );
  });
}

/** Hosts by which this installation is known beside loopback. */
export function knownHosts(publicUrl: string, names: readonly string[]): ReadonlySet<string> {
  return new Set([new URL(publicUrl).hostname, ...names].map(hostForm));
}

/**
 * Whether the header `Host` names this installation: loopback, a known host, or the very address that the client has dialled, which no name
 * can be rebound to. Ports do not matter.
 */
export function isKnownHost(header: string, known: ReadonlySet<string>, dialled: string | undefined): boolean {
  const host = hostOf(header);
  if (host === undefined) return false;
  return isLoopbackHost(host) || known.has(host) || (dialled !== undefined && hostForm(dialled) === host);
}

/** The host that a header names, in the form in which hosts are compared; undefined where it is none. */
export function hostOf(header: string): string | undefined {
  const [, named] = /^(\[[0-9a-f:.]+\]|[^:[\]@/?#\s]+)(?::\d{0,5})?$/i.exec(header) ?? [];
  return named === undefined ? undefined : hostForm(named);
}

/** In lower case, without brackets and the dot of the root; addresses in their shortest form, IPv4 out of IPv6. */
function hostForm(host: string): string {
  const bare = host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  const isAddress = ipaddr.IPv6.isValid(bare) || ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isAddress ? ipaddr.process(bare).toString() : bare;
}
