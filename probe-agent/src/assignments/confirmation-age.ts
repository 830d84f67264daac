/** A moment by every clock that a machine has. Milliseconds; `uptimeMs` counts the sleep of the machine, `monotonicMs` does not. */
export type Moment = {
  /** Of the machine's boot; the two counters of equal boots can be compared. */
  readonly bootId: string;
  readonly uptimeMs: number;
  readonly monotonicMs: number;
  readonly wallMs: number;
  /** The server's clock, as well as it is known. */
  readonly serverMs: number;
};

/** Assignments may be checked without the control plane for so long after it was last in touch. */
export const longestConfirmationMs = 24 * 3_600_000;
/** A wall clock that was set back by no more than this is an ordinary correction. */
const correctionMs = 5 * 60_000;

/**
 * How long ago a moment of the past was. Within one boot of the machine its counters tell, whatever became of the wall clock. After
 * another boot only the wall clock can: the difference of its two readings, or, when it was set right in between, its distance from
 * the server's time of then. @returns undefined when the wall clock is before both, so that it is proven wrong and may hide any age
 */
export function ageMs(then: Moment, now: Moment): number | undefined {
  const counted = [now.uptimeMs - then.uptimeMs, now.monotonicMs - then.monotonicMs];
  if (now.bootId === then.bootId && counted.every((each) => each >= 0)) return Math.max(...counted);
  const possible = [now.wallMs - then.wallMs, now.wallMs - then.serverMs].filter((each) => each >= -correctionMs);
  return possible.length === 0 ? undefined : Math.max(0, Math.min(...possible));
}

/** A string says why assignments that were confirmed then must not be checked now. */
export function refuseOld(then: Moment, now: Moment): string | undefined {
  const age = ageMs(then, now);
  if (age === undefined)
    return 'the clock of this machine is before the time of its writing, so nobody can tell how old it is';
  if (age <= longestConfirmationMs) return undefined;
  return `the control plane confirmed it ${Math.floor(age / 3_600_000)} hours ago; it lasts ${longestConfirmationMs / 3_600_000}`;
}
