import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import { clientAddress, clientNetwork } from '../client-address.ts';
import { securityHeaders } from '../security-headers.ts';
import { answerFor, prepareAnswer } from './prepared-answer.ts';
import type { PreparedAnswer, PreparedHeaders } from './prepared-answer.ts';
import type { TokenBuckets } from './token-buckets.ts';

/** What is looked at of a request. */
export type PreparedRequest = {
  /** Without the query. */
  readonly path: string;
  /** Without the question mark; empty: none. */
  readonly query: string;
  readonly acceptLanguage: string | undefined;
};

/** What is ready to be sent, found without waiting for anything. */
export type PreparedAnswers = {
  /** Whether a path may be one of its; nothing else is asked for. */
  readonly covers: (path: string) => boolean;
  /** @returns undefined: the routes answer */
  readonly find: (request: PreparedRequest) => PreparedAnswer | undefined;
};

export type BeforeRoutesOptions = {
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  /** Whether the header `Host` names this installation. */
  readonly isKnownHost: (host: string, dialled: string | undefined) => boolean;
  /** Per IPv4 address or IPv6 /64. */
  readonly buckets: TokenBuckets;
};

/**
 * Answers what is prepared before the routes see it: no hook, no validation and no statement is spent on a page that thousands read. What is not
 * prepared, and every request that is wrong in some way, goes to the routes.
 */
export function answerBeforeRoutes(
  app: FastifyInstance,
  prepared: PreparedAnswers,
  options: BeforeRoutesOptions,
): void {
  const [routes, ...others] = app.server.listeners('request');
  if (routes === undefined || others.length > 0) throw new Error('the server has other listeners than its routes');
  const trusts = options.trustedProxies.length > 0 ? proxyAddress.compile([...options.trustedProxies]) : undefined;
  const networkOf = (request: IncomingMessage): string => {
    const told = trusts === undefined ? (request.socket.remoteAddress ?? '') : proxyAddress(request, trusts);
    return clientNetwork(clientAddress(told, request.socket.remoteAddress));
  };
  const isSecure = options.publicUrl.startsWith('https:');
  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = '', headers } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.length > mostUrlCharacters) return false;
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    if (!prepared.covers(path)) return false;
    if (headers.host === undefined || !options.isKnownHost(headers.host, request.socket.localAddress)) return false;
    const found = prepared.find({
      path,
      query: mark === -1 ? '' : url.slice(mark + 1),
      acceptLanguage: headers['accept-language'],
    });
    if (found === undefined) return false;
    const waitMs = options.buckets.take(networkOf(request));
    const sent = answerFor(waitMs > 0 ? tooMany(waitMs) : found, {
      ifNoneMatch: headers['if-none-match'],
      acceptEncoding: headers['accept-encoding'],
    });
    response.writeHead(sent.status, presentHeaders({ ...securityHeaders(path, isSecure), ...sent.headers }));
    response.end(method === 'HEAD' ? undefined : sent.body);
    return true;
  };
  app.server.removeAllListeners('request');
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!answer(request, response)) routes.call(app.server, request, response);
  });
}

const mostUrlCharacters = 2_048;

function presentHeaders(headers: PreparedHeaders): Record<string, string> {
  const present: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== null) present[name] = value;
  return present;
}

function tooMany(waitMs: number): PreparedAnswer {
  const seconds = Math.ceil(waitMs / 1_000);
  return prepareAnswer(
    429,
    { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': String(seconds) },
    `Too many requests from this address. Try again in ${seconds} s.\n`,
  );
}
