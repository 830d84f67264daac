import { allRoutes } from './app.ts';
import type { Context } from './context.ts';
import { openApiDocument } from './platform/http/openapi.ts';
import { version } from './version.ts';

/** The OpenAPI document of all routes, without a database or a broker: routes are described, never called. */
export function describeRoutes(): Record<string, unknown> {
  return openApiDocument(allRoutes(descriptionContext()).map((route) => route.contract));
}

function descriptionContext(): Context {
  return {
    database: inert('database'),
    bus: inert('bus'),
    sealer: inert('sealer'),
    mailer: inert('mailer'),
    log: inert('log'),
    replica: 'description',
    now: () => 0,
    publicUrl: 'http://localhost',
    shards: 1,
    limits: inert('limits'),
    registration: 'open',
    signIn: { identityProviders: {} },
    defaultPlan: 'self_hosted',
    isPublished: false,
    needsSetupToken: () => false,
    addresses: { session: '', enrolment: '', broker: '' },
    listen: { grpcHost: '', grpcPort: 0, enrolmentPort: 0 },
    deniedListeners: () => [],
    allowedPrivateTargets: [],
    administratorPrivateTargets: [],
    allowedPrivateHooks: [],
    canaries: [],
    outbound: inert('outbound'),
    deliveryMetrics: inert('deliveryMetrics'),
    channels: { baseUrls: {}, hasMailServer: false, hasTeamChatApp: false },
    version,
  };
}

/** A collaborator whose parts may be named while routes are made, and which throws when it is called. */
function inert(name: string): never {
  const called = (): never => {
    throw new Error(`making routes must not call ${name}`);
  };
  return new Proxy(called, { get: (_target, part) => inert(`${name}.${String(part)}`) }) as never;
}
