import { randomKeyKind } from '../../platform/crypto/random-key.ts';
import type { CredentialKind } from '../durable-credentials/index.ts';

const prefix = 'plx_';

/** Personal access tokens: `plx_…`. No JWT begins so, hence the kind of a bearer token is seen by its beginning. */
export const accessTokenKind = {
  table: 'access_tokens',
  hashColumn: 'token_hash',
  form: randomKeyKind(prefix),
  hasScopes: true,
  subject: 'access_token',
  noun: 'personal access token',
} as const satisfies CredentialKind;

/** Whether a bearer token calls itself a personal access token. */
export const isPersonalToken = (token: string): boolean => token.startsWith(prefix);
