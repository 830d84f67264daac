/** A number in [0, 1) that is the same for a monitor at every start, and level over many of them (the finaliser of MurmurHash3). */
export function phaseOf(monitorId: number): number {
  let hash = Math.imul(monitorId ^ 0x9e3779b9, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x27d4eb2f);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

/** The first of `phase × interval + k × interval` that is later than `afterMs`. */
export function nextRegular(afterMs: number, intervalMs: number, phase: number): number {
  const offsetMs = Math.floor(phase * intervalMs);
  return offsetMs + (Math.floor((afterMs - offsetMs) / intervalMs) + 1) * intervalMs;
}
