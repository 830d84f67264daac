import { Problem } from '@parallax/api-contract';

/** There is no such window, or it is another's. */
export function noWindow(windowId: number): Problem {
  return new Problem('not_found', `there is no maintenance window ${windowId}`);
}
