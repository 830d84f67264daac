import type { ProblemCode } from '@parallax/api-contract';
import type { FormProblem, InvitePageWords } from './words.ts';

/** What the page shows of a problem: something that can be mended in the form, or that the invitation lets nobody in any more. */
export type Outcome =
  | { readonly problem: FormProblem }
  | { readonly dead: keyof InvitePageWords['dead']; readonly status: 404 | 409 | 410 };

const outcomes: Readonly<Partial<Record<ProblemCode, Outcome>>> = {
  invalid_credentials: { problem: 'credentials' },
  mfa_required: { problem: 'second_factor' },
  invalid_second_factor: { problem: 'wrong_second_factor' },
  email_taken: { problem: 'email_taken' },
  invite_other_address: { problem: 'other_address' },
  registration_closed: { problem: 'closed' },
  rate_limited: { problem: 'busy' },
  invite_unknown: { dead: 'unknown', status: 404 },
  invite_used: { dead: 'used', status: 410 },
  invite_expired: { dead: 'expired', status: 410 },
  // The only conflict of an invitation that is neither of those.
  conflict: { dead: 'full', status: 409 },
};

/** What the page shows of a problem; undefined for one that is no matter of the form. */
export function outcomeOfProblem(code: ProblemCode): Outcome | undefined {
  return outcomes[code];
}
