import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { certificatePem, certificateFacts, fingerprint, normalSerial } from './certificate-facts.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import { PkiError } from './errors.ts';
import { generateKeys, importKeys, privateKeyPem, verifySigningRequest } from './signing-request.ts';
import { ecdsaP256, loadX509, toArrayBuffer } from './x509.ts';
import type { X509 } from './x509.ts';

const dayMs = 86_400_000;
const authorityDays = 3_650;
// A probe whose wall clock is years off must still be able to connect, and learns the time from us then. What is signed is not judged by
// the probe's idea of the date: the server's chain is valid from long ago until years ahead, and made anew at every start.
const authorityBackdatedDays = 3_650;
const serverDays = 1_825;
/** Validity of a probe's certificate. */
export const probeCertificateDays = 30;
/** A probe's certificate is valid from so long before it was made, since clocks differ. */
export const probeCertificateBackdatedMs = dayMs;

/** The DNS name that every server certificate carries: probes check it whatever address they dial. */
export const controlPlaneServerName = 'parallax-control-plane';
const probeUriPrefix = 'spiffe://parallax/probe/';

/** What is stored of an authority: the key stays sealed, the certificate is public. */
export type AuthorityMaterial = { readonly keyPem: string; readonly certificateDer: Uint8Array };

export type ServerCertificate = {
  readonly keyPem: string;
  readonly certificatePem: string;
  /** The server's certificate followed by the authority's, so that a client at first contact can check the fingerprint. */
  readonly chainPem: string;
  readonly facts: CertificateFacts;
};

export type ProbeCertificate = { readonly certificateDer: Uint8Array; readonly facts: CertificateFacts };

/** The one certificate authority of an installation. */
export type Authority = {
  readonly certificateDer: Uint8Array;
  readonly certificatePem: string;
  /** SHA-256 of the certificate, hexadecimal: the last part of a join token. */
  readonly fingerprint: string;
  /** A key and certificate for a listener. `names` are DNS names and IP addresses beside `parallax-control-plane` and `localhost`. */
  readonly issueServerCertificate: (names: readonly string[], nowMs: number) => Promise<ServerCertificate>;
  /** Signs the key of a verified request for one probe; its identity is the URI, nothing of the request's names is taken. */
  readonly issueProbeCertificate: (
    probeId: number,
    csrDer: Uint8Array,
    nowMs: number,
    days?: number,
  ) => Promise<ProbeCertificate>;
  /** True when this authority signed the certificate, whatever its dates. */
  readonly hasIssued: (certificateDer: Uint8Array) => Promise<boolean>;
};

/** The URI that stands for a probe in its certificate. */
export function probeUri(probeId: number): string {
  return `${probeUriPrefix}${probeId}`;
}

/** The probe that a URI names, or undefined when it names none. */
export function probeIdOfUri(uri: string | undefined): number | undefined {
  if (uri === undefined || !uri.startsWith(probeUriPrefix)) return undefined;
  const text = uri.slice(probeUriPrefix.length);
  return /^[1-9][0-9]{0,9}$/u.test(text) && Number(text) <= 2_147_483_647 ? Number(text) : undefined;
}

/** Makes a new authority: ECDSA P-256, valid for ten years. */
export async function createAuthority(nowMs: number): Promise<AuthorityMaterial> {
  const keys = await generateKeys();
  const x509 = await loadX509();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    // A name of its own: two installations' authorities are told apart in chains and logs.
    name: `CN=Parallax authority ${randomBytes(4).toString('hex')}`,
    notBefore: new Date(nowMs - authorityBackdatedDays * dayMs),
    notAfter: new Date(nowMs + authorityDays * dayMs),
    signingAlgorithm: ecdsaP256,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { keyPem: await privateKeyPem(keys.privateKey), certificateDer: new Uint8Array(certificate.rawData) };
}

/** Opens a stored authority. @throws PkiError when key and certificate do not belong together */
export async function openAuthority(material: AuthorityMaterial): Promise<Authority> {
  const x509 = await loadX509();
  const certificate = new x509.X509Certificate(toArrayBuffer(material.certificateDer));
  const keys = await importKeys(material.keyPem);
  const ownKey = Buffer.from(await webcrypto.subtle.exportKey('spki', keys.publicKey));
  if (!ownKey.equals(Buffer.from(certificate.publicKey.rawData))) {
    throw new PkiError("the authority's key is not the one of its certificate");
  }
  const pem = certificatePem(material.certificateDer);

  async function issue(
    subject: string,
    publicKey: X509.PublicKeyType,
    names: X509.JsonGeneralNames,
    usage: X509.ExtendedKeyUsage,
    validity: { nowMs: number; days: number; fromMs: number },
  ): Promise<Uint8Array> {
    const issued = await x509.X509CertificateGenerator.create({
      serialNumber: newSerial(),
      subject,
      issuer: certificate.subject,
      notBefore: new Date(validity.fromMs),
      notAfter: new Date(Math.min(validity.nowMs + validity.days * dayMs, certificate.notAfter.getTime())),
      signingAlgorithm: ecdsaP256,
      publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.SubjectAlternativeNameExtension(names),
        await x509.AuthorityKeyIdentifierExtension.create(certificate),
      ],
    });
    return new Uint8Array(issued.rawData);
  }

  return {
    certificateDer: material.certificateDer,
    certificatePem: pem,
    fingerprint: fingerprint(material.certificateDer),
    issueServerCertificate: async (names, nowMs) => {
      const serverKeys = await generateKeys();
      const all = [...new Set([controlPlaneServerName, 'localhost', ...names.map(bareName)])];
      const general = all.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
      const der = await issue(
        `CN=${controlPlaneServerName}`,
        serverKeys.publicKey,
        general,
        x509.ExtendedKeyUsage.serverAuth,
        { nowMs, days: serverDays, fromMs: certificate.notBefore.getTime() },
      );
      const ownPem = certificatePem(der);
      return {
        keyPem: await privateKeyPem(serverKeys.privateKey),
        certificatePem: ownPem,
        chainPem: ownPem + pem,
        facts: certificateFacts(der),
      };
    },
    issueProbeCertificate: async (probeId, csrDer, nowMs, days = probeCertificateDays) => {
      const request = await verifySigningRequest(csrDer);
      const certificateDer = await issue(
        `CN=probe-${probeId}`,
        request.publicKey,
        [{ type: 'url', value: probeUri(probeId) }],
        x509.ExtendedKeyUsage.clientAuth,
        { nowMs, days, fromMs: nowMs - probeCertificateBackdatedMs },
      );
      return { certificateDer, facts: certificateFacts(certificateDer) };
    },
    hasIssued: async (certificateDer) => {
      try {
        const presented = new x509.X509Certificate(toArrayBuffer(certificateDer));
        return (
          presented.issuer === certificate.subject &&
          (await presented.verify({ publicKey: certificate, signatureOnly: true }))
        );
      } catch {
        return false;
      }
    },
  };
}

/** "[::1]" and "::1" are the same name. */
function bareName(name: string): string {
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

/** 127 random bits whose first byte is neither zero nor negative in DER, so every reader writes it alike. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return normalSerial(bytes.toString('hex'));
}
