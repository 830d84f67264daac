import type * as X509 from '@peculiar/x509';

export type { X509 };

/** The library for certificates and signing requests. Who only holds a certificate never needs it: it takes 65 ms of a start and some MB. */
export async function loadX509(): Promise<typeof X509> {
  const { x509 } = await import('./x509-library.ts');
  return x509;
}

/** Every certificate and signing request: ECDSA P-256 with SHA-256. */
export const ecdsaP256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A copy as the ArrayBuffer that the library's types ask for. */
export function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
