import type { CheckResult } from '../check.ts';
import type { Facts } from '../facts.ts';
import type { Evidence, Phases } from '../outcome.ts';
import { certificateEvidence, expirySoon, type PeerFacts } from './certificate.ts';
import type { Endpoint } from './dial.ts';
import type { Failure } from './failure.ts';
import type { SessionPlan } from './session-plan.ts';

/** What a session went through, on the milliseconds of the context's clock. */
export type Seen = {
  readonly startAt: number;
  /** The end of the connecting, or of implicit TLS. */
  readonly openedAt: number;
  /** When the first byte of the other side came. */
  readonly firstAt: number | undefined;
  /** What a handshake behind the first byte took. */
  readonly upgradeMs: number;
  readonly now: number;
  /** Phases that were timed as they came, in microseconds. */
  readonly phases: Phases;
  /** The address that was tried; its port is 0 for a protocol without ports. */
  readonly tried: Endpoint | undefined;
  /** What the other side showed in the handshake. */
  readonly peer: PeerFacts | undefined;
  /** Its certificate does not matter. */
  readonly isUnverified: boolean;
  readonly evidence: Evidence;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly facts: Facts | undefined;
};

/**
 * The outcome of a session with its times and evidence. `first_byte` lasts from the end of the connecting, or of implicit TLS, to the first
 * byte of the other side, `transfer` from there to the verdict, without the time of a handshake in between.
 */
export function verdictOf(
  seen: Seen,
  { context, settings }: SessionPlan,
  failure: Failure | undefined,
  redact: (text: string) => string,
): CheckResult {
  const wallMs = (context.wallClock ?? Date.now)();
  const warnDays = seen.isUnverified ? 0 : (settings.warn_days_before_expiry ?? 0);
  const found = failure ?? expirySoon(seen.peer, warnDays, wallMs);
  const certificate = seen.peer && certificateEvidence(seen.peer, wallMs);
  const hasDetails = Object.keys(seen.details).length > 0;
  return {
    outcome: 'ok',
    total: micro(seen.now - seen.startAt),
    phases: { ...seen.phases, ...answerPhases(seen) },
    evidence: {
      ...(seen.tried && { address: seen.tried.address }),
      ...(seen.tried && seen.tried.port !== 0 && { port: seen.tried.port }),
      ...seen.evidence,
      ...(certificate && { certificate }),
      ...(hasDetails && { details: seen.details }),
    },
    ...(context.wanted && seen.facts && { facts: seen.facts }),
    ...(found && { ...found, message: redact(found.message) }),
  };
}

function answerPhases({ firstAt, openedAt, now, upgradeMs }: Seen): Phases {
  if (firstAt === undefined) return {};
  const from = Math.max(firstAt, openedAt);
  return { first_byte: micro(from - openedAt), transfer: micro(now - from - upgradeMs) };
}

/** Whole microseconds of a duration in milliseconds; never negative. */
export function micro(durationMs: number): number {
  return Math.max(0, Math.round(durationMs * 1000));
}
