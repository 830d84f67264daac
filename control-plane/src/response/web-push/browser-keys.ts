import { createHash, ECDH } from 'node:crypto';

/** Keys of a subscription in base64url without padding, as they are sealed. */
export type BrowserKeys = { readonly p256dh: string; readonly auth: string };

// RFC 8291, section 2 and 3.2: an uncompressed point of P-256, and 16 octets.
const pointBytes = 65;
const authBytes = 16;

/** What is wrong with a key, and which one. */
type KeyFault = { readonly key: 'p256dh' | 'auth'; readonly message: string };

/** Reads both keys, from either alphabet of base64, padded or not. */
export function readKeys(
  given: BrowserKeys,
): { readonly ok: true; readonly keys: BrowserKeys } | ({ readonly ok: false } & KeyFault) {
  const point = bytesOf(given.p256dh);
  if (point?.length !== pointBytes) return fault('p256dh', `must be ${pointBytes} bytes in base64url`);
  if (!isOnCurve(point)) return fault('p256dh', 'is no public key of P-256');
  const auth = bytesOf(given.auth);
  if (auth?.length !== authBytes) return fault('auth', `must be ${authBytes} bytes in base64url`);
  return { ok: true, keys: { p256dh: point.toString('base64url'), auth: auth.toString('base64url') } };
}

/** Who shows the same keys is the same browser: 16 of their bytes are its secret. */
export function keysHash(keys: BrowserKeys): Buffer {
  return createHash('sha256').update(`${keys.p256dh}.${keys.auth}`).digest();
}

function bytesOf(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_+/-]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // Bits that stand for nothing would make two spellings of one key.
  const plain = text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return bytes.toString('base64url') === plain ? bytes : undefined;
}

function isOnCurve(point: Buffer): boolean {
  if (point[0] !== 4) return false;
  try {
    ECDH.convertKey(point, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}

function fault(key: KeyFault['key'], message: string): { readonly ok: false } & KeyFault {
  return { ok: false, key, message };
}
