/**
 * Bits of `check_results.flags` above the eight that travel on the wire (`packFlags` of `@parallax/wire`).
 */

/** Run by the control plane itself. */
export const centralFlag = 1 << 8;

/** Arrived more than 15 s after its check had ended; decided once, at first receipt. */
export const lateFlag = 1 << 9;

/** Run by the control plane beside probes that could not vote (rule 1): votes, and counts in no latency figure. Always with `centralFlag`. */
export const fallbackFlag = 1 << 10;
