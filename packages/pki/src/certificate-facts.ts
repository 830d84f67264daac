import { createHash, X509Certificate } from 'node:crypto';
import { PkiError } from './errors.ts';

/** What is read out of a certificate. */
export type CertificateFacts = {
  /** Lower-case hexadecimal. */
  readonly serial: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** The first URI of the subject's alternative names. */
  readonly uri: string | undefined;
  /** SHA-256 of the public key (SPKI, DER), hexadecimal. */
  readonly publicKeyFingerprint: string;
};

/** SHA-256 of DER bytes in lower-case hexadecimal: of an authority's certificate it is the last part of a join token. */
export function fingerprint(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('hex');
}

/** Reads a certificate. @throws PkiError when the bytes are none */
export function readCertificate(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(der));
  } catch (error) {
    throw new PkiError('not a certificate', { cause: error });
  }
}

/** Facts of a certificate in DER form; its signature and dates are not judged. @throws PkiError when the bytes are no certificate */
export function certificateFacts(der: Uint8Array): CertificateFacts {
  const certificate = readCertificate(der);
  return {
    serial: normalSerial(certificate.serialNumber),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    uri: firstUri(certificate.subjectAltName),
    publicKeyFingerprint: fingerprint(certificate.publicKey.export({ type: 'spki', format: 'der' })),
  };
}

/** Serial numbers as they are stored and compared: lower case, without leading zeros. */
export function normalSerial(serial: string): string {
  return serial.toLowerCase().replace(/^0+(?=.)/u, '');
}

/**
 * The first URI of a subject's alternative names in the text form of Node. Names that hold commas or quotes are quoted there
 * as JSON strings, so a URI that pretends to be two names stays one.
 */
export function firstUri(subjectAltName: string | undefined): string | undefined {
  for (const match of (subjectAltName ?? '').matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/gu)) {
    if (match[1] === 'URI' && match[2]?.startsWith('"') === false) return match[2];
  }
  return undefined;
}

/** PEM form of a certificate. */
export function certificatePem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/gu) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
