import { z } from 'zod';
import type { RouteContract } from './route.ts';

/** What a personal access token may be given: the part of a path below `/api/v1`. `auth` is the own profile; `api-keys` is read only. */
export const scopeResources = [
  'alert-channel-configs',
  'alerts',
  'analytics',
  'api-checks',
  'api-keys',
  'audit-log',
  'auth',
  'badges',
  'dashboard',
  'events',
  'feedback',
  'heartbeats',
  'incident-templates',
  'incidents',
  'maintenance',
  'messenger-bot',
  'messenger-groups',
  'monitor-groups',
  'monitors',
  'probes',
  'scheduled-reports',
  'sla',
  'status-pages',
  'web-push',
  'webhook-checks',
  'webhooks',
  'workspaces',
] as const;
export type ScopeResource = (typeof scopeResources)[number];
export type TokenScope = `${ScopeResource}:${'read' | 'write'}`;

const tokenScopes = scopeResources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const);

export const tokenScopesSchema = z
  .array(z.enum(tokenScopes))
  .min(1)
  .max(tokenScopes.length)
  .nullable()
  .describe('`resource:read` takes GET of a resource, `resource:write` every method. null: whatever the user may do.');

/** The least scope that lets a token call a route; undefined for a route that no scope covers. */
export function neededScope({ method, path }: Pick<RouteContract, 'method' | 'path'>): TokenScope | undefined {
  const name = /^\/api\/v1\/([a-z-]+)/.exec(path)?.[1];
  const resource = scopeResources.find((each) => each === name);
  return resource === undefined ? undefined : `${resource}:${method === 'GET' ? 'read' : 'write'}`;
}

/** Whether the scopes of a token cover a route: writing includes reading. */
export function scopesCover(scopes: readonly string[], contract: Pick<RouteContract, 'method' | 'path'>): boolean {
  const needed = neededScope(contract);
  return needed !== undefined && (scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ':write')));
}
