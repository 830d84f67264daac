import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { identitySweep, setupTokenNotice } from './job.ts';
import { authRoutes } from './routes.ts';

/** Accounts, sessions and tokens. */
export const authCapability: Capability<Context> = {
  name: 'auth',
  routes: authRoutes,
  services: [setupTokenNotice, identitySweep],
};

export { readAccessToken } from './access-token.ts';
export { createPasswordHasher, passwordHasher, setPasswordHasher } from './password-hash.ts';
export { whyTooCommon } from './password-rule.ts';
export {
  endSession,
  findLogin,
  readUser,
  recordFailedLogin,
  registerAccount,
  startSession,
  tokenKeys,
} from './queries.ts';
export type { UserRow } from './queries.ts';
export { register } from './routes.ts';
export { tokenPairOf } from './token-pair.ts';
export { userAnswer } from './user-answer.ts';
