import { randomKeyKind } from '../../platform/crypto/random-key.ts';
import type { CredentialKind } from '../durable-credentials/index.ts';

/** API keys: `plk_…`. */
export const apiKeyKind = {
  table: 'api_keys',
  hashColumn: 'key_hash',
  form: randomKeyKind('plk_'),
  hasScopes: false,
  subject: 'api_key',
  noun: 'API key',
} as const satisfies CredentialKind;
