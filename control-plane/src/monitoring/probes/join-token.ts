import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * A join token is `id.secret.fingerprint`: the row, 256 random bits that are stored as a hash only, and the fingerprint of the
 * authority by which the agent knows the control plane at first contact. The agent sends the first two parts.
 */
export const joinTokenDefaultMinutes = 10;
export const joinTokenMaxMinutes = 24 * 60;
const secretBytes = 32;

export type JoinTokenParts = { readonly id: number; readonly secret: Uint8Array };

/** @param random source of random bytes */
export function makeJoinSecret(random: (bytes: number) => Uint8Array): { secret: Uint8Array; hash: Buffer } {
  const secret = random(secretBytes);
  return { secret, hash: hashJoinSecret(secret) };
}

/** The text that an operator pastes. @param fingerprint SHA-256 of the authority's certificate, hexadecimal */
export function formatJoinToken(id: number, secret: Uint8Array, fingerprint: string): string {
  return `${id}.${Buffer.from(secret).toString('base64url')}.${fingerprint}`;
}

/** Reads "id.secret" as an agent presents it; undefined for anything else, a whole token with its fingerprint included. */
export function parsePresentedToken(text: string): JoinTokenParts | undefined {
  const match = /^([1-9][0-9]{0,9})\.([A-Za-z0-9_-]{43})$/u.exec(text);
  if (match === null) return undefined;
  const id = Number(match[1]);
  const secret = Buffer.from(match[2] ?? '', 'base64url');
  return id <= 2_147_483_647 && secret.length === secretBytes ? { id, secret } : undefined;
}

/** What is stored. A plain hash suffices for 256 random bits. */
export function hashJoinSecret(secret: Uint8Array): Buffer {
  return createHash('sha256').update('parallax join token\n').update(secret).digest();
}

/** What is stored of a join token. */
export type StoredJoinToken = {
  readonly secretHash: Uint8Array;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
  /** Fingerprint bytes of the public key of the request that used it. */
  readonly usedByKey: Uint8Array | null;
};

/** `fresh`: may be claimed; `repeated`: the same key asks again within the token's life; else why not. */
export type JoinTokenVerdict = 'fresh' | 'repeated' | 'unknown' | 'expired' | 'used';

/** Judges a presented token. Unknown identifiers and wrong secrets look the same from outside. */
export function judgeJoinToken(
  stored: StoredJoinToken | undefined,
  secret: Uint8Array,
  key: Uint8Array,
  nowMs: number,
): JoinTokenVerdict {
  const hash = hashJoinSecret(secret);
  if (stored === undefined || stored.secretHash.length !== hash.length || !timingSafeEqual(stored.secretHash, hash)) {
    return 'unknown';
  }
  if (stored.usedAtMs !== null) {
    const sameKey = stored.usedByKey !== null && Buffer.from(stored.usedByKey).equals(key);
    return sameKey && stored.expiresAtMs > nowMs ? 'repeated' : 'used';
  }
  return stored.expiresAtMs > nowMs ? 'fresh' : 'expired';
}
