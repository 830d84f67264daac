import type { Assignment, ConfigurationEvent, Interval, MonitorInputs, StoredResult } from './types.ts';

/** Results received later than this after their effective time count nowhere (rule 11). Decided by the stored row alone. */
export const tooLateUs = 49 * 3_600_000_000;

const standardConfiguration: ConfigurationEvent = { fromUs: 0, probeRevision: 0, confirmations: 2, policy: 'majority' };

/** A half-open time with a finite or infinite end. */
type Span = { readonly fromUs: number; readonly toUs: number };

/** An assignment with when its seat is among the N at the latest; its opening for those that join nobody. */
export type PreparedAssignment = Assignment & { readonly countsUs: number };

/** True for a row that could vote whatever the inputs are; the others are never kept. */
export function canVote(row: StoredResult): boolean {
  return row.kind !== 'manual' && row.outcome !== 'skipped' && row.receivedUs - row.eUs <= tooLateUs;
}

/** The inputs of one monitor in the form in which the fold asks them: sorted, merged, and cached per voter. Immutable. */
export class PreparedInputs {
  readonly raw: MonitorInputs;
  /** From here on results count: the creation or the last reset. */
  readonly floorUs: number;
  /** Every instant at which an input changes, ascending, without repeats. */
  readonly changes: readonly number[];
  readonly assignments: readonly PreparedAssignment[];
  /** The seats among them that may join others for a while. */
  readonly joining: readonly PreparedAssignment[];
  readonly #pauses: readonly Span[];
  readonly #configurations: readonly ConfigurationEvent[];
  readonly #presence = new Map<number, readonly Span[]>();

  constructor(raw: MonitorInputs) {
    this.raw = raw;
    this.floorUs = Math.max(raw.createdUs, raw.resetUs ?? raw.createdUs);
    this.assignments = raw.assignments.map((row) => ({ ...row, countsUs: countsAtLatest(raw.assignments, row) }));
    this.joining = this.assignments.filter((row) => row.countsUs > row.fromUs);
    this.#pauses = union(raw.pauses);
    this.#configurations = inForce(raw.configurations);
    this.changes = changesOf(raw, this.floorUs, this.#configurations);
  }

  configurationAt(t: number): ConfigurationEvent {
    let found = this.#configurations[0] ?? standardConfiguration;
    for (const event of this.#configurations) {
      if (event.fromUs > t) break;
      found = event;
    }
    return found;
  }

  isPausedAt(t: number): boolean {
    return this.#pauses.some((span) => span.fromUs <= t && t < span.toUs);
  }

  /** When the time ends, without a break, in which the voter may vote and that contains `t`; minus infinity when it may not vote at `t`. */
  presentUntil(voter: number, t: number): number {
    const spans = this.#presenceOf(voter);
    for (let index = spans.length - 1; index >= 0; index -= 1) {
      const span = spans[index];
      if (span !== undefined && span.fromUs <= t) return t < span.toUs ? span.toUs : Number.NEGATIVE_INFINITY;
    }
    return Number.NEGATIVE_INFINITY;
  }

  /** When results of this revision stop to be votes, seen from `t`. */
  revisionUntil(revision: number, t: number): number {
    for (const event of this.#configurations) {
      if (event.fromUs > t && event.probeRevision > revision) return event.fromUs;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Whether a row that `canVote` votes under these inputs (rules 1 and 15). */
  counts(row: StoredResult): boolean {
    return (
      this.presentUntil(row.voter, row.eUs) > row.eUs &&
      row.probeRevision >= this.configurationAt(row.eUs).probeRevision
    );
  }

  /** The first instant after `t` at which an input changes. */
  nextChangeAfter(t: number): number {
    for (const change of this.changes) if (change > t) return change;
    return Number.POSITIVE_INFINITY;
  }

  #presenceOf(voter: number): readonly Span[] {
    let spans = this.#presence.get(voter);
    if (spans === undefined) {
      // `central` needs no assignment: it checks what has no probe, and stands in for probes.
      const assigned =
        voter === 0
          ? [{ fromUs: Number.NEGATIVE_INFINITY, toUs: Number.POSITIVE_INFINITY }]
          : union(this.raw.assignments.filter((row) => row.voter === voter));
      const started = { fromUs: Number.NEGATIVE_INFINITY, toUs: this.floorUs };
      spans = without(without(assigned, [started]), this.#pauses);
      this.#presence.set(voter, spans);
    }
    return spans;
  }
}

/** Of several events of one instant only the last listed is ever in force. */
function inForce(events: readonly ConfigurationEvent[]): ConfigurationEvent[] {
  const byInstant = new Map<number, ConfigurationEvent>();
  for (const event of events) byInstant.set(event.fromUs, event);
  return [...byInstant.values()].sort((a, b) => a.fromUs - b.fromUs);
}

function changesOf(raw: MonitorInputs, floorUs: number, configurations: readonly ConfigurationEvent[]): number[] {
  const changes = new Set<number>([floorUs]);
  for (const event of configurations) changes.add(event.fromUs);
  for (const { countsByUs } of raw.assignments) if (countsByUs !== undefined) changes.add(countsByUs);
  for (const list of [raw.assignments, raw.pauses, raw.quarantines]) {
    for (const interval of list) {
      changes.add(interval.fromUs);
      if (interval.toUs !== null) changes.add(interval.toUs);
    }
  }
  return [...changes].sort((a, b) => a - b);
}

/** A seat that opens where none is open counts at once, one that joins others no later than a seat closes. */
function countsAtLatest(assignments: readonly Assignment[], { supplement, fromUs, countsByUs }: Assignment): number {
  if (supplement || countsByUs === undefined) return fromUs;
  let latestUs = countsByUs;
  let joinsOthers = false;
  for (const other of assignments) {
    const endUs = other.toUs ?? Number.POSITIVE_INFINITY;
    if (other.supplement || endUs < fromUs) continue;
    if (other.fromUs < fromUs) joinsOthers = true;
    latestUs = Math.min(latestUs, endUs);
  }
  return joinsOthers ? Math.max(fromUs, latestUs) : fromUs;
}

/** Overlapping and adjacent intervals as one, ascending; empty ones dropped. */
function union(intervals: readonly Interval[]): Span[] {
  const spans = intervals
    .map((interval) => ({ fromUs: interval.fromUs, toUs: interval.toUs ?? Number.POSITIVE_INFINITY }))
    .filter((span) => span.fromUs < span.toUs)
    .sort((a, b) => a.fromUs - b.fromUs);
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.fromUs <= last.toUs) {
      merged[merged.length - 1] = { fromUs: last.fromUs, toUs: Math.max(last.toUs, span.toUs) };
    } else {
      merged.push(span);
    }
  }
  return merged;
}

/** `spans` with `holes` cut out; both ascending and disjoint. */
function without(spans: readonly Span[], holes: readonly Span[]): Span[] {
  const kept: Span[] = [];
  for (const span of spans) {
    let fromUs = span.fromUs;
    for (const hole of holes) {
      if (hole.toUs <= fromUs || hole.fromUs >= span.toUs) continue;
      if (hole.fromUs > fromUs) kept.push({ fromUs, toUs: hole.fromUs });
      fromUs = hole.toUs;
    }
    if (fromUs < span.toUs) kept.push({ fromUs, toUs: span.toUs });
  }
  return kept;
}

/**
 * The earliest instant at which two sets of inputs differ; infinity when they say the same. A changed reset or creation is minus infinity:
 * it concerns everything.
 */
export function firstDifference(before: PreparedInputs, after: PreparedInputs): number {
  if (before.floorUs !== after.floorUs) return Number.NEGATIVE_INFINITY;
  const a = before.raw;
  const b = after.raw;
  return Math.min(
    differenceOf(
      a.assignments,
      b.assignments,
      (row) => `${row.voter} ${row.region} ${row.supplement} ${row.countsByUs}`,
    ),
    differenceOf(a.pauses, b.pauses, () => ''),
    differenceOf(a.quarantines, b.quarantines, (row) => `${row.voter}`),
    configurationDifference(before, after),
  );
}

/** Rows of equal identity and start differ from the first of their ends on; a row without a counterpart from its start. */
function differenceOf<T extends Interval>(
  before: readonly T[],
  after: readonly T[],
  identity: (row: T) => string,
): number {
  type Group = { readonly fromUs: number; readonly before: number[]; readonly after: number[] };
  const groups = new Map<string, Group>();
  const add = (row: T, side: 'before' | 'after') => {
    const key = `${identity(row)} ${row.fromUs}`;
    const group = groups.get(key) ?? { fromUs: row.fromUs, before: [], after: [] };
    group[side].push(row.toUs ?? Number.POSITIVE_INFINITY);
    groups.set(key, group);
  };
  for (const row of before) add(row, 'before');
  for (const row of after) add(row, 'after');
  let first = Number.POSITIVE_INFINITY;
  for (const group of groups.values()) {
    if (group.before.sort((a, b) => a - b).join() === group.after.sort((a, b) => a - b).join()) continue;
    const isNew = group.before.length === 0 || group.after.length === 0;
    first = Math.min(first, isNew ? group.fromUs : Math.min(...group.before, ...group.after));
  }
  return first;
}

function configurationDifference(before: PreparedInputs, after: PreparedInputs): number {
  const instants = [...before.raw.configurations, ...after.raw.configurations].map((event) => event.fromUs);
  const differs = (t: number): boolean => {
    const was = before.configurationAt(t);
    const is = after.configurationAt(t);
    return was.probeRevision !== is.probeRevision || was.confirmations !== is.confirmations || was.policy !== is.policy;
  };
  return Math.min(Number.POSITIVE_INFINITY, ...[Number.NEGATIVE_INFINITY, ...instants].filter(differs));
}
