import type { Simulation as SimulationAnswer } from '@parallax/api-contract';
import type { Cadence } from '../timeline-inputs/queries.ts';
import type { Proposal } from './proposal.ts';

type Note = SimulationAnswer['notes'][number];

/** What the notes depend on. Times in microseconds. */
export type Circumstances = {
  readonly proposal: Proposal;
  readonly cadences: readonly Cadence[];
  /** The most confirmations that held at any time of the window. */
  readonly confirmations: number;
  /** Chosen probes that were never assigned to the monitor in the window. */
  readonly unmeasuredProbes: readonly number[];
  readonly wantedFromUs: number;
  readonly wantedToUs: number;
  /** Since when there is anything: creation or reset. */
  readonly floorUs: number;
  /** Before this, results are not kept. */
  readonly keptFromUs: number;
  /** Up to here the results are folded. */
  readonly untilUs: number;
};

/** What could not be simulated, for a person. */
export function notesOf(given: Circumstances): Note[] {
  const { proposal, cadences, unmeasuredProbes } = given;
  const notes: Note[] = [];
  const add = (code: Note['code'], message: string): number => notes.push({ code, message });
  const intervals = cadences.map(({ intervalS }) => intervalS);
  const { intervalS, confirmations } = proposal;
  if (intervalS !== undefined && intervals.some((measured) => intervalS < measured)) {
    add(
      'shorter_interval',
      `It was checked every ${Math.max(...intervals)} s; what a check every ${intervalS} s would have found between is not known, so the measured results are used.`,
    );
  }
  if (intervalS !== undefined && intervals.some((measured) => intervalS > measured)) {
    add(
      'rechecks_stand_in',
      'Where the longer interval would have made checks at once after a failure, the next measured result stands in for them; outages may be found up to one measured interval late.',
    );
  }
  if (confirmations !== undefined && confirmations > given.confirmations) {
    add(
      'more_confirmations',
      `Checks at once after a failure were made until ${given.confirmations} had failed; for ${confirmations} the next measured results stand in, so outages are found later than they would be.`,
    );
  }
  if (unmeasuredProbes.length > 0) {
    add(
      'probes_not_measured',
      `Probes ${unmeasuredProbes.join(', ')} did not check this monitor in the window; they are left out.`,
    );
  }
  if (given.floorUs > given.wantedFromUs) {
    add('began_later', `Nothing is known of before ${iso(given.floorUs)}, when the monitor was created or last reset.`);
  }
  if (given.keptFromUs > Math.max(given.wantedFromUs, given.floorUs)) {
    add('beyond_retention', `Results of before ${iso(given.keptFromUs)} are not kept.`);
  }
  if (given.untilUs < given.wantedToUs) add('not_known_further', `Results are evaluated until ${iso(given.untilUs)}.`);
  return notes;
}

const iso = (us: number): string => new Date(us / 1_000).toISOString();
