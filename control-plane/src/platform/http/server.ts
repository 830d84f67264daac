import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@parallax/api-contract';
import type { Logger } from '@parallax/telemetry';
import Fastify, { LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { allowedMethods } from './allowed-methods.ts';
import { addressMatcher } from './client-address.ts';
import { answerProblem, refuseConnection } from './client-errors.ts';
import { allowOrigins } from './cross-origin.ts';
import { capConnections } from './connections.ts';
import type { ConnectionLimits } from './connections.ts';
import { documentPaths, mayBeDocument, registerDocuments } from './documents.ts';
import type { Route } from './handler.ts';
import { guardHost, isKnownHost, knownHosts } from './host-guard.ts';
import { isJsonMediaType, readJson } from './json-body.ts';
import { isMapped } from './mapped-hosts.ts';
import type { MappedHosts } from './mapped-hosts.ts';
import { answerBeforeRoutes } from './prepared/before-routes.ts';
import type { PreparedAnswers } from './prepared/before-routes.ts';
import { tokenBuckets } from './prepared/token-buckets.ts';
import { sendProblem } from './problem-answers.ts';
import { registerRoute } from './register-route.ts';
import type { RequestGuards } from './register-route.ts';
import { Routes } from './routes-together.ts';
import { securityHeaders } from './security-headers.ts';

/** Collaborators of the HTTP layer; it knows no business word. */
export type HttpServerOptions = RequestGuards & {
  readonly log: Logger;
  readonly publicUrl: string;
  /** Networks (CIDRs) whose forwarded headers count. */
  readonly trustedProxies: readonly string[];
  /** Hosts that a request may name beside loopback and that of the public URL; none when absent. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins whose pages may call the API from a browser; none when absent. */
  readonly corsOrigins?: readonly string[] | undefined;
  readonly limits?: Partial<HttpLimits>;
  /** What is answered from memory, before any route is asked. */
  readonly prepared?: PreparedAnswers | undefined;
  /** Hosts under which a part of the paths is served at the root; they need `prepared`. */
  readonly mappedHosts?: MappedHosts | undefined;
};

/** Bounds of what a client may send and how long it may take; tests make them smaller. */
export type HttpLimits = {
  readonly bodyBytes: number;
  readonly urlCharacters: number;
  readonly headerBytes: number;
  /** From the first byte of a request to the last of its headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestTimeoutMs: number;
  /** How often connections are looked at for the two above. */
  readonly checkingIntervalMs: number;
  readonly connections: ConnectionLimits;
  /** Requests that are answered from memory, per IPv4 address or IPv6 /64. */
  readonly prepared: { readonly perSecond: number; readonly burst: number };
};

export const httpLimits: HttpLimits = {
  bodyBytes: 256 * 1024,
  urlCharacters: 2_048,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  checkingIntervalMs: 1_000,
  connections: { perAddress: 512, total: 3_000 },
  // Readers of a page ask seldom, but an office shares an address.
  prepared: { perSecond: 100, burst: 1_000 },
};

/** Builds the server with all routes; nothing listens yet. */
export async function buildHttpServer(routes: readonly Route[], options: HttpServerOptions): Promise<FastifyInstance> {
  const limits: HttpLimits = { ...httpLimits, ...options.limits };
  const decorate = (request: FastifyRequest, reply: FastifyReply): void =>
    setCommonHeaders(request, reply, options.publicUrl);
  const logger: FastifyBaseLogger = options.log;
  const app: FastifyInstance = Fastify({
    loggerInstance: logger,
    // Lines that need the request name it; a child logger for each would cost more than the rest of the layer.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: 65_000,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    rewriteUrl: ({ url = '/' }) => withoutTrailingSlash(url),
    // Its own answer is no problem document; the hook below says the same as one.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 300 },
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkingIntervalMs,
      // Node would answer without a body; the hook below does it.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      decorate(request, reply);
      sendProblem(error, request, reply, options);
    },
    clientErrorHandler: (error, socket) => refuseConnection(connections, error, socket, options.publicUrl),
  });
  if (options.prepared !== undefined) answerFromMemory(app, options.prepared, options, limits);
  const connections = capConnections(app.server, limits.connections, addressMatcher(options.trustedProxies));
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    answerProblem(response, new Problem('expectation_failed', 'only Expect: 100-continue is known'), options.publicUrl),
  );
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, options));
  readBodiesAsJson(app);
  decorateAnswers(app, decorate);
  guardHost(app, options.publicUrl, options.allowedHosts ?? []);
  await allowOrigins(app, options.corsOrigins ?? []);
  guardRequests(app, routes, options, limits);
  await registerDocuments(app, routes);
  const together = new Routes(routes.map((route) => route.contract));
  const byContract = new Map(routes.map((route) => [route.contract, route]));
  for (const route of routes) {
    const reader = together.readerOf(route.contract);
    const location = together.locationOf(route.contract);
    const known = { route, location, reader: reader === undefined ? undefined : byContract.get(reader) };
    await registerRoute(app, known, options);
  }
  return app;
}

const mostClients = 20_000;

function answerFromMemory(
  app: FastifyInstance,
  prepared: PreparedAnswers,
  options: HttpServerOptions,
  limits: HttpLimits,
): void {
  const known = knownHosts(options.publicUrl, options.allowedHosts ?? []);
  answerBeforeRoutes(app, prepared, {
    publicUrl: options.publicUrl,
    trustedProxies: options.trustedProxies,
    isKnownHost: (host, dialled) => isKnownHost(host, known, dialled),
    mappedHosts: options.mappedHosts,
    buckets: tokenBuckets({ ...limits.prepared, mostKeys: mostClients, now: () => performance.now() }),
    slowBuckets: tokenBuckets({ perSecond: 1, burst: 60, mostKeys: mostClients, now: () => performance.now() }),
    log: options.log,
  });
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  const path = pathOf(request);
  void reply.headers({
    ...securityHeaders(path, publicUrl.startsWith('https:') && !isMapped(request.raw)),
    'cache-control': 'no-store',
    'x-request-id': request.id,
  });
}

/** Gives every answer its common headers, and while the server stops refuses what comes. */
function decorateAnswers(app: FastifyInstance, decorate: (request: FastifyRequest, reply: FastifyReply) => void): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  // Without it the connection of a request that was under way stays open, idle, and the close waits for it.
  app.addHook('onSend', async (_request, reply) => {
    if (closing) void reply.header('connection', 'close');
  });
  app.addHook('onRequest', async (request, reply) => {
    decorate(request, reply);
    if (closing) {
      void reply.header('connection', 'close');
      throw new Problem('unavailable', 'the server is stopping; try again');
    }
  });
}

/** What is judged before any route sees the request. */
function guardRequests(
  app: FastifyInstance,
  routes: readonly Route[],
  options: HttpServerOptions,
  limits: HttpLimits,
): void {
  const allowed = allowedMethods([...routes.map((route) => route.contract), ...documentPaths]);
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.length > limits.urlCharacters) {
      throw new Problem('uri_too_long', `the URL is longer than ${limits.urlCharacters} characters`);
    }
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      throw new Problem('bad_request', 'the header Host is missing');
    }
    if (!isPercentEncoded(request.url)) throw new Problem('not_found', 'the URL is not validly percent-encoded');
    if (!mayBeDocument(pathOf(request))) throw new Problem('not_found', 'there is nothing at this path');
    // No route of ours takes OPTIONS; the one of the plugin for other origins is there for preflights, which were answered before.
    if (!request.is404 && request.method !== 'OPTIONS') return;
    // Answered here, so that a body which nobody wants is not parsed first.
    answerUnknown(request, reply, allowed(pathOf(request)), options);
    return reply;
  });
}

function answerUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: readonly string[],
  options: HttpServerOptions,
): void {
  if (methods.length === 0) {
    sendProblem(new Problem('not_found', 'there is nothing at this path'), request, reply, options);
    return;
  }
  void reply.header('allow', methods.join(', '));
  if (request.method === 'OPTIONS') void reply.code(204).send();
  else sendProblem(new Problem('method_not_allowed', `this path takes ${methods.join(', ')}`), request, reply, options);
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/** A path with one slash too many is the path; below the documents it is a page of its own. */
function withoutTrailingSlash(url: string): string {
  return url.startsWith('/docs') ? url : url.replace(/(?<=^\/[^?]*[^/?])\/(?=\?|$)/, '');
}

/** True when every `%` of a URL begins a byte of valid UTF-8. */
function isPercentEncoded(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/** Bodies are JSON in UTF-8 or empty; the type of an empty one does not matter. */
function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const encoding = request.headers['content-encoding'];
    if (body.length > 0 && !(isJsonMediaType(request.headers['content-type'] ?? '') && isPlain(encoding)))
      throw wrongMediaType();
    return readJson(body);
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (request.headers['content-length'] !== '0') throw wrongMediaType();
    return undefined;
  });
}

function wrongMediaType(): Problem {
  return new Problem('unsupported_media_type', 'send application/json in UTF-8, not compressed');
}

function isPlain(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.trim().toLowerCase() === 'identity';
}
