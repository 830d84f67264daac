/** A time that counts neither way, half-open, in milliseconds since the epoch. */
export type Uncounted = { readonly fromMs: number; readonly toMs: number };

/**
 * How much of a time counts.
 * @param uncounted without overlaps
 * @returns milliseconds
 */
export function countedMs(fromMs: number, toMs: number, uncounted: readonly Uncounted[]): number {
  const lost = uncounted.reduce(
    (ms, one) => ms + Math.max(0, Math.min(toMs, one.toMs) - Math.max(fromMs, one.fromMs)),
    0,
  );
  return Math.max(0, toMs - fromMs - lost);
}
