import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** A sealed value does not open: another key-encryption key, or altered bytes. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Seals and opens secrets at rest with AES-256-GCM. `context` is authenticated: a value moved to another row does not open. */
export type Sealer = {
  readonly seal: (plain: Uint8Array | string, context: string) => Buffer;
  readonly open: (sealed: Uint8Array, context: string) => Buffer;
  /** A key for another purpose, 32 bytes, derived from the key-encryption key. */
  readonly derive: (purpose: string) => Buffer;
};

/** @param key the key-encryption key, 32 bytes */
export function createSealer(key: Uint8Array): Sealer {
  if (key.length !== 32) throw new SealError(`the key-encryption key has ${key.length} bytes and needs 32`);
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `parallax ${purpose}`, 32));
  const sealingKey = derive('sealing');
  return {
    derive,
    seal: (plain, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([
        cipher.update(plain instanceof Uint8Array ? plain : Buffer.from(plain)),
        cipher.final(),
      ]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed, context) => {
      if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== version)
        throw new SealError(`not a sealed value (${context})`);
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(1, 1 + nonceBytes));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()]);
      } catch {
        throw new SealError(
          `a secret does not open (${context}): is PARALLAX_KEY_ENCRYPTION_KEY the one it was sealed with?`,
        );
      }
    },
  };
}
