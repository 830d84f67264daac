import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { failed } from './failure.ts';
import { parseHost, parseHostPort } from './host.ts';
import { createResolver, type Resolver } from './resolve.ts';

/** Name servers that a monitor may name; the second is asked when the first does not answer. */
export const maxNameServers = 3;

const form = { schemes: {}, defaultPort: 53 };
/** One for each list of servers, so that checks share what asks. */
const known = new Map<string, Resolver>();
const mostKnown = 256;

/** Reads `address`, `address:port` or `[address]:port` of a name server; a sentence about what is wrong otherwise. */
export function readNameServer(text: string): { readonly address: string; readonly port: number } | string {
  const parsed = parseHostPort(text, form);
  if (typeof parsed === 'string') return parsed;
  const host = parseHost(parsed.host);
  if (host.kind !== 'address' || isIP(host.address) === 0 || host.address.includes('%'))
    return 'A name server is an IP address, with a port where it is not 53.';
  return { address: host.address, port: parsed.port };
}

/**
 * A resolver that asks the name servers of a monitor in the place of those of the probe and of its hosts file. Each server is judged by the
 * address policy before it is asked; what it answers is judged as ever, by whoever dials.
 */
export function resolverAt(
  servers: readonly string[],
  addresses: AddressPolicy,
  trace: ((step: string, detail: string) => void) | undefined,
): Resolver {
  const list = servers.map(readNameServer).filter((each) => typeof each !== 'string');
  const names = list.map(({ address, port }) =>
    address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
  );
  return {
    resolve: async (host, options) => {
      if (parseHost(host).kind === 'name') {
        for (const { address, port } of list) {
          const denial = addresses.judge(address, port);
          if (denial === undefined) continue;
          const failure = failed('address_denied', `The name server ${address} may not be asked: ${denial.reason}.`);
          trace?.('resolver', failure.message);
          return { ok: false, failure, durationUs: 0 };
        }
      }
      const resolution = await shared(names).resolve(host, options);
      const said = resolution.ok ? `${host} is ${resolution.addresses.join(', ')}` : resolution.failure.message;
      trace?.('resolver', `${names.join(', ')}: ${said}`);
      return resolution;
    },
  };
}

function shared(servers: readonly string[]): Resolver {
  const key = servers.join(' ');
  let resolver = known.get(key);
  if (resolver === undefined) {
    if (known.size >= mostKnown) known.clear();
    resolver = createResolver({ servers, chosenBy: 'monitor', hostsPath: null });
    known.set(key, resolver);
  }
  return resolver;
}
