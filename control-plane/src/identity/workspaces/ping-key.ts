import { randomBytes } from 'node:crypto';

/** A new ping key: 32 characters that are safe in URLs, 192 bit. */
export function makePingKey(): string {
  return randomBytes(24).toString('base64url');
}
