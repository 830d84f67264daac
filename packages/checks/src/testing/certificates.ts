import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** A certificate with its key, in PEM form, and what is needed to sign others with it. */
export type Issued = {
  readonly cert: string;
  readonly key: string;
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;
x509.cryptoProvider.set(webcrypto);

export type IssueOptions = {
  readonly name: string;
  /** Who signs; absent: itself. */
  readonly by?: Issued;
  readonly authority?: boolean;
  readonly dnsNames?: readonly string[];
  readonly addresses?: readonly string[];
  /** Days from now; negative ones lie in the past. */
  readonly fromDays?: number;
  readonly untilDays?: number;
  /** Bits of an RSA key; absent: a key on the curve P-256. */
  readonly rsaBits?: number;
};

export async function issue(options: IssueOptions): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(keyOf(options.rsaBits), true, ['sign', 'verify']);
  const names = [
    ...(options.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(options.addresses ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${options.name}`,
    issuer: options.by?.certificate.subject ?? `CN=${options.name}`,
    notBefore: new Date(Date.now() + (options.fromDays ?? -1) * dayMs),
    notAfter: new Date(Date.now() + (options.untilDays ?? 90) * dayMs + 60_000),
    signingAlgorithm: options.by === undefined ? keyOf(options.rsaBits) : algorithm,
    publicKey: keys.publicKey,
    signingKey: (options.by ?? { keys }).keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(options.authority === true, undefined, true),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`;
  return { cert: `${certificate.toString('pem')}\n`, key, certificate, keys };
}

function keyOf(rsaBits: number | undefined): typeof algorithm | webcrypto.RsaHashedKeyGenParams {
  if (rsaBits === undefined) return algorithm;
  return {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: rsaBits,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
}
