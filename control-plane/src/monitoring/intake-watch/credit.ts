/** Replicas say so often that they take signals. */
export const noteEveryMs = 2_000;
/** A silence of all of them up to this long is a busy moment and not an outage. */
export const toleratedMs = 10_000;
/** What clients are given beside the time of an outage: rule 16 of the consensus. */
export const graceMs = 60_000;

/**
 * By what deadlines move, when a replica takes signals again: by the time in which none did, and a minute. Null while there was no outage.
 * @param beforeMs until when signals were taken; null when they never were
 */
export function creditOf(beforeMs: number | null, nowMs: number): number | null {
  if (beforeMs === null || nowMs - beforeMs <= toleratedMs) return null;
  return Math.ceil(nowMs - beforeMs) + graceMs;
}
