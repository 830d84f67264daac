import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CertificateEvidence } from '../outcome.ts';
import { type Failure, failed } from './failure.ts';

/** What a finished handshake says about the other side. Times are milliseconds since 1970. */
export type PeerFacts = {
  readonly certificate: X509Certificate | undefined;
  /** OpenSSL's name of what is wrong with the chain; undefined when it is trusted. */
  readonly chainError: string | undefined;
  readonly hostMatches: boolean;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly protocol: string | undefined;
  readonly cipher: string | undefined;
};

const dayMs = 86_400_000;

export function factsOf(socket: TLSSocket, host: string): PeerFacts {
  const certificate = socket.getPeerX509Certificate();
  const chainError = socket.authorized ? undefined : String(socket.authorizationError ?? 'UNKNOWN');
  return {
    certificate,
    chainError,
    hostMatches: certificate !== undefined && matchesHost(certificate, host),
    notBefore: certificate?.validFromDate.getTime() ?? Number.NaN,
    notAfter: certificate?.validToDate.getTime() ?? Number.NaN,
    protocol: socket.getProtocol() ?? undefined,
    cipher: socket.getCipher()?.standardName,
  };
}

/** As browsers do it: names of the subject alternative name only, no wildcards inside a label. */
function matchesHost(certificate: X509Certificate, host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(bare) !== 0) return certificate.checkIP(bare) !== undefined;
  return certificate.checkHost(bare, { subject: 'never', partialWildcards: false }) !== undefined;
}

/**
 * The first thing that is wrong with a certificate, or undefined. Dates come first, then the chain, then the name: an expired
 * certificate of a private authority is reported as expired.
 */
export function certificateFailure(peer: PeerFacts, host: string, nowMs: number): Failure | undefined {
  if (peer.certificate === undefined) return failed('tls_handshake', 'The server presented no certificate.');
  if (nowMs > peer.notAfter) return failed('tls_expired', `The certificate expired on ${isoDay(peer.notAfter)}.`);
  if (nowMs < peer.notBefore)
    return failed('tls_not_yet_valid', `The certificate is valid only from ${isoDay(peer.notBefore)} on.`);
  if (peer.chainError !== undefined) return chainFailure(peer.chainError, peer.certificate);
  if (!peer.hostMatches) {
    const names = namesOf(peer.certificate);
    const shown = names.length === 0 ? 'no name at all' : names.slice(0, 5).join(', ');
    return failed('tls_hostname', `The certificate is not for ${host} but for ${shown}.`);
  }
  return undefined;
}

/** OpenSSL's X509_V_ERR_… names, as Node gives them. */
function chainFailure(error: string, certificate: X509Certificate): Failure {
  const issuer = oneLine(certificate.issuer);
  switch (error) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return failed('tls_self_signed', 'The certificate is signed by itself.');
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return failed('tls_untrusted', `The chain ends in an authority that is not trusted (${issuer}).`);
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return failed(
        'tls_incomplete_chain',
        `The server sent no intermediate certificate, and its issuer is not a trusted authority (${issuer}).`,
      );
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return failed('tls_untrusted', `The chain leads to no trusted authority (issuer ${issuer}).`);
    case 'CERT_HAS_EXPIRED':
      return failed('tls_expired', 'A certificate of the chain has expired.');
    case 'CERT_NOT_YET_VALID':
      return failed('tls_not_yet_valid', 'A certificate of the chain is not valid yet.');
    case 'CA_MD_TOO_WEAK':
    case 'EE_KEY_TOO_SMALL':
    case 'CA_KEY_TOO_SMALL':
      return failed('tls_weak', `A certificate of the chain is too weak (${error}).`);
    default:
      // Node has no name for the three above and calls them UNSPECIFIED.
      return weakKeyFailure(certificate) ?? failed('tls_untrusted', `The certificate cannot be trusted (${error}).`);
  }
}

/** Fewest bits that are still safe (NIST SP 800-57, 112 bits of security). */
const minRsaBits = 2048;
const minCurveBits = 224;
/** Bits of the named curves that fall below that. */
const weakCurves = /^(?:sec[pt]1(?:12|13|28|31|60|63|92|93)|prime192|c2pnb1|c2tnb1|brainpoolP1(?:60|92)|wap-wsg)/i;
const maxDepth = 5;

/** A certificate of the chain whose key is too short to be safe, the leaf first; undefined when there is none. */
export function weakKeyFailure(leaf: X509Certificate): Failure | undefined {
  let certificate: X509Certificate | undefined = leaf;
  for (let depth = 0; depth < maxDepth && certificate !== undefined; depth += 1) {
    const { asymmetricKeyType: kind = '', asymmetricKeyDetails: details } = certificate.publicKey;
    const bits = details?.modulusLength;
    if (bits !== undefined && bits < minRsaBits)
      return failed(
        'tls_weak',
        `${whose(depth)} has a key of ${bits} bits (${kind}); at least ${minRsaBits} are safe.`,
      );
    if (weakCurves.test(details?.namedCurve ?? ''))
      return failed('tls_weak', `${whose(depth)} has a key on a curve of fewer than ${minCurveBits} bits.`);
    certificate = certificate.issuerCertificate;
  }
  return undefined;
}

function whose(depth: number): string {
  return depth === 0 ? 'The certificate' : 'A certificate of the chain';
}

/** Whole days until a certificate ends, rounded down; negative after its end. */
export function daysLeft(notAfterMs: number, nowMs: number): number {
  return Math.floor((notAfterMs - nowMs) / dayMs);
}

/** A warning about a certificate that ends in fewer days than these, or has ended; undefined when it does not. 0 days: never a warning. */
export function expirySoon(peer: PeerFacts | undefined, warnDays: number, nowMs: number): Failure | undefined {
  if (peer === undefined || warnDays <= 0 || !Number.isFinite(peer.notAfter)) return undefined;
  const days = daysLeft(peer.notAfter, nowMs);
  if (days >= warnDays) return undefined;
  const on = isoDay(peer.notAfter);
  const message = days < 0 ? `The certificate expired on ${on}.` : `The certificate ends in ${days} days, on ${on}.`;
  return { outcome: 'warn', source: 'target', code: 'tls_expires_soon', message };
}

/** The leaf as it is kept beside a result. Everything in it is the server's own choice and bounded here. */
export function certificateEvidence(peer: PeerFacts, nowMs: number): CertificateEvidence | undefined {
  const { certificate } = peer;
  if (certificate === undefined) return undefined;
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    names: namesOf(certificate).slice(0, 50),
    not_before: isoTime(peer.notBefore),
    not_after: isoTime(peer.notAfter),
    fingerprint_sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    days_left: daysLeft(peer.notAfter, nowMs),
    ...(peer.protocol !== undefined && { protocol: peer.protocol }),
    ...(peer.cipher !== undefined && { cipher: peer.cipher }),
  };
}

function namesOf(certificate: X509Certificate): string[] {
  return [...(certificate.subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)].map((match) =>
    (match[1] ?? '').slice(0, 253),
  );
}

function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ').slice(0, 500);
}

function isoTime(timeMs: number): string {
  return Number.isFinite(timeMs) ? new Date(timeMs).toISOString() : '';
}

function isoDay(timeMs: number): string {
  return isoTime(timeMs).slice(0, 10);
}
