import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

export type CertifiedKey = { readonly certificatePem: string; readonly keyPem: string };

export type TestAuthority = {
  readonly certificatePem: string;
  /** A server certificate for names and addresses; dates default to yesterday and tomorrow. */
  issue(options: {
    readonly names: readonly string[];
    readonly notBefore?: Date;
    readonly notAfter?: Date;
  }): Promise<CertifiedKey>;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;
let serial = 0;

/** A certificate authority for one test. */
export async function testAuthority(name = 'Test authority'): Promise<TestAuthority> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: nextSerial(),
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + dayMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return {
    certificatePem: certificate.toString('pem'),
    issue: async (options) => {
      const own = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const issued = await x509.X509CertificateGenerator.create({
        serialNumber: nextSerial(),
        subject: `CN=${options.names[0] ?? 'nobody'}`,
        issuer: certificate.subject,
        notBefore: options.notBefore ?? new Date(Date.now() - dayMs),
        notAfter: options.notAfter ?? new Date(Date.now() + dayMs),
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            options.names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
          ),
          new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
        ],
      });
      const key = await webcrypto.subtle.exportKey('pkcs8', own.privateKey);
      return { certificatePem: issued.toString('pem'), keyPem: x509.PemConverter.encode(key, 'PRIVATE KEY') };
    },
  };
}

function nextSerial(): string {
  serial++;
  return serial.toString(16).padStart(16, '0');
}
