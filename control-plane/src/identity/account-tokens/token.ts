import { createHash, randomBytes } from 'node:crypto';

/** A new token to be mailed, 256 bit, and what is kept of it. */
export function makeAccountToken(): { readonly token: string; readonly hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: sha256(token) };
}

/** What is kept of a token; undefined for text that is none. */
export function accountTokenHash(token: string): Buffer | undefined {
  return /^[A-Za-z0-9_-]{43}$/.test(token) ? sha256(token) : undefined;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
