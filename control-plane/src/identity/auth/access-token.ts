import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { Problem } from '@parallax/api-contract';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

/** Life of an access token. */
export const accessTokenSeconds = 900;

const issuer = 'parallax';
const audience = 'parallax-api';
const type = 'at+jwt';
// Replicas and the database may differ by this much.
const toleranceSeconds = 5;

/** Keys that tokens are made and judged with. */
export type AccessTokenKeys = { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly seed: Buffer };

/** @param pkcs8 an Ed25519 private key, DER */
export function accessTokenKeys(pkcs8: Buffer): AccessTokenKeys {
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey), seed: pkcs8 };
}

/**
 * The access token of a session at a counter: a JWT signed with EdDSA that names the session and nothing of its user, whose role
 * is read from the database at each request. The same session, counter and time give the same token.
 * @param rotatedAtMs when the counter was reached
 */
export async function makeAccessToken(
  keys: AccessTokenKeys,
  session: { readonly id: string; readonly counter: number; readonly rotatedAtMs: number },
): Promise<string> {
  const notBefore = Math.floor(session.rotatedAtMs / 1_000);
  const identifier = createHmac('sha256', keys.seed)
    .update(`jti ${session.id} ${session.counter}`)
    .digest('base64url')
    .slice(0, 22);
  return new SignJWT({ sid: session.id })
    .setProtectedHeader({ alg: 'EdDSA', typ: type })
    .setIssuer(issuer)
    .setAudience(audience)
    .setJti(identifier)
    .setNotBefore(notBefore)
    .setExpirationTime(notBefore + accessTokenSeconds)
    .sign(keys.privateKey);
}

const claims = z.object({ sid: z.uuid(), jti: z.string(), nbf: z.number(), exp: z.number() });

/** What a token says whose signature was verified. */
type Verified = { readonly sessionId: string; readonly notBeforeMs: number; readonly expiresMs: number };

/**
 * Tokens whose signature each pair of keys has verified. Verifying costs a request a fifth of its processor time (0.3 to 0.7 ms), and a client sends the
 * same token until it expires. Only what was verified gets in, so nobody fills this with forgeries.
 */
const verified = new WeakMap<AccessTokenKeys, Map<string, Verified>>();
/** About 700 bytes each. */
const mostVerified = 1_000;

/**
 * Judges an access token; whether its session still lives is for the database.
 * @returns the identifier of the session
 * @throws Problem `token_expired` or `invalid_credentials`
 */
export async function readAccessToken(keys: AccessTokenKeys, token: string, nowMs: number): Promise<string> {
  const known = verified.get(keys)?.get(token);
  if (known !== undefined && known.notBeforeMs <= nowMs && nowMs < known.expiresMs) return known.sessionId;
  try {
    const { payload } = await jwtVerify(token, keys.publicKey, {
      algorithms: ['EdDSA'],
      issuer,
      audience,
      typ: type,
      requiredClaims: ['exp', 'nbf', 'jti', 'sid'],
      clockTolerance: toleranceSeconds,
      currentDate: new Date(nowMs),
    });
    const { sid, nbf, exp } = claims.parse(payload);
    remember(keys, token, { sessionId: sid, notBeforeMs: nbf * 1_000, expiresMs: exp * 1_000 });
    return sid;
  } catch (error) {
    if (error instanceof errors.JWTExpired) {
      throw new Problem('token_expired', 'the access token has expired; exchange the refresh token for a new one');
    }
    throw new Problem('invalid_credentials', 'the access token is not valid', { cause: error });
  }
}

function remember(keys: AccessTokenKeys, token: string, what: Verified): void {
  const tokens = verified.get(keys) ?? new Map<string, Verified>();
  verified.set(keys, tokens);
  tokens.set(token, what);
  // The one that was verified first leaves: it expires first, too.
  const [oldest] = tokens.keys();
  if (tokens.size > mostVerified && oldest !== undefined) tokens.delete(oldest);
}
