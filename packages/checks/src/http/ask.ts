import type { CheckContext } from '../check.ts';
import { type Endpoint, locate, type Located, locateAddress } from '../net/dial.ts';
import type { Failure } from '../net/failure.ts';
import { openTls } from '../net/tls.ts';
import { Exchange } from './exchange.ts';
import type { WireRequest } from './request.ts';
import type { ResponseParser } from './response-parser.ts';
import { addPhase, type Progress } from './outcome.ts';

/** What a connection needs to know of the settings. */
export type ConnectionSettings = {
  readonly verify_tls: boolean;
  readonly ca_certificates?: string | undefined;
  readonly client_certificate?: string | undefined;
  readonly client_key?: string | undefined;
  readonly ip_version?: 4 | 6 | undefined;
};

const alpn = ['http/1.1'];
/** Servers, by host and port, that refused the quick handshake. */
const refusing = new Set<string>();
const mostRefusing = 1_000;

/**
 * One request on one fresh connection to a judged address. What was seen goes into `progress`, times are added up over the hops. Gives
 * the failure, or undefined when the response is whole. No socket is left. Not an async function, since most checks need no more than the
 * one promise of the exchange.
 *
 * @param trusted whether the client's own certificate may be shown there
 */
export function ask(
  trusted: boolean,
  request: WireRequest,
  parser: ResponseParser,
  settings: ConnectionSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  const { host, port, secure } = request.place;
  progress.head = undefined;
  progress.parser = undefined;
  const family = { family: settings.ip_version };
  const begin = (located: Located): Promise<Failure | undefined> => {
    progress.endpoint = located.endpoint;
    addPhase(progress, 'dns', located.dnsUs);
    if (!located.ok) return Promise.resolve(located.failure);
    if (!secure) return new Exchange(request, parser, context, progress).open(located.endpoint);
    return askSecurely(located.endpoint, trusted, request, parser, settings, context, progress);
  };
  const located = locateAddress(host, port, context, family);
  return located === undefined ? locate(host, port, context, family).then(begin) : begin(located);
}

async function askSecurely(
  endpoint: Endpoint,
  trusted: boolean,
  request: WireRequest,
  parser: ResponseParser,
  settings: ConnectionSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  const exchange = new Exchange(request, parser, context, progress);
  const { host, port } = request.place;
  const server = `${host} ${port}`;
  const secure = secureSettings(settings, trusted);
  const options = { host, verify: settings.verify_tls, alpn, onread: exchange.onread };
  const showsClient = trusted && settings.client_certificate !== undefined;
  const quick = request.isPublic && !showsClient && !refusing.has(server);
  let opened = await openTls(endpoint, { ...options, context: { ...secure, quick } }, context);
  if (quick && !opened.ok && opened.isRefused === true && !context.signal.aborted) {
    if (refusing.size >= mostRefusing) refusing.clear();
    refusing.add(server);
    addPhase(progress, 'connect', opened.connectUs);
    addPhase(progress, 'tls', opened.tlsUs);
    opened = await openTls(endpoint, { ...options, context: secure }, context);
  }
  addPhase(progress, 'connect', opened.connectUs);
  addPhase(progress, 'tls', opened.tlsUs);
  progress.peer = opened.peer;
  if (opened.peer !== undefined) progress.soonestEnd = Math.min(progress.soonestEnd ?? Infinity, opened.peer.notAfter);
  if (!opened.ok) return opened.failure;
  return endpoint.tunnel === undefined ? exchange.over(opened.socket) : exchange.overTunnel(opened.socket);
}

/** The authorities to trust and, towards the customer's own origin, the certificate to show. */
export function secureSettings(settings: ConnectionSettings, trusted: boolean) {
  return {
    caCertificates: settings.ca_certificates,
    ...(trusted && { clientCertificate: settings.client_certificate, clientKey: settings.client_key }),
  };
}
