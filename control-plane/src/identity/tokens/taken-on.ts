import type { RouteContract } from '@parallax/api-contract';

/** What a script may well ask or set below `/auth`; everything else there is about credentials. */
const ofProfile: ReadonlySet<string> = new Set([
  'GET /api/v1/auth/me',
  'GET /api/v1/auth/me/stats',
  'PATCH /api/v1/auth/me',
  'PATCH /api/v1/auth/me/locale',
  'PATCH /api/v1/auth/me/timezone',
]);

/**
 * Whether a route that takes a bearer token takes a personal access token too. Not where passwords, sessions, second factors, linked
 * identities, tokens or keys are changed or shown: whoever has stolen a token must not make it outlive its expiry or lock its owner out.
 * A new route below `/auth` is refused until it is listed here.
 */
export function takesPersonalTokens({ method, path }: Pick<RouteContract, 'method' | 'path'>): boolean {
  if (path.startsWith('/api/v1/auth/')) return ofProfile.has(`${method} ${path}`);
  if (path === '/api/v1/api-keys' || path.startsWith('/api/v1/api-keys/')) return method === 'GET';
  return true;
}
