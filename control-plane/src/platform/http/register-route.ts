import { invalidInput, neededScope, Problem, scopesCover } from '@parallax/api-contract';
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
import { etagOf, requireMatch } from './etag.ts';
import type { RequestFacts, Route } from './handler.ts';
import type { Once } from './idempotency/index.ts';
import { readOnlyFields, rewrittenFields, splitBody } from './repeated-fields.ts';
import { hasVersion } from './routes-together.ts';
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

/** A route with what it is by the others. */
export type KnownRoute = {
  readonly route: Route;
  /** The GET of the same path, which reads what it changes. */
  readonly reader: Route | undefined;
  /** Where what it makes is read, up to the identifier. */
  readonly location: string | undefined;
};

/** Adds one route: credentials, limits, validation, handler, answer. */
export async function registerRoute(app: FastifyInstance, known: KnownRoute, guards: RequestGuards): Promise<void> {
  const { file, bytes } = known.route.contract;
  if (file === undefined && bytes === undefined) return addRoute(app, known, guards);
  // What a body may be belongs to a scope of the framework, so such a route has one of its own.
  await app.register(async (scope) => {
    if (file !== undefined) takeFiles(scope, file);
    if (bytes !== undefined) takeBytes(scope, bytes);
    addRoute(scope, known, guards);
  });
}

function addRoute(app: FastifyInstance, { route, reader, location }: KnownRoute, guards: RequestGuards): void {
  const { contract } = route;
  const isVersioned = hasVersion(contract);
  const readOnly = new Set(reader === undefined ? [] : readOnlyFields(contract));
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
      if (caller?.scopes !== undefined && !scopesCover(caller.scopes, contract)) {
        const needed = neededScope(contract) ?? 'a token without scopes';
        throw new Problem('scope_missing', `the scopes of this token do not cover this route, which needs ${needed}`);
      }
    },
    handler: async (request, reply) => {
      const { params, query } = request;
      const { written, repeated } = splitBody(readOnly, request.body);
      const input = validateInput(contract, { params, query, body: written });
      const caller = callers.get(request);
      const file = givenFile(contract, request.body);
      const bytes = contract.bytes === undefined ? undefined : (request.body as GivenBytes | undefined);
      const facts = factsOf(request, reply, () => guards.authenticate(request, contract));
      if (reader !== undefined && Object.keys(repeated).length > 0) {
        requireUnchanged(repeated, await readAgain(reader, { params, caller, request: facts }), { contract, request });
      }
      const run = async (): Promise<EncodedAnswer> => {
        const result = await route.handler({ ...input, caller, file, bytes, request: facts });
        const { 'if-none-match': ifNoneMatch, 'accept-encoding': encodings } = request.headers;
        const acceptEncoding = Array.isArray(encodings) ? encodings.join(',') : encodings;
        const answer = encodeAnswer(contract, result, { ifNoneMatch, acceptEncoding });
        nameResource(reply, result, isVersioned, location);
        return answer;
      };
      const isOnce = contract.idempotent === true && caller !== undefined && guards.once !== undefined;
      return sendAnswer(reply, isOnce ? await guards.once({ contract, request, reply, caller }, run) : await run());
    },
  });
}

/** Says which version the answer is, and where a new resource is, unless the handler has. */
function nameResource(reply: FastifyReply, result: unknown, isVersioned: boolean, location: string | undefined): void {
  if (typeof result !== 'object' || result === null) return;
  if (isVersioned && 'version' in result && typeof result.version === 'number' && !reply.hasHeader('etag')) {
    void reply.header('etag', etagOf(result.version));
  }
  if (location !== undefined && 'id' in result && typeof result.id === 'number' && !reply.hasHeader('location')) {
    void reply.header('location', `${location}${result.id}`);
  }
}

/** What the GET of a path answers the same caller, without a trace of it in the answer to this request. */
async function readAgain(
  reader: Route,
  given: { readonly params: unknown; readonly caller: Caller | undefined; readonly request: RequestFacts },
): Promise<Readonly<Record<string, unknown>>> {
  const input = validateInput(reader.contract, { params: given.params, query: {}, body: undefined });
  const silent = { header: () => silent } as unknown as FastifyReply;
  const request = { ...given.request, reply: silent };
  const read = { ...input, caller: given.caller, file: undefined, bytes: undefined, request };
  const { payload } = encodeAnswer(
    reader.contract,
    await reader.handler(read as unknown as Parameters<Route['handler']>[0]),
  );
  return JSON.parse(String(payload)) as Readonly<Record<string, unknown>>;
}

/** @throws Problem `read_only` for a repeated field that would change, `version_mismatch` when `If-Match` says that it was read too long ago */
function requireUnchanged(
  repeated: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>,
  { contract, request }: { readonly contract: RouteContract; readonly request: FastifyRequest },
): void {
  if (typeof stored['version'] === 'number') requireMatch(request.headers['if-match'], stored['version']);
  const errors = rewrittenFields(repeated, stored, contract.measured ?? []);
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const hint = errors.some(({ path }) => path === '/version') ? '; it has changed meanwhile, read it again' : '';
  throw new Problem('read_only', `body ${first.path}: ${first.message}${more}${hint}`, { errors });
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
