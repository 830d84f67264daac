import { isIP, type OnReadOpts, type Socket } from 'node:net';
import tls from 'node:tls';
import type { CheckContext } from '../check.ts';
import { certificateFailure, factsOf, type PeerFacts } from './certificate.ts';
import { connectFailure, connectTimeout, type Endpoint, localAddressFor, micros, named } from './dial.ts';
import { type Failure, failed, timedOut } from './failure.ts';
import { sharedSecureContext, type SecureContextSettings } from './secure-context.ts';

export type TlsOptions = {
  /** The host as the customer wrote it: sent as SNI when it is a name, and what the certificate must be for. */
  readonly host: string;
  /** Whether a certificate that cannot be trusted is a failure. */
  readonly verify: boolean;
  readonly context?: SecureContextSettings;
  readonly alpn?: string[];
  readonly onread?: OnReadOpts;
};

export type TlsOpened =
  | {
      readonly ok: true;
      readonly socket: tls.TLSSocket;
      readonly connectUs: number | undefined;
      readonly tlsUs: number;
      readonly peer: PeerFacts | undefined;
    }
  | {
      readonly ok: false;
      readonly failure: Failure;
      readonly connectUs: number | undefined;
      readonly tlsUs: number | undefined;
      readonly peer?: PeerFacts;
    };

/**
 * Connects to a judged address (or takes a connected socket over, for STARTTLS) and shakes hands. The chain is verified by
 * OpenSSL during the handshake, the name and dates by hand afterwards, which costs a fraction of Node's own way.
 */
export function openTls(
  to: Endpoint | { readonly socket: Socket; readonly endpoint: Endpoint },
  options: TlsOptions,
  context: CheckContext,
): Promise<TlsOpened> {
  const over = 'socket' in to ? to.socket : undefined;
  const endpoint = 'socket' in to ? to.endpoint : to;
  const start = context.clock();
  return new Promise((resolve) => {
    const socket = tls.connect({
      ...(over === undefined
        ? {
            host: endpoint.address,
            port: endpoint.port,
            noDelay: true,
            localAddress: localAddressFor(endpoint, context),
            onread: options.onread,
          }
        : { socket: over }),
      ALPNProtocols: options.alpn,
      // An address is no server name (RFC 6066); Node would take the address that is dialled.
      servername: isIP(options.host) === 0 ? options.host : '',
      secureContext: sharedSecureContext(options.context ?? {}),
      rejectUnauthorized: false,
    });
    // Node would build the whole chain as objects to look at the name; the chain itself is verified all the same (`authorizationError`).
    socket.isSessionReused = () => true;
    let connectedAt = over === undefined ? undefined : start;
    const connectUs = () => (connectedAt === undefined || over !== undefined ? undefined : micro(connectedAt - start));
    const tlsUs = () => (connectedAt === undefined ? undefined : micro(context.clock() - connectedAt));

    let settled = false;
    const refuse = (failure: Failure, peer?: PeerFacts) => {
      if (settled) return;
      settled = true;
      context.signal.removeEventListener('abort', abort);
      socket.destroy();
      context.trace?.(connectedAt === undefined ? 'connect' : 'tls', failure.message);
      resolve({ ok: false, failure, connectUs: connectUs(), tlsUs: tlsUs(), ...(peer && { peer }) });
    };
    const abort = () =>
      refuse(
        connectedAt === undefined
          ? connectTimeout(endpoint)
          : timedOut('tls_timeout', `${named(endpoint)} did not finish the TLS handshake in time.`),
      );
    socket.on('error', (error: NodeJS.ErrnoException) =>
      refuse(connectedAt === undefined ? connectFailure(error, endpoint) : handshakeFailure(error, endpoint)),
    );
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.once('connect', () => {
      connectedAt = context.clock();
      context.trace?.('connect', `${named(endpoint)} connected (${micros(connectUs() ?? 0)})`);
    });
    socket.once('secureConnect', () => {
      const took = tlsUs() ?? 0;
      const peer = factsOf(socket, options.host);
      const failure = options.verify
        ? certificateFailure(peer, options.host, (context.wallClock ?? Date.now)())
        : undefined;
      if (failure !== undefined) return refuse(failure, peer);
      settled = true;
      context.signal.removeEventListener('abort', abort);
      context.trace?.('tls', `${socket.getProtocol() ?? 'TLS'} established (${micros(took)})`);
      resolve({ ok: true, socket, connectUs: connectUs(), tlsUs: took, peer });
    });
  });
}

/** What an error during a handshake says. The names of OpenSSL's reasons are stable, its sentences are not shown. */
function handshakeFailure(error: NodeJS.ErrnoException, endpoint: Endpoint): Failure {
  const where = named(endpoint);
  const code = error.code ?? '';
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return failed('tls_handshake', `${where} closed the connection during the TLS handshake.`);
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|RECORD_LAYER/.test(code)) {
    return failed('tls_handshake', `${where} did not answer with TLS.`);
  }
  if (
    /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|DH_KEY_TOO_SMALL|KEY_TOO_SMALL|MD_TOO_WEAK|NO_CIPHERS|LEGACY_SIGALG/.test(
      code,
    )
  ) {
    return failed('tls_weak', `${where} offers only TLS versions or ciphers that are no longer safe (${code}).`);
  }
  return failed('tls_handshake', `The TLS handshake with ${where} failed (${code === '' ? 'unknown error' : code}).`);
}

function micro(durationMs: number): number {
  return Math.round(durationMs * 1000);
}
