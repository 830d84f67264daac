import { randomKeyHash, randomKeyKind } from '../../platform/crypto/random-key.ts';
import type { Sealer } from '../../platform/crypto/seal.ts';

/** Keys of badges: 190 random bits. */
export const badgeKey = randomKeyKind('bdg_');

/** A new key, as it is stored. */
export function makeKey(sealer: Pick<Sealer, 'seal'>): { readonly hash: Buffer; readonly sealed: Buffer } {
  const key = badgeKey.make();
  const hash = randomKeyHash(key);
  return { hash, sealed: sealer.seal(key, contextOf(hash)) };
}

/** The key of a badge, for those who may see it. */
export function openKey(
  sealer: Pick<Sealer, 'open'>,
  { key_hash: hash, sealed_key: sealed }: { readonly key_hash: Buffer; readonly sealed_key: Buffer },
): string {
  return sealer.open(sealed, contextOf(hash)).toString('utf8');
}

const contextOf = (hash: Buffer): string => `badge key ${hash.toString('hex')}`;
