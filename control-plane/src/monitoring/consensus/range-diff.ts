import type { RangeEdit, RangeEvidence, RangeRun, RangeStatus, StoredRange } from './types.ts';

/** A range as it should be stored; null: open. */
export type WantedRange = {
  readonly startedUs: number;
  readonly endedUs: number | null;
  readonly status: RangeStatus;
  readonly evidence: RangeEvidence;
};

/** Ranges that are open or ended at a time or later. The same array when that is all of them, which is the usual case. */
export function reaching(ranges: readonly StoredRange[], fromUs: number): readonly StoredRange[] {
  const reaches = (range: StoredRange): boolean => range.endedUs === null || range.endedUs >= fromUs;
  return ranges.every(reaches) ? ranges : ranges.filter(reaches);
}

/**
 * What should be stored in the place of `stored`, given the runs from `fromUs` until `untilUs` (exclusive; a run that reaches it is open).
 * A stored range that began before `fromUs` keeps its beginning, unless that lies before `floorUs`, from where on anything counts at all.
 */
export function wantedRanges(
  stored: readonly StoredRange[],
  runs: readonly RangeRun[],
  fromUs: number,
  untilUs: number,
  floorUs: number,
): WantedRange[] {
  const wanted = runs.map((run) => ({
    startedUs: run.fromUs,
    endedUs: run.toUs >= untilUs ? null : run.toUs,
    status: run.status,
    evidence: run.evidence,
  }));
  const head = stored.find((range) => range.startedUs < fromUs && (range.endedUs === null || range.endedUs >= fromUs));
  if (head === undefined || floorUs >= fromUs) return wanted;
  const first = wanted[0];
  if (first !== undefined && first.startedUs === fromUs && first.status === head.status) {
    return [{ ...first, startedUs: head.startedUs }, ...wanted.slice(1)];
  }
  const evidence = { rule: 'no_votes', quorum: 0, voters: [], missing: [] } as const;
  return [{ startedUs: head.startedUs, endedUs: fromUs, status: head.status, evidence }, ...wanted];
}

type Pair = { readonly from: StoredRange; readonly to: WantedRange };

/**
 * The writes that turn `stored` into `wanted`, both of one voter (null: the aggregate). Rows keep their identity where the range is the
 * same one with other boundaries, but for those of before `floorUs`: they are void, and somebody may have removed them.
 * `isLate`: a late result took part, so closed boundaries that move are revisions.
 */
export function editsBetween(
  monitorId: number,
  voter: number | null,
  stored: readonly StoredRange[],
  wanted: readonly WantedRange[],
  isLate: boolean,
  toldUntilUs: number,
  floorUs: number,
): RangeEdit[] {
  const { pairs, added, removed } = match(stored, wanted, floorUs);
  const key = { monitorId, voter };
  const changed = pairs.filter(({ from, to }) => !isSame(from, to));
  const update = ({ from, to }: Pair): RangeEdit => ({
    ...key,
    op: 'update',
    startedUs: from.startedUs,
    ...(to.startedUs === from.startedUs ? {} : { newStartedUs: to.startedUs }),
    endedUs: to.endedUs,
    ...(to.status === from.status ? {} : { status: to.status, evidence: to.evidence }),
    revised: isLate && isRevision(from, to),
  });
  const insert = (range: WantedRange): RangeEdit => ({
    ...key,
    op: 'insert',
    ...range,
    revised: isLate && range.startedUs < toldUntilUs,
  });
  // What closes or goes comes before what opens. A moved start never meets another row's: rows of equal start were matched first.
  const closing = changed.filter(({ from, to }) => from.endedUs === null && to.endedUs !== null);
  const closed = changed.filter(({ from, to }) => from.endedUs !== null && to.endedUs !== null);
  const open = changed.filter(({ to }) => to.endedUs === null);
  return [
    ...removed.map(({ startedUs }): RangeEdit => ({ ...key, op: 'delete', startedUs })),
    ...closing.map(update),
    ...closed.map(update),
    ...open.map(update),
    ...added.filter(({ endedUs }) => endedUs !== null).map(insert),
    ...added.filter(({ endedUs }) => endedUs === null).map(insert),
  ];
}

function match(stored: readonly StoredRange[], wanted: readonly WantedRange[], floorUs: number) {
  const pairs: Pair[] = [];
  const byStart = new Map(stored.map((range) => [range.startedUs, range]));
  const unmatched = wanted.filter((to) => {
    const from = byStart.get(to.startedUs);
    if (from === undefined) return true;
    pairs.push({ from, to });
    byStart.delete(to.startedUs);
    return false;
  });
  const removed = [...byStart.values()];
  const added = unmatched.filter((to) => {
    const index = removed.findIndex(
      (from) => from.status === to.status && from.startedUs >= floorUs && overlaps(from, to),
    );
    const from = removed[index];
    if (from === undefined) return true;
    pairs.push({ from, to });
    removed.splice(index, 1);
    return false;
  });
  return { pairs, added, removed };
}

const overlaps = (a: StoredRange, b: WantedRange): boolean =>
  a.startedUs < (b.endedUs ?? Number.POSITIVE_INFINITY) && b.startedUs < (a.endedUs ?? Number.POSITIVE_INFINITY);

const isSame = (from: StoredRange, to: WantedRange): boolean =>
  from.startedUs === to.startedUs && from.endedUs === to.endedUs && from.status === to.status;

/** Anything but the open end of the last range. */
const isRevision = (from: StoredRange, to: WantedRange): boolean =>
  from.startedUs !== to.startedUs ||
  from.status !== to.status ||
  (from.endedUs !== null && from.endedUs !== to.endedUs);
