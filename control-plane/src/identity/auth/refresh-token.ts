import { createHmac, timingSafeEqual } from 'node:crypto';

const prefix = 'plr_';
const idBytes = 16;
const counterBytes = 4;
const proofBytes = 32;

/** What a refresh token names: its session and how often that was rotated before. */
export type RefreshTokenClaim = { readonly sessionId: string; readonly counter: number; readonly proof: Buffer };

/**
 * The refresh token of a session at a counter. It is derived, so none is stored and whoever rotates a session gets the same
 * token as another that does so at the same time.
 * @param key a key of the installation
 * @param salt random bytes of the session, so that a leaked key alone makes no token
 */
export function makeRefreshToken(key: Uint8Array, sessionId: string, counter: number, salt: Uint8Array): string {
  const head = headOf(sessionId, counter);
  return prefix + Buffer.concat([head, proofOf(key, head, salt)]).toString('base64url');
}

/** Reads a token without judging it; undefined when it has another form. */
export function parseRefreshToken(token: string): RefreshTokenClaim | undefined {
  if (!token.startsWith(prefix)) return undefined;
  const text = token.slice(prefix.length);
  const bytes = Buffer.from(text, 'base64url');
  // The second comparison refuses other spellings of the same bytes.
  if (bytes.length !== idBytes + counterBytes + proofBytes || bytes.toString('base64url') !== text) return undefined;
  const hex = bytes.toString('hex', 0, idBytes);
  return {
    sessionId: [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'),
    counter: bytes.readUInt32BE(idBytes),
    proof: bytes.subarray(idBytes + counterBytes),
  };
}

/** Whether the proof was made with this key and salt; in constant time. */
export function isProven(key: Uint8Array, claim: RefreshTokenClaim, salt: Uint8Array): boolean {
  return timingSafeEqual(claim.proof, proofOf(key, headOf(claim.sessionId, claim.counter), salt));
}

function headOf(sessionId: string, counter: number): Buffer {
  const head = Buffer.alloc(idBytes + counterBytes);
  head.write(sessionId.replaceAll('-', ''), 'hex');
  head.writeUInt32BE(counter, idBytes);
  return head;
}

function proofOf(key: Uint8Array, head: Uint8Array, salt: Uint8Array): Buffer {
  return createHmac('sha256', key).update('refresh token').update(head).update(salt).digest();
}
