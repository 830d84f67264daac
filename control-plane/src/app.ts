import type { FastifyInstance } from 'fastify';
import { capabilities } from './capabilities.ts';
import type { Context } from './context.ts';
import { createRequestGuards } from './identity/access/index.ts';
import type { Route } from './platform/http/handler.ts';
import { buildHttpServer } from './platform/http/server.ts';
import type { HttpServerOptions } from './platform/http/server.ts';
import { preparedTogether } from './platform/http/prepared/prepared-together.ts';
import { preparedBadges } from './reporting/badges/index.ts';
import { hostsOfPages, preparedAsks, preparedPages } from './reporting/status-pages/index.ts';

/** Every route of the API, bound to the collaborators it is given. */
export function allRoutes(context: Context): readonly Route[] {
  return capabilities.flatMap((capability) => capability.routes?.(context) ?? []);
}

/** The HTTP server with all routes; nothing listens yet. */
export async function buildApp(
  context: Context,
  {
    trustedProxies,
    allowedHosts,
    corsOrigins,
  }: Pick<HttpServerOptions, 'trustedProxies' | 'allowedHosts' | 'corsOrigins'>,
): Promise<FastifyInstance> {
  return buildHttpServer(allRoutes(context), {
    log: context.log,
    publicUrl: context.publicUrl,
    trustedProxies,
    allowedHosts,
    corsOrigins,
    prepared: preparedTogether([preparedPages(context), preparedBadges(context), preparedAsks(context)]),
    mappedHosts: hostsOfPages(context),
    ...createRequestGuards(context),
  });
}
