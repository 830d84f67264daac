import type { X509Certificate } from 'node:crypto';

/** Bits of the modulus or of the field; null where the name of the key type says it all. */
export function keyBits({ asymmetricKeyDetails: details }: X509Certificate['publicKey']): number | null {
  if (details?.modulusLength !== undefined) return details.modulusLength;
  const curve = details?.namedCurve ?? '';
  // Names of OpenSSL say the size of the field: prime256v1, secp384r1, brainpoolP512r1, sect233k1.
  const bits = /(\d{3})/.exec(curve)?.[1];
  return bits === undefined ? null : Number(bits);
}
