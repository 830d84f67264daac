import type { Placement } from './placement.ts';
import type { Anchor } from './record.ts';

const anchorEveryUs = 60_000_000;
/** The synchronisation after a longer silence places the results of that time, so it is kept in any case. */
const anchorGapUs = 10_000_000;
/** Longer than any result stays in the log. */
const keepAnchorsUs = 49 * 3_600_000_000;

/** Decides which synchronisations are worth keeping: one in a minute, and those on both sides of a time without any. */
export class AnchorKeeper {
  readonly #placement: Placement;
  #last: Anchor | undefined;
  #lastKeptUs = -Infinity;

  /** Goes on from what an earlier run has left in the placement. */
  constructor(placement: Placement) {
    this.#placement = placement;
    const { last } = placement;
    this.#last = last?.kind === 'sync' ? last : undefined;
  }

  /** The last synchronisation on this side of a break: a new segment begins with it. */
  get last(): Anchor | undefined {
    return this.#last;
  }

  /** Takes an anchor into the placement; true when it belongs into the log as well. */
  add(anchor: Anchor): boolean {
    const isGap = anchor.monotonicUs - (this.#last?.monotonicUs ?? -Infinity) > anchorGapUs;
    const isKept = anchor.kind !== 'sync' || isGap || anchor.monotonicUs - this.#lastKeptUs >= anchorEveryUs;
    if (anchor.kind !== 'sync' || isGap) this.#placement.keepLast();
    this.#placement.add(anchor, !isKept);
    if (anchor.kind !== 'jump') this.#last = anchor.kind === 'sync' ? anchor : undefined;
    if (!isKept) return false;
    this.#placement.forgetBefore(anchor.monotonicUs - keepAnchorsUs);
    this.#lastKeptUs = anchor.kind === 'sync' ? anchor.monotonicUs : -Infinity;
    return true;
  }
}
