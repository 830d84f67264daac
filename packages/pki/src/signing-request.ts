import { createPublicKey, webcrypto } from 'node:crypto';
import { fingerprint } from './certificate-facts.ts';
import { PkiError } from './errors.ts';
import { ecdsaP256, loadX509, toArrayBuffer } from './x509.ts';
import type { X509 } from './x509.ts';

/** A private key (PKCS #8, PEM) and the signing request for it (PKCS #10, DER). The key stays where it was made. */
export type SigningRequest = { readonly keyPem: string; readonly csrDer: Uint8Array };

/** What an authority needs of a signing request: the key that it was signed with. Names in it are ignored. */
export type VerifiedRequest = { readonly publicKey: X509.PublicKey; readonly publicKeyFingerprint: string };

// A P-256 request has about 250 bytes; anything much larger is no honest one.
const maxRequestBytes = 4096;

/** Makes a P-256 key and a signing request for it. With `keyPem` the request is for that key. */
export async function createSigningRequest(keyPem?: string): Promise<SigningRequest> {
  const keys = keyPem === undefined ? await generateKeys() : await importKeys(keyPem);
  const x509 = await loadX509();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=parallax-probe',
    keys,
    signingAlgorithm: ecdsaP256,
  });
  return { keyPem: keyPem ?? (await privateKeyPem(keys.privateKey)), csrDer: new Uint8Array(request.rawData) };
}

/**
 * Reads a signing request and proves that its sender holds the key.
 * @throws PkiError for bytes that are no request, another kind of key, a wrong signature
 */
export async function verifySigningRequest(csrDer: Uint8Array): Promise<VerifiedRequest> {
  if (csrDer.length > maxRequestBytes) throw new PkiError(`the signing request has ${csrDer.length} bytes`);
  // The library reads on past the end, so two different byte strings would be the same request.
  if (csrDer.length !== sequenceLength(csrDer)) throw new PkiError('not a signing request');
  const x509 = await loadX509();
  let request: X509.Pkcs10CertificateRequest;
  try {
    request = new x509.Pkcs10CertificateRequest(toArrayBuffer(csrDer));
  } catch (error) {
    throw new PkiError('not a signing request', { cause: error });
  }
  const spki = new Uint8Array(request.publicKey.rawData);
  requireP256(spki);
  const genuine = await request.verify().catch(() => false);
  if (!genuine) throw new PkiError('the signature of the signing request is not valid');
  return { publicKey: request.publicKey, publicKeyFingerprint: fingerprint(spki) };
}

/** Bytes of the DER SEQUENCE that the input begins with, header included; undefined when it begins with none. */
function sequenceLength(der: Uint8Array): number | undefined {
  const [tag, first, second, third] = der;
  if (tag !== 0x30 || first === undefined) return undefined;
  if (first < 0x80) return 2 + first;
  if (first === 0x81 && second !== undefined) return 3 + second;
  if (first === 0x82 && second !== undefined && third !== undefined) return 4 + second * 256 + third;
  return undefined;
}

function requireP256(spki: Uint8Array): void {
  let curve: string | undefined;
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    curve = key.asymmetricKeyType === 'ec' ? key.asymmetricKeyDetails?.namedCurve : key.asymmetricKeyType;
  } catch (error) {
    throw new PkiError('the public key of the signing request cannot be read', { cause: error });
  }
  if (curve !== 'prime256v1') throw new PkiError(`the key must be ECDSA P-256, not ${curve ?? 'unknown'}`);
}

/** A new P-256 key pair whose private key can be written down. */
export function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ecdsaP256, true, ['sign', 'verify']);
}

/** PKCS #8 in PEM form. */
export async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const x509 = await loadX509();
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

/** The pair of a P-256 private key in PEM form. */
export async function importKeys(keyPem: string): Promise<webcrypto.CryptoKeyPair> {
  const x509 = await loadX509();
  const pkcs8 = x509.PemConverter.decode(keyPem)[0];
  if (pkcs8 === undefined) throw new PkiError('not a private key in PEM form');
  const spki = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, ecdsaP256, true, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', spki, ecdsaP256, true, ['verify']),
  };
}
