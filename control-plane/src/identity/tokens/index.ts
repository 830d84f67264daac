import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { accessTokenRoutes } from './routes.ts';

/** Personal access tokens: durable credentials of a user for machines, taken wherever a bearer token is, except to change credentials. */
export const accessTokensCapability: Capability<Context> = { name: 'access-tokens', routes: accessTokenRoutes };

export { isOfAccount } from './account-routes.ts';
export { takesPersonalTokens } from './taken-on.ts';
export { accessTokenKind, isPersonalToken } from './kind.ts';
