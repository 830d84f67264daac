import { phaseOf } from '../../../probe-agent/src/runner/phase.ts';

/**
 * Milliseconds from the due time of a check's slot to its start. A monitor's slots are `phase × interval + k × interval` on the server's
 * clock, and the effective time of a result is the start of its check on that clock. A little below 0 when the clock was set meanwhile.
 */
export function latenessMs(
  check: { readonly monitorId: number; readonly effectiveUs: number },
  probeId: number,
  intervalMs: number,
): number {
  const offsetMs = Math.floor(phaseOf(check.monitorId, probeId) * intervalMs);
  const sinceMs = (((check.effectiveUs / 1_000 - offsetMs) % intervalMs) + intervalMs) % intervalMs;
  return sinceMs > intervalMs / 2 ? sinceMs - intervalMs : sinceMs;
}

/** The value that a share (0 to 1) of the values does not exceed; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
