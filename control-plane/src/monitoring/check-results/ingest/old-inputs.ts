import type { Interval, MonitorInputs } from '../../consensus/index.ts';

/**
 * Inputs that were read anew, with those of before that are not read any more because they ended long ago. They cannot matter to what is still to
 * come, but without them all that they once decided would be taken for changed, and be derived again without them.
 */
export function keepingOld(known: MonitorInputs, read: MonitorInputs): MonitorInputs {
  const firstUs = read.configurations[0]?.fromUs ?? Number.NEGATIVE_INFINITY;
  return {
    ...read,
    assignments: withEnded(
      known.assignments,
      read.assignments,
      (row) => `${row.voter} ${row.region} ${row.supplement}`,
    ),
    pauses: withEnded(known.pauses, read.pauses, () => ''),
    quarantines: withEnded(known.quarantines, read.quarantines, (row) => `${row.voter}`),
    configurations: [...known.configurations.filter((event) => event.fromUs < firstUs), ...read.configurations],
  };
}

/** Nothing that has ended is ever taken back: what is missing among the ended ones was left out for its age. */
function withEnded<T extends Interval>(
  known: readonly T[],
  read: readonly T[],
  identity: (row: T) => string,
): readonly T[] {
  const key = (row: T): string => `${identity(row)} ${row.fromUs}`;
  const present = new Set(read.map(key));
  const kept = known.filter((row) => row.toUs !== null && !present.has(key(row)));
  return kept.length === 0 ? read : [...kept, ...read];
}
