import { randomUUID } from 'node:crypto';
import { Problem, problemSchema } from '@parallax/api-contract';
import type { Credentials } from '@parallax/api-contract';
import helmet from '@fastify/helmet';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject, serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import { readJson } from './json-body.ts';
import type { Caller } from './caller.ts';
import type { RequestFacts, Route } from './handler.ts';
import { sendProblem } from './problem-answers.ts';

/** Collaborators of the HTTP layer; it knows no business word. */
export type HttpServerOptions = {
  readonly log: Logger;
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  /** Reads credentials of a request against the database; throws `Problem` for those that are not valid, undefined when there are none. */
  readonly authenticate: (request: FastifyRequest, accepts: Credentials) => Promise<Caller | undefined>;
  /** Counts the request against the caller's plan, or the address; sets headers; throws `Problem` `rate_limited`. */
  readonly limit: (request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined, route: Route['contract']) => Promise<void>;
};

const bodyLimitBytes = 256 * 1024;

/** Builds the server with all routes; nothing listens yet. */
export async function buildHttpServer(routes: readonly Route[], options: HttpServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: options.log,
    disableRequestLogging: true,
    genReqId: () => randomUUID(),
    bodyLimit: bodyLimitBytes,
    requestTimeout: 15_000,
    connectionTimeout: 0,
    keepAliveTimeout: 65_000,
    maxParamLength: 300,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    return503OnClosing: true,
    http: { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 1_000 },
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, options),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, options));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new Problem('not_found', `there is no ${request.method} ${request.url.split('?')[0]}`), request, reply, options),
  );
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, readJson(String(body)));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), undefined);
    }
  });
  await app.register(helmet, {
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    referrerPolicy: { policy: 'no-referrer' },
  });
  app.addHook('onSend', async (request, reply, payload) => {
    void reply.header('cache-control', reply.getHeader('cache-control') ?? 'no-store');
    void reply.header('x-request-id', request.id);
    return payload;
  });
  await registerDocuments(app);
  for (const route of routes) registerRoute(app, route, options);
  return app;
}

async function registerDocuments(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Parallax',
        version: '1.0.0',
        description: 'Availability monitoring from several vantage points.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          heartbeat_secret: { type: 'apiKey', in: 'header', name: 'X-Secret' },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, { routePrefix: '/docs' });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

const securityOf: Record<Credentials, Record<string, string[]>[]> = {
  none: [],
  bearer: [{ bearer: [] }],
  'key-or-bearer': [{ api_key: [] }, { bearer: [] }],
  'bearer-or-none': [{ bearer: [] }, {}],
  'secret-header': [{ heartbeat_secret: [] }],
};

function registerRoute(app: FastifyInstance, route: Route, options: HttpServerOptions): void {
  const { contract } = route;
  const errorStatuses = new Set([...(contract.credentials === 'none' ? [] : [401]), 422, 429, 503, ...(contract.errors ?? [])]);
  const response: Record<number, unknown> = {};
  for (const status of errorStatuses) {
    response[status] = { description: 'problem', content: { 'application/problem+json': { schema: problemSchema } } };
  }
  const { status, answer, contentType } = contract.success;
  if (answer === undefined) response[status] = z.null().describe('no content');
  else if (contentType !== undefined) response[status] = { description: 'success', content: { [contentType]: { schema: answer } } };
  else response[status] = answer;
  app.route({
    method: contract.method,
    url: contract.path,
    schema: {
      tags: [contract.tag],
      summary: contract.summary,
      ...(contract.description === undefined ? {} : { description: contract.description }),
      security: securityOf[contract.credentials],
      ...(contract.params === undefined ? {} : { params: contract.params }),
      ...(contract.query === undefined ? {} : { querystring: contract.query }),
      ...(contract.body === undefined ? {} : { body: contract.body }),
      response,
    },
    // Credentials and limits come before validation: a stranger learns nothing about bodies, and a flood is not parsed.
    onRequest: async (request, reply) => {
      const caller = contract.credentials === 'none' ? undefined : await options.authenticate(request, contract.credentials);
      callers.set(request, caller);
      await options.limit(request, reply, caller, contract);
    },
    handler: async (request, reply) => {
      const result = await route.handler({
        params: request.params as undefined,
        query: request.query as undefined,
        body: request.body as undefined,
        caller: callers.get(request),
        request: factsOf(request, reply),
      });
      if (status === 204) return reply.code(204).send();
      void reply.code(status);
      if (contentType !== undefined) void reply.type(contentType);
      return result;
    },
  });
}

const callers = new WeakMap<FastifyRequest, Caller | undefined>();

function factsOf(request: FastifyRequest, reply: FastifyReply): RequestFacts {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort(new Error('the client went away'));
  });
  return {
    requestId: request.id,
    remoteAddress: request.ip,
    userAgent: request.headers['user-agent'],
    header: (name) => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
    reply,
    signal: gone.signal,
  };
}
