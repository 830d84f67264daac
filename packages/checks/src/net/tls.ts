import { isIP, type OnReadOpts, type Socket } from 'node:net';
import tls from 'node:tls';
import type { CheckContext } from '../check.ts';
import { certificateFailure, factsOf, type PeerFacts } from './certificate.ts';
import { connectFailure, connectTimeout, type Endpoint, localAddressFor, micros, named, type Tunnel } from './dial.ts';
import { type Failure, failed, timedOut } from './failure.ts';
import { plainHost } from './host.ts';
import { sharedSecureContext, type SecureContextSettings } from './secure-context.ts';

export type TlsOptions = {
  /** The host as the customer wrote it: sent as SNI when it is a name, and what the certificate must be for. */
  readonly host: string;
  /** Whether a certificate that cannot be trusted is a failure. */
  readonly verify: boolean;
  readonly context?: SecureContextSettings;
  readonly alpn?: string[];
  /** Not for a connection that was there before, through a tunnel for one: its socket is read as sockets are. */
  readonly onread?: OnReadOpts;
  /** A session to resume, for a second connection that a protocol ties to the first. */
  readonly session?: Buffer;
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
      /** The server found nothing among what was offered that it takes, or does not say what it disliked. */
      readonly isRefused?: boolean;
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
  if (!('socket' in to) && to.tunnel !== undefined) return openThrough(to, to.tunnel, options, context);
  const over = 'socket' in to ? to.socket : undefined;
  const endpoint = 'socket' in to ? to.endpoint : to;
  const host = plainHost(options.host);
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
      session: options.session,
      // An address is no server name (RFC 6066); Node would take the address that is dialled.
      servername: isIP(host) === 0 ? host : '',
      secureContext: sharedSecureContext(options.context ?? {}),
      rejectUnauthorized: false,
    });
    // Node would build the whole chain as objects to look at the name; the chain itself is verified all the same (`authorizationError`).
    socket.isSessionReused = isTrue;
    let connectedAt = over === undefined ? undefined : start;
    const connectUs = () => (connectedAt === undefined || over !== undefined ? undefined : micro(connectedAt - start));
    const tlsUs = () => (connectedAt === undefined ? undefined : micro(context.clock() - connectedAt));

    let settled = false;
    const refuse = (failure: Failure, peer?: PeerFacts, isRefused?: boolean) => {
      if (settled) return;
      settled = true;
      context.signal.removeEventListener('abort', abort);
      socket.destroy();
      context.trace?.(connectedAt === undefined ? 'connect' : 'tls', failure.message);
      resolve({
        ok: false,
        failure,
        connectUs: connectUs(),
        tlsUs: tlsUs(),
        ...(peer && { peer }),
        ...(isRefused && { isRefused }),
      });
    };
    const abort = () =>
      refuse(
        connectedAt === undefined
          ? connectTimeout(endpoint)
          : timedOut('tls_timeout', `${named(endpoint)} did not finish the TLS handshake in time.`),
      );
    socket.on('error', (error: NodeJS.ErrnoException) =>
      connectedAt === undefined
        ? refuse(connectFailure(error, endpoint))
        : refuse(handshakeFailure(error, endpoint), undefined, refusesOffer(error)),
    );
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.once('connect', () => {
      connectedAt = context.clock();
      context.trace?.('connect', `${named(endpoint)} connected (${micros(connectUs() ?? 0)})`);
    });
    socket.once('secureConnect', () => {
      const took = tlsUs() ?? 0;
      const peer = factsOf(socket, host);
      // Who resumes a session has proved to be who was verified when it began, and shows no certificate again.
      const isResumed = options.session !== undefined && tls.TLSSocket.prototype.isSessionReused.call(socket);
      const failure =
        options.verify && !isResumed ? certificateFailure(peer, host, (context.wallClock ?? Date.now)()) : undefined;
      if (failure !== undefined) return refuse(failure, peer);
      settled = true;
      context.signal.removeEventListener('abort', abort);
      context.trace?.('tls', `${socket.getProtocol() ?? 'TLS'} established (${micros(took)})`);
      resolve({ ok: true, socket, connectUs: connectUs(), tlsUs: took, peer });
    });
  });
}

/** The same over a tunnel, which counts as the connection. */
async function openThrough(
  endpoint: Endpoint,
  tunnel: Tunnel,
  options: TlsOptions,
  context: CheckContext,
): Promise<TlsOpened> {
  const dialed = await tunnel.open(context);
  const { connectUs } = dialed;
  if (!dialed.ok) return { ok: false, failure: dialed.failure, connectUs, tlsUs: undefined };
  const opened = await openTls({ socket: dialed.socket, endpoint }, options, context);
  if (!opened.ok) dialed.socket.destroy();
  return { ...opened, connectUs };
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
  if (refusesClient(error)) return clientRefused(error);
  // The one word for both up to TLS 1.2 (RFC 5246, 7.2.2 and 7.4.6).
  if (/ALERT_HANDSHAKE_FAILURE/.test(code)) {
    const why = 'it has no version or cipher in common with the check, or asks for a client certificate';
    return failed('tls_handshake', `${where} refused the TLS handshake: ${why}.`);
  }
  return failed('tls_handshake', `The TLS handshake with ${where} failed (${code === '' ? 'unknown error' : code}).`);
}

/** Whether the server did not accept the certificate of this side or the lack of one. In TLS 1.3 it says so after the handshake. */
export function refusesClient(error: NodeJS.ErrnoException): boolean {
  return /ALERT_(CERTIFICATE_REQUIRED|(BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(UNKNOWN|EXPIRED|REVOKED|REQUIRED)|UNKNOWN_CA|ACCESS_DENIED)/.test(
    error.code ?? '',
  );
}

/** RFC 8446, 6.2: what servers send that share no group or cipher with this side. */
function refusesOffer(error: NodeJS.ErrnoException): boolean {
  return /ALERT_(HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|ILLEGAL_PARAMETER)/.test(error.code ?? '');
}

export function clientRefused(error: NodeJS.ErrnoException): Failure {
  return failed(
    'tls_client_certificate',
    `The server did not accept the certificate of the check or asks for one (${error.code ?? 'no reason'}).`,
  );
}

/** One for all: a function that is written where it is put into a property is made in the old part of the heap, and keeps what it sees there. */
const isTrue = (): boolean => true;

function micro(durationMs: number): number {
  return Math.round(durationMs * 1000);
}
