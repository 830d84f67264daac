/** A number in [0, 1) that is the same for a monitor and probe at every start, and level over many of them (FNV-1a, mixed at the end). */
export function phaseOf(monitorId: number, probeId: number): number {
  let hash = 0x811c9dc5;
  for (const number of [monitorId, probeId]) {
    for (let shift = 0; shift < 32; shift += 8) hash = Math.imul(hash ^ ((number >>> shift) & 0xff), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The first of `phase × interval + k × interval` that is later than `afterMs`. */
export function nextSlot(afterMs: number, intervalMs: number, phase: number): number {
  const offsetMs = Math.floor(phase * intervalMs);
  return offsetMs + (Math.floor((afterMs - offsetMs) / intervalMs) + 1) * intervalMs;
}
