import { randomKeyKind } from '../../platform/crypto/random-key.ts';

/** API keys: `plk_…`. */
export const apiKeyKind = randomKeyKind('plk_');
