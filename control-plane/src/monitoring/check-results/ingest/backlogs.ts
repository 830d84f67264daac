/** A batch whose last check had ended this much before it was received comes from what had gathered. */
const lateUs = 15_000_000;
/** A log that is being drained brings the next batch at once; after so long without one it is empty, or the probe is cut off again. */
const drainsWithinUs = 10_000_000;

/** The last result of a batch that was taken. */
export type Arrival = {
  readonly probeId: number;
  readonly epoch: number;
  readonly eUs: number;
  readonly totalUs: number;
  readonly receivedUs: number;
};

/**
 * Which probes still send what had gathered while they, the broker or the control plane were away (rule 16). A probe sends each epoch of its
 * log in order, so its last batch tells how far it is.
 */
export class Backlogs {
  readonly #behind = new Map<string, { readonly probeId: number; readonly receivedUs: number }>();

  note(arrivals: readonly Arrival[]): void {
    for (const { probeId, epoch, eUs, totalUs, receivedUs } of arrivals) {
      const key = `${probeId} ${epoch}`;
      if (receivedUs - eUs - totalUs > lateUs) this.#behind.set(key, { probeId, receivedUs });
      else if (this.#behind.size > 0) this.#behind.delete(key);
    }
  }

  /** The probes that are behind now. */
  at(nowUs: number): ReadonlySet<number> {
    for (const [key, { receivedUs }] of this.#behind) {
      if (nowUs - receivedUs > drainsWithinUs) this.#behind.delete(key);
    }
    return new Set([...this.#behind.values()].map(({ probeId }) => probeId));
  }
}
