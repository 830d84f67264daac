import type { CheckKind, FailureSource, Outcome } from '@parallax/checks';

/** Microseconds of the five phases; undefined where a phase did not happen. */
export type ResultPhases = {
  readonly dnsUs?: number | undefined;
  readonly connectUs?: number | undefined;
  readonly tlsUs?: number | undefined;
  readonly firstByteUs?: number | undefined;
  readonly transferUs?: number | undefined;
};

/** One result as it travels from the agent's log to the ingest. */
export type ResultRecord = ResultPhases & {
  readonly monitorId: number;
  /** Effective time: microseconds since the epoch of the start of the check, in server-anchored time. */
  readonly effectiveUs: number;
  readonly probeRevision: number;
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source?: FailureSource | undefined;
  /** Number of `errorCodes`; 0 for none. */
  readonly error: number;
  /** Seconds that the vote stays fresh: `max(10, ceil(2.5 × cadence)) + timeout`. */
  readonly freshS: number;
  readonly totalUs: number;
  /** Only on a first failure and when the error code changes. */
  readonly evidence?: { readonly message: string; readonly json: string } | undefined;
};

/** Where a batch stands in the probe's log. */
export type BatchHeader = {
  readonly probeId: number;
  readonly epoch: bigint;
  readonly shard: number;
  readonly firstSeq: bigint;
};
