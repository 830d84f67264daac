import { randomKeyKind } from '../../platform/crypto/random-key.ts';

/** Personal access tokens: `plx_…`. No JWT begins so, hence the kind of a bearer token is seen by its beginning. */
export const accessTokenKind = randomKeyKind('plx_');

/** Whether a bearer token calls itself a personal access token. */
export const isPersonalToken = (token: string): boolean => token.startsWith('plx_');
