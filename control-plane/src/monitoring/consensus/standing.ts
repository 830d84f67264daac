import type { Electorate } from './decide.ts';
import { centralVoter } from './decide.ts';
import type { PreparedInputs } from './prepared-inputs.ts';
import type { VoterSlot } from './voter-slot.ts';

/** Who holds votes of a monitor now, as far as it decides what the control plane itself has to check (rule 1). */
export type Standing = {
  /** Nobody may vote: the monitor is paused or not begun. */
  readonly isClosed: boolean;
  /** Seats: the N of rule 4; 1 for a monitor without any probe. */
  readonly seats: number;
  /** No probe at all is assigned: `central` is the monitor's own voter. */
  readonly isCentral: boolean;
  /**
   * Since when too few probes hold a vote, or those that do cannot span the regions that rule 4 asks for; never before the last change of
   * the inputs. Null while enough do, and for a central monitor.
   */
  readonly lackingSinceUs: number | null;
  /** Assigned, not in quarantine, and without a vote. */
  readonly missing: readonly number[];
  readonly central: {
    readonly isHolding: boolean;
    readonly isFailing: boolean;
    /** Its latest result that is known; minus infinity for none. */
    readonly lastUs: number;
    /** Results from before this say nothing of what is checked now: creation, reset, resumption, change of what is checked. */
    readonly beganUs: number;
  };
};

/** The standing at the frontier, from slots that are settled there. */
export function standingOf(
  inputs: PreparedInputs,
  electorate: Electorate,
  slots: readonly VoterSlot[],
  frontierUs: number,
): Standing {
  const central = slots.find((slot) => slot.voter === centralVoter);
  const isCentral = electorate.assigned.includes(centralVoter);
  const voters = electorate.assigned.filter((voter) => voter !== centralVoter && !electorate.quarantined.has(voter));
  const held = voters.map((voter) => {
    const slot = slots.find((candidate) => candidate.voter === voter);
    const isHolding = slot?.isHolding ?? false;
    return { voter, isHolding, endedUs: slot?.pieces.at(-1)?.toUs ?? Number.NEGATIVE_INFINITY };
  });
  return {
    isClosed: electorate.closed !== null,
    seats: electorate.seats.length,
    isCentral,
    lackingSinceUs: isCentral ? null : lackingSince(inputs, electorate, held, frontierUs),
    missing: held.filter(({ isHolding }) => !isHolding).map(({ voter }) => voter),
    central: {
      isHolding: central?.isHolding ?? false,
      isFailing: central?.isFailing ?? false,
      lastUs: central?.lastUs ?? Number.NEGATIVE_INFINITY,
      beganUs: beganAt(inputs, frontierUs),
    },
  };
}

type Held = { readonly voter: number; readonly isHolding: boolean; readonly endedUs: number };

/** Goes back in time, giving those that lost their vote last theirs back, until there were enough. */
function lackingSince(
  inputs: PreparedInputs,
  electorate: Electorate,
  held: readonly Held[],
  frontierUs: number,
): number | null {
  const regions = new Set<string | undefined>();
  let count = 0;
  const add = ({ voter }: Held): boolean => {
    count += 1;
    regions.add(electorate.regionOf.get(voter));
    return count >= Math.min(2, electorate.seats.length) && regions.size >= electorate.regionsNeeded;
  };
  let isEnough = false;
  for (const voter of held) if (voter.isHolding) isEnough = add(voter);
  if (isEnough) return null;
  const changedUs = inputs.changes.findLast((change) => change <= frontierUs) ?? inputs.floorUs;
  const lost = held.filter(({ isHolding }) => !isHolding).sort((a, b) => b.endedUs - a.endedUs);
  for (const voter of lost) {
    if (voter.endedUs <= changedUs) break;
    if (add(voter)) return voter.endedUs;
  }
  return changedUs;
}

function beganAt(inputs: PreparedInputs, frontierUs: number): number {
  const { probeRevision } = inputs.configurationAt(frontierUs);
  const resumed = inputs.raw.pauses
    .map(({ toUs }) => toUs ?? Number.NEGATIVE_INFINITY)
    .filter((at) => at <= frontierUs);
  const older = inputs.raw.configurations.filter((event) => event.probeRevision < probeRevision);
  // What is checked began with the first event after the last one of an older revision.
  const lastOlderUs = Math.max(Number.NEGATIVE_INFINITY, ...older.map((event) => event.fromUs));
  const changed = inputs.raw.configurations.filter((event) => event.fromUs > lastOlderUs).map((event) => event.fromUs);
  const changedUs = older.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(frontierUs, ...changed);
  return Math.max(inputs.floorUs, changedUs, ...resumed);
}
