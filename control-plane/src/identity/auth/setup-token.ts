import { createHash, timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../../platform/crypto/seal.ts';

/**
 * The token that the first registration needs unless it comes from this machine. Derived from the key-encryption key, so all
 * replicas print the same one and none is stored; it is worth nothing once an account exists.
 */
export function setupToken(sealer: Sealer): string {
  return `pls_${sealer.derive('setup token').toString('base64url')}`;
}

/** Whether a client gave the set-up token; in constant time. */
export function isSetupToken(sealer: Sealer, given: string | undefined): boolean {
  return timingSafeEqual(digest(setupToken(sealer)), digest(given ?? ''));
}

/** Of equal length, whatever was given. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
