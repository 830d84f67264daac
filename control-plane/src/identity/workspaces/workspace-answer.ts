import { Problem } from '@parallax/api-contract';
import type { Workspace } from '@parallax/api-contract';
import type { Caller } from '../../platform/http/caller.ts';
import type { WorkspaceRow } from './queries.ts';

/** A workspace as its member is shown it. */
export function workspaceAnswer(
  row: WorkspaceRow,
  caller: Pick<Caller, 'readOnly' | 'isLimited' | 'scopes'>,
): Workspace {
  // By the role in the row, which may be newer than the one that the request began with.
  const isShown = row.role !== 'viewer' && !caller.readOnly && !caller.isLimited && caller.scopes === undefined;
  return {
    ...row,
    // Whoever knows it may report for every heartbeat of the workspace.
    ping_key: isShown ? row.ping_key : null,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}

/** What is told of a workspace that does not exist or belongs to others. */
export function noWorkspace(id: number): Problem {
  return new Problem('not_found', `there is no workspace ${id}`);
}

/**
 * Holds the caller's role, as it stands once the workspace is locked, against the owner's.
 * @throws Problem `not_found` when they are no member any more, `forbidden` when they are not the owner
 */
export function requireOwner(row: WorkspaceRow | null, id: number): WorkspaceRow {
  if (row === null) throw noWorkspace(id);
  if (row.role !== 'owner') {
    throw new Problem('forbidden', `this needs the role owner in workspace ${id}, yours is ${row.role}`);
  }
  return row;
}
