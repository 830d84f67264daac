import { Problem } from '@parallax/api-contract';
import type { Scope } from '../database/scope.ts';

export const roles = ['viewer', 'editor', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Who makes a request, as read from the database at this request. */
export type Caller = {
  /** A session, an API key, or a personal access token. */
  readonly kind: 'user' | 'api_key' | 'access_token';
  readonly userId: number;
  readonly isAdministrator: boolean;
  /** Role by workspace. */
  readonly workspaces: ReadonlyMap<number, Role>;
  readonly plan: 'free' | 'paid' | 'self_hosted';
  /** Set for the access token of a session. */
  readonly sessionId?: string;
  /** A read-only API key or personal access token. */
  readonly readOnly: boolean;
  /** What a personal access token may be used for; absent: for all that its user may do. */
  readonly scopes?: readonly string[];
  /** A key or token that names the workspaces that it is for. */
  readonly isLimited: boolean;
};

/** Everything that the caller may at least see. */
export function scopeOf(caller: Caller): Scope {
  return { userId: caller.userId, workspaceIds: [...caller.workspaces.keys()] };
}

/**
 * The caller's role in a workspace, at least `least`.
 * @throws Problem `not_found` when the workspace is not theirs (its existence is not told), `forbidden` when the role is too low
 */
export function requireRole(caller: Caller, workspaceId: number, least: Role): Role {
  const role = caller.workspaces.get(workspaceId);
  if (role === undefined) throw new Problem('not_found', `there is no workspace ${workspaceId}`);
  if (roles.indexOf(role) < roles.indexOf(least)) {
    throw new Problem('forbidden', `this needs the role ${least} in workspace ${workspaceId}, yours is ${role}`);
  }
  return role;
}

/** Whether the caller is shown addresses by which one signals for the workspace: whoever knows them needs no credential to write. */
export function maySignal(caller: Caller, workspaceId: number): boolean {
  const role = caller.workspaces.get(workspaceId);
  return role !== undefined && role !== 'viewer' && !caller.readOnly && isAnySignalling(caller.scopes);
}

/** Whether the caller is shown a ping key, which reports for every heartbeat of the workspace and outlives what showed it. */
export function mayReadPingKey(caller: Caller, workspaceId: number): boolean {
  return maySignal(caller, workspaceId) && !caller.isLimited && caller.scopes === undefined;
}

/** Whether scopes let their token change what is signalled for; no scopes limit nothing. */
function isAnySignalling(scopes: readonly string[] | undefined): boolean {
  return scopes === undefined || scopes.includes('heartbeats:write') || scopes.includes('webhook-checks:write');
}
