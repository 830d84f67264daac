const dayMs = 86_400_000;
/** An expired certificate still renews for so long. */
export const renewalGraceMs = 30 * dayMs;
/** A probe renews once a day, and a few times more when answers are lost; each renewal is a row. */
export const certificatesPerDay = 24;
/** How far the time of a proof may lie from the server's. */
export const renewalClockToleranceMs = 10 * 60_000;

export type RenewalFacts = {
  readonly nowMs: number;
  readonly notAfterMs: number;
  readonly issuedAtMs: number;
  /** Whether this installation's authority signed the held certificate. */
  readonly isOurs: boolean;
  /** Whether the proof was made by the certificate's key for this request. */
  readonly isProven: boolean;
  /** Whether certificate and probe are known and unrevoked. */
  readonly isKnown: boolean;
};

export type RenewalVerdict = 'accepted' | 'foreign' | 'clock' | 'unproven' | 'revoked' | 'too_late';

/** Decides on a renewal; the first reason that applies is told. */
export function judgeRenewal(facts: RenewalFacts): RenewalVerdict {
  if (!facts.isOurs) return 'foreign';
  if (!facts.isProven) return 'unproven';
  if (Math.abs(facts.issuedAtMs - facts.nowMs) > renewalClockToleranceMs) return 'clock';
  if (!facts.isKnown) return 'revoked';
  if (facts.nowMs > facts.notAfterMs + renewalGraceMs) return 'too_late';
  return 'accepted';
}
