import type { X509Certificate } from 'node:crypto';
import type { CertificateChain } from '@parallax/api-contract';
import { keyBits } from './key-bits.ts';

type Problem = CertificateChain['problems'][number];

/** What is known of a chain beside its certificates. */
export type ChainFacts = {
  /** OpenSSL's name of what is wrong with it; null when it leads to a trusted authority. */
  readonly trustError: string | null;
  readonly isForHost: boolean;
  readonly host: string;
  readonly nowMs: number;
};

/** Fewest bits that are still safe (NIST SP 800-57, 112 bits of security). */
const minRsaBits = 2_048;
const minCurveBits = 224;

/** Everything that is wrong with a chain, in the order of its certificates, what concerns the whole of it last. */
export function chainProblems(certificates: readonly X509Certificate[], facts: ChainFacts): Problem[] {
  return [
    ...certificates.flatMap((each, index) => ownProblems(each, index, facts)),
    ...orderProblems(certificates),
    ...trustProblems(certificates, facts.trustError),
  ];
}

function ownProblems(certificate: X509Certificate, index: number, facts: ChainFacts): Problem[] {
  const found: Problem[] = [];
  const say = (code: Problem['code'], message: string): void => void found.push({ code, message, certificate: index });
  const which = index === 0 ? 'The certificate' : `Certificate ${index + 1} of the chain`;
  const { validFromDate, validToDate, publicKey } = certificate;
  if (facts.nowMs > validToDate.getTime()) say('expired', `${which} expired on ${day(validToDate)}.`);
  if (facts.nowMs < validFromDate.getTime())
    say('not_yet_valid', `${which} is valid only from ${day(validFromDate)} on.`);
  if (index === 0 && !facts.isForHost) say('wrong_host', `${which} is not for ${facts.host}.`);
  if (index === 0 && isSelfSigned(certificate)) say('self_signed', `${which} is signed by itself.`);
  const bits = keyBits(publicKey);
  const least = publicKey.asymmetricKeyType === 'ec' ? minCurveBits : minRsaBits;
  if (bits !== null && bits < least) say('weak_key', `${which} has a key of ${bits} bits; at least ${least} are safe.`);
  // Nobody checks the signature of a root: it is trusted for what it is.
  const isWeak = /md5|sha-?1(?!\d)/i.test(certificate.signatureAlgorithm ?? '');
  if (isWeak && !isSelfSigned(certificate))
    say(
      'weak_signature',
      `${which} is signed with ${certificate.signatureAlgorithm ?? 'a weak digest'}, which can be forged.`,
    );
  return found;
}

/** RFC 5246, 7.4.2: each certificate certifies the one before it. Most clients put them in order themselves, some do not. */
function orderProblems(certificates: readonly X509Certificate[]): Problem[] {
  const path = pathOf(certificates);
  const found: Problem[] = [];
  for (const [index, certificate] of certificates.entries()) {
    if (path.includes(index)) continue;
    const isTwice = certificates.slice(0, index).some(({ raw }) => raw.equals(certificate.raw));
    const why = isTwice ? 'is sent twice' : 'does not belong to the chain';
    found.push({ code: 'unrelated', message: `Certificate ${index + 1} ${why}.`, certificate: index });
  }
  const isInOrder = path.every((index, at) => at === 0 || index > (path[at - 1] ?? 0));
  if (!isInOrder)
    found.push({
      code: 'wrong_order',
      message: 'The certificates are not sent in order, each behind the one that it signed.',
      certificate: null,
    });
  return found;
}

/** Indices from the leaf to its last issuer that was sent. */
function pathOf(certificates: readonly X509Certificate[]): number[] {
  const path = [0];
  for (let [at] = path; at !== undefined; ) {
    const present = certificates[at];
    if (present === undefined || isSelfSigned(present)) break;
    const next = certificates.findIndex((each, index) => !path.includes(index) && isIssuedBy(present, each));
    if (next === -1) break;
    path.push(next);
    at = next;
  }
  return path;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && isIssuedBy(certificate, certificate);
}

/** Names as OpenSSL has them (X509_V_ERR_…). What dates and keys say stands with their certificates. */
function trustProblems(certificates: readonly X509Certificate[], trustError: string | null): Problem[] {
  const path = pathOf(certificates);
  const last = certificates[path.at(-1) ?? 0];
  const of = (code: Problem['code'], message: string): Problem[] => [{ code, message, certificate: null }];
  const issuer = (last?.issuer ?? '').replaceAll('\n', ', ').slice(0, 300);
  switch (trustError) {
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return of(
        'missing_intermediate',
        `The server does not send the certificate of ${issuer}, which is no trusted authority.`,
      );
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return of('untrusted', `The chain ends in an authority that is not trusted (${issuer}).`);
    case null:
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return [];
    default:
      return of('untrusted', `The chain cannot be trusted (${trustError}).`);
  }
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
