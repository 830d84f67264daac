import { hourUs } from './time.ts';
import type { HourSpan, Span } from './time.ts';

/** What of a span no run of hours covers, in order. The runs may be in any order, overlap, and reach out of the span. */
export function notCovered({ fromUs, toUs }: Span, covered: readonly HourSpan[]): Span[] {
  const rest: Span[] = [];
  let doneUs = fromUs;
  for (const run of covered.toSorted((one, other) => one.fromHour - other.fromHour)) {
    const nextUs = Math.min(toUs, run.fromHour * hourUs);
    if (nextUs > doneUs) rest.push({ fromUs: doneUs, toUs: nextUs });
    doneUs = Math.max(doneUs, run.toHour * hourUs);
  }
  if (doneUs < toUs) rest.push({ fromUs: doneUs, toUs });
  return rest;
}

/** The same in whole hours. */
export function hoursNotCovered({ fromHour, toHour }: HourSpan, covered: readonly HourSpan[]): HourSpan[] {
  return notCovered({ fromUs: fromHour * hourUs, toUs: toHour * hourUs }, covered).map(({ fromUs, toUs }) => ({
    fromHour: fromUs / hourUs,
    toHour: toUs / hourUs,
  }));
}

/** At most so many runs that hold all hours of these, in order: the shortest gaps between them are filled. */
export function atMost(runs: readonly HourSpan[], most: number): HourSpan[] {
  if (runs.length <= most) return [...runs];
  const gaps = runs.slice(1).map((run, index) => run.fromHour - (runs[index]?.toHour ?? 0));
  const kept = new Set(
    gaps
      .map((gap, index) => ({ gap, index }))
      .toSorted((one, other) => other.gap - one.gap)
      .slice(0, most - 1)
      .map(({ index }) => index),
  );
  const joined: { fromHour: number; toHour: number }[] = [];
  for (const [index, { fromHour, toHour }] of runs.entries()) {
    const last = joined.at(-1);
    if (last === undefined || kept.has(index - 1)) joined.push({ fromHour, toHour });
    else last.toHour = toHour;
  }
  return joined;
}

/** The parts of spans before an instant, and those from it on. */
export function splitAt(spans: readonly Span[], us: number): { readonly before: Span[]; readonly after: Span[] } {
  return {
    before: spans.filter((span) => span.fromUs < us).map(({ fromUs, toUs }) => ({ fromUs, toUs: Math.min(toUs, us) })),
    after: spans.filter((span) => span.toUs > us).map(({ fromUs, toUs }) => ({ fromUs: Math.max(fromUs, us), toUs })),
  };
}
