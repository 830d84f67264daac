import type { RandomKeyKind } from '../../platform/crypto/random-key.ts';

/** What API keys and personal access tokens differ in. */
export type CredentialKind = {
  readonly table: 'api_keys' | 'access_tokens';
  readonly hashColumn: 'key_hash' | 'token_hash';
  readonly form: RandomKeyKind;
  /** Whether it may be limited to scopes. */
  readonly hasScopes: boolean;
  /** In the audit log. */
  readonly subject: 'api_key' | 'access_token';
  /** For people. */
  readonly noun: 'API key' | 'personal access token';
};
