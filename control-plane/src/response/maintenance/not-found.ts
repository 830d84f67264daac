import { Problem } from '@parallax/api-contract';

/** There is no such window, or it is another's. */
export function noWindow(windowId: number): Problem {
  return new Problem('not_found', `there is no maintenance window ${windowId}`);
}

/** There is no such workspace, or it is another's. */
export function noWorkspace(workspaceId: number): Problem {
  return new Problem('not_found', `there is no workspace ${workspaceId}`);
}
