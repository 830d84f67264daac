import { X509Certificate } from 'node:crypto';
import type { CertificateChain, ChainCertificate } from '@parallax/api-contract';
import { codeMeanings, errorCodes } from '@parallax/checks';
import type { ErrorCode, SentChain } from '@parallax/checks';
import { chainProblems } from './chain-problems.ts';
import { keyBits } from './key-bits.ts';

/** What a handshake is told as, without what only the request knows. */
export type DescribedChain = Omit<CertificateChain, 'checked_at' | 'probe_id' | 'cached'>;

const dayMs = 86_400_000;

/**
 * Says what is to be seen in a chain and what is wrong with it. The bytes come from a server that may be hostile, by way of a probe that may
 * be wrong: everything is read from the certificates here, and every text is bounded.
 * @param host what the leaf must be for: a name or an address
 * @param nowMs milliseconds since 1970
 */
export function describeChain(sent: SentChain, host: string, nowMs: number): DescribedChain {
  if ('code' in sent) return withoutChain(sent.code);
  const certificates = sent.certificates.map(parsed).filter((each) => each !== undefined);
  const [leaf] = certificates;
  if (leaf === undefined || certificates.length < sent.certificates.length) return withoutChain('tls_handshake');
  const problems = chainProblems(certificates, {
    trustError: sent.trust_error,
    isForHost: isFor(leaf, host),
    host,
    nowMs,
  });
  return {
    reachable: true,
    certificates: certificates.map((each, index) => described(each, index, nowMs)),
    error: null,
    error_code: null,
    trusted: sent.trust_error === null && !problems.some(({ code }) => distrusted.has(code)),
    problems,
    tls_version: sent.tls_version,
    cipher: sent.cipher,
  };
}

/** Problems that browsers would refuse the server for, beside what OpenSSL says about trust. */
const distrusted: ReadonlySet<string> = new Set(['expired', 'not_yet_valid', 'wrong_host', 'self_signed', 'weak_key']);

function withoutChain(code: string): DescribedChain {
  const isKnown = Object.hasOwn(errorCodes, code);
  return {
    // What fails behind the connection has codes of its own.
    reachable: isKnown && !/^(dns|connect|address|probe)_/.test(code),
    certificates: [],
    error: isKnown ? codeMeanings[code as ErrorCode] : 'The target could not be looked at.',
    error_code: isKnown ? code : 'probe_internal',
    trusted: false,
    problems: [],
    tls_version: null,
    cipher: null,
  };
}

function parsed(base64: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(Buffer.from(base64, 'base64'));
    // Read here, since a certificate may be well formed but for its key or its dates.
    const dates = [certificate.validFromDate, certificate.validToDate];
    const isWhole = certificate.publicKey.type === 'public' && dates.every((each) => Number.isFinite(each.getTime()));
    return isWhole ? certificate : undefined;
  } catch {
    return undefined;
  }
}

/** As browsers do it: names of the subject alternative name only, no wildcards inside a label. */
function isFor(leaf: X509Certificate, host: string): boolean {
  if (/^[\d.]+$|:/.test(host)) return leaf.checkIP(host) !== undefined;
  return leaf.checkHost(host.replace(/\.$/, ''), { subject: 'never', partialWildcards: false }) !== undefined;
}

function described(certificate: X509Certificate, index: number, nowMs: number): ChainCertificate {
  const { publicKey } = certificate;
  const notAfterMs = certificate.validToDate.getTime();
  return {
    role: index === 0 ? 'leaf' : certificate.subject === certificate.issuer ? 'root' : 'intermediate',
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    names: namesOf(certificate),
    serial_number: certificate.serialNumber.slice(0, 100),
    not_before: isoTime(certificate.validFromDate.getTime()),
    not_after: isoTime(notAfterMs),
    days_left: Math.floor((notAfterMs - nowMs) / dayMs),
    key_type: publicKey.asymmetricKeyType ?? 'unknown',
    key_bits: keyBits(publicKey),
    signature_algorithm: certificate.signatureAlgorithm ?? certificate.signatureAlgorithmOid,
    fingerprint_sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    pem: certificate.toString(),
  };
}

function namesOf({ subjectAltName }: X509Certificate): string[] {
  const found = [...(subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)];
  return found.slice(0, 100).map((match) => (match[1] ?? '').slice(0, 253));
}

function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ').slice(0, 500);
}

/** Years beyond 9999 have no form in ISO 8601 that clients read. */
function isoTime(timeMs: number): string {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59);
  return new Date(Math.min(Math.max(timeMs, 0), last)).toISOString();
}
