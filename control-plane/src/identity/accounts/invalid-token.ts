import { Problem } from '@parallax/api-contract';

const whereToAsk = {
  password: 'ask for a new link by POST /api/v1/auth/forgot-password',
  email: 'ask for a new link by POST /api/v1/auth/verify-email or change-email',
} as const;

/** The same for every token that is not good, so that it tells nothing of those that are. */
export function invalidToken(purpose: keyof typeof whereToAsk): Problem {
  const message = `the token is unknown, too old or was used before; ${whereToAsk[purpose]}`;
  return new Problem('invalid_token', message, {
    errors: [{ in: 'body', path: '/token', code: 'invalid_token', message }],
  });
}
