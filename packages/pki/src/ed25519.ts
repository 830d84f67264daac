import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { PkiError } from './errors.ts';

// Fixed DER prefixes of a raw Ed25519 key (RFC 8410): PKCS #8 for the seed, SPKI for the public key.
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** A raw Ed25519 pair, 32 bytes each. */
export type Ed25519Pair = { readonly seed: Uint8Array; readonly publicKey: Uint8Array };

/** Makes the key of a probe: one key signs its batches and authenticates it to the broker. */
export function createEd25519Pair(): Ed25519Pair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    seed: privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32),
  };
}

/** The public half of a seed. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  return createPublicKey(privateKeyOf(seed)).export({ type: 'spki', format: 'der' }).subarray(-32);
}

/** Signs with a raw seed. For a batch the content is `signedContent(batch)` of the wire package. */
export function signEd25519(seed: Uint8Array, content: Uint8Array): Uint8Array {
  return sign(null, content, privateKeyOf(seed));
}

/** Verifies against a raw public key; false for anything that is not a valid signature, a malformed key included. */
export function verifyEd25519(publicKey: Uint8Array, content: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    return verify(null, content, publicKeyOf(publicKey), signature);
  } catch {
    return false;
  }
}

// Making a KeyObject costs about as much as a verification, so those in use are kept. Bounded: the oldest goes first.
const keptKeys = 4_096;
const privateKeys = new Map<string, KeyObject>();
const publicKeys = new Map<string, KeyObject>();

function privateKeyOf(seed: Uint8Array): KeyObject {
  if (seed.length !== 32) throw new PkiError(`an Ed25519 seed has 32 bytes, not ${seed.length}`);
  return kept(privateKeys, seed, () =>
    createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' }),
  );
}

function publicKeyOf(raw: Uint8Array): KeyObject {
  return kept(publicKeys, raw, () =>
    createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' }),
  );
}

function kept(keys: Map<string, KeyObject>, raw: Uint8Array, make: () => KeyObject): KeyObject {
  const name = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const known = keys.get(name);
  if (known !== undefined) return known;
  const made = make();
  if (keys.size >= keptKeys) {
    const oldest = keys.keys().next().value;
    if (oldest !== undefined) keys.delete(oldest);
  }
  keys.set(name, made);
  return made;
}
