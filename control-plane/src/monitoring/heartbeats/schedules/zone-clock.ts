/** A stretch of time with one distance from UTC. What follows may have the same one. */
export type Segment = { readonly offsetMs: number; readonly untilMs: number };

/**
 * The clock on the wall of an IANA time zone. Wall times are milliseconds since the epoch as if the wall showed UTC: 02:30 on 29 March 2026 is
 * `Date.UTC(2026, 2, 29, 2, 30)` in every zone.
 */
export type ZoneClock = {
  readonly wallOf: (utcMs: number) => number;
  readonly segmentAt: (utcMs: number) => Segment;
  /** When the wall shows a time first; undefined when it never does, since the clocks are set forward over it. */
  readonly firstInstantOf: (wallMs: number) => number | undefined;
  /** For a wall time that is left out: when the clocks are set forward over it, and what they show then. */
  readonly gapAt: (wallMs: number) => { readonly atMs: number; readonly toWallMs: number; readonly sizeMs: number };
  /** The latest time that the wall has shown within `withinMs` before an instant, itself left out: above the present one while an hour is lived twice. */
  readonly highestWallBefore: (utcMs: number, withinMs: number) => number;
};

const dayMs = 86_400_000;
/** Clocks are never set twice in so long a time. */
const blockMs = 6 * 3_600_000;
const mostBlocks = 4_096;

const clocks = new Map<string, ZoneClock>();

/** @throws RangeError for a zone that is none */
export function zoneClock(zone: string): ZoneClock {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const made = createClock(offsetsOf(zone));
  // The zones of the world are some hundreds.
  if (clocks.size > 1_000) clocks.clear();
  clocks.set(zone, made);
  return made;
}

function createClock(offsetAt: (utcMs: number) => number): ZoneClock {
  const blocks = new Map<number, readonly Segment[]>();

  const block = (index: number): readonly Segment[] => {
    const known = blocks.get(index);
    if (known !== undefined) return known;
    const startMs = index * blockMs;
    const endMs = startMs + blockMs;
    const [first, last] = [offsetAt(startMs), offsetAt(endMs)];
    const changeMs = first === last ? endMs : changeWithin(offsetAt, startMs, endMs);
    const made = [{ offsetMs: first, untilMs: changeMs }];
    if (changeMs < endMs) made.push({ offsetMs: last, untilMs: endMs });
    if (blocks.size > mostBlocks) blocks.clear();
    blocks.set(index, made);
    return made;
  };

  const segmentAt = (utcMs: number): Segment => {
    const segments = block(Math.floor(utcMs / blockMs));
    return segments.find(({ untilMs }) => utcMs < untilMs) ?? { offsetMs: offsetAt(utcMs), untilMs: utcMs + 1 };
  };
  const offset = (utcMs: number): number => segmentAt(utcMs).offsetMs;

  return {
    wallOf: (utcMs) => utcMs + offset(utcMs),
    segmentAt,
    firstInstantOf: (wallMs) => {
      const offsets = [offset(wallMs - dayMs), offset(wallMs + dayMs)];
      const found = offsets.map((each) => wallMs - each).filter((utcMs) => utcMs + offset(utcMs) === wallMs);
      return found.length === 0 ? undefined : Math.min(...found);
    },
    gapAt: (wallMs) => {
      const before = offset(wallMs - dayMs);
      const after = offset(wallMs + dayMs);
      let atMs = wallMs - after;
      while (offset(atMs) === before && atMs < wallMs + dayMs) atMs = segmentAt(atMs).untilMs;
      return { atMs, toWallMs: atMs + after, sizeMs: after - before };
    },
    highestWallBefore: (utcMs, withinMs) => {
      let highest = Number.NEGATIVE_INFINITY;
      for (let atMs = utcMs - withinMs; atMs < utcMs; ) {
        const { offsetMs, untilMs } = segmentAt(atMs);
        highest = Math.max(highest, Math.min(untilMs, utcMs) + offsetMs);
        atMs = untilMs;
      }
      return highest;
    },
  };
}

/** Clocks change at whole seconds. */
function changeWithin(offsetAt: (utcMs: number) => number, startMs: number, endMs: number): number {
  const before = offsetAt(startMs);
  let [low, high] = [startMs / 1_000, endMs / 1_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * 1_000) === before) low = middle;
    else high = middle;
  }
  return high * 1_000;
}

/** Distances from UTC as the runtime's copy of the time zone database has them. */
function offsetsOf(zone: string): (utcMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (utcMs) => {
    const wholeMs = Math.floor(utcMs / 1_000) * 1_000;
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = (
      format.format(wholeMs).match(/\d+/g) ?? []
    ).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
  };
}
