import { boundUs, hourOf, hourUs } from './time.ts';
import type { Span } from './time.ts';

/** A probe, several of them, or all. 0 is the control plane itself. */
export type WantedProbes = number | readonly number[] | undefined;

/** A half-open time [fromMs, toMs) of one monitor. */
export type ResultsWindow = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly probeId?: WantedProbes;
  /** Nothing older is read, whatever `fromMs` says: the reset, the retention. */
  readonly floorMs?: number | undefined;
};

/** What of a window is read. It may end before it begins: then it is empty. */
export function spanOf({ fromMs, toMs, floorMs = 0 }: ResultsWindow): Span {
  return { fromUs: boundUs(Math.max(fromMs, floorMs)), toUs: boundUs(toMs) };
}

export const isEmpty = ({ fromUs, toUs }: Span): boolean => fromUs >= toUs;

/** The hours in which a span begins or ends, of which it holds a part only: one, two or none. */
export function edgeHours({ fromUs, toUs }: Span): number[] {
  const edges = [fromUs, toUs].filter((us) => us % hourUs !== 0).map(hourOf);
  return [...new Set(edges)];
}
