import { randomBytes } from 'node:crypto';
import { decrypt, encrypt, overheadBytes } from './aes-gcm.ts';
import { derivedKey, keyIdBytes, keyIdOf } from './key-id.ts';

/*
 * Envelope encryption. A sealed value is
 *   version 2 | name of the key-encryption key, 8 bytes | data key under that key, 60 bytes | value under the data key.
 * Each value has a data key of its own, so none encrypts twice, a value tells under which key it stands, and a change of the key-encryption
 * key exchanges 68 bytes of each value without opening it. Version 1, of before there were data keys, is
 *   version 1 | value under a key derived from the key-encryption key,
 * and is read still.
 */
const firstVersion = 1;
const presentVersion = 2;
const dataKeyBytes = 32;
const wrappedBytes = overheadBytes + dataKeyBytes;
const wrapStart = 1 + keyIdBytes;
const bodyStart = wrapStart + wrappedBytes;
const wrapContext = 'parallax data key';

/** A sealed value does not open: another key-encryption key, or altered bytes. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Seals and opens secrets at rest with AES-256-GCM. `context` is authenticated: a value moved to another row does not open. */
export type Sealer = {
  readonly seal: (plain: Uint8Array | string, context: string) => Buffer;
  /** @throws SealError */
  readonly open: (sealed: Uint8Array, context: string) => Buffer;
  /** A key for another purpose, 32 bytes, derived from the key-encryption key: another one after that is changed, so only for what is short-lived. */
  readonly derive: (purpose: string) => Buffer;
};

/** The key-encryption keys of a process: one seals, all open. */
export type Keyring = Sealer & {
  /** Name of the key that seals. */
  readonly sealsWith: () => string;
  /** Names of all keys, in the order in which they were given. */
  readonly holds: () => readonly string[];
  readonly add: (keys: readonly Uint8Array[]) => void;
  /** From now on seals with another of its keys. @throws SealError when it does not hold that */
  readonly sealWith: (keyId: string) => void;
  /** Name of the key that a value stands under; of version 1 the one that opens it, undefined when none does. */
  readonly keyOf: (sealed: Uint8Array, context: string) => string | undefined;
  /**
   * The same value under the key that seals.
   * @param context needed for version 1 only, which has no data key to exchange
   * @throws SealError
   */
  readonly reseal: (sealed: Uint8Array, context: string | undefined) => Buffer;
  /** A ring of the same keys that seals with another one. @throws SealError when it does not hold that */
  readonly withKey: (keyId: string) => Keyring;
};

/**
 * @param first the key-encryption key that seals, 32 bytes
 * @param others further ones that open
 */
export function createSealer(first: Uint8Array, others: readonly Uint8Array[] = []): Keyring {
  const keys = new Map<string, Uint8Array>();
  const add = (added: readonly Uint8Array[]): void => {
    for (const key of added) {
      if (key.length !== 32) throw new SealError(`the key-encryption key has ${key.length} bytes and needs 32`);
      keys.set(keyIdOf(key), key);
    }
  };
  add([first, ...others]);
  let present = keyIdOf(first);
  const keyNamed = (id: string): Uint8Array => {
    const key = keys.get(id);
    if (key === undefined) throw new SealError(`the key-encryption key ${id} is not among those given`);
    return key;
  };

  const wrap = (dataKey: Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.of(presentVersion),
      Buffer.from(present, 'hex'),
      encrypt(derivedKey(keyNamed(present), 'data keys'), dataKey, wrapContext),
    ]);
  const unwrap = (bytes: Buffer): Buffer | undefined => {
    const key = keys.get(bytes.toString('hex', 1, wrapStart));
    if (key === undefined) return undefined;
    return decrypt(derivedKey(key, 'data keys'), bytes.subarray(wrapStart, bodyStart), wrapContext);
  };
  const openFirst = (bytes: Buffer, context: string): { id: string; plain: Buffer } | undefined => {
    for (const [id, key] of keys) {
      const plain = decrypt(derivedKey(key, 'sealing'), bytes.subarray(1), context);
      if (plain !== undefined) return { id, plain };
    }
    return undefined;
  };
  const open = (sealed: Uint8Array, context: string): Buffer => {
    const bytes = Buffer.from(sealed);
    if (bytes[0] === firstVersion) return openFirst(bytes, context)?.plain ?? unopened(context);
    if (bytes[0] !== presentVersion || bytes.length < bodyStart) throw new SealError(`not a sealed value (${context})`);
    const dataKey = unwrap(bytes);
    if (dataKey === undefined) return unopened(context);
    return decrypt(dataKey, bytes.subarray(bodyStart), context) ?? unopened(context);
  };
  const seal = (plain: Uint8Array | string, context: string): Buffer => {
    const dataKey = randomBytes(dataKeyBytes);
    const bytes = plain instanceof Uint8Array ? plain : Buffer.from(plain);
    return Buffer.concat([wrap(dataKey), encrypt(dataKey, bytes, context)]);
  };
  return {
    seal,
    open,
    derive: (purpose) => derivedKey(keyNamed(present), purpose),
    sealsWith: () => present,
    holds: () => [...keys.keys()],
    add,
    sealWith: (id) => {
      keyNamed(id);
      present = id;
    },
    keyOf: (sealed, context) =>
      sealed[0] === firstVersion ? openFirst(Buffer.from(sealed), context)?.id : namedIn(sealed),
    reseal: (sealed, context) => {
      const bytes = Buffer.from(sealed);
      if (bytes[0] === firstVersion) {
        if (context === undefined) throw new SealError('a value of the first version is moved with its context only');
        return seal(open(bytes, context), context);
      }
      const dataKey = bytes.length < bodyStart ? undefined : unwrap(bytes);
      if (dataKey === undefined) return unopened(context ?? 'of unknown context');
      return Buffer.concat([wrap(dataKey), bytes.subarray(bodyStart)]);
    },
    withKey: (id) => {
      const key = keyNamed(id);
      return createSealer(
        key,
        [...keys.values()].filter((other) => other !== key),
      );
    },
  };
}

/** The name of the key that stands in a value of the present version. */
function namedIn(sealed: Uint8Array): string | undefined {
  return sealed.length < bodyStart ? undefined : Buffer.from(sealed).toString('hex', 1, wrapStart);
}

function unopened(context: string): never {
  throw new SealError(
    `a secret does not open (${context}): is PARALLAX_KEY_ENCRYPTION_KEY the one it was sealed with?`,
  );
}

/** What a value begins with that stands under a key: version and name. For comparing in the database. */
export function sealedPrefix(keyId: string): Buffer {
  return Buffer.concat([Buffer.of(presentVersion), Buffer.from(keyId, 'hex')]);
}
