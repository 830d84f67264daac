import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { signInSweep } from './job.ts';
import { signInRoutes } from './routes.ts';

/** Every way into an account, and the second factor behind it. */
export const signInCapability: Capability<Context> = {
  name: 'sign-in',
  routes: signInRoutes,
  services: [signInSweep],
};

export { signInByPassword } from './password/routes.ts';
