import { createHash, randomBytes } from 'node:crypto';

/** A token of 256 random bits, which is told to its holder and kept as its hash. */
export function makeSecretToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token; enough for one that cannot be guessed. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
