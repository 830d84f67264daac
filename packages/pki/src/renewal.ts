import { createPrivateKey, sign, verify } from 'node:crypto';
import { readCertificate } from './certificate-facts.ts';

/** What the proof of a renewal covers, byte for byte as enrolment.proto says. */
function renewalContent(csrDer: Uint8Array, issuedAtMs: bigint): Buffer {
  return Buffer.concat([Buffer.from('parallax-renew\n'), csrDer, Buffer.from(issuedAtMs.toString())]);
}

/** Proves possession of the key of the held certificate. @param keyPem the key of the certificate, not of the new request */
export function signRenewal(keyPem: string, csrDer: Uint8Array, issuedAtMs: bigint): Uint8Array {
  return sign('sha256', renewalContent(csrDer, issuedAtMs), {
    key: createPrivateKey(keyPem),
    dsaEncoding: 'ieee-p1363',
  });
}

/** True when the holder of the certificate's key made the proof for this request and time. Dates are for the caller to judge. */
export function verifyRenewal(
  certificateDer: Uint8Array,
  csrDer: Uint8Array,
  issuedAtMs: bigint,
  proof: Uint8Array,
): boolean {
  if (proof.length !== 64) return false;
  try {
    const key = readCertificate(certificateDer).publicKey;
    return verify('sha256', renewalContent(csrDer, issuedAtMs), { key, dsaEncoding: 'ieee-p1363' }, proof);
  } catch {
    return false;
  }
}

/** Trailing metadata of a renewal that is refused for its time: the server's clock in ms, to be used as the time of the next try. */
export const serverTimeMetadata = 'parallax-server-ms';
