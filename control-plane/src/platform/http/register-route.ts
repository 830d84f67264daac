import { invalidInput, Problem } from '@parallax/api-contract';
import type { RouteContract } from '@parallax/api-contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { takeBytes } from './bytes-body.ts';
import type { GivenBytes } from './bytes-body.ts';
import type { Caller } from './caller.ts';
import { takeFiles } from './file-body.ts';
import type { GivenFile } from './file-body.ts';
import { clientAddress, isFromThisMachine } from './client-address.ts';
import { encodeAnswer, sendAnswer } from './encoded-answer.ts';
import type { EncodedAnswer } from './encoded-answer.ts';
import type { RequestFacts, Route } from './handler.ts';
import type { Once } from './idempotency/index.ts';
import { validateInput } from './validate.ts';

/** What stands before every handler. */
export type RequestGuards = {
  /** Reads credentials of a request against the database; throws `Problem` for those that are not valid, undefined when there are none. */
  readonly authenticate: (request: FastifyRequest, route: RouteContract) => Promise<Caller | undefined>;
  /** Counts the request against the caller's plan, or the address; sets headers; throws `Problem` `rate_limited`. */
  readonly limit: (
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | undefined,
    route: RouteContract,
  ) => Promise<void>;
  /** Does a request that bears an idempotency key once, and repeats its answer; absent: keys are ignored. */
  readonly once?: Once;
};

const callers = new WeakMap<FastifyRequest, Caller | undefined>();

/** Adds one route: credentials, limits, validation, handler, answer. */
export async function registerRoute(app: FastifyInstance, route: Route, guards: RequestGuards): Promise<void> {
  const { file, bytes } = route.contract;
  if (file === undefined && bytes === undefined) return addRoute(app, route, guards);
  // What a body may be belongs to a scope of the framework, so such a route has one of its own.
  await app.register(async (scope) => {
    if (file !== undefined) takeFiles(scope, file);
    if (bytes !== undefined) takeBytes(scope, bytes);
    addRoute(scope, route, guards);
  });
}

function addRoute(app: FastifyInstance, route: Route, guards: RequestGuards): void {
  const { contract } = route;
  app.route({
    method: contract.method,
    url: contract.path,
    // Credentials and limits come before validation: a stranger learns nothing about bodies, and a flood is not parsed.
    onRequest: async (request, reply) => {
      const caller = contract.credentials === 'none' ? undefined : await guards.authenticate(request, contract);
      callers.set(request, caller);
      await guards.limit(request, reply, caller, contract);
      if (caller?.readOnly === true && contract.method !== 'GET') {
        throw new Problem('read_only_key', `this ${caller.kind === 'api_key' ? 'API key' : 'token'} may read only`);
      }
    },
    handler: async (request, reply) => {
      const input = validateInput(contract, request);
      const caller = callers.get(request);
      const file = givenFile(contract, request.body);
      const bytes = contract.bytes === undefined ? undefined : (request.body as GivenBytes | undefined);
      const facts = factsOf(request, reply, () => guards.authenticate(request, contract));
      const run = async (): Promise<EncodedAnswer> =>
        encodeAnswer(contract, await route.handler({ ...input, caller, file, bytes, request: facts }));
      const isOnce = contract.idempotent === true && caller !== undefined && guards.once !== undefined;
      return sendAnswer(reply, isOnce ? await guards.once({ contract, request, reply, caller }, run) : await run());
    },
  });
}

function givenFile(contract: RouteContract, body: unknown): GivenFile {
  if (contract.file === undefined) return undefined as never;
  if (body === undefined) throw invalidInput('body', '', 'file_required', 'a file is required');
  return body as GivenFile;
}

function factsOf(request: FastifyRequest, reply: FastifyReply, callerNow: RequestFacts['callerNow']): RequestFacts {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort(new Error('the client went away'));
  });
  return {
    requestId: request.id,
    remoteAddress: clientAddress(request.ip, request.socket.remoteAddress),
    isFromThisMachine: isFromThisMachine(request.headers, request.socket.remoteAddress),
    userAgent: request.headers['user-agent'],
    header: (name) => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    },
    reply,
    signal: gone.signal,
    callerNow,
  };
}
