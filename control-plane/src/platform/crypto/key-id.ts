import { createSecretKey, hkdfSync } from 'node:crypto';

/** Bytes of the name that a sealed value carries of its key. */
export const keyIdBytes = 8;

/** A key for one purpose, 32 bytes, derived from a key-encryption key (HKDF, RFC 5869). */
export function derivedKey(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', createSecretKey(key), Buffer.alloc(0), `parallax ${purpose}`, 32));
}

/** The name of a key-encryption key, 16 hexadecimal digits: derived one way, so it may be shown and stored in the clear. */
export function keyIdOf(key: Uint8Array): string {
  return derivedKey(key, 'key id').toString('hex', 0, keyIdBytes);
}
