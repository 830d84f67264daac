import type { AnnouncementKind, Condition } from './hold.ts';

/** A change of condition; times in milliseconds since the epoch. */
export type Edge = { readonly atMs: number; readonly to: Condition };

/** A time of maintenance, half-open. */
export type Window = { readonly fromMs: number; readonly toMs: number };

export type Announcement = { readonly atMs: number; readonly kind: AnnouncementKind };

/**
 * The definition of what is told of a timeline under maintenance; what works change by change (`hold.ts`) must come to the same. Nothing is
 * told inside a window. At its end what differs from before it is told, and an outage that came and went inside is one all-clear.
 * @param edges ascending, before the first one it is well
 * @param windows in any order; those that overlap or touch are one
 */
export function announcementsOf(edges: readonly Edge[], windows: readonly Window[]): Announcement[] {
  const merged = mergedOf(windows);
  // Before the changes of an instant: what happens at the very end of a window happens behind it.
  const before = (ms: number): Condition => edges.findLast(({ atMs }) => atMs < ms)?.to ?? 'up';
  const outside = edges
    .filter(({ atMs }) => !merged.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs))
    .filter((edge) => {
      const earlier = edges.slice(0, edges.indexOf(edge)).at(-1)?.to ?? 'up';
      return earlier !== edge.to;
    })
    .map((edge): Announcement => ({ atMs: edge.atMs, kind: edge.to }));
  const atEnds = merged.flatMap(({ fromMs, toMs }): Announcement[] => {
    const told = before(fromMs);
    const present = before(toMs);
    const isTouched = edges.some(
      ({ atMs, to }) => fromMs <= atMs && atMs < toMs && to === 'down' && before(atMs) === 'up',
    );
    if (present === 'down') return told === 'down' ? [] : [{ atMs: toMs, kind: 'down' }];
    return told === 'down' || isTouched ? [{ atMs: toMs, kind: 'all_clear' }] : [];
  });
  // An end comes before what happens at the same instant.
  return [...atEnds, ...outside].sort((one, other) => one.atMs - other.atMs);
}

/** Windows that overlap or touch as one, ascending. */
export function mergedOf(windows: readonly Window[]): Window[] {
  const merged: Window[] = [];
  for (const window of windows.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = merged.at(-1);
    if (last !== undefined && window.fromMs <= last.toMs)
      merged[merged.length - 1] = { ...last, toMs: Math.max(last.toMs, window.toMs) };
    else merged.push(window);
  }
  return merged;
}
