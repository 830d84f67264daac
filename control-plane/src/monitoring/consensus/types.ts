import type { CheckKind, Outcome } from '@parallax/checks';

/** What a monitor's status can be at an instant. PARTIAL: some voters fail, no quorum. UNKNOWN: nobody holds a vote, or paused. */
export type Status = 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED' | 'PARTIAL' | 'WARNING' | 'UNKNOWN';

/** What a status range carries: PARTIAL and WARNING count as DEGRADED, UNKNOWN leaves a gap. */
export type RangeStatus = 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';

/** What one voter says: UP answered, DEGRADED slow, WARNING answered with a warning, DOWN and TIMEOUT confirmed failures. */
export type Vote = 'UP' | 'DEGRADED' | 'WARNING' | 'DOWN' | 'TIMEOUT';

/** How many failing voters make a DOWN; a number is clamped to 1..N. */
export type Policy = 'majority' | 'any' | 'all' | number;

/** Half-open: `fromUs` is inside, `toUs` is not; null has no end yet. Whole microseconds since the epoch, as everywhere here. */
export type Interval = { readonly fromUs: number; readonly toUs: number | null };

/** One stored row as consensus needs it. `voter` is a probe id, or 0 for the control plane itself (`central`). */
export type StoredResult = {
  /** Effective time: the start of the check. */
  readonly eUs: number;
  readonly voter: number;
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  /** Number of `errorCodes`; 0 for none. */
  readonly error: number;
  /** Seconds that the vote lasts without another result. */
  readonly freshS: number;
  readonly probeRevision: number;
  readonly receivedUs: number;
};

/** A probe's seat at a monitor, or its place as a supplement, for a half-open time. */
export type Assignment = {
  readonly voter: number;
  readonly region: string;
  readonly fromUs: number;
  readonly toUs: number | null;
  /** Votes, but is not among the N that the quorum is computed from. */
  readonly supplement: boolean;
  /**
   * A seat that opens beside others joins them: it is among the N from its voter's first vote in it, at the latest from then or from when a
   * seat of the monitor closes. Absent: from its opening.
   */
  readonly countsByUs?: number | undefined;
};

/** Holds from `fromUs` until the next event; the first also holds before it. Of several at one instant the last listed holds. */
export type ConfigurationEvent = {
  readonly fromUs: number;
  readonly probeRevision: number;
  /** 1 to 5. */
  readonly confirmations: number;
  readonly policy: Policy;
  /** Seconds between scheduled checks. Decides rechecks only, never a status; absent: taken as longer than 30 s. */
  readonly intervalS?: number;
};

/** All that the status of one monitor depends on beside its results. The order within the lists means nothing but for configurations of one instant. */
export type MonitorInputs = {
  readonly monitorId: number;
  readonly assignments: readonly Assignment[];
  readonly configurations: readonly ConfigurationEvent[];
  readonly pauses: readonly Interval[];
  readonly quarantines: readonly (Interval & { readonly voter: number })[];
  /** Results older than this count nowhere. */
  readonly resetUs: number | null;
  /** A monitor has no status before it exists. */
  readonly createdUs: number;
};

/**
 * The rule that decided, in the order in which they are tried: `not_started` and `paused` (nobody may vote), `no_votes`,
 * `quorum_failing`, `quorum_timed_out`, `some_failing`, `half_slow`, `any_warning`, `answered`. `own_votes` stands on ranges of one voter.
 */
export type Rule =
  | 'not_started'
  | 'paused'
  | 'no_votes'
  | 'quorum_failing'
  | 'quorum_timed_out'
  | 'some_failing'
  | 'half_slow'
  | 'any_warning'
  | 'answered'
  | 'own_votes';

/** One vote as evidence: since when the voter has voted so, and the error code of its latest result at that instant (0 none). */
export type VoteEvidence = {
  readonly voter: number;
  readonly vote: Vote;
  readonly sinceUs: number;
  readonly error: number;
};

/** Why a range has its status, as of its opening. Stored as JSON with the range. */
export type RangeEvidence = {
  readonly rule: Rule;
  /** Failing voters that make a DOWN; 0 while nobody may vote and on ranges of one voter. */
  readonly quorum: number;
  /** The votes that counted, by voter. */
  readonly voters: readonly VoteEvidence[];
  /** Voters that have a seat and did not count: without a vote, or in quarantine. */
  readonly missing: readonly number[];
  /** Somebody fails, and fewer voters hold a vote than the quorum asks for. */
  readonly quorum_out_of_reach?: boolean;
};

/** A maximal run of one status, half-open. Segments of a window partition it. */
export type Segment = {
  readonly fromUs: number;
  readonly toUs: number;
  readonly status: Status;
  readonly evidence: RangeEvidence;
};

/** A maximal run of one range status, half-open. What lies between two runs is a gap. */
export type RangeRun = {
  readonly fromUs: number;
  readonly toUs: number;
  readonly status: RangeStatus;
  readonly evidence: RangeEvidence;
};

/** A row of `status_ranges` (voter null) or of `probe_ranges`. */
export type StoredRange = {
  readonly voter: number | null;
  readonly startedUs: number;
  /** Null: open, it lasts still. */
  readonly endedUs: number | null;
  readonly status: RangeStatus;
};

/**
 * One write to `status_ranges` (voter null) or `probe_ranges`, by natural key (monitor, voter, startedUs). Applied in the order given, no
 * step breaks the uniqueness of the key nor leaves two open ranges. `revised`: a late result changed what had been told of the past.
 */
export type RangeEdit = { readonly monitorId: number; readonly voter: number | null } & (
  | {
      readonly op: 'insert';
      readonly startedUs: number;
      readonly endedUs: number | null;
      readonly status: RangeStatus;
      readonly evidence: RangeEvidence;
      readonly revised: boolean;
    }
  | {
      readonly op: 'update';
      /** The key before the update. */
      readonly startedUs: number;
      readonly newStartedUs?: number;
      readonly endedUs: number | null;
      /** Given with its evidence when the status changes. */
      readonly status?: RangeStatus;
      readonly evidence?: RangeEvidence;
      readonly revised: boolean;
    }
  | { readonly op: 'delete'; readonly startedUs: number }
);

/** A change of the current status. `atUs` is the start of the new status, dated back to its onset; `detectedUs` is when it was seen. */
export type Transition = {
  readonly monitorId: number;
  readonly atUs: number;
  readonly from: Status;
  readonly to: Status;
  readonly evidence: RangeEvidence;
  readonly detectedUs: number;
};

/** Rule 7: who is asked to check at once, and why. Types that must not be rechecked often are for the caller to leave out. */
export type RecheckWish = {
  readonly monitorId: number;
  /** Other regions first. */
  readonly voters: readonly number[];
  readonly reason: 'first_failure' | 'first_good' | 'while_failing';
};

/** A vote that holds from `fromUs` until before `toUs`; `sinceUs` is when the voter began to vote so without a break. */
export type Piece = {
  readonly fromUs: number;
  readonly toUs: number;
  readonly vote: Vote;
  readonly sinceUs: number;
  readonly error: number;
};
