/**
 * What a check found, in the terms that consensus and the API use. Pure data: it crosses the wire, the database and the API.
 */
import type { ErrorCode } from './error-codes.ts';

export { codeMeanings, type ErrorCode, errorCodeOf, errorCodes } from './error-codes.ts';

/**
 * - `ok` answered as it should
 * - `slow` answered, above the monitor's degraded threshold
 * - `warn` answered, but something will soon be wrong (a certificate about to expire)
 * - `fail` the target is wrong or refused
 * - `timeout` no answer within the monitor's timeout
 * - `skipped` not run (overload, overrun of the slot before)
 * - `probe_error` the probe's own fault; says nothing about the target
 */
export const outcomes = ['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error'] as const;
export type Outcome = (typeof outcomes)[number];

/** Whose fault a result that is not good is. */
export const failureSources = ['target', 'resolver', 'probe'] as const;
export type FailureSource = (typeof failureSources)[number];

/** Why a check ran. Scheduled and recheck results vote, manual ones never count. */
export const checkKinds = ['scheduled', 'recheck', 'manual'] as const;
export type CheckKind = (typeof checkKinds)[number];

/** Durations of the phases of one check, whole microseconds on the monotonic clock; absent where the check has no such phase or did not reach it. */
export type Phases = {
  readonly dns?: number;
  readonly connect?: number;
  readonly tls?: number;
  readonly first_byte?: number;
  readonly transfer?: number;
};

/** What a person or a replay needs to understand a failure. Bounded: body at most 4 KiB, headers at most 64 KiB. Never holds a secret of the monitor. */
export type Evidence = {
  readonly address?: string;
  readonly port?: number;
  readonly status?: number;
  readonly status_text?: string;
  readonly http_version?: string;
  readonly headers?: ReadonlyArray<readonly [string, string]>;
  readonly body?: string;
  readonly final_url?: string;
  readonly redirects?: number;
  readonly certificate?: CertificateEvidence;
  /** What each blocklist that was asked said, by the name under which it is shown; at most 70. */
  readonly listings?: Listings;
  readonly answers?: readonly string[];
  readonly rcode?: string;
  readonly packets_sent?: number;
  readonly packets_received?: number;
  readonly rtt_min_ms?: number;
  readonly rtt_max_ms?: number;
  readonly jitter_ms?: number;
  /** Facts of one check type: at most 30 entries, texts of at most 500 characters, names in snake_case. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
};

/** `listed` and `clean` are answers of a list; `error`: it gave none that counts. */
export type Listings = Readonly<Record<string, 'listed' | 'clean' | 'error'>>;

/** The leaf certificate that a server presented. Dates are ISO 8601 UTC. */
export type CertificateEvidence = {
  readonly subject: string;
  readonly issuer: string;
  readonly names: readonly string[];
  readonly not_before: string;
  readonly not_after: string;
  readonly fingerprint_sha256: string;
  readonly days_left: number;
  readonly protocol?: string;
  readonly cipher?: string;
};

/** The whole of what one run of one check says. */
export type CheckOutcome = {
  readonly outcome: Outcome;
  /** Whole microseconds from the start of the check to its verdict; for a ping that was answered, the average round trip. */
  readonly total: number;
  readonly phases: Phases;
  /** Absent for `ok` and `slow`. */
  readonly source?: FailureSource;
  /** A stable code of `errorCodes`; absent for `ok`. */
  readonly code?: ErrorCode;
  /** One sentence for a person; absent for `ok`. */
  readonly message?: string;
  readonly evidence?: Evidence;
};
