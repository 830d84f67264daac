/** A probe with a fresh vote on the monitor, which can be asked. */
export type Witness = {
  readonly probeId: number;
  readonly name: string;
  readonly region: string;
  readonly isFailing: boolean;
  /** Since when it votes so, milliseconds since the epoch. */
  readonly sinceMs: number;
};

/** Who is asked on each side, in order: the next one only when those before gave nothing. */
export type Sides = { readonly failing: readonly Witness[]; readonly passing: readonly Witness[] };

/** How many of one side are tried. */
const mostOfOneSide = 2;

/**
 * Who is to look at a target that some probes reach and others do not; undefined when they do not differ any more. The one that fails
 * longest speaks for the failing. A passing one of its own region comes first, since what differs between regions anyway hides what matters.
 */
export function chooseSides(witnesses: readonly Witness[]): Sides | undefined {
  const failing = witnesses
    .filter((each) => each.isFailing)
    .sort((one, other) => one.sinceMs - other.sinceMs || one.probeId - other.probeId);
  const region = failing[0]?.region;
  const far = (each: Witness): number => (each.region === region ? 0 : 1);
  const passing = witnesses
    .filter((each) => !each.isFailing)
    .sort((one, other) => far(one) - far(other) || one.probeId - other.probeId);
  if (failing.length === 0 || passing.length === 0) return undefined;
  return { failing: failing.slice(0, mostOfOneSide), passing: passing.slice(0, mostOfOneSide) };
}
