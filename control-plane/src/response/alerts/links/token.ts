import { createHash, randomBytes } from 'node:crypto';

/** A new token of a link: 32 random bytes, as they stand in its address, and the hash by which it is found. */
export function newLinkToken(): { readonly token: string; readonly hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: createHash('sha256').update(token).digest() };
}

/** The hash of a token as it came; undefined for a text that can be none. */
export function hashOfToken(token: string): Buffer | undefined {
  return /^[\w-]{43}$/.test(token) ? createHash('sha256').update(token).digest() : undefined;
}

/** The page of a link. @param publicUrl without a slash at its end, maybe with a path */
export const linkUrl = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, '')}/alerts/snooze/${token}`;
