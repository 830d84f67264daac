import { createHash, randomBytes } from 'node:crypto';

/** A new token of an invitation: 256 bit, safe in URLs. */
export function makeInviteToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is kept of a token. */
export function inviteTokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * The page of the console that takes an invitation. The token stands in the fragment, which browsers send to no server and name in no
 * Referer, so it is in no log on the way.
 */
export function inviteUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/invites#${token}`;
}
