import { Playback } from '../../consensus/index.ts';
import type { KeptRange, MonitorInputs, Told } from '../../consensus/index.ts';
import type { Cadence } from '../timeline-inputs/queries.ts';
import { judgedBy, proposedInputs } from './proposal.ts';
import type { Proposal, TimedResult } from './proposal.ts';
import { Thinning } from './thinning.ts';

/** What is played, of which time. Microseconds since the epoch. */
export type SimulationOptions = {
  readonly inputs: MonitorInputs;
  readonly cadences: readonly Cadence[];
  readonly proposal: Proposal;
  /** The window that is told of: half-open. */
  readonly fromUs: number;
  readonly untilUs: number;
  /** Where playing begins, so long before the window that its beginning is right. */
  readonly playFromUs: number;
  /** Results of before that, and the failing votes of before (`PlaybackOptions`). */
  readonly before: readonly TimedResult[];
  readonly votesBefore: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>;
  /** How long the ingest gathers results. */
  readonly lingerUs: number;
};

/** What some settings made of the results of the window. */
export type Played = {
  /** What others were told of within the window, oldest first. */
  readonly told: readonly Told[];
  /** Ranges of the window, cut to it, oldest first; open when they last at its end. */
  readonly ranges: readonly KeptRange[];
  /** Results of the window that took part. */
  readonly results: number;
};

/** The same results under the settings as they were and as proposed, side by side. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #present: Course;
  readonly #proposed: Course;
  #lastReceivedUs = Number.NEGATIVE_INFINITY;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const { proposal, inputs, cadences } = options;
    this.#present = new Course(options, inputs, (row) => row, undefined);
    if (Object.values(proposal).every((value) => value === undefined)) {
      this.#proposed = this.#present;
      return;
    }
    const changed = proposedInputs(inputs, proposal);
    const thinning =
      proposal.intervalS === undefined
        ? undefined
        : new Thinning(proposal.intervalS, cadences, (us) => confirmationsAt(changed, us));
    this.#proposed = new Course(options, changed, admission(proposal, thinning), thinning);
  }

  /** Adds all results of the next part of the time, which ends at `toUs`, and plays what is complete by then. Yields now and then. */
  *add(rows: readonly TimedResult[], toUs: number): Generator<void, void, undefined> {
    for (const row of rows) this.#lastReceivedUs = Math.max(this.#lastReceivedUs, row.receivedUs);
    for (const course of this.#courses()) {
      course.playback.add(rows);
      yield* course.playback.playUntil(toUs);
    }
  }

  /** Plays the rest: also what came later than the window and tells of it. */
  *finish(): Generator<void, void, undefined> {
    const endUs = Math.max(this.#options.untilUs, this.#lastReceivedUs + 1);
    for (const course of this.#courses()) yield* course.playback.finish(endUs);
  }

  outcome(): { readonly present: Played; readonly proposed: Played } {
    return { present: this.#played(this.#present), proposed: this.#played(this.#proposed) };
  }

  /** Nothing proposed is nothing to be played twice. */
  #courses(): ReadonlySet<Course> {
    return new Set([this.#present, this.#proposed]);
  }

  #played({ playback, results }: Course): Played {
    const { fromUs, untilUs } = this.#options;
    return {
      told: playback.told.filter(({ toldUs }) => toldUs >= fromUs && toldUs < untilUs),
      ranges: playback.ranges().flatMap((range) => cutTo(range, fromUs, untilUs)),
      results,
    };
  }
}

/** One way of playing. */
class Course {
  readonly playback: Playback<TimedResult>;
  results = 0;

  constructor(
    options: SimulationOptions,
    inputs: MonitorInputs,
    admit: (row: TimedResult) => TimedResult | undefined,
    thinning: Thinning | undefined,
  ) {
    const { fromUs, untilUs, playFromUs, before, votesBefore, lingerUs } = options;
    this.playback = new Playback<TimedResult>({
      inputs,
      fromUs: playFromUs,
      before: before.flatMap((row) => admit(row) ?? []),
      votesBefore,
      lingerUs,
      durationUs: ({ totalUs }) => totalUs,
      admit: (row) => {
        const admitted = admit(row);
        const takesPart = admitted !== undefined && row.kind !== 'manual' && row.outcome !== 'skipped';
        if (takesPart && row.eUs >= fromUs && row.eUs < untilUs) this.results += 1;
        return admitted;
      },
      onRechecks: (wishes, nowUs) => thinning?.ask(wishes, nowUs),
    });
  }
}

function admission(
  { degradedThresholdMs, probeIds }: Proposal,
  thinning: Thinning | undefined,
): (row: TimedResult) => TimedResult | undefined {
  const chosen = probeIds === undefined ? undefined : new Set([0, ...probeIds]);
  return (row) => {
    if (chosen !== undefined && !chosen.has(row.voter)) return undefined;
    const judged = degradedThresholdMs === undefined ? row : judgedBy(row, degradedThresholdMs);
    return thinning === undefined ? judged : thinning.take(judged);
  };
}

function confirmationsAt({ configurations }: MonitorInputs, us: number): number {
  const holds = configurations.findLast((event) => event.fromUs <= us) ?? configurations[0];
  return holds?.confirmations ?? 2;
}

function cutTo(range: KeptRange, fromUs: number, untilUs: number): KeptRange[] {
  const { startedUs, endedUs } = range;
  if (startedUs >= untilUs || (endedUs !== null && endedUs <= fromUs)) return [];
  const isOpen = endedUs === null || endedUs >= untilUs;
  return [{ ...range, startedUs: Math.max(startedUs, fromUs), endedUs: isOpen ? null : endedUs }];
}
