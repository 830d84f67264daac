import type { CountedAs } from '../../monitoring/consensus/index.ts';
import { normalLagMs } from '../statistics/index.ts';
import { dayKinds, dayMs, spanFactor } from './day-row.ts';

/** A stretch of one subject's time as it was measured; half-open, milliseconds since the epoch. */
export type StoredSpan = { readonly fromMs: number; readonly toMs: number; readonly measuredAs: CountedAs };

/** A stored day that is not of one kind, or not over. */
export type MixedDay = {
  readonly day: number;
  readonly untilMs: number;
  readonly tail: number | null;
  readonly spans: readonly number[] | null;
};

/** What is stored of a subject's days, the days of each list in order. */
export type StoredDays = {
  /** Whole days of one kind, each times `spanFactor` plus the kind. */
  readonly plain: readonly number[];
  readonly mixed: readonly MixedDay[];
  /** How far its shard is evaluated; null: it has none, so it is known up to now. */
  readonly foldedMs: number | null;
};

/**
 * The time of a subject in order, as `readSums` sums it: up to where it is known; behind that it is unknown where evaluation stands still, unless it is
 * paused or under maintenance.
 */
export function storedSpans({ plain, mixed, foldedMs }: StoredDays, nowMs: number): StoredSpan[] {
  const spans: StoredSpan[] = [];
  const add = (fromMs: number, toMs: number, kind: number): void => {
    if (toMs <= fromMs) return;
    const measuredAs = dayKinds[kind];
    if (measuredAs === undefined) throw new RangeError(`a day has time of kind ${kind}`);
    const last = spans.at(-1);
    if (last?.toMs === fromMs && last.measuredAs === measuredAs) spans[spans.length - 1] = { ...last, toMs };
    else spans.push({ fromMs, toMs, measuredAs });
  };
  const addMixed = (stored: MixedDay): void => {
    const startMs = stored.day * dayMs;
    const starts = stored.spans ?? (stored.tail === null ? [] : [stored.tail]);
    for (const [place, span] of starts.entries()) {
      const next = starts[place + 1];
      const untilMs = next === undefined ? stored.untilMs : Math.floor(next / spanFactor);
      add(startMs + Math.floor(span / spanFactor), startMs + untilMs, span % spanFactor);
    }
    if (stored.tail !== null) addLive(stored, stored.tail);
  };
  const addLive = ({ day, untilMs }: MixedDay, tail: number): void => {
    const summedMs = day * dayMs + untilMs;
    const evaluatedMs = Math.min(nowMs, Math.floor(foldedMs ?? nowMs));
    const knownMs = Math.max(evaluatedMs, summedMs);
    add(summedMs, knownMs, tail);
    if (nowMs - evaluatedMs > normalLagMs) add(knownMs, nowMs, staysAs.has(tail) ? tail : unknown);
  };
  let at = 0;
  for (const code of plain) {
    const day = Math.floor(code / spanFactor);
    for (; at < mixed.length; at += 1) {
      const next = mixed[at];
      if (next === undefined || next.day > day) break;
      addMixed(next);
    }
    add(day * dayMs, (day + 1) * dayMs, code % spanFactor);
  }
  for (const next of mixed.slice(at)) addMixed(next);
  return spans;
}

const unknown = dayKinds.indexOf('UNKNOWN');
const staysAs: ReadonlySet<number> = new Set([dayKinds.indexOf('MAINTENANCE'), dayKinds.indexOf('PAUSED')]);
