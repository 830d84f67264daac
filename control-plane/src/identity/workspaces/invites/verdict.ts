import { Problem } from '@parallax/api-contract';

/** Why an invitation lets nobody in, as the database finds it. */
export const refusals = ['unknown', 'used', 'expired', 'other_address', 'full'] as const;
export type InviteRefusal = (typeof refusals)[number];

/** What a client is told of it. */
export function inviteProblem(refusal: InviteRefusal): Problem {
  switch (refusal) {
    case 'unknown':
      return new Problem('invite_unknown', 'this invitation does not exist or was withdrawn: ask for a new one');
    case 'used':
      return new Problem(
        'invite_used',
        'this invitation was used already, each is good for one account: ask for a new one',
      );
    case 'expired':
      return new Problem('invite_expired', 'this invitation has expired: ask for a new one');
    case 'other_address':
      return new Problem(
        'invite_other_address',
        'this invitation is for another mail address: use the account with the address that it was sent to',
      );
    case 'full':
      return new Problem('conflict', 'the workspace has as many members as it may have');
  }
}
