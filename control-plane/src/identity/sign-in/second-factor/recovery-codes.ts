import { createHash, randomBytes } from 'node:crypto';

/** How many codes an account is given at once. */
export const recoveryCodeCount = 10;

// Crockford's base 32: no letter looks like a digit.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const characters = 16;

/** Ten codes of 80 random bits, so that a plain hash keeps them. */
export function makeRecoveryCodes(): readonly string[] {
  return Array.from({ length: recoveryCodeCount }, () =>
    Array.from(randomBytes(characters), (byte) => alphabet.charAt(byte & 31))
      .join('')
      .replaceAll(/(.{4})(?=.)/g, '$1-'),
  );
}

/** The hash that a code is kept as, however it was typed: case, hyphens, spaces, and letters that look like a digit. */
export function recoveryCodeHash(code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return createHash('sha256').update(plain).digest();
}
