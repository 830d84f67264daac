import type { Assignment, Interval, MonitorInputs } from '../../consensus/index.ts';

/** When the votes of probes do not count, by probe. */
export type Quarantines = ReadonlyMap<number, readonly Interval[]>;

/** Those that concern a monitor: of the probes that it is or was assigned to. */
export function quarantinesOf(
  assignments: readonly Assignment[],
  quarantines: Quarantines,
): MonitorInputs['quarantines'] {
  const voters = [...new Set(assignments.map((assignment) => assignment.voter))];
  return voters.flatMap((voter) => (quarantines.get(voter) ?? []).map((interval) => ({ voter, ...interval })));
}
