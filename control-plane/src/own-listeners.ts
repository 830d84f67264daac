import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@parallax/telemetry';
import type { RunningService } from './platform/running-service.ts';

/** A place where the product listens, as the settings have it: an address, a wildcard address or a name. */
export type OwnPlace = { readonly host: string; readonly port: number };

/** A literal address (or a wildcard, or `localhost`) and port that no check may reach. */
export type OwnListener = { readonly address: string; readonly port: number };

export type OwnListenersOptions = {
  readonly places: readonly OwnPlace[];
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** All addresses of a name; the system's resolver when absent. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Addresses of this machine that others may dial; the system's when absent. */
  readonly machineAddresses?: () => readonly string[];
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly everyMs?: number;
  /** How long an address still counts that a name had: names of several addresses answer with some of them at a time. */
  readonly rememberMs?: number;
};

export type OwnListeners = RunningService & {
  /** The listeners as last seen; the same array until something has changed. */
  readonly current: () => readonly OwnListener[];
  /** Looks once more, now. */
  readonly look: () => Promise<void>;
};

/** A start waits so long for names; what is not known by then is denied as soon as it is. */
const firstLookMs = 5_000;
const defaults = { everyMs: 30_000, rememberMs: 3_600_000 };

/**
 * Keeps the list of the product's own listeners, which no check may reach. A database or broker on another machine is known by its
 * name, and checks are judged by address: names are resolved at the start and again and again, since containers and failovers
 * change addresses. A listener on a wildcard address is also denied by the addresses of this machine, as probes elsewhere see it.
 */
export async function startOwnListeners(options: OwnListenersOptions): Promise<OwnListeners> {
  const { places, log, everyMs, rememberMs } = { ...defaults, ...options };
  const resolve = options.resolve ?? systemAddresses;
  const machineAddresses = options.machineAddresses ?? interfaceAddresses;
  const clock = options.clock ?? (() => performance.now());
  const names = [...new Set(places.map(({ host }) => host).filter(isName))];
  /** When each address of a name was last seen. */
  const seen = new Map<string, Map<string, number>>();
  const unresolved = new Set<string>();
  let listeners: readonly OwnListener[] = [];
  let looking: Promise<void> | undefined;

  const update = (): void => {
    const known = (name: string) => [...(seen.get(name)?.keys() ?? [])];
    const next = listenersOf(places, known, machineAddresses());
    if (JSON.stringify(next) !== JSON.stringify(listeners)) listeners = Object.freeze(next);
  };
  // One name after the other: a resolver that hangs holds one of the few threads and not all of them.
  const lookOnce = async (): Promise<void> => {
    for (const name of names) {
      try {
        const addresses = await resolve(name);
        const times = seen.get(name) ?? new Map<string, number>();
        for (const address of addresses) times.set(address, clock());
        for (const [address, at] of times) if (clock() - at > rememberMs) times.delete(address);
        seen.set(name, times);
        if (unresolved.delete(name)) log.info({ name }, 'the name of an own listener is known again');
      } catch (error) {
        if (unresolved.has(name)) continue;
        unresolved.add(name);
        log.warn(
          { err: error, name },
          'the name of an own listener is not known here: checks of its address are not refused unless it was known before',
        );
      }
    }
    update();
  };
  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  update();
  const late = new AbortController();
  await Promise.race([
    look(),
    delay(firstLookMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined),
  ]);
  late.abort();
  const timer = setInterval(() => void look(), everyMs);
  return {
    current: () => listeners,
    look,
    stop: async () => {
      clearInterval(timer);
    },
  };
}

/**
 * What is denied for the given places. Pure; sorted, without repetition.
 * @param addressesOf what is known of a name
 * @param machine addresses of this machine that others may dial
 */
export function listenersOf(
  places: readonly OwnPlace[],
  addressesOf: (name: string) => readonly string[],
  machine: readonly string[],
): OwnListener[] {
  const found = places.flatMap(({ host, port }) => {
    const addresses = isName(host) ? addressesOf(host) : isWildcard(host) ? [host, ...machine] : [host];
    return addresses.map((address) => ({ address, port }));
  });
  const byText = new Map(found.map((listener) => [`${listener.address} ${listener.port}`, listener]));
  return [...byText.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, listener]) => listener);
}

/** `localhost` is left as it is: it stands for the machine that judges, whichever that is. */
function isName(host: string): boolean {
  return isIP(host) === 0 && host !== 'localhost';
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

async function systemAddresses(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
    .map(({ address }) => address);
}
