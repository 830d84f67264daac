import { addTime, availabilityOf, noTime } from './availability.ts';
import type { Availability, TimeSum } from './availability.ts';
import { createOutageFold } from './outages.ts';
import type { Outage, OutageSums } from './outages.ts';
import type { Span } from './spans.ts';

const dayMs = 86_400_000;

/** A day, or the part of it that lies in a window. */
export type DayBounds = {
  /** `2026-03-01`. */
  readonly day: string;
  readonly fromMs: number;
  readonly toMs: number;
};

/** One day, of UTC unless others were asked for. */
export type DayFigures = Availability &
  DayBounds & {
    /** Outages that count and began on it. */
    readonly outages: number;
  };

/** What the spans of a window come to. */
export type AvailabilityReport = OutageSums & {
  /** After corrections. */
  readonly availability: Availability;
  /** As measured. */
  readonly measured: Availability;
  /** How much counts as something else than was measured. */
  readonly correctedMs: number;
  /** Of the ends of the window, in the order asked for, after corrections; null for one longer than the window. */
  readonly ends: readonly (Availability | null)[];
  /** Oldest first, without gaps. */
  readonly days: readonly DayFigures[];
  /** Oldest first; the latest where there are too many. */
  readonly outages: readonly Outage[];
  readonly outagesOmitted: number;
};

export type AvailabilityWindow = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly openUntilMs: number;
  readonly onsetMs?: number | undefined;
  /** Outages that are listed at most. */
  readonly listedOutages: number;
  /** Lengths of the ends of the window that are wanted apart, in milliseconds. */
  readonly endsMs?: readonly number[];
  /** Days that fill the window, in order. Default: those of UTC. */
  readonly days?: readonly DayBounds[] | undefined;
};

/** Adds up spans that come in order and fill the window; what it holds grows with the days and the listed outages only. */
export function createAvailabilityFold(window: AvailabilityWindow): {
  readonly take: (spans: Iterable<Span>) => void;
  readonly result: () => AvailabilityReport;
} {
  const total = noTime();
  const measured = noTime();
  let correctedMs = 0;
  const days = (window.days ?? daysOf(window.fromMs, window.toMs)).map(
    (day): Day => ({
      ...day,
      sum: noTime(),
      outages: 0,
    }),
  );
  const dayAt =
    window.days === undefined
      ? (ms: number) => days[Math.floor(ms / dayMs) - Math.floor(window.fromMs / dayMs)]
      : (ms: number) => days.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
  const ends = (window.endsMs ?? []).map((ms) => ({ ms, fromMs: window.toMs - ms, sum: noTime() }));
  const outages = createOutageFold({
    ...window,
    listed: window.listedOutages,
    onStart: (startedMs) => {
      const day = dayAt(startedMs);
      if (day !== undefined) day.outages += 1;
    },
  });

  const takeOne = (span: Span): void => {
    const ms = span.toMs - span.fromMs;
    outages.take(span, total.upMs + total.degradedMs);
    addTime(total, span.countsAs, ms);
    addTime(measured, span.measuredAs, ms);
    if (span.countsAs !== span.measuredAs) correctedMs += ms;
    for (let atMs = span.fromMs; atMs < span.toMs; ) {
      const day = dayAt(atMs);
      if (day === undefined) throw new RangeError(`a span at ${atMs} lies outside its window`);
      const untilMs = Math.min(day.toMs, span.toMs);
      addTime(day.sum, span.countsAs, untilMs - atMs);
      atMs = untilMs;
    }
    for (const end of ends) {
      const endMs = span.toMs - Math.max(span.fromMs, end.fromMs);
      if (endMs > 0) addTime(end.sum, span.countsAs, endMs);
    }
  };

  return {
    take: (spans) => {
      for (const span of spans) takeOne(span);
    },
    result: () => {
      const { omitted, ...found } = outages.result();
      return {
        ...found,
        outagesOmitted: omitted,
        availability: availabilityOf(total),
        measured: availabilityOf(measured),
        correctedMs,
        ends: ends.map(({ fromMs, sum }) => (fromMs < window.fromMs ? null : availabilityOf(sum))),
        days: days.map(({ sum, ...day }) => ({ ...day, ...availabilityOf(sum) })),
      };
    },
  };
}

type Day = DayBounds & {
  readonly sum: TimeSum;
  outages: number;
};

function daysOf(fromMs: number, toMs: number): DayBounds[] {
  const days: DayBounds[] = [];
  for (let atMs = fromMs; atMs < toMs; ) {
    const nextMs = (Math.floor(atMs / dayMs) + 1) * dayMs;
    const day = new Date(atMs).toISOString().slice(0, 10);
    days.push({ day, fromMs: atMs, toMs: Math.min(nextMs, toMs) });
    atMs = nextMs;
  }
  return days;
}
