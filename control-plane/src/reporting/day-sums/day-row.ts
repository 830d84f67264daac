import type { CountedAs } from '../../monitoring/consensus/index.ts';
import { createAvailabilityFold, measuredSpans } from '../statistics/index.ts';
import type { ReportRange, Span, TimeByStatus, TimeInterval } from '../statistics/index.ts';

export const dayMs = 86_400_000;

/** What time counts as, in the order of the columns of `subject_days`: a kind is a place in this list. */
export const dayKinds = [
  'UP',
  'DEGRADED',
  'DOWN',
  'TIMEOUT',
  'UNKNOWN',
  'MAINTENANCE',
  'PAUSED',
] as const satisfies readonly CountedAs[];

/** A span is stored as this times its first millisecond of the day, and its kind. */
export const spanFactor = 8;

/** The sums of one UTC day of a subject, or of the part of it in which the subject was there. */
export type DayRow = {
  /** Days since the epoch. */
  readonly day: number;
  readonly time: TimeByStatus;
  /** Up to which millisecond of the day the sums reach. */
  readonly untilMs: number;
  /** The kind of the time from there on, as far as it is known; null: the day is complete. */
  readonly tail: number | null;
  readonly outages: number;
  readonly repairs: number;
  readonly repairMs: number;
  /** Null: the day is of one kind from its beginning on. */
  readonly spans: readonly number[] | null;
};

/** What days of a subject are summed from. All times in milliseconds since the epoch. */
export type DayInputs = {
  /** In order and disjoint: those that overlap the days, and that of the days' beginning. */
  readonly ranges: readonly ReportRange[];
  readonly pauses: readonly TimeInterval[];
  readonly maintenance: readonly TimeInterval[];
  /** What a pause counts as: of a heartbeat it stands for a time in which nothing was taken in, so nobody knows. */
  readonly pausedAs: 'PAUSED' | 'UNKNOWN';
  /** From where on the subject was there, or the beginning of the first day. */
  readonly fromMs: number;
  /** The last day. */
  readonly toDay: number;
  /** How far everything is known. */
  readonly knownMs: number;
  /** When the outage began that the first range belongs to, if it does to one. */
  readonly onsetMs?: number | undefined;
};

/** Sums of days, and whether something is known already of the time after `knownMs`: then the last day is to be summed again. */
export type SummedDays = { readonly rows: readonly DayRow[]; readonly isUnsettled: boolean };

/** The day of an instant. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** Sums each day by the fold of the statistics, so that both say the same. */
export function sumDays(inputs: DayInputs): SummedDays {
  const rows: DayRow[] = [];
  let first = 0;
  for (let day = dayOf(inputs.fromMs); day <= inputs.toDay; day += 1) {
    const fromMs = Math.max(day * dayMs, inputs.fromMs);
    // The last one that began before the day is the first that can reach into it.
    while ((inputs.ranges[first + 1]?.startedMs ?? Number.POSITIVE_INFINITY) <= fromMs) first += 1;
    rows.push(rowOf(inputs, day, fromMs, first));
  }
  return { rows, isUnsettled: isAnythingAfter(inputs) };
}

function rowOf(inputs: DayInputs, day: number, fromMs: number, first: number): DayRow {
  const endMs = (day + 1) * dayMs;
  const isLive = inputs.knownMs < endMs;
  const toMs = Math.max(fromMs, Math.min(endMs, inputs.knownMs));
  const spans = spansOf(inputs, first, { fromMs, toMs: isLive ? toMs + 1 : toMs });
  const tail = isLive ? kindOf(spans.at(-1)) : null;
  const within = isLive ? cutAt(spans, toMs) : spans;
  const onsetMs = onsetAt(inputs, first, fromMs);
  const fold = createAvailabilityFold({ fromMs, toMs, openUntilMs: toMs, listedOutages: 0, onsetMs });
  fold.take(within);
  const report = fold.result();
  return {
    day,
    time: report.measured,
    untilMs: toMs - day * dayMs,
    tail,
    outages: report.days[0]?.outages ?? 0,
    repairs: report.repairs,
    repairMs: report.repairMs,
    // A live day goes on with its tail even where it has no time yet.
    spans: storedSpans(within, day * dayMs, { fromMs, tail }),
  };
}

function spansOf(inputs: DayInputs, first: number, { fromMs, toMs }: { fromMs: number; toMs: number }): Span[] {
  const ranges: ReportRange[] = [];
  for (let at = first; at < inputs.ranges.length; at += 1) {
    const range = inputs.ranges[at];
    if (range === undefined || range.startedMs >= toMs) break;
    ranges.push(range);
  }
  const { pauses, maintenance, pausedAs } = inputs;
  const spans = measuredSpans({ ranges, pauses, maintenance, fromMs, toMs, openUntilMs: toMs });
  if (pausedAs === 'PAUSED') return spans;
  return spans.map((span) =>
    span.measuredAs === 'PAUSED' ? { ...span, measuredAs: pausedAs, countsAs: pausedAs } : span,
  );
}

/** Spans up to an instant in the last of them. */
function cutAt(spans: readonly Span[], toMs: number): Span[] {
  return spans.filter(({ fromMs }) => fromMs < toMs).map((span) => (span.toMs > toMs ? { ...span, toMs } : span));
}

function kindOf(span: Span | undefined): number {
  return dayKinds.indexOf(span?.measuredAs ?? 'UNKNOWN');
}

/** When the outage began that a day begins in; undefined when it begins in none. */
function onsetAt({ ranges, onsetMs }: DayInputs, first: number, fromMs: number): number | undefined {
  const range = ranges[first];
  if (range === undefined || range.startedMs > fromMs || !isFailing(range)) return undefined;
  let at = first;
  for (; at > 0; at -= 1) {
    const before = ranges[at - 1];
    if (before === undefined || !isFailing(before) || before.endedMs !== ranges[at]?.startedMs) break;
  }
  const startedMs = ranges[at]?.startedMs ?? range.startedMs;
  return at === 0 ? Math.min(startedMs, onsetMs ?? startedMs) : startedMs;
}

/** DOWN or TIMEOUT. */
export function isFailing({ status }: Pick<ReportRange, 'status'>): boolean {
  return status === 'DOWN' || status === 'TIMEOUT';
}

function storedSpans(
  spans: readonly Span[],
  startMs: number,
  live: { readonly fromMs: number; readonly tail: number | null },
): number[] | null {
  const stored: number[] = [];
  let last: number | undefined;
  for (const span of spans) {
    const kind = kindOf(span);
    if (kind !== last) stored.push((span.fromMs - startMs) * spanFactor + kind);
    last = kind;
  }
  // What begins at the very end of what is known has no time yet.
  const [only] = stored;
  const isOfOneKind = stored.length <= 1 && live.fromMs === startMs;
  if (isOfOneKind && (only === undefined || live.tail === null || live.tail === only % spanFactor)) return null;
  if (live.tail !== null && live.tail !== last) {
    const endMs = spans.at(-1)?.toMs ?? live.fromMs;
    stored.push((endMs - startMs) * spanFactor + live.tail);
  }
  return stored;
}

function isAnythingAfter({ ranges, pauses, maintenance, knownMs, toDay }: DayInputs): boolean {
  if (knownMs >= (toDay + 1) * dayMs) return false;
  const isAfter = (ms: number | null): boolean => ms !== null && ms > knownMs;
  return (
    ranges.some(({ startedMs, endedMs }) => isAfter(startedMs) || isAfter(endedMs)) ||
    [...pauses, ...maintenance].some(({ fromMs, toMs }) => isAfter(fromMs) || isAfter(toMs))
  );
}
