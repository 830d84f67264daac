import type { RouteContract } from '@parallax/api-contract';

/** What belongs to the account and to no workspace, with everything below it. */
const roots = [
  '/api/v1/auth',
  '/api/v1/api-keys',
  '/api/v1/alert-channel-configs',
  '/api/v1/feedback',
  '/api/v1/messenger-bot',
  '/api/v1/messenger-groups',
  '/api/v1/web-push',
];

/** The routes of workspaces that change which ones the account has, and the one that answers a ping key. */
const ofMembership: ReadonlySet<string> = new Set([
  'POST /api/v1/workspaces',
  'POST /api/v1/workspaces/invites/accept',
  'POST /api/v1/workspaces/:id/leave',
  'POST /api/v1/workspaces/:id/set-default',
  'POST /api/v1/workspaces/:id/transfer',
  'POST /api/v1/workspaces/:id/regenerate-ping-key',
]);

/** Whether a route reads or changes the account itself, so that a credential which was made narrower than its account may not use it. */
export function isOfAccount({ method, path }: Pick<RouteContract, 'method' | 'path'>): boolean {
  return roots.some((root) => path === root || path.startsWith(`${root}/`)) || ofMembership.has(`${method} ${path}`);
}
