import { invalidInput } from '@parallax/api-contract';
import { centralRanges, unreachableTarget } from '../assignments/index.ts';
import type { InstallationReach } from '../assignments/index.ts';
import type { WorkspaceOwner } from './queries.ts';

/**
 * A target that shows a private address which no check of the workspace can reach is refused when it is written. A private probe has a list
 * of its own that is known to nobody else, and so has each probe for workspaces of administrators.
 * @throws Problem `invalid_input` with `private_target`
 */
export function requireReachable(
  installation: InstallationReach,
  target: { readonly protocol: string; readonly url: string },
  { reach, hasPrivateProbe }: Pick<WorkspaceOwner, 'reach' | 'hasPrivateProbe'>,
): void {
  if (reach.isAdministrators || hasPrivateProbe) return;
  const why = unreachableTarget(target, centralRanges(installation, reach));
  if (why === undefined) return;
  const message = `${why}: an administrator may allow ranges to this workspace, or a private probe checks it`;
  throw invalidInput('body', '/url', 'private_target', message);
}
