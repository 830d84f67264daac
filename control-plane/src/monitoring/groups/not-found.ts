import { Problem } from '@parallax/api-contract';

/** There is no such group, or it is another's. */
export function noGroup(groupId: number): Problem {
  return new Problem('not_found', `there is no monitor group ${groupId}`);
}
