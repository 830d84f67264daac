import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import type { Logger } from '@parallax/telemetry';
import type { FastifyInstance } from 'fastify';
import { clientAddress, clientNetwork } from '../client-address.ts';
import { hostOf } from '../host-guard.ts';
import { forwardedHost, isMapped, mapRequest } from '../mapped-hosts.ts';
import type { MappedHosts } from '../mapped-hosts.ts';
import { securityHeaders } from '../security-headers.ts';
import { boundedMemo } from './bounded-memo.ts';
import { answerIn, formFor, prepareAnswer } from './prepared-answer.ts';
import type { PreparedAnswer, PreparedHeaders, SentForm } from './prepared-answer.ts';
import type { TokenBuckets } from './token-buckets.ts';
import { TurnBudget } from './turn-budget.ts';

/** Who asks, for what is not for everybody. */
export type PreparedClient = {
  /** @param name in lower case */
  readonly header: (name: string) => string | undefined;
  /** The client's address, behind trusted proxies the forwarded one. */
  readonly address: () => string;
};

/** What is looked at of a request. */
export type PreparedRequest = {
  /** Without the query. */
  readonly path: string;
  /** Without the question mark; empty: none. */
  readonly query: string;
  readonly acceptLanguage: string | undefined;
  /** Whether it came for a mapped host, whose readers see the path without its prefix. */
  readonly isMapped?: boolean | undefined;
  /** Absent: nobody in particular. */
  readonly client?: PreparedClient | undefined;
};

/** What is ready to be sent, found without waiting for anything. */
export type PreparedAnswers = {
  /** Whether a path may be one of its; nothing else is asked for. */
  readonly covers: (path: string) => boolean;
  /** @returns undefined: it must be made first */
  readonly find: (request: PreparedRequest) => PreparedAnswer | undefined;
  /** Whether no route knows a path, so that what is not ready is made here. */
  readonly owns: (path: string) => boolean;
  /** Whether what is not ready was there lately, so that asking for it is no guessing; absent: it never is. */
  readonly isKnown?: (request: PreparedRequest) => boolean;
  /** Makes what is not ready. @throws when it cannot be made now */
  readonly fetch: (request: PreparedRequest) => Promise<PreparedAnswer>;
};

export type BeforeRoutesOptions = {
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  /** Whether the header `Host` names this installation. */
  readonly isKnownHost: (host: string, dialled: string | undefined) => boolean;
  /** Hosts that a part of the paths is served under; absent: there are none. */
  readonly mappedHosts?: MappedHosts | undefined;
  /** Per IPv4 address or IPv6 /64. */
  readonly buckets: TokenBuckets;
  /** The same for what must be made first and is not known: a name that is made up costs a statement. */
  readonly slowBuckets: TokenBuckets;
  readonly log: Pick<Logger, 'warn'>;
};

/**
 * Answers what is prepared before the routes see it: no hook, no validation and no statement is spent on a page that thousands read. What no
 * route knows is made here when it is asked for first; every request that is wrong in some way goes to the routes.
 */
export function answerBeforeRoutes(
  app: FastifyInstance,
  prepared: PreparedAnswers,
  options: BeforeRoutesOptions,
): void {
  const [routes, ...others] = app.server.listeners('request');
  if (routes === undefined || others.length > 0) throw new Error('the server has other listeners than its routes');
  const addressOf = addressReader(options.trustedProxies);
  const trusts = options.trustedProxies.length === 0 ? undefined : proxyAddress.compile([...options.trustedProxies]);
  const networkOfAddress = boundedMemo(mostRemembered, clientNetwork);
  const networkOf = (request: IncomingMessage): string => networkOfAddress(addressOf(request));
  const isSecure = options.publicUrl.startsWith('https:');
  const headOf = headsOfAnswers(isSecure);
  // What is said of a host for ever, and of those below it, is for its owner to say.
  const headOfMapped = headsOfAnswers(false);
  const nameOfHost = boundedMemo(mostRemembered, hostOf);
  const isKnownHost = boundedMemo(mostRemembered, (hostAndDialled) => {
    const [host = '', dialled = ''] = hostAndDialled.split(' ');
    return options.isKnownHost(host, dialled === '' ? undefined : dialled);
  });
  const send = (request: IncomingMessage, response: ServerResponse, path: string, answer: PreparedAnswer): void => {
    const { 'if-none-match': ifNoneMatch, 'accept-encoding': acceptEncoding } = request.headers;
    const form = formFor(answer, { ifNoneMatch, acceptEncoding });
    const head = isMapped(request) ? headOfMapped(path, answer, form) : headOf(path, answer, form);
    response.writeHead(head.status, head.fields);
    response.end(request.method === 'HEAD' ? undefined : head.body);
  };
  const make = async (asked: PreparedRequest, waitMs: number): Promise<PreparedAnswer> => {
    if (waitMs > 0) return tooMany(waitMs);
    try {
      return await prepared.fetch(asked);
    } catch (error) {
      options.log.warn({ err: error, path: asked.path }, 'a page can neither be read nor is it at hand');
      return away();
    }
  };
  /** The last host that was asked for on a connection, where readers ask for the same again and again. */
  const hostOfSocket = new WeakMap<Socket, { readonly host: string; readonly isOwn: boolean }>();
  const isOwnHost = ({ headers: { host }, socket }: IncomingMessage): boolean => {
    const last = hostOfSocket.get(socket);
    if (last !== undefined && last.host === host) return last.isOwn;
    // No name of a host has a space; one that does is for the routes to refuse.
    if (host === undefined || host.includes(' ')) return false;
    const isOwn = isKnownHost(`${host} ${socket.localAddress ?? ''}`);
    hostOfSocket.set(socket, { host, isOwn });
    return isOwn;
  };
  /** The host of a request is looked at first, then the one that a trusted proxy was asked for. A host of the installation stays one. */
  const map = (request: IncomingMessage, hosts: MappedHosts, isOwn: boolean): void => {
    const { host, 'x-forwarded-host': forwarded } = request.headers;
    const named = isOwn || host === undefined ? undefined : nameOfHost(host);
    const told =
      forwarded !== undefined && trusts?.(request.socket.remoteAddress ?? '', 0) === true
        ? nameOfHost(forwardedHost(forwarded) ?? '')
        : undefined;
    for (const name of [named, told]) {
      const prefix = name === undefined ? undefined : hosts.prefixOf(name);
      if (prefix !== undefined) return mapRequest(request, prefix);
    }
  };
  /** @returns whether it is answered here */
  const answer = (request: IncomingMessage, response: ServerResponse, isOwn: boolean | undefined): boolean => {
    const { method, url = '' } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.length > mostUrlCharacters) return false;
    const path = pathOf(url);
    const isOfMapped = isMapped(request);
    if (!isOfMapped && !(isOwn ?? isOwnHost(request))) return false;
    const query = url.slice(path.length + 1);
    const asked = new AskedOf(request, path, query, isOfMapped, addressOf);
    const found = prepared.find(asked);
    if (found !== undefined) {
      const waitMs = options.buckets.take(networkOf(request));
      send(request, response, path, waitMs > 0 ? tooMany(waitMs) : found);
      return true;
    }
    if (!prepared.owns(path)) return false;
    const buckets = prepared.isKnown?.(asked) === true ? options.buckets : options.slowBuckets;
    void make(asked, buckets.take(networkOf(request))).then(
      (made) => send(request, response, path, made),
      () => response.destroy(),
    );
    return true;
  };
  // Whoever reads pages must not keep alerts waiting, which take dozens of turns: unbounded, a crowd of 256 made each turn 50 ms long.
  const budget = new TurnBudget(answersPerTurnMs);
  app.server.removeAllListeners('request');
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const isOwn = options.mappedHosts === undefined ? undefined : isOwnHost(request);
    if (options.mappedHosts !== undefined) map(request, options.mappedHosts, isOwn === true);
    if (!prepared.covers(pathOf(request.url ?? ''))) routes.call(app.server, request, response);
    else
      budget.run(() => {
        if (!answer(request, response, isOwn)) routes.call(app.server, request, response);
      });
  });
}

/** A request as it came. Who has sent it is looked at where that matters, since most of what is prepared is for everybody. */
class AskedOf implements PreparedRequest {
  readonly path: string;
  readonly query: string;
  readonly acceptLanguage: string | undefined;
  readonly isMapped: boolean;
  readonly #request: IncomingMessage;
  readonly #addressOf: (request: IncomingMessage) => string;

  constructor(
    request: IncomingMessage,
    path: string,
    query: string,
    isMapped: boolean,
    addressOf: (request: IncomingMessage) => string,
  ) {
    this.path = path;
    this.query = query;
    this.acceptLanguage = request.headers['accept-language'];
    this.isMapped = isMapped;
    this.#request = request;
    this.#addressOf = addressOf;
  }

  get client(): PreparedClient {
    return clientOf(this.#request, this.#addressOf);
  }
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

/** How the address of a client is read. @param trustedProxies networks (CIDRs) whose forwarded headers count */
export function addressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? 'unknown';
  const trusts = proxyAddress.compile([...trustedProxies]);
  return (request) => clientAddress(proxyAddress(request, trusts), request.socket.remoteAddress);
}

/** Who has sent a request. */
export function clientOf(request: IncomingMessage, addressOf: (request: IncomingMessage) => string): PreparedClient {
  return {
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    address: () => addressOf(request),
  };
}

const mostUrlCharacters = 2_048;
/** Answers from memory take so much of each turn of the event loop. */
const answersPerTurnMs = 4;
/** Addresses and hosts that something is remembered of. */
const mostRemembered = 20_000;

type Head = { readonly status: number; readonly fields: string[]; readonly body: Buffer | undefined };

/** Heads are put together once for an answer and a form: to do so for each request is half of what it costs. */
function headsOfAnswers(isSecure: boolean): (path: string, answer: PreparedAnswer, form: SentForm) => Head {
  const heads = new WeakMap<PreparedAnswer, Partial<Record<SentForm, Head>>>();
  return (path, answer, form) => {
    const known = heads.get(answer) ?? {};
    heads.set(answer, known);
    const head = known[form];
    if (head !== undefined) return head;
    const { status, headers, body } = answerIn(answer, form);
    const made = { status, fields: fieldsOf({ ...securityHeaders(path, isSecure), ...headers }), body };
    known[form] = made;
    return made;
  };
}

/** Names and values in turn. */
function fieldsOf(headers: PreparedHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [name, value]));
}

function tooMany(waitMs: number): PreparedAnswer {
  const seconds = Math.ceil(waitMs / 1_000);
  return prepareAnswer(
    429,
    { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': String(seconds) },
    `Too many requests from this address. Try again in ${seconds} s.\n`,
  );
}

function away(): PreparedAnswer {
  return prepareAnswer(
    503,
    { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '5' },
    'This cannot be shown now. Try again in a moment.\n',
  );
}
