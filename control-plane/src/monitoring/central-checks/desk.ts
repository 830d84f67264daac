import { freshSeconds } from '@parallax/checks';
import { createExpiryHeap } from '../../platform/heap/expiry-heap.ts';
import type { Standing } from '../consensus/index.ts';
import { fallbackCadenceS } from './wish.ts';
import type { CentralWish, FirstCheck } from './wish.ts';

/** What the desk knows of a monitor's configuration. */
export type DeskMonitor = {
  readonly monitorId: number;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly confirmations: number;
  /** Changes with the configuration. */
  readonly version: string;
};

/** What the desk decides: to check a monitor from now on, or no longer. */
export type DeskOrder =
  | { readonly type: 'check'; readonly wish: CentralWish; readonly first: FirstCheck }
  | {
      readonly type: 'end';
      readonly monitorId: number;
      /** Check once more: its vote says failing, and is to be superseded by what is so now rather than run out. */
      readonly isOnceMore: boolean;
    };

/** What must be known before a fallback begins. */
export type DeskFacts = {
  /** The owner reads no backlog, its broker stands, and both have been so for long enough. */
  readonly mayStart: boolean;
  readonly mayStillReport: (probeId: number) => boolean;
};

type Entry = {
  monitor: DeskMonitor;
  standing: Standing;
  wish: CentralWish | undefined;
  /** When its fallback is due to begin; not a number while it is not waited for. */
  startUs: number;
};

/** A start that was not allowed is tried again after this. */
const retryUs = 5_000_000;

/**
 * Decides which monitors of a shard the control plane checks itself (rule 1): those without any probe, always; those whose probes are too
 * few to tell, from one freshness after they became so until they are enough again. It holds an entry for these monitors only, is told of
 * changed standings only, and so costs nothing while probes vote. Pure: facts and time are passed in, orders are taken out.
 */
export class CentralDesk {
  readonly #entries = new Map<number, Entry>();
  readonly #starts = createExpiryHeap<Entry>();
  #orders: DeskOrder[] = [];
  #isTakeover = true;

  /** When a fallback is due to begin; infinity when none is. May be too early, never too late. */
  get nextStartUs(): number {
    return this.#starts.nextUs();
  }

  /** The first telling after a takeover is over: from now on a fallback that has ended begins anew, one freshness later. */
  settled(): void {
    this.#isTakeover = false;
  }

  /** What was decided since the last time, in order. */
  take(): readonly DeskOrder[] {
    const orders = this.#orders;
    this.#orders = [];
    return orders;
  }

  /** A monitor's standing or configuration has changed; null for a monitor that is gone. */
  tell(monitor: DeskMonitor, standing: Standing | null): void {
    const { monitorId } = monitor;
    const before = this.#entries.get(monitorId);
    const isWanted =
      standing !== null && !standing.isClosed && (standing.isCentral || standing.lackingSinceUs !== null);
    if (!isWanted) {
      if (before === undefined) return;
      this.#entries.delete(monitorId);
      before.startUs = Number.NaN;
      if (before.wish !== undefined) this.#end(before.wish, standing);
      return;
    }
    const entry = before ?? { monitor, standing, wish: undefined, startUs: Number.NaN };
    const former = entry.standing;
    entry.monitor = monitor;
    entry.standing = standing;
    this.#entries.set(monitorId, entry);
    if (standing.isCentral) this.#checkAsOwn(entry, before === undefined ? undefined : former);
    else this.#standIn(entry);
  }

  /** Begins the fallbacks that are due, or puts them off. */
  start(nowUs: number, facts: DeskFacts): void {
    const isCurrent = (startUs: number, entry: Entry): boolean => entry.startUs === startUs;
    for (let entry = this.#starts.popDue(nowUs, isCurrent); entry !== undefined; ) {
      const mayBegin = facts.mayStart && !entry.standing.missing.some(facts.mayStillReport);
      if (mayBegin) {
        entry.startUs = Number.NaN;
        this.#check(entry, true, 'at_once');
      } else {
        this.#plan(entry, nowUs + retryUs);
      }
      entry = this.#starts.popDue(nowUs, isCurrent);
    }
  }

  #checkAsOwn(entry: Entry, former: Standing | undefined): void {
    entry.startUs = Number.NaN;
    const { central } = entry.standing;
    const isAnother = former === undefined || !former.isCentral || former.central.beganUs !== central.beganUs;
    const isUnseen = isAnother && central.lastUs < central.beganUs;
    if (isUnseen || entry.wish === undefined || isDifferent(entry.wish, wishOf(entry.monitor, false)))
      this.#check(entry, false, isUnseen ? 'at_once' : 'on_phase');
  }

  #standIn(entry: Entry): void {
    const { monitor, standing } = entry;
    if (entry.wish?.isFallback === true) {
      if (isDifferent(entry.wish, wishOf(monitor, true))) this.#check(entry, true, 'on_phase');
      return;
    }
    if (entry.wish !== undefined) {
      this.#end(entry.wish, null);
      entry.wish = undefined;
    }
    if (this.#isTakeover && standing.central.isHolding) {
      // The owner before had begun it.
      this.#check(entry, true, 'on_phase');
      return;
    }
    const gapUs = freshSeconds(monitor.intervalS, monitor.timeoutS) * 1_000_000;
    const startUs = (standing.lackingSinceUs ?? 0) + gapUs;
    // One that was put off stays so.
    if (Number.isNaN(entry.startUs) || startUs > entry.startUs) this.#plan(entry, startUs);
  }

  #plan(entry: Entry, startUs: number): void {
    entry.startUs = startUs;
    this.#starts.push(startUs, entry);
  }

  #check(entry: Entry, isFallback: boolean, first: FirstCheck): void {
    entry.wish = wishOf(entry.monitor, isFallback);
    this.#orders.push({ type: 'check', wish: entry.wish, first });
  }

  /** Beside a single probe the vote of `central` counts no more as soon as the probe votes; there is nothing to supersede. */
  #end({ monitorId, isFallback }: CentralWish, standing: Standing | null): void {
    const isOnceMore =
      isFallback && standing !== null && !standing.isClosed && standing.seats > 1 && standing.central.isFailing;
    this.#orders.push({ type: 'end', monitorId, isOnceMore });
  }
}

function wishOf(monitor: DeskMonitor, isFallback: boolean): CentralWish {
  const { monitorId, intervalS, timeoutS, confirmations, version } = monitor;
  const cadenceS = isFallback ? Math.max(intervalS, fallbackCadenceS) : intervalS;
  return { monitorId, isFallback, cadenceS, freshS: freshSeconds(cadenceS, timeoutS), confirmations, version };
}

function isDifferent(one: CentralWish, other: CentralWish): boolean {
  return one.version !== other.version || one.isFallback !== other.isFallback;
}
