import type { Anchor } from './record.ts';

/**
 * Server time of moments on the monotonic clock of one boot of the machine, from the synchronisations around them. Between two it
 * interpolates, beyond them it carries on at the rate of the nearest pair. It never reaches across a break, where the machine slept.
 */
export class Placement {
  /** Ascending by monotonic time. */
  readonly #anchors: Anchor[] = [];
  #passing: Anchor | undefined;

  /** `passing`: the next anchor may take its place, since those that are kept lie close enough together. */
  add(anchor: Anchor, passing = false): void {
    if (this.#passing !== undefined && this.#anchors.at(-1) === this.#passing) this.#anchors.pop();
    this.#passing = passing ? anchor : undefined;
    let at = this.#anchors.length;
    while (at > 0 && (this.#anchors[at - 1]?.monotonicUs ?? 0) > anchor.monotonicUs) at -= 1;
    this.#anchors.splice(at, 0, anchor);
  }

  /** Microseconds since the epoch, whole; undefined when nothing on this side of a break was ever synchronised. */
  place(monotonicUs: number): number | undefined {
    const after = this.#firstAfter(monotonicUs);
    const next = this.#anchors[after];
    const previous = this.#anchors[after - 1];
    const nextSync = next?.kind === 'sync' ? next : undefined;
    const previousSync = previous?.kind === 'sync' ? previous : undefined;
    if (previousSync !== undefined && nextSync !== undefined) {
      const span = nextSync.monotonicUs - previousSync.monotonicUs;
      const share = span === 0 ? 0 : (monotonicUs - previousSync.monotonicUs) / span;
      return Math.round(previousSync.serverUs + share * (nextSync.serverUs - previousSync.serverUs));
    }
    if (previousSync !== undefined) {
      const rate = this.#rate(this.#anchors[after - 2], previousSync);
      return Math.round(previousSync.serverUs + (monotonicUs - previousSync.monotonicUs) * rate);
    }
    if (nextSync !== undefined) {
      const rate = this.#rate(nextSync, this.#anchors[after + 1]);
      return Math.round(nextSync.serverUs - (nextSync.monotonicUs - monotonicUs) * rate);
    }
    return undefined;
  }

  /** Whether a synchronisation after this moment is known, so that its place will not change any more. */
  settled(monotonicUs: number): boolean {
    return this.#firstAfter(monotonicUs) < this.#anchors.length;
  }

  /** Keeps the last anchor whatever comes: it is the nearest one before a time without any. */
  keepLast(): void {
    this.#passing = undefined;
  }

  /** Forgets what is older than the last anchor before this moment. */
  forgetBefore(monotonicUs: number): void {
    const keepFrom = Math.max(0, this.#firstAfter(monotonicUs) - 2);
    if (keepFrom > 0) this.#anchors.splice(0, keepFrom);
  }

  /** A rate beyond one in twenty is an error of measurement, not of a clock. */
  #rate(first: Anchor | undefined, second: Anchor | undefined): number {
    if (first?.kind !== 'sync' || second?.kind !== 'sync') return 1;
    const span = second.monotonicUs - first.monotonicUs;
    if (span < 5_000_000) return 1;
    const rate = (second.serverUs - first.serverUs) / span;
    return rate > 0.95 && rate < 1.05 ? rate : 1;
  }

  #firstAfter(monotonicUs: number): number {
    let low = 0;
    let high = this.#anchors.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#anchors[middle]?.monotonicUs ?? 0) <= monotonicUs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
