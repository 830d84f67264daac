import type { RangeStatus, ResultStatus, TimelineEntry } from '@parallax/api-contract';

/** Above this many results neighbours of equal status are answered as one entry. */
export const maxPlainEntries = 10_000;
/** More entries than this are not answered: the oldest are left out. */
export const maxTimelineEntries = 50_000;

/** A result as the timeline needs it. */
export type TimelineRow = {
  readonly atMs: number;
  readonly status: ResultStatus;
  readonly responseTimeMs: number | null;
  readonly probeId: number | null;
  readonly isManual: boolean;
  readonly isFallback: boolean;
};

/** One entry for one result. */
export function plainEntry(row: TimelineRow): TimelineEntry {
  const at = new Date(row.atMs).toISOString();
  return {
    started_at: at,
    ended_at: at,
    status: row.status,
    response_time_ms: row.responseTimeMs,
    probe_id: row.probeId,
    is_manual: row.isManual,
    is_fallback: row.isFallback,
    count: 1,
  };
}

/** What results come to as a timeline. */
export type ResultTimeline = {
  /** Whether neighbours were taken together. */
  readonly isMerged: boolean;
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Where it begins when older entries had to be left out. */
  readonly fromMs: number | undefined;
};

/**
 * Takes results in order of time and keeps what a timeline shows of them: one entry for each, or, when there are more than `maxPlain`, neighbours
 * that look the same (equal status, probe, kind and origin) as one, whose response time is the mean of those that have one, to a
 * microsecond. Never more than the `maxEntries` newest.
 */
export class TimelineBuilder {
  readonly #maxPlain: number;
  readonly #maxEntries: number;
  #entries: TimelineEntry[] = [];
  #rows = 0;
  #isMerged = false;
  #hasDropped = false;
  /** Response times in the newest entry. */
  #sumMs = 0;
  #timed = 0;

  constructor(maxPlain = maxPlainEntries, maxEntries = maxTimelineEntries) {
    this.#maxPlain = maxPlain;
    this.#maxEntries = maxEntries;
  }

  add(row: TimelineRow): void {
    this.#rows += 1;
    if (!this.#isMerged && this.#rows > this.#maxPlain) this.#mergeAll();
    if (this.#isMerged) this.#merge(plainEntry(row));
    else this.#entries.push(plainEntry(row));
  }

  timeline(): ResultTimeline {
    const entries = this.#entries.slice(-this.#maxEntries);
    const isCut = this.#hasDropped || entries.length < this.#entries.length;
    return {
      isMerged: this.#isMerged,
      entries,
      fromMs: isCut && entries[0] !== undefined ? Date.parse(entries[0].started_at) : undefined,
    };
  }

  #mergeAll(): void {
    const plain = this.#entries;
    this.#entries = [];
    this.#isMerged = true;
    for (const entry of plain) this.#merge(entry);
  }

  /** @param entry of one result */
  #merge(entry: TimelineEntry): void {
    const timeMs = entry.response_time_ms;
    let open = this.#entries.at(-1);
    if (open !== undefined && looksSame(open, entry)) {
      open.ended_at = entry.ended_at;
      open.count += 1;
    } else {
      open = entry;
      this.#entries.push(open);
      this.#sumMs = 0;
      this.#timed = 0;
    }
    if (timeMs !== null) {
      this.#sumMs += timeMs;
      this.#timed += 1;
    }
    open.response_time_ms = this.#timed === 0 ? null : Math.round((this.#sumMs / this.#timed) * 1_000) / 1_000;
    if (this.#entries.length >= 2 * this.#maxEntries) {
      this.#entries.splice(0, this.#entries.length - this.#maxEntries);
      this.#hasDropped = true;
    }
  }
}

function looksSame(one: TimelineEntry, other: TimelineEntry): boolean {
  return (
    one.status === other.status &&
    one.probe_id === other.probe_id &&
    one.is_manual === other.is_manual &&
    one.is_fallback === other.is_fallback
  );
}

/** One entry for a range of the consensus. */
export function rangeEntry(range: {
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly status: RangeStatus;
}): TimelineEntry {
  return {
    started_at: new Date(range.startedMs).toISOString(),
    ended_at: range.endedMs === null ? null : new Date(range.endedMs).toISOString(),
    status: range.status,
    response_time_ms: null,
    probe_id: null,
    is_manual: false,
    is_fallback: false,
    count: 0,
  };
}

/**
 * Which way a timeline is answered: ranges of the consensus for a monitor with two or more probes, else one entry per result.
 * @param probes how many probes are assigned now, supplements left out
 */
export function timelineSource(probes: number, probeId: number | undefined): 'consensus' | 'results' {
  return probeId === undefined && probes >= 2 ? 'consensus' : 'results';
}
