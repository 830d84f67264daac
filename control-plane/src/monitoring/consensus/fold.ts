import type { Outlook } from './outlook.ts';
import type { Standing } from './standing.ts';
import type { MonitorInputs, RangeEdit, RecheckWish, Status, StoredRange, StoredResult, Transition } from './types.ts';

/** A result this much older than the newest one folded, or than what was told, is late: boundaries that it moves are marked as revised. */
export const lateAfterUs = 15_000_000;

/** A check that times out ends so long after its effective time at most. */
export const longestCheckUs = 60_000_000;

/** How much a fold keeps. */
export type FoldLimits = {
  /** Results at most this much older than the present are folded in memory; older ones may ask for a rebuild. */
  readonly keepUs: number;
  /** Rows of a voter that are kept before any is let go. */
  readonly compactFrom: number;
};

export const foldLimits: FoldLimits = { keepUs: 120_000_000, compactFrom: 16 };

/** Instants with an outcome of ok, slow, warn, fail or timeout that a restore needs of each voter before its horizon: one more than confirmations. */
export const rowsBeforeHorizon = 6;

/** What a fold is made from: rows of the database, all committed, and ranges that tell exactly what those rows say. */
export type FoldRestore = {
  readonly inputs: MonitorInputs;
  /**
   * For each voter all rows before the horizon from its `rowsBeforeHorizon`-th latest verdict on (kind scheduled or recheck, outcome ok, slow,
   * warn, fail or timeout), the `probe_error` rows between them and all rows of each instant included (`fromLastVerdicts`); fewer only when
   * there are no more.
   */
  readonly before: readonly StoredResult[];
  /** For each voter the status of the latest of its probe ranges that began before the horizon, when it is DOWN or TIMEOUT. */
  readonly votesAtHorizon: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>;
  /** For each voter when the latest of its probe ranges that began before the horizon ends; infinity: it is open. Absent: there were none. */
  readonly votedUntilUs?: ReadonlyMap<number, number>;
  /** All rows from the horizon on. */
  readonly results: readonly StoredResult[];
  /** Ranges of the monitor that are open or ended at the horizon or later. */
  readonly storedRanges: readonly StoredRange[];
  /** The same of its voters. */
  readonly storedProbeRanges: readonly StoredRange[];
  /**
   * Nothing before it will be written, so it lies at or before the time until which the stored ranges were told (`folded_until`); results
   * from before it ask for a rebuild, so better `foldLimits.keepUs` before that. When an input changed that the ranges do not show yet, it
   * lies `rowsBeforeHorizon` times the longest freshness before that change.
   */
  readonly horizonUs: number;
  readonly nowUs: number;
  /** The monitor's status as it was last written; absent: as the open range says. A difference to now is a transition. */
  readonly status?: Status;
  readonly statusSinceUs?: number;
  /** Absent: `foldLimits`. */
  readonly limits?: FoldLimits;
};

/** Folded; or: drop this fold, make it anew with this horizon from the database, and apply the same results again. */
export type FoldResult = 'folded' | { readonly rebuildFromUs: number };

/** What changed since the last take. */
export type Taken = {
  readonly edits: readonly RangeEdit[];
  readonly transitions: readonly Transition[];
  readonly rechecks: readonly RecheckWish[];
  readonly status: Status;
  readonly statusSinceUs: number;
};

/** The memory of one monitor's consensus: what the batch form says of all rows so far, kept up result by result. */
export type MonitorFold = {
  /**
   * Takes a result that only makes a vote that is held last longer, as nearly all do: true, and there is nothing new to take, and
   * `nextExpiryUs` is not earlier than before. False: it was not taken, and `apply` is for it.
   */
  readonly repeat: (result: StoredResult) => boolean;
  /**
   * Takes results in any order, duplicates too; none may lie after the present. After a rebuild was asked for, this fold is void. With
   * `nowUs` it also advances.
   */
  readonly apply: (results: readonly StoredResult[], nowUs?: number) => FoldResult;
  /** Time passes: votes end. An earlier time than before means nothing. */
  readonly advance: (nowUs: number) => void;
  /** Everything up to then is told, of this monitor without a change: what comes of before is late. Time passes by `advance` only. */
  readonly toldUntil: (us: number) => void;
  /** Replaces the inputs; what changed takes effect at its own time. A reset always asks for a rebuild. */
  readonly reconfigure: (inputs: MonitorInputs) => FoldResult;
  /** When `advance` must be called at the latest; infinity for never. May be earlier than anything happens. */
  readonly nextExpiryUs: number;
  /** Who holds votes now; the same object as long as nothing of it changes, so that asking costs nothing. */
  readonly standing: Standing;
  /** What the present status rests on; made when it is asked for. */
  readonly outlook: Outlook;
  /** What changed since the last take: nothing at almost no cost in the steady state. */
  readonly take: () => Taken;
};
