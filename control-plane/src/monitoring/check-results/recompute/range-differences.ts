import type { RangeRun, RangeStatus, StoredRange } from '../../consensus/index.ts';

/** A time in which the stored ranges of one voter (null: the monitor's own) do not say what they should. Microseconds. */
export type RangeDifference = {
  readonly voter: number | null;
  readonly fromUs: number;
  readonly toUs: number;
  /** Null: no range should be there. */
  readonly expected: RangeStatus | null;
  /** What is there; several where ranges overlap. */
  readonly found: readonly RangeStatus[];
};

/**
 * Compares stored ranges with derived ones within [fromUs, untilUs); an open range lasts until its end. Differences are in the order of time, each as
 * long as it is the same one. Two ranges of one status that touch are a difference at the instant at which they do.
 */
export function rangeDifferences(
  voter: number | null,
  derived: readonly RangeRun[],
  stored: readonly StoredRange[],
  fromUs: number,
  untilUs: number,
): RangeDifference[] {
  const own = stored.filter((range) => range.voter === voter).toSorted((a, b) => a.startedUs - b.startedUs);
  const derivedAt = cursorOver(derived, (run) => ({ fromUs: run.fromUs, toUs: run.toUs }));
  const storedAt = cursorOver(own, (range) => ({ fromUs: range.startedUs, toUs: range.endedUs ?? untilUs }));
  const instants = [
    fromUs,
    ...derived.flatMap((run) => [run.fromUs, run.toUs]),
    ...own.flatMap((range) => [range.startedUs, range.endedUs ?? untilUs]),
  ].filter((t) => t >= fromUs && t < untilUs);
  const starts = [...new Set(instants)].sort((a, b) => a - b);
  const differences: RangeDifference[] = [];
  starts.forEach((start, index) => {
    const toUs = starts[index + 1] ?? untilUs;
    const runs = derivedAt(start);
    const expected = runs[0]?.status ?? null;
    const here = storedAt(start);
    const found = here.map((range) => range.status);
    const isSame = found.length === (expected === null ? 0 : 1) && found.every((status) => status === expected);
    if (!isSame) add(differences, { voter, fromUs: start, toUs, expected, found });
    else if (isCutAt(start, runs, here)) differences.push({ voter, fromUs: start, toUs: start, expected, found });
  });
  return differences;
}

/** A stored range begins in the middle of the one that should be there, or the other way round. */
function isCutAt(start: number, runs: readonly RangeRun[], here: readonly StoredRange[]): boolean {
  if (here.length === 0) return false;
  const beginsStored = here.some((range) => range.startedUs === start);
  const beginsDerived = runs.some((run) => run.fromUs === start);
  return beginsStored && !beginsDerived;
}

/** What holds at instants that are asked for in order of time. @param items by their beginning */
function cursorOver<Item>(
  items: readonly Item[],
  spanOf: (item: Item) => { readonly fromUs: number; readonly toUs: number },
): (atUs: number) => readonly Item[] {
  let next = 0;
  let open: Item[] = [];
  return (atUs) => {
    for (; next < items.length; next += 1) {
      const item = items[next];
      if (item === undefined || spanOf(item).fromUs > atUs) break;
      open.push(item);
    }
    open = open.filter((item) => spanOf(item).toUs > atUs);
    return open;
  };
}

function add(differences: RangeDifference[], next: RangeDifference): void {
  const last = differences.at(-1);
  const isSame =
    last !== undefined &&
    last.toUs === next.fromUs &&
    last.expected === next.expected &&
    last.found.join() === next.found.join();
  if (last !== undefined && isSame) differences[differences.length - 1] = { ...last, toUs: next.toUs };
  else differences.push(next);
}
