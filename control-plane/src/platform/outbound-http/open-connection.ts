import type { Socket } from 'node:net';
import { type AddressPolicy, dial, type Failure, openTls, type Resolver } from '@parallax/checks';
import { OutboundError } from './outbound-error.ts';
import type { OutboundErrorCode } from './outbound-error.ts';
import type { OutboundStep } from './exchange-types.ts';

export type ConnectionParts = {
  readonly addresses: AddressPolicy;
  readonly resolver: Resolver;
  /** PEM text of authorities in place of the public ones. */
  readonly caCertificates?: string | undefined;
  /** Milliseconds since the epoch, for the dates of certificates. */
  readonly now: () => number;
  readonly userAgent: string;
};

/** Of one name so many addresses are tried. */
const mostAddresses = 3;

/**
 * Connects to the host of an address: resolves it once, judges every address, dials what the policy let through, never the name, and shakes
 * hands where it is https. The caller destroys the socket.
 * @param withinMs for all of it
 * @throws OutboundError
 */
export async function openConnection(
  url: URL,
  parts: ConnectionParts,
  withinMs: number,
  step: (step: OutboundStep) => void,
): Promise<Socket> {
  const end = performance.now() + withinMs;
  const found = await resolve(url, parts, withinMs, step);
  let failure: OutboundError | undefined;
  for (const [index, address] of found.entries()) {
    // What is left is shared by the addresses that are left, so that one that does not answer leaves time for the next.
    const limitMs = Math.max(1, (end - performance.now()) / (found.length - index));
    try {
      return await connect(url, address, parts, { limitMs, step });
    } catch (error) {
      if (!(error instanceof OutboundError) || error.code === 'tls_failed') throw error;
      failure = error;
    }
  }
  throw failure ?? new OutboundError('dns_failed', `${url.hostname} has no address.`);
}

async function resolve(
  url: URL,
  parts: ConnectionParts,
  withinMs: number,
  step: (step: OutboundStep) => void,
): Promise<readonly string[]> {
  const stop = stopAfter(withinMs);
  const host = url.hostname;
  const resolution = await parts.resolver.resolve(host, { signal: stop.signal, deadlineMs: withinMs });
  stop.clear();
  const durationMs = rounded(resolution.durationUs / 1000);
  const refuse = (code: OutboundErrorCode, detail: string): never => {
    step({ name: 'resolve', ok: false, durationMs, detail });
    throw new OutboundError(code, detail);
  };
  if (!resolution.ok) return refuse('dns_failed', resolution.failure.message);
  const judged = resolution.addresses.map((address) => ({
    address,
    denial: parts.addresses.judge(address, portOf(url)),
  }));
  const allowed = judged.filter(({ denial }) => denial === undefined).map(({ address }) => address);
  if (allowed.length === 0) {
    return refuse('address_denied', `${host} may not be reached: ${judged[0]?.denial?.reason ?? 'no address'}.`);
  }
  const tried = allowed.slice(0, mostAddresses);
  step({ name: 'resolve', ok: true, durationMs, detail: `${host} is ${tried.join(', ')}` });
  return tried;
}

async function connect(
  url: URL,
  address: string,
  parts: ConnectionParts,
  { limitMs, step }: { readonly limitMs: number; readonly step: (step: OutboundStep) => void },
): Promise<Socket> {
  const stop = stopAfter(limitMs);
  const endpoint = { address, port: portOf(url) };
  const context = {
    signal: stop.signal,
    timeoutMs: limitMs,
    clock: () => performance.now(),
    wallClock: parts.now,
    addresses: parts.addresses,
    resolver: parts.resolver,
    userAgent: parts.userAgent,
  };
  try {
    const dialed = await dial(endpoint, context);
    const connectMs = rounded(dialed.connectUs / 1000);
    if (!dialed.ok) {
      const code = dialed.failure.outcome === 'timeout' ? 'timeout' : 'connect_failed';
      throw failed('connect', connectMs, code, dialed.failure, step);
    }
    step({ name: 'connect', ok: true, durationMs: connectMs, detail: `${address} port ${endpoint.port} connected` });
    if (url.protocol === 'http:') return dialed.socket;
    const opened = await openTls(
      { socket: dialed.socket, endpoint },
      {
        host: url.hostname,
        verify: true,
        alpn: ['http/1.1'],
        ...(parts.caCertificates !== undefined && { context: { caCertificates: parts.caCertificates } }),
      },
      context,
    );
    const tlsMs = rounded((opened.tlsUs ?? 0) / 1000);
    if (!opened.ok) {
      dialed.socket.destroy();
      throw failed('tls', tlsMs, opened.failure.outcome === 'timeout' ? 'timeout' : 'tls_failed', opened.failure, step);
    }
    step({
      name: 'tls',
      ok: true,
      durationMs: tlsMs,
      detail: `${opened.socket.getProtocol() ?? 'TLS'}, the certificate is trusted`,
    });
    return opened.socket;
  } finally {
    stop.clear();
  }
}

function failed(
  name: 'connect' | 'tls',
  durationMs: number,
  code: OutboundErrorCode,
  failure: Failure,
  step: (step: OutboundStep) => void,
): OutboundError {
  // The words are those of checks, where this side is a probe.
  const detail = failure.message.replaceAll('this probe', 'this server').replaceAll('This probe', 'This server');
  step({ name, ok: false, durationMs, detail });
  return new OutboundError(code, detail);
}

/** The port of an address, where it names none that of its scheme. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function stopAfter(ms: number): { readonly signal: AbortSignal; readonly clear: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Milliseconds with one decimal. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
