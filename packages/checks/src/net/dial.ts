import net from 'node:net';
import type { CheckContext, Dialed, Endpoint, Located } from '../check.ts';
import type { Denial, Purpose } from './address-policy.ts';
import { type Failure, failed, probeFault, timedOut } from './failure.ts';

export type { Dialed, Endpoint, Located, Tunnel } from '../check.ts';

export type LocateOptions = { readonly family?: 4 | 6 | undefined; readonly purpose?: Purpose };

/**
 * The first half of the guarded connect: resolves a host once, judges its addresses in their fixed order and gives the first one
 * that may be reached. Whoever dials must dial this address, never the name.
 */
export async function locate(
  host: string,
  port: number,
  context: CheckContext,
  options: LocateOptions = {},
): Promise<Located> {
  const { proxy, resolver, signal, timeoutMs } = context;
  if (proxy !== undefined) return proxy.locate(host, port, context, options.purpose);
  const resolution = await resolver.resolve(host, { family: options.family, signal, deadlineMs: timeoutMs });
  const dnsUs = resolution.durationUs;
  if (!resolution.ok) return { ok: false, failure: resolution.failure, dnsUs };
  return judged(host, resolution.addresses, port, dnsUs, context, options.purpose);
}

/**
 * The same at once for a host that is an IPv4 address in four plain numbers, which no resolver has to be asked about. Undefined for any
 * other host, when another family is wanted, and behind a proxy.
 */
export function locateAddress(
  host: string,
  port: number,
  context: CheckContext,
  options: LocateOptions = {},
): Located | undefined {
  if (options.family === 6 || context.proxy !== undefined || !net.isIPv4(host)) return undefined;
  return judged(host, [host], port, 0, context, options.purpose);
}

/** The first address that the policy lets through. */
function judged(
  host: string,
  addresses: readonly string[],
  port: number,
  dnsUs: number,
  context: CheckContext,
  purpose: Purpose | undefined,
): Located {
  let first: { readonly denial: Denial; readonly address: string } | undefined;
  for (const address of addresses) {
    const denial = context.addresses.judge(address, port, purpose);
    if (denial === undefined) {
      context.trace?.('dns', `${host} is ${address} (${micros(dnsUs)})`);
      return { ok: true, endpoint: { address, port }, dnsUs };
    }
    first ??= { denial, address };
  }
  const failure = failed('address_denied', `${host} may not be checked: ${first?.denial.reason ?? 'no address'}.`);
  context.trace?.('dns', failure.message);
  return { ok: false, failure, dnsUs, ...(first && { endpoint: { address: first.address, port } }) };
}

/**
 * The second half: a TCP connection to a judged address, or through the tunnel that leads on from there. The socket keeps a listener for
 * late errors; the caller destroys it.
 */
export function dial(endpoint: Endpoint, context: CheckContext): Promise<Dialed> {
  if (endpoint.tunnel !== undefined) return endpoint.tunnel.open(context);
  const start = context.clock();
  return new Promise((resolve) => {
    const socket = net.connect({
      host: endpoint.address,
      port: endpoint.port,
      noDelay: true,
      localAddress: localAddressFor(endpoint, context),
    });
    const elapsed = () => Math.round((context.clock() - start) * 1000);
    let settled = false;
    const refuse = (failure: Failure) => {
      if (settled) return;
      settled = true;
      context.signal.removeEventListener('abort', abort);
      socket.destroy();
      context.trace?.('connect', failure.message);
      resolve({ ok: false, failure, connectUs: elapsed() });
    };
    const abort = () => refuse(connectTimeout(endpoint));
    socket.on('error', (error: NodeJS.ErrnoException) => refuse(connectFailure(error, endpoint)));
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.once('connect', () => {
      settled = true;
      context.signal.removeEventListener('abort', abort);
      context.trace?.('connect', `${named(endpoint)} connected (${micros(elapsed())})`);
      resolve({ ok: true, socket, connectUs: elapsed() });
    });
  });
}

/** The address to leave from, when the target is of its family. */
export function localAddressFor(endpoint: Endpoint, { sourceAddress }: CheckContext): string | undefined {
  return sourceAddress?.includes(':') === endpoint.address.includes(':') ? sourceAddress : undefined;
}

export function connectTimeout(endpoint: Endpoint): Failure {
  return timedOut('connect_timeout', `No connection to ${named(endpoint)} in time.`);
}

/** What an error of the system says about a connection attempt. Errors that are this machine's own never blame the target. */
export function connectFailure(error: NodeJS.ErrnoException, endpoint: Endpoint): Failure {
  const where = named(endpoint);
  switch (error.code) {
    case 'ECONNREFUSED':
      return failed('connect_refused', `${where} refused the connection.`);
    case 'ETIMEDOUT':
      return timedOut('connect_timeout', `The connection to ${where} timed out.`);
    case 'ECONNRESET':
    case 'ECONNABORTED':
    case 'EPIPE':
      return failed('connect_reset', `${where} reset the connection.`);
    case 'ENETUNREACH':
      if (endpoint.address.includes(':'))
        return probeFault('address_family_missing', `This probe has no IPv6 route to ${where}.`);
      return failed('connect_unreachable', `The network of ${where} cannot be reached.`);
    case 'EHOSTUNREACH':
    case 'EHOSTDOWN':
    case 'ENETDOWN':
      return failed('connect_unreachable', `The host ${where} cannot be reached.`);
    case 'EAFNOSUPPORT':
      return probeFault('address_family_missing', `This probe cannot speak the address family of ${where}.`);
    case 'EADDRNOTAVAIL':
    case 'EADDRINUSE':
      return probeFault(
        'probe_internal',
        `No local address or port was free for a connection to ${where} (${error.code}).`,
      );
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
    case 'ENOMEM':
    case 'EACCES':
    case 'EPERM':
      return probeFault(
        'probe_internal',
        `The system of this probe did not allow a connection to ${where} (${error.code}).`,
      );
    case undefined:
    default:
      return failed('connect_failed', `The connection to ${where} failed (${error.code ?? 'unknown error'}).`);
  }
}

/** `address:port` for a person, IPv6 in brackets; the target's own where a tunnel leads there. */
export function named(endpoint: Endpoint): string {
  if (endpoint.tunnel !== undefined) return endpoint.tunnel.target;
  return endpoint.address.includes(':')
    ? `[${endpoint.address}]:${endpoint.port}`
    : `${endpoint.address}:${endpoint.port}`;
}

/** A duration for a person. */
export function micros(durationUs: number): string {
  return `${(durationUs / 1000).toFixed(1)} ms`;
}
