import cors from '@fastify/cors';
import type { FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What pages of other origins may send beside the headers that the Fetch standard always lets through. */
const allowedHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'X-API-Key',
  'X-Invite-Token',
];

/** What they may read beside those. */
const exposedHeaders = [
  'Content-Disposition',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
];

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** For so long a browser need not ask again; none keeps it for longer than two hours. */
const preflightSeconds = 600;

/**
 * Lets pages of the given origins call the API (CORS, part of the Fetch standard). An origin is compared whole: neither a wildcard nor a
 * subdomain gets in, for the answers may carry cookies. Without any, no such header is ever sent.
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  await app.register(cors, {
    delegator: async (request: FastifyRequest): Promise<FastifyCorsOptions> => {
      const { origin } = request.headers;
      if (origin === undefined || !allowed.has(origin)) return { origin: false };
      return {
        origin,
        credentials: true,
        methods,
        allowedHeaders,
        exposedHeaders,
        maxAge: preflightSeconds,
        // An OPTIONS request that is no preflight is answered like any other.
        preflight: request.headers['access-control-request-method'] !== undefined,
        strictPreflight: false,
      };
    },
  });
}
