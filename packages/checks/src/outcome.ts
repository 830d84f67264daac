/**
 * What a check found, in the terms that consensus and the API use. Pure data: it crosses the wire, the database and the API.
 */

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
  readonly answers?: readonly string[];
  readonly rcode?: string;
  readonly packets_sent?: number;
  readonly packets_received?: number;
  readonly rtt_min_us?: number;
  readonly rtt_max_us?: number;
  readonly jitter_us?: number;
};

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

/**
 * Every stable error code with the number that stands for it in the database and on the wire. Append only: a number is never
 * used again. 0 is "no error".
 */
export const errorCodes = {
  dns_nxdomain: 1,
  dns_no_answer: 2,
  dns_timeout: 3,
  dns_servfail: 4,
  dns_refused: 5,
  dns_wrong_answer: 6,
  dns_wrong_rcode: 7,
  address_denied: 10,
  address_family_missing: 11,
  connect_refused: 20,
  connect_timeout: 21,
  connect_unreachable: 22,
  connect_reset: 23,
  connect_failed: 24,
  tls_timeout: 30,
  tls_handshake: 31,
  tls_expired: 32,
  tls_not_yet_valid: 33,
  tls_hostname: 34,
  tls_self_signed: 35,
  tls_untrusted: 36,
  tls_incomplete_chain: 37,
  tls_weak: 38,
  tls_fingerprint: 39,
  tls_expires_soon: 40,
  http_timeout: 50,
  http_protocol: 51,
  http_status: 52,
  http_header: 53,
  http_too_large: 54,
  http_redirect: 55,
  http_closed: 56,
  http_headers_too_large: 57,
  keyword_missing: 60,
  keyword_present: 61,
  response_mismatch: 62,
  response_timeout: 63,
  ping_no_reply: 70,
  ping_loss: 71,
  response_slow: 80,
  inverted_answer: 81,
  target_invalid: 82,
  overrun: 90,
  overload: 91,
  probe_uplink: 92,
  probe_clock: 93,
  probe_capability: 94,
  probe_internal: 95,
  cancelled: 96,
} as const;
export type ErrorCode = keyof typeof errorCodes;

const codeByNumber = new Map<number, ErrorCode>(
  Object.entries(errorCodes).map(([code, number]) => [number, code as ErrorCode]),
);

/** The code behind a stored number; undefined for 0 and for numbers of a newer version. */
export function errorCodeOf(number: number): ErrorCode | undefined {
  return codeByNumber.get(number);
}
