import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { embeddedIpv4 } from './embedded-ipv4.ts';

/** Which rule denied an address. Stable: logs and tests name it. */
export type DenialRule = 'malformed' | 'zone' | 'not_global' | 'metadata' | 'own_listener' | 'mail_port';

/** Why an address may not be reached: the rule and one sentence for a person. */
export type Denial = { readonly rule: DenialRule; readonly reason: string };

/** An address and port where the product itself listens. A name or a wildcard address stands for every address of this machine. */
export type Listener = { readonly address: string; readonly port: number };

/** What the caller is about to do with the address. `mail`: it speaks a mail protocol and may open port 25. */
export type Purpose = { readonly mail?: boolean };

/** Decides which addresses checks and webhooks may reach. One per process, set by the operator; no tenant can change it. */
export type AddressPolicy = {
  /**
   * Judges one literal address, before it is dialled. Port 0 stands for protocols without ports.
   * Gives undefined when it may be reached.
   */
  readonly judge: (address: string, port: number, purpose?: Purpose) => Denial | undefined;
  /** Replaces the list of the product's own listeners. */
  readonly setDeniedListeners: (listeners: readonly Listener[]) => void;
  /**
   * Returns a policy that allows what this one allows and, of addresses that are not public, only those in these ranges. It follows
   * later changes of the denied listeners. Equal ranges share one policy. Throws for a CIDR that cannot be read.
   */
  readonly within: (ranges: readonly string[]) => AddressPolicy;
};

export type AddressPolicyOptions = {
  /** CIDRs (or single addresses) that may be reached although they are not public. */
  readonly allowedPrivate: readonly string[];
  readonly deniedListeners?: readonly Listener[];
  /** The addresses of this machine; by default asked of the system. */
  readonly localAddresses?: () => readonly string[];
  /** Monotonic milliseconds; the addresses of this machine are asked again every 30 s. */
  readonly clock?: () => number;
};

/** For a policy that is only used through `within`: what it judges itself are metadata, listeners and forms. */
export const everyAddress: readonly string[] = ['0.0.0.0/0', '::/0'];

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Parsed, number];
/** What does not depend on the port, kept per spelling of an address. `all` holds every address that a packet could end up at. */
type Verdict = { readonly denial: Denial | undefined; readonly all: readonly string[]; readonly local: boolean };

const maxCached = 10_000;
/** Policies that one policy keeps for its ranges; those that are dropped go on working for whoever holds them. */
const maxNarrowed = 1_000;
const localLifeMs = 30_000;

/**
 * Addresses behind which clouds hand out credentials, configuration or tokens to whoever asks from the machine. Denied even
 * inside a range that the operator allows.
 */
const metadataAddresses = new Set(
  [
    '169.254.169.254', // AWS, Azure, Google, Oracle, DigitalOcean, Hetzner, OpenStack
    '169.254.170.2', // AWS container credentials
    '169.254.170.23', // AWS pod identity
    '169.254.169.253', // AWS resolver
    '169.254.42.42', // Scaleway
    '168.63.129.16', // Azure wire server
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle classic
    '169.254.0.23', // Tencent
    'fd00:ec2::254', // AWS
    'fd00:ec2::23', // AWS pod identity
    'fd00:ec2::253', // AWS resolver
    'fd20:ce::254', // Google
    'fd00:42::42', // Scaleway
    'fe80::a9fe:a9fe', // OpenStack
  ].map((address) => ipaddr.parse(address).toString()),
);

/** Only this part of IPv6 is handed out as global unicast (IANA). */
const globalIpv6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Makes the policy: everything that is not global unicast is denied, unless `allowedPrivate` covers it; cloud metadata and the
 * product's own listeners are denied whatever is allowed. Throws for a CIDR that cannot be read.
 */
export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const allowed = options.allowedPrivate.map(parseRange);
  const clock = options.clock ?? (() => performance.now());
  const askLocal = options.localAddresses ?? interfaceAddresses;
  let localAddresses = new Set(askLocal().map(canonical));
  let localUntil = clock() + localLifeMs;
  let localPorts = new Set<number>();
  let listenerPorts = new Map<string, Set<number>>();
  let listeners: readonly Listener[] = [];
  let cache = new Map<string, Verdict>();

  const isLocal = (address: string) => isLoopbackForm(address) || localAddresses.has(address);

  function indexListeners(): void {
    localPorts = new Set();
    listenerPorts = new Map();
    for (const listener of listeners) {
      const address = canonical(listener.address);
      if (!ipaddr.isValid(address) || isLocal(address)) localPorts.add(listener.port);
      else listenerPorts.set(address, (listenerPorts.get(address) ?? new Set()).add(listener.port));
    }
    cache = new Map();
  }

  function setDeniedListeners(next: readonly Listener[]): void {
    listeners = [...next];
    refreshLocal();
  }

  function refreshLocal(): void {
    localAddresses = new Set(askLocal().map(canonical));
    localUntil = clock() + localLifeMs;
    indexListeners();
  }

  function verdictOn(address: string): Verdict {
    const known = cache.get(address);
    if (known !== undefined) return known;
    const all = everyReachable(address);
    const verdict = {
      denial: denialOf(address, allowed),
      all,
      local: all.some(isLocal),
    };
    if (cache.size >= maxCached) cache = new Map();
    cache.set(address, verdict);
    return verdict;
  }

  function judge(address: string, port: number, purpose?: Purpose): Denial | undefined {
    if (clock() >= localUntil) refreshLocal();
    const verdict = verdictOn(address);
    if (verdict.denial !== undefined) return verdict.denial;
    if (verdict.local && localPorts.has(port)) return ownListener(address, port);
    if (listenerPorts.size > 0 && verdict.all.some((one) => listenerPorts.get(one)?.has(port) === true)) {
      return ownListener(address, port);
    }
    if (port === 25 && purpose?.mail !== true) {
      return { rule: 'mail_port', reason: 'port 25 is opened by mail checks only' };
    }
    return undefined;
  }

  setDeniedListeners(options.deniedListeners ?? []);
  return withRanges({ judge, setDeniedListeners });
}

/** Adds `within`, which shares policies by their ranges: thousands of monitors have few lists among them. */
function withRanges(policy: Omit<AddressPolicy, 'within'>): AddressPolicy {
  let narrowed = new Map<string, AddressPolicy>();
  return {
    ...policy,
    within: (ranges) => {
      const key = [...new Set(ranges)].sort().join();
      const known = narrowed.get(key);
      if (known !== undefined) return known;
      const made = narrow(policy, ranges.map(parseRange));
      if (narrowed.size >= maxNarrowed) narrowed = new Map();
      narrowed.set(key, made);
      return made;
    },
  };
}

function narrow(wide: Omit<AddressPolicy, 'within'>, allowed: readonly Range[]): AddressPolicy {
  let denials = new Map<string, Denial | undefined>();
  const denialWithin = (address: string): Denial | undefined => {
    if (denials.has(address)) return denials.get(address);
    const denial = denialOf(address, allowed);
    if (denials.size >= maxCached) denials = new Map();
    denials.set(address, denial);
    return denial;
  };
  return withRanges({
    judge: (address, port, purpose) => wide.judge(address, port, purpose) ?? denialWithin(address),
    setDeniedListeners: wide.setDeniedListeners,
  });
}

function ownListener(address: string, port: number): Denial {
  return { rule: 'own_listener', reason: `${address} port ${port} belongs to the monitoring system itself` };
}

/** The part of the verdict that no port changes. */
function denialOf(address: string, allowed: readonly Range[]): Denial | undefined {
  if (address.includes('%'))
    return { rule: 'zone', reason: `${address} carries a zone and is reachable on one link only` };
  // The strict four-part form only: everything else has to be normalised before it comes here.
  const parsed = parseStrict(address);
  if (parsed === undefined) return { rule: 'malformed', reason: `${address} is not an IP address` };
  const own = parsed.toString();
  if (metadataAddresses.has(own)) return metadata(own);
  if (parsed.kind() === 'ipv4') return denialOfOne(parsed, allowed);

  const inner = embeddedIpv4(parsed as ipaddr.IPv6);
  if (inner.length === 0) return denialOfOne(parsed, allowed);
  for (const each of inner) {
    const denial = denialOfOne(each, allowed);
    if (denial !== undefined)
      return { rule: denial.rule, reason: `${address} leads to ${each.toString()}: ${denial.reason}` };
  }
  return undefined;
}

function denialOfOne(address: Parsed, allowed: readonly Range[]): Denial | undefined {
  const text = address.toString();
  if (metadataAddresses.has(text)) return metadata(text);
  if (isGlobalUnicast(address) || allowed.some((range) => contains(range, address))) return undefined;
  return { rule: 'not_global', reason: `${text} is not a public address (${address.range()}) and is not allowed here` };
}

function metadata(address: string): Denial {
  return { rule: 'metadata', reason: `${address} is a cloud metadata address` };
}

function isGlobalUnicast(address: Parsed): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || contains(globalIpv6, address);
}

function contains(range: Range, address: Parsed): boolean {
  return range[0].kind() === address.kind() && address.match(range as [ipaddr.IPv4 & ipaddr.IPv6, number]);
}

/** The address itself and every IPv4 address that it may stand for, in canonical spelling. */
function everyReachable(address: string): readonly string[] {
  const parsed = parseStrict(address);
  if (parsed === undefined) return [];
  if (parsed.kind() === 'ipv4') return [parsed.toString()];
  return [parsed.toString(), ...embeddedIpv4(parsed as ipaddr.IPv6).map((inner) => inner.toString())];
}

/** Forms that end at this machine whatever its interfaces are: 127.0.0.0/8, 0.0.0.0/8, `::` and `::1`. */
function isLoopbackForm(address: string): boolean {
  return address.startsWith('127.') || address.startsWith('0.') || address === '::' || address === '::1';
}

function parseStrict(address: string): Parsed | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address) : undefined;
}

/** One spelling per address, IPv4-mapped ones as IPv4; what is no address stays as it is. */
function canonical(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare;
}

function parseRange(text: string): Range {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    throw new Error(`"${text}" in the list of allowed private targets is not a CIDR such as 10.0.0.0/8 or fd00::/8`);
  }
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((each) => each.address));
}
