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
export { tokenKeys } from './queries.ts';
