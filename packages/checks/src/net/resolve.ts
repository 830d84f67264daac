import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { createNameServers, type NameServers } from './name-servers.ts';
import { type Failure, failed, timedOut } from './failure.ts';
import { parseHost } from './host.ts';
import { createHostsFile } from './hosts-file.ts';
import type { StopSignal } from '../stop.ts';

export type ResolveOptions = {
  /** Only addresses of this family; absent: IPv4 if this machine has it, else IPv6, else what there is. */
  readonly family?: 4 | 6 | undefined;
  readonly signal: StopSignal;
  /** Hard limit in milliseconds from the call. */
  readonly deadlineMs: number;
};

/** Addresses in the order in which they are to be tried, never empty, and how long it took in whole microseconds. */
export type Resolution =
  | { readonly ok: true; readonly addresses: readonly string[]; readonly durationUs: number }
  | { readonly ok: false; readonly failure: Failure; readonly durationUs: number };

/**
 * Names to addresses: literals at once, then the hosts file, then the name servers through c-ares. Never `getaddrinfo`, which
 * waits for a thread and cannot be cancelled. Search domains are not applied. Nothing is cached: a check measures the lookup.
 */
export type Resolver = {
  readonly resolve: (host: string, options: ResolveOptions) => Promise<Resolution>;
};

export type ResolverOptions = {
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** Name servers as `address` or `address:port`; absent: those of the system. */
  readonly servers?: readonly string[];
  /** Who chose the servers, for the sentences of failures; absent: the operator. */
  readonly chosenBy?: 'monitor';
  /** Null: there is no hosts file. */
  readonly hostsPath?: string | null;
  /** Whether this machine has IPv4 beyond loopback; asked of the system by default. */
  readonly hasIpv4?: boolean;
};

type Answer = { readonly addresses: readonly string[] } | { readonly failure: Failure };

export function createResolver(options: ResolverOptions = {}): Resolver {
  const clock = options.clock ?? (() => performance.now());
  const { hostsPath = '/etc/hosts' } = options;
  const hostsFile = hostsPath === null ? () => undefined : createHostsFile(hostsPath, clock);
  const preferred: 4 | 6 = (options.hasIpv4 ?? machineHasIpv4()) ? 4 : 6;
  const nameServers = createNameServers({ clock, servers: options.servers });
  const whose =
    options.chosenBy === undefined ? 'of this probe' : `of the monitor (${(options.servers ?? []).join(', ')})`;

  return {
    resolve: async (host, { family, signal, deadlineMs }) => {
      const start = clock();
      const answer = await lookUp(host, family);
      const durationUs = Math.round((clock() - start) * 1000);
      if ('failure' in answer) return { ok: false, failure: answer.failure, durationUs };
      return { ok: true, addresses: answer.addresses, durationUs };

      async function lookUp(text: string, wanted: 4 | 6 | undefined): Promise<Answer> {
        const parsed = parseHost(text);
        if (parsed.kind === 'invalid') return { failure: failed('dns_nxdomain', parsed.reason) };
        if (parsed.kind === 'address') return pick(text, [parsed.address], wanted, preferred);
        const listed = hostsFile(parsed.name) ?? loopbackName(parsed.name);
        if (listed !== undefined) return pick(text, listed, wanted, preferred);
        return askServers(nameServers, parsed.name, wanted === undefined ? [preferred, other(preferred)] : [wanted], {
          signal,
          until: start + deadlineMs,
          clock,
          whose,
        });
      }
    },
  };
}

/** The addresses of the wanted family in their order. */
function pick(host: string, all: readonly string[], wanted: 4 | 6 | undefined, preferred: 4 | 6): Answer {
  const fitting = wanted === undefined ? all : all.filter((each) => familyOf(each) === wanted);
  if (fitting.length > 0) return { addresses: sortAddresses(fitting, preferred) };
  return { failure: failed('address_family_missing', `${host} has no IPv${String(wanted)} address.`) };
}

type Limits = {
  readonly signal: StopSignal;
  readonly until: number;
  readonly clock: () => number;
  /** Whose the name servers are, for sentences. */
  readonly whose: string;
};

/** Asks for one family after the other; the second only when the first has no address, which saves half of the queries. */
async function askServers(
  servers: NameServers,
  name: string,
  families: readonly (4 | 6)[],
  limits: Limits,
): Promise<Answer> {
  for (const family of families) {
    const reply = await servers.query(name, family, {
      signal: limits.signal,
      timeoutMs: limits.until - limits.clock(),
    });
    if (reply.kind === 'addresses') return { addresses: sortAddresses(reply.addresses, family) };
    if (reply.kind === 'failure') return { failure: failureOf(name, reply.reason, limits.whose) };
  }
  if (families.length === 1) {
    return { failure: failed('address_family_missing', `${name} has no IPv${String(families[0])} address.`) };
  }
  return { failure: failed('dns_no_answer', `The name ${name} exists but has no address.`) };
}

function failureOf(
  name: string,
  reason: 'nxdomain' | 'servfail' | 'refused' | 'timeout' | 'unreachable',
  whose: string,
): Failure {
  switch (reason) {
    case 'nxdomain':
      return failed('dns_nxdomain', `The name ${name} does not exist.`);
    case 'servfail':
      return failed('dns_servfail', `The name servers ${whose} could not answer for ${name} (SERVFAIL).`, 'resolver');
    case 'refused':
      return failed('dns_refused', `The name server ${whose} refused the question for ${name}.`, 'resolver');
    case 'unreachable':
      return failed('dns_refused', `The name server ${whose} could not be reached for ${name}.`, 'resolver');
    case 'timeout':
      return timedOut('dns_timeout', `No answer of the name servers ${whose} for ${name} in time.`, 'resolver');
  }
}

/** One fixed order, so that a check does not wander between the addresses of a name: the preferred family first, then by number. */
export function sortAddresses(addresses: readonly string[], preferred: 4 | 6): readonly string[] {
  if (addresses.length === 1) return addresses;
  const keyed = addresses.map((address) => {
    const family = familyOf(address);
    const bytes = ipaddr.isValid(address) ? ipaddr.parse(address).toByteArray() : [];
    return { address, key: `${family === preferred ? 0 : 1}${Buffer.from(bytes).toString('hex')}` };
  });
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map((each) => each.address);
}

/** `localhost` and names below it are this machine, whatever name servers say (RFC 6761). */
function loopbackName(name: string): readonly string[] | undefined {
  return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined;
}

function familyOf(address: string): 4 | 6 {
  return address.includes(':') ? 6 : 4;
}

function other(family: 4 | 6): 4 | 6 {
  return family === 4 ? 6 : 4;
}

/** IPv4 counts as present when an interface beyond loopback has it, or when there is no such interface at all. */
function machineHasIpv4(): boolean {
  const outside = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter((each) => !each.internal));
  const usable = outside.filter((each) => !each.address.startsWith('fe80:'));
  return usable.length === 0 || usable.some((each) => each.family === 'IPv4');
}
