import { freshSeconds } from '@parallax/checks';
import type { RecheckWish, StoredResult } from '../../consensus/index.ts';
import type { Cadence } from '../timeline-inputs/queries.ts';

type Voter = {
  /** When the next check is due on the longer schedule; undefined before the first. */
  dueUs: number | undefined;
  /** It was asked for a check at this time and has not answered; infinity for not. */
  askedUs: number;
  /** Failures in a row among those that are kept. */
  failures: number;
};

/** The control plane beside probes checks at most every minute. */
const centralCadenceS = 60;

/**
 * Keeps of results that were measured often those that a longer interval would have had: of each voter one for each interval, and, where the rules
 * would have asked for a check at once, the next one that there is. They arrive in the order of receipt.
 */
export class Thinning {
  readonly #intervalS: number;
  readonly #cadences: readonly Cadence[];
  readonly #confirmationsAt: (us: number) => number;
  readonly #voters = new Map<number, Voter>();

  /**
   * @param intervalS the longer interval
   * @param cadences how the monitor was checked, in order of time
   * @param confirmationsAt failures that confirm one, at a time (microseconds)
   */
  constructor(intervalS: number, cadences: readonly Cadence[], confirmationsAt: (us: number) => number) {
    this.#intervalS = intervalS;
    this.#cadences = cadences;
    this.#confirmationsAt = confirmationsAt;
  }

  /** The result as the longer interval would have had it; undefined when it would not have had it. */
  take<Row extends StoredResult>(row: Row): Row | undefined {
    const cadence = this.#cadenceAt(row.eUs);
    if (row.kind === 'manual' || cadence === undefined || cadence.intervalS >= this.#intervalS) return row;
    const voter = this.#voterOf(row.voter);
    const isDue = this.#isDue(voter, row, cadence);
    const isAsked = voter.askedUs <= row.eUs;
    const isInDoubt = voter.failures > 0 && voter.failures < this.#confirmationsAt(row.eUs);
    if (!isDue && !isAsked && !isInDoubt) return undefined;
    voter.askedUs = Number.POSITIVE_INFINITY;
    if (row.outcome === 'fail' || row.outcome === 'timeout') voter.failures += 1;
    else if (row.outcome !== 'probe_error' && row.outcome !== 'skipped') voter.failures = 0;
    const cadenceS = Math.max(this.#intervalS, row.voter === 0 ? centralCadenceS : 0);
    return { ...row, freshS: freshSeconds(cadenceS, cadence.timeoutS) };
  }

  /** Remembers who is asked for a check at once. */
  ask(wishes: readonly RecheckWish[], nowUs: number): void {
    for (const { voters } of wishes) {
      for (const voter of voters) {
        const asked = this.#voterOf(voter);
        asked.askedUs = Math.min(asked.askedUs, nowUs);
      }
    }
  }

  /** Half a measured interval too early is near enough: none lies nearer to the time at which it is due. Late results are not counted twice. */
  #isDue(voter: Voter, row: StoredResult, cadence: Cadence): boolean {
    const intervalUs = this.#intervalS * 1_000_000;
    if (voter.dueUs === undefined) {
      voter.dueUs = row.eUs + intervalUs;
      return true;
    }
    const earlyUs = row.eUs + cadence.intervalS * 500_000 - voter.dueUs;
    if (earlyUs < 0) return false;
    voter.dueUs += intervalUs * (1 + Math.floor(earlyUs / intervalUs));
    return true;
  }

  #voterOf(voter: number): Voter {
    let known = this.#voters.get(voter);
    if (known === undefined) {
      known = { dueUs: undefined, askedUs: Number.POSITIVE_INFINITY, failures: 0 };
      this.#voters.set(voter, known);
    }
    return known;
  }

  #cadenceAt(us: number): Cadence | undefined {
    return this.#cadences.findLast(({ fromUs }) => fromUs <= us) ?? this.#cadences[0];
  }
}
