import { ranges, timeline } from './batch.ts';
import { fromLastVerdicts } from './before-horizon.ts';
import { rowsBeforeHorizon } from './fold.ts';
import type { FoldLimits, FoldRestore, MonitorFold, Taken } from './fold.ts';
import { createMonitorFold } from './increment.ts';
import { canVote } from './prepared-inputs.ts';
import type {
  Assignment,
  MonitorInputs,
  RangeEdit,
  RangeEvidence,
  RangeStatus,
  RecheckWish,
  Segment,
  Status,
  StoredRange,
  StoredResult,
  Transition,
} from './types.ts';

/** Tests count seconds from here. */
export const originUs = 1_700_000_000_000_000;
export const at = (seconds: number): number => originUs + Math.round(seconds * 1_000_000);
const secondsOf = (t: number): number => (t - originUs) / 1_000_000;

/** No result of a test lasts longer. */
export const longestFreshUs = 160_000_000;

/** One seat for each region, all from the origin on; voters are numbered from 1. */
export function seats(...regions: string[]): Assignment[] {
  return regions.map((region, index) => ({
    voter: index + 1,
    region,
    fromUs: originUs,
    toUs: null,
    supplement: false,
  }));
}

export function inputsOf(changes: Partial<MonitorInputs> = {}): MonitorInputs {
  return {
    monitorId: 7,
    assignments: seats('eu', 'us', 'ap'),
    configurations: [{ fromUs: originUs, probeRevision: 1, confirmations: 2, policy: 'majority', intervalS: 60 }],
    pauses: [],
    quarantines: [],
    resetUs: null,
    createdUs: originUs,
    ...changes,
  };
}

/** A result `seconds` after the origin; fresh for 160 s (an interval of 60 s and a timeout of 10 s) unless said otherwise. */
export function result(
  voter: number,
  seconds: number,
  outcome: StoredResult['outcome'],
  changes: Partial<StoredResult> = {},
): StoredResult {
  return {
    eUs: at(seconds),
    voter,
    kind: 'scheduled',
    outcome,
    error: 0,
    freshS: 160,
    probeRevision: 1,
    receivedUs: at(seconds) + 300_000,
    ...changes,
  };
}

/** One result of each of the first three voters. */
export const three = (
  seconds: number,
  outcome: StoredResult['outcome'],
  changes: Partial<StoredResult> = {},
): StoredResult[] => [1, 2, 3].map((voter) => result(voter, seconds, outcome, changes));

/** A fold's beginning without any history, a moment before the first result. */
export function fresh(inputs: MonitorInputs, changes: Partial<FoldRestore> = {}): FoldRestore {
  return {
    inputs,
    before: [],
    votesAtHorizon: new Map(),
    results: [],
    storedRanges: [],
    storedProbeRanges: [],
    horizonUs: at(-10),
    nowUs: at(0),
    ...changes,
  };
}

/** "UP 0–60, UNKNOWN 60–100": a timeline in a form that a failing test can show. */
export function told(segments: readonly { fromUs: number; toUs: number; status: string }[]): string {
  return segments.map(({ fromUs, toUs, status }) => `${status} ${secondsOf(fromUs)}–${secondsOf(toUs)}`).join(', ');
}

type Row = {
  startedUs: number;
  endedUs: number | null;
  status: RangeStatus;
  evidence: RangeEvidence;
  revised: boolean;
};

/** The two range tables with their constraints: a unique start, one open range, none empty. */
export class RangeTables {
  readonly tables = new Map<number | null, Map<number, Row>>();
  /** What began before is void: it may be missing where an edit names it. */
  #voidBeforeUs = Number.NEGATIVE_INFINITY;

  /** Removes what began before a reset, as others than the ingester do. */
  empty(beforeUs: number): void {
    this.#voidBeforeUs = beforeUs;
    for (const table of this.tables.values()) {
      for (const startedUs of table.keys()) if (startedUs < beforeUs) table.delete(startedUs);
    }
  }

  apply(edits: readonly RangeEdit[]): void {
    for (const edit of edits) {
      const table = this.tables.get(edit.voter) ?? new Map<number, Row>();
      this.tables.set(edit.voter, table);
      this.#applyOne(table, edit);
      const open = [...table.values()].filter((row) => row.endedUs === null);
      if (open.length > 1) throw new Error(`two open ranges of voter ${edit.voter}`);
      for (const row of table.values()) {
        if (row.endedUs !== null && row.endedUs <= row.startedUs) throw new Error(`empty range of voter ${edit.voter}`);
      }
    }
  }

  #applyOne(table: Map<number, Row>, edit: RangeEdit): void {
    if (edit.op === 'insert') {
      if (table.has(edit.startedUs)) throw new Error(`two ranges start at ${edit.startedUs}`);
      const { startedUs, endedUs, status, evidence, revised } = edit;
      table.set(startedUs, { startedUs, endedUs, status, evidence, revised });
      return;
    }
    const row = table.get(edit.startedUs);
    if (row === undefined && edit.startedUs < this.#voidBeforeUs) return;
    if (row === undefined) throw new Error(`no range starts at ${edit.startedUs}`);
    table.delete(edit.startedUs);
    if (edit.op === 'delete') return;
    const startedUs = edit.newStartedUs ?? edit.startedUs;
    if (table.has(startedUs)) throw new Error(`two ranges start at ${startedUs}`);
    table.set(startedUs, {
      startedUs,
      endedUs: edit.endedUs,
      status: edit.status ?? row.status,
      evidence: edit.evidence ?? row.evidence,
      revised: row.revised || edit.revised,
    });
  }

  of(voter: number | null): Row[] {
    return [...(this.tables.get(voter) ?? new Map<number, Row>()).values()].sort((a, b) => a.startedUs - b.startedUs);
  }

  stored(): StoredRange[] {
    return [...this.tables.keys()].flatMap((voter) => this.of(voter).map((row) => ({ ...row, voter })));
  }
}

/** What an ingester does around a fold: rows and ranges are stored together at each take, and a rebuild reads them back. */
export class Ingester {
  inputs: MonitorInputs;
  readonly limits: FoldLimits | undefined;
  rows: StoredResult[] = [];
  readonly ranges = new RangeTables();
  readonly transitions: Transition[] = [];
  readonly rechecks: RecheckWish[] = [];
  nowUs: number;
  fold: MonitorFold;
  status: Status = 'UNKNOWN';
  statusSinceUs: number | undefined;
  rebuilds = 0;
  #pending: StoredResult[] = [];
  #toldUs: number;
  #changedFromUs = Number.POSITIVE_INFINITY;

  constructor(inputs: MonitorInputs, nowUs: number, limits?: FoldLimits) {
    this.inputs = inputs;
    this.nowUs = nowUs;
    this.limits = limits;
    this.#toldUs = nowUs;
    this.fold = this.#restore(nowUs - 1);
    this.take();
  }

  /**
   * Restores from what is stored, as after a crash; what was not taken is lost and comes again. The horizon lies `backUs` before what was
   * told, and a freshness window before any change of the inputs that was not.
   */
  restart(backUs: number): void {
    const again = this.#pending;
    this.#pending = [];
    const toldUs = Math.min(this.#toldUs, this.#changedFromUs - rowsBeforeHorizon * longestFreshUs);
    this.fold = this.#restore(toldUs - backUs);
    this.apply(again);
  }

  apply(results: readonly StoredResult[]): void {
    this.#pending.push(...results);
    // One by one as the owner of a shard does it, or many at once.
    let folded = this.fold.apply(results.length > 2 ? results : results.filter((row) => !this.fold.repeat(row)));
    for (let tries = 0; typeof folded === 'object'; tries += 1) {
      if (tries > 10) throw new Error('rebuilds do not come to an end');
      this.rebuilds += 1;
      this.fold = this.#restore(folded.rebuildFromUs);
      folded = this.fold.apply(this.#pending);
    }
  }

  /** Wakes the fold only when it asked to be. */
  advance(nowUs: number): void {
    this.nowUs = nowUs;
    if (this.fold.nextExpiryUs <= nowUs) this.fold.advance(nowUs);
  }

  reconfigure(inputs: MonitorInputs, changedFromUs: number): void {
    this.#changedFromUs = Math.min(this.#changedFromUs, changedFromUs);
    this.inputs = inputs;
    const folded = this.fold.reconfigure(inputs);
    if (typeof folded === 'string') return;
    this.rebuilds += 1;
    this.fold = this.#restore(folded.rebuildFromUs);
    this.apply(this.#pending.splice(0));
  }

  /** What a reset made void is removed from what is stored, as others than the ingester do: its results, then its ranges. */
  emptyRows(beforeUs: number): void {
    this.rows = this.rows.filter((row) => row.eUs >= beforeUs);
  }

  emptyRanges(beforeUs: number): void {
    this.ranges.empty(beforeUs);
  }

  take(): Taken {
    const taken = this.fold.take();
    this.ranges.apply(taken.edits);
    this.transitions.push(...taken.transitions);
    this.rechecks.push(...taken.rechecks);
    this.status = taken.status;
    this.statusSinceUs = taken.statusSinceUs;
    this.rows.push(...this.#pending);
    this.#pending = [];
    this.#toldUs = this.nowUs;
    this.#changedFromUs = Number.POSITIVE_INFINITY;
    return taken;
  }

  /**
   * The stored ranges beside those of the batch form over the stored rows, both as text; null: the monitor's own. Stored ranges that began
   * before a reset are void.
   */
  compare(voter: number | null): { stored: string; batch: string } {
    const untilUs = this.nowUs + 1;
    const fromUs = this.inputs.resetUs ?? Number.NEGATIVE_INFINITY;
    const { segments, perVoter } = timeline(this.inputs, this.rows, at(-10_000), untilUs);
    const own: readonly Segment[] = voter === null ? segments : (perVoter.get(voter) ?? []);
    return {
      stored: told(
        this.ranges
          .of(voter)
          .filter((row) => row.startedUs >= fromUs)
          .map((row) => ({ fromUs: row.startedUs, toUs: row.endedUs ?? untilUs, status: row.status })),
      ),
      batch: told(ranges(own)),
    };
  }

  /** The batch form's status over the stored rows, now. */
  statusNow(): Status {
    return timeline(this.inputs, this.rows, this.nowUs, this.nowUs + 1).segments[0]?.status ?? 'UNKNOWN';
  }

  #restore(horizonUs: number): MonitorFold {
    const older = this.rows.filter((row) => row.eUs < horizonUs && row.kind !== 'manual' && row.outcome !== 'skipped');
    const stored = this.ranges.stored();
    const reaching = stored.filter((range) => range.endedUs === null || range.endedUs >= horizonUs);
    const votesAtHorizon = new Map<number, 'DOWN' | 'TIMEOUT'>();
    const votedUntilUs = new Map<number, number>();
    for (const range of stored) {
      if (range.voter === null || range.startedUs >= horizonUs) continue;
      votedUntilUs.set(range.voter, range.endedUs ?? Number.POSITIVE_INFINITY);
      if (range.status === 'DOWN' || range.status === 'TIMEOUT') votesAtHorizon.set(range.voter, range.status);
      else votesAtHorizon.delete(range.voter);
    }
    return createMonitorFold({
      inputs: this.inputs,
      // As the product reads them: results that are too late are never stored.
      before: fromLastVerdicts(older.filter(canVote)),
      votesAtHorizon,
      votedUntilUs,
      results: this.rows.filter((row) => row.eUs >= horizonUs),
      storedRanges: reaching.filter((range) => range.voter === null),
      storedProbeRanges: reaching.filter((range) => range.voter !== null),
      horizonUs,
      nowUs: this.nowUs,
      status: this.status,
      ...(this.statusSinceUs === undefined ? {} : { statusSinceUs: this.statusSinceUs }),
      ...(this.limits === undefined ? {} : { limits: this.limits }),
    });
  }
}
