import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AuthProtocol } from './settings.ts';

type Digest = { readonly name: string; readonly macBytes: number };

/** Digests and how much of the code goes into the message: RFC 3414 (96 bits) and RFC 7860. */
const digests: Readonly<Record<Exclude<AuthProtocol, 'none'>, Digest>> = {
  md5: { name: 'md5', macBytes: 12 },
  sha1: { name: 'sha1', macBytes: 12 },
  sha224: { name: 'sha224', macBytes: 16 },
  sha256: { name: 'sha256', macBytes: 24 },
  sha384: { name: 'sha384', macBytes: 32 },
  sha512: { name: 'sha512', macBytes: 48 },
};

/** Keys of one user at one engine. */
export type UserKeys = {
  readonly digest: Digest;
  readonly auth: Buffer;
  /** Present when messages are encrypted. */
  readonly priv: Buffer | undefined;
};

/** What an engine says of itself: needed to date and encrypt messages for it. */
export type Engine = { readonly id: Buffer; readonly boots: number; readonly timeSeconds: number };

/** The key of a password at one engine: RFC 3414, section 2.6 with A.2. A hash over a mebibyte, some milliseconds of processor time. */
function localisedKey(password: string, engineId: Buffer, digest: Digest): Buffer {
  const kept = cache.get(cacheKey(password, digest));
  const key = kept ?? passwordKey(password, digest);
  return createHash(digest.name).update(key).update(engineId).update(key).digest();
}

const maxKept = 256;
const cache = new Map<string, Buffer>();

function cacheKey(password: string, digest: Digest): string {
  // A digest, so that the map itself holds no passwords.
  return createHash('sha256').update(`${digest.name} ${password}`).digest('base64');
}

function passwordKey(password: string, digest: Digest): Buffer {
  const text = Buffer.from(password, 'utf8');
  const wanted = 1_048_576;
  const key = createHash(digest.name).update(Buffer.alloc(wanted, text)).digest();
  const oldest = cache.keys().next();
  if (cache.size >= maxKept && oldest.done !== true) cache.delete(oldest.value);
  cache.set(cacheKey(password, digest), key);
  return key;
}

export function userKeys(
  protocol: AuthProtocol,
  authPassword: string | undefined,
  privPassword: string | undefined,
  engineId: Buffer,
): UserKeys | undefined {
  if (protocol === 'none' || authPassword === undefined) return undefined;
  const digest = digests[protocol];
  const auth = localisedKey(authPassword, engineId, digest);
  const priv = privPassword === undefined ? undefined : localisedKey(privPassword, engineId, digest).subarray(0, 16);
  return { digest, auth, priv };
}

/** The code over a whole message whose own place in it is filled with zeros. */
export function messageCode(message: Buffer, { digest, auth }: UserKeys): Buffer {
  return createHmac(digest.name, auth).update(message).digest().subarray(0, digest.macBytes);
}

/** Whether a message is from who knows the key; `code` is the part of `message` that holds it. */
export function isGenuine(message: Buffer, code: Buffer, keys: UserKeys): boolean {
  if (code.length !== keys.digest.macBytes) return false;
  const at = code.byteOffset - message.byteOffset;
  const blank = Buffer.from(message);
  blank.fill(0, at, at + code.length);
  return timingSafeEqual(messageCode(blank, keys), code);
}

/** AES-128 in cipher feedback mode: RFC 3826, section 3.1. `salt` is 8 octets that no other message has. */
export function encrypt(plain: Buffer, key: Buffer, engine: Engine, salt: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-cfb', key, vector(engine, salt));
  return Buffer.concat([cipher.update(plain), cipher.final()]);
}

export function decrypt(secret: Buffer, key: Buffer, engine: Engine, salt: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-cfb', key, vector(engine, salt));
  return Buffer.concat([decipher.update(secret), decipher.final()]);
}

function vector(engine: Engine, salt: Buffer): Buffer {
  const start = Buffer.alloc(8);
  start.writeUInt32BE(engine.boots, 0);
  start.writeUInt32BE(engine.timeSeconds, 4);
  return Buffer.concat([start, salt]);
}
