import type { RangeStatus, ResultStatus, TimelineEntry } from '@parallax/api-contract';

/** Above this many results neighbours of equal status are answered as one entry. */
export const maxPlainEntries = 10_000;

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

/**
 * Results in order of time, neighbours that look the same taken together: equal status, probe, kind and origin. The response
 * time is the mean of those that have one, to a microsecond.
 */
export function mergedEntries(rows: Iterable<TimelineRow>): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  let sum = 0;
  let timed = 0;
  let open: TimelineEntry | undefined;
  for (const row of rows) {
    const entry = plainEntry(row);
    if (open !== undefined && looksSame(open, entry)) {
      open.ended_at = entry.ended_at;
      open.count += 1;
    } else {
      open = entry;
      entries.push(open);
      sum = 0;
      timed = 0;
    }
    if (row.responseTimeMs !== null) {
      sum += row.responseTimeMs;
      timed += 1;
    }
    open.response_time_ms = timed === 0 ? null : Math.round((sum / timed) * 1_000) / 1_000;
  }
  return entries;
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
