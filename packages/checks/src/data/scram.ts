import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * SCRAM with SHA-1, SHA-256 or SHA-512 and without channel binding (RFC 5802, RFC 7677), the client's side. Names and passwords are normalised by NFKC, which
 * is what SASLprep does to all but odd characters.
 */

/** A server chooses how often the password is hashed. More than this would keep a thread busy for longer than a check may take. */
const maxIterations = 200_000;
const derive = promisify(pbkdf2);

export type ScramHash = 'sha1' | 'sha256' | 'sha512';
const hashBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;
export type ScramFirst = { readonly bare: string; readonly message: string };
export type ScramFinal = { readonly message: string; readonly serverSignature: Buffer };

/** The hashed password of the last exchange, kept by the settings it belongs to: hashing is most of the cost of a login. */
const hashed = new WeakMap<object, { readonly key: string; readonly salted: Buffer }>();

/** The client's first message. `nonce` is 18 or more random bytes in base64. */
export function scramFirst(username: string, nonce: string): ScramFirst {
  const name = username.normalize('NFKC').replaceAll('=', '=3D').replaceAll(',', '=2C');
  const bare = `n=${name},r=${nonce}`;
  return { bare, message: `n,,${bare}` };
}

/** The client's last message for the server's first one; a sentence when that cannot be answered. `owner` is what the password belongs to. */
export async function scramFinal(
  first: ScramFirst,
  serverFirst: string,
  password: string,
  owner: object,
  hash: ScramHash = 'sha256',
): Promise<ScramFinal | string> {
  const match = /^r=([\x21-\x2b\x2d-\x7e]{1,512}),s=([A-Za-z0-9+/=]{1,512}),i=([1-9]\d{0,9})(?:,.*)?$/.exec(
    serverFirst,
  );
  const nonce = first.bare.slice(first.bare.lastIndexOf(',r=') + 3);
  const [, serverNonce = '', salt = '', count = ''] = match ?? [];
  if (match === null) return 'The challenge of the server is not one of SCRAM.';
  if (!serverNonce.startsWith(nonce) || serverNonce.length === nonce.length)
    return 'The challenge of the server does not belong to this login.';
  const iterations = Number(count);
  if (iterations > maxIterations)
    return `The server wants the password hashed ${iterations} times, more than ${maxIterations}.`;
  const salted = await saltedPassword(password, salt, iterations, owner, hash);
  const clientKey = hmac(hash, salted, 'Client Key');
  const withoutProof = `c=biws,r=${serverNonce}`;
  const authMessage = `${first.bare},${serverFirst},${withoutProof}`;
  const signature = hmac(hash, createHash(hash).update(clientKey).digest(), authMessage);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))).toString('base64');
  return {
    message: `${withoutProof},p=${proof}`,
    serverSignature: hmac(hash, hmac(hash, salted, 'Server Key'), authMessage),
  };
}

/** Whether the server's last message shows that it knows the password too. */
export function scramVerified(final: ScramFinal, serverFinal: string): boolean {
  const given = Buffer.from(/^v=([A-Za-z0-9+/=]+)/.exec(serverFinal)?.[1] ?? '', 'base64');
  return given.length === final.serverSignature.length && timingSafeEqual(given, final.serverSignature);
}

async function saltedPassword(
  password: string,
  salt: string,
  iterations: number,
  owner: object,
  hash: ScramHash,
): Promise<Buffer> {
  const key = `${hash} ${iterations} ${salt}`;
  const known = hashed.get(owner);
  if (known?.key === key) return known.salted;
  const salted = await derive(
    password.normalize('NFKC'),
    Buffer.from(salt, 'base64'),
    iterations,
    hashBytes[hash],
    hash,
  );
  hashed.set(owner, { key, salted });
  return salted;
}

function hmac(hash: ScramHash, key: Buffer, text: string): Buffer {
  return createHmac(hash, key).update(text).digest();
}
