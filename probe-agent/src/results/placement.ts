import type { Anchor } from './record.ts';

/** Server time of a moment, and how far off it may be: what no synchronisation vouches for. Microseconds since the epoch, whole. */
export type Placed = { readonly serverUs: number; readonly errorUs: number };

/** What the system tells of sleep below this is how exact its clocks are. */
export const sleepMs = 300;

type Sync = Anchor & { readonly kind: 'sync' };

/** No clock drifts by more: what two synchronisations show beyond it was a standstill between them, of the machine or of its clock. */
const mostDrift = 0.011;
/** A synchronisation is right within this, or little more. */
const syncErrorUs = 50_000;
/** A rate is measured over at least and at most so long. */
const rateSpanUs = { least: 5_000_000, most: 900_000_000 } as const;
const rateNoise = 0.000_2;
/** Standstills shorter than this are not told from a slow way. */
const standstillUs = 2_500_000;
/** Going back from a first synchronisation needs its rate once the way is longer than this; measuring for a tenth of the way is enough. */
const backWithoutRateUs = 5_000_000;
const longestWaitForRateUs = 60_000_000;

/**
 * Server time of moments on the monotonic clock of one boot of the machine, from the synchronisations around them. Between two it
 * interpolates, beyond them it carries on at the rate of those nearby. It never reaches across a time in which the machine slept.
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

  /** Undefined when nothing on this side of a break was ever synchronised. */
  place(monotonicUs: number): Placed | undefined {
    const after = this.#firstAfter(monotonicUs);
    const { sync: previous, jumped: jumpedBefore } = this.#previousSync(after);
    const { sync: next, jumped: jumpedAfter } = this.#nextSync(after);
    if (previous !== undefined && next !== undefined) {
      const stoodStill = standstill(previous, next);
      if (stoodStill === 0) return { serverUs: between(previous, next, monotonicUs), errorUs: 0 };
      if (jumpedBefore === jumpedAfter) return { serverUs: between(previous, next, monotonicUs), errorUs: stoodStill };
    }
    // With both at hand the standstill was at the jump, which lies on one side of this moment.
    const isPrevious = previous !== undefined && !(next !== undefined && jumpedBefore);
    const from = isPrevious ? previous : next;
    if (from === undefined) return undefined;
    const { rate, error } = this.#rateAt(from, isPrevious ? -1 : 1);
    const distanceUs = monotonicUs - from.monotonicUs;
    // Without a synchronisation on the other side nobody knows whether a jump between was a sleep, and how long one.
    const isBeyondJump = isPrevious ? jumpedBefore : jumpedAfter;
    return {
      serverUs: Math.round(from.serverUs + distanceUs * rate),
      errorUs: isBeyondJump ? Infinity : Math.abs(distanceUs) * error,
    };
  }

  /** Whether enough is known around this moment, so that waiting for more would not place it better. */
  settled(monotonicUs: number): boolean {
    const after = this.#firstAfter(monotonicUs);
    const { sync: next, isBroken } = this.#nextSync(after);
    if (next === undefined) return isBroken;
    const { sync: previous, jumped } = this.#previousSync(after);
    if (previous !== undefined && (!jumped || standstill(previous, next) === 0)) return true;
    const wayUs = next.monotonicUs - monotonicUs;
    if (wayUs <= backWithoutRateUs) return true;
    const { spanUs, isOver } = this.#run(next, 1);
    return isOver || spanUs >= Math.min(longestWaitForRateUs, wayUs / 10);
  }

  /** The last synchronisation or break, for a log that begins anew. */
  get last(): Anchor | undefined {
    return this.#anchors.findLast((anchor) => anchor.kind !== 'jump');
  }

  /** Keeps the last anchor whatever comes: it is the nearest one before a time without any. */
  keepLast(): void {
    this.#passing = undefined;
  }

  /** Forgets what is older than the last two synchronisations before this moment: they place what comes after them, however long it lasts. */
  forgetBefore(monotonicUs: number): void {
    let keepFrom = this.#firstAfter(monotonicUs);
    for (let syncs = 0; keepFrom > 0 && syncs < 2; keepFrom -= 1) {
      if (isSync(this.#anchors[keepFrom - 1])) syncs += 1;
    }
    if (keepFrom > 0) this.#anchors.splice(0, keepFrom);
  }

  #previousSync(after: number): { sync: Sync | undefined; jumped: boolean } {
    let jumped = false;
    for (let at = after - 1; at >= 0; at -= 1) {
      const anchor = this.#anchors[at];
      if (isSync(anchor)) return { sync: anchor, jumped };
      if (anchor?.kind === 'break') break;
      jumped = true;
    }
    return { sync: undefined, jumped };
  }

  #nextSync(after: number): { sync: Sync | undefined; jumped: boolean; isBroken: boolean } {
    let jumped = false;
    for (let at = after; at < this.#anchors.length; at += 1) {
      const anchor = this.#anchors[at];
      if (isSync(anchor)) return { sync: anchor, jumped, isBroken: false };
      if (anchor?.kind === 'break') return { sync: undefined, jumped, isBroken: true };
      jumped = true;
    }
    return { sync: undefined, jumped, isBroken: false };
  }

  /** The rate of the clock by the synchronisations next to one, on one side of it. */
  #rateAt(from: Sync, direction: 1 | -1): { rate: number; error: number } {
    const { farthest, spanUs } = this.#run(from, direction);
    if (spanUs < rateSpanUs.least) return { rate: 1, error: mostDrift };
    const rate = (farthest.serverUs - from.serverUs) / (farthest.monotonicUs - from.monotonicUs);
    return { rate, error: Math.min(mostDrift, (2 * syncErrorUs) / spanUs + rateNoise) };
  }

  /** The farthest synchronisation that one can be joined with; `isOver` when no later one ever can. */
  #run(from: Sync, direction: 1 | -1): { farthest: Sync; spanUs: number; isOver: boolean } {
    let farthest = from;
    let at = this.#anchors.indexOf(from) + direction;
    for (; at >= 0 && at < this.#anchors.length; at += direction) {
      const anchor = this.#anchors[at];
      if (anchor?.kind === 'break') return { farthest, spanUs: spanOf(from, farthest), isOver: true };
      if (!isSync(anchor)) continue;
      if (spanOf(from, anchor) > rateSpanUs.most || isStandstill(farthest, anchor))
        return { farthest, spanUs: spanOf(from, farthest), isOver: true };
      farthest = anchor;
    }
    return { farthest, spanUs: spanOf(from, farthest), isOver: false };
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

const isSync = (anchor: Anchor | undefined): anchor is Sync => anchor?.kind === 'sync';

const spanOf = (one: Sync, other: Sync): number => Math.abs(one.monotonicUs - other.monotonicUs);

function between(previous: Sync, next: Sync, monotonicUs: number): number {
  const span = next.monotonicUs - previous.monotonicUs;
  const share = span === 0 ? 0 : (monotonicUs - previous.monotonicUs) / span;
  return Math.round(previous.serverUs + share * (next.serverUs - previous.serverUs));
}

/** Microseconds by which the server's time between two synchronisations is beyond any drift; 0 when it is not. */
function standstill(previous: Sync, next: Sync): number {
  const passed = next.monotonicUs - previous.monotonicUs;
  const beyond = Math.abs(next.serverUs - previous.serverUs - passed);
  return beyond > mostDrift * passed + standstillUs ? beyond : 0;
}

const isStandstill = (one: Sync, other: Sync): boolean =>
  (one.monotonicUs <= other.monotonicUs ? standstill(one, other) : standstill(other, one)) > 0;
