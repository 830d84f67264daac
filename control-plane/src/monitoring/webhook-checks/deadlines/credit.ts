/** How often it is noted that deliveries are taken. */
export const noteMs = 1_000;

/** A note that comes later than this comes after an outage: senders were turned away. */
const outageMs = 5_000;
/** What senders may take to try again, beside the outage itself (rule 16 of the consensus). */
const retryMs = 60_000;

/** By how much deadlines move after a time without notes, in whole milliseconds, as they are stored. */
export function creditOf(sinceMs: number): number {
  return sinceMs > outageMs ? Math.ceil(sinceMs) + retryMs : 0;
}
