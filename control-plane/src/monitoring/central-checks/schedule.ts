import type { Verdict } from '@parallax/checks';
import { createExpiryHeap } from '../../platform/heap/expiry-heap.ts';
import { nextRegular, phaseOf } from './phase.ts';
import type { CentralWish, FirstCheck } from './wish.ts';

/** How much the control plane checks at most, over all monitors. Fallbacks have a part of it, so that they never hold up central monitors. */
export type ScheduleLimits = {
  readonly inFlight: number;
  readonly perSecond: number;
  readonly fallbackInFlight: number;
  readonly fallbackPerSecond: number;
};

/** One monitor in the schedule; handed to `start` and back to `finished`. */
export type CentralSlot = {
  wish: CentralWish;
  readonly phase: number;
  regularMs: number;
  recheckMs: number;
  /** Where the heap has it. */
  dueMs: number;
  state: 'idle' | 'waiting' | 'running';
  waitingKind: CentralKind;
  /** Whose place it waits for or has: that of its wish when it came up. */
  lane: 'own' | 'fallback';
  streak: number;
  /** It leaves with its next result. */
  isLast: boolean;
  isRemoved: boolean;
  /** The check under way is of an earlier configuration. */
  isOutdated: boolean;
};

export type CentralKind = 'scheduled' | 'recheck';
/** From the end of a failing check to the next look (rule 7). */
const recheckAfterMs = 5_000;

/**
 * Decides when the control plane runs which check: one heap, times on a phase that the monitor has by its number, so that a takeover
 * changes no rhythm. What is due beyond the limits waits, oldest first. Pure: the caller tells the time (milliseconds, ascending).
 */
export class CentralSchedule {
  readonly #slots = new Map<number, CentralSlot>();
  readonly #heap = createExpiryHeap<CentralSlot>();
  readonly #start: (slot: CentralSlot, kind: CentralKind) => void;
  readonly #own: Lane;
  readonly #fallback: Lane;

  constructor(limits: ScheduleLimits, start: (slot: CentralSlot, kind: CentralKind) => void) {
    this.#start = start;
    this.#own = new Lane(limits.inFlight - limits.fallbackInFlight, limits.perSecond - limits.fallbackPerSecond);
    this.#fallback = new Lane(limits.fallbackInFlight, limits.fallbackPerSecond);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Checks a monitor from now on, or as now wished. */
  set(wish: CentralWish, first: FirstCheck, nowMs: number): void {
    const known = this.#slots.get(wish.monitorId);
    const slot = known ?? newSlot(wish);
    this.#slots.set(wish.monitorId, slot);
    const isSameRhythm = known !== undefined && known.wish.cadenceS === wish.cadenceS;
    if (known !== undefined && known.wish.version !== wish.version) slot.isOutdated = slot.state === 'running';
    slot.wish = wish;
    slot.isLast = false;
    if (first === 'at_once') {
      slot.streak = 0;
      slot.recheckMs = Number.POSITIVE_INFINITY;
      slot.isOutdated = slot.state === 'running';
      slot.regularMs = nowMs;
    } else if (!isSameRhythm) {
      slot.regularMs = nextRegular(nowMs, wish.cadenceS * 1_000, slot.phase);
    }
    this.#plan(slot);
  }

  /** Checks a monitor no more, at once or after one more look. */
  end(monitorId: number, isOnceMore: boolean, nowMs: number): void {
    const slot = this.#slots.get(monitorId);
    if (slot === undefined) return;
    if (!isOnceMore) {
      this.#remove(slot);
      return;
    }
    slot.isLast = true;
    slot.regularMs = Number.POSITIVE_INFINITY;
    slot.recheckMs = nowMs;
    this.#plan(slot);
  }

  /** Somebody asks for a look now (rule 7). */
  ask(monitorId: number, nowMs: number): void {
    const slot = this.#slots.get(monitorId);
    if (slot === undefined || slot.state !== 'idle' || slot.recheckMs <= nowMs) return;
    slot.recheckMs = nowMs;
    this.#plan(slot);
  }

  /** Starts what is due, within the limits. */
  run(nowMs: number): void {
    const isCurrent = (dueMs: number, slot: CentralSlot): boolean => slot.dueMs === dueMs;
    for (let slot = this.#heap.popDue(nowMs, isCurrent); slot !== undefined; ) {
      this.#due(slot, nowMs);
      slot = this.#heap.popDue(nowMs, isCurrent);
    }
    this.#admit(this.#own, nowMs);
    this.#admit(this.#fallback, nowMs);
  }

  /** A check that was started has ended. */
  finished(slot: CentralSlot, verdict: Verdict, nowMs: number): void {
    slot.state = 'idle';
    this.#laneOf(slot).inFlight -= 1;
    if (slot.isRemoved) return;
    if (slot.isLast) {
      this.#remove(slot);
      return;
    }
    if (!slot.isOutdated && verdict !== 'neutral') {
      slot.streak = verdict === 'failing' ? slot.streak + 1 : 0;
      const isOpen = slot.streak > 0 && slot.streak < slot.wish.confirmations;
      slot.recheckMs = isOpen ? nowMs + Math.min(recheckAfterMs, slot.wish.cadenceS * 1_000) : Number.POSITIVE_INFINITY;
    }
    slot.isOutdated = false;
    this.#plan(slot);
  }

  /** When `run` has to be called next; infinity when nothing is planned. */
  get nextMs(): number {
    return Math.min(this.#heap.nextUs(), this.#own.nextMs, this.#fallback.nextMs);
  }

  #laneOf(slot: CentralSlot): Lane {
    return slot.lane === 'fallback' ? this.#fallback : this.#own;
  }

  #due(slot: CentralSlot, nowMs: number): void {
    const isRegular = slot.regularMs <= nowMs;
    slot.recheckMs = Number.POSITIVE_INFINITY;
    const cadenceMs = slot.wish.cadenceS * 1_000;
    if (isRegular && slot.state === 'running' && slot.isOutdated) {
      // What runs is of a configuration before: the first look at this one comes right after it.
      slot.regularMs = nowMs + 100;
    } else if (isRegular) {
      // The first look may stand anywhere: the next regular one is at least half an interval later.
      const isOnPhase = nextRegular(slot.regularMs - 1, cadenceMs, slot.phase) === slot.regularMs;
      slot.regularMs = nextRegular(isOnPhase ? nowMs : nowMs + cadenceMs / 2, cadenceMs, slot.phase);
    }
    this.#plan(slot);
    if (slot.state !== 'idle') return;
    slot.state = 'waiting';
    slot.waitingKind = isRegular ? 'scheduled' : 'recheck';
    slot.lane = slot.wish.isFallback ? 'fallback' : 'own';
    this.#laneOf(slot).waiting.push(slot);
  }

  #admit(lane: Lane, nowMs: number): void {
    for (let slot = lane.next(nowMs); slot !== undefined; slot = lane.next(nowMs)) {
      slot.state = 'running';
      lane.inFlight += 1;
      this.#start(slot, slot.waitingKind);
    }
  }

  #plan(slot: CentralSlot): void {
    const dueMs = Math.min(slot.regularMs, slot.recheckMs);
    if (dueMs === slot.dueMs) return;
    slot.dueMs = dueMs;
    this.#heap.push(dueMs, slot);
  }

  #remove(slot: CentralSlot): void {
    slot.isRemoved = true;
    slot.dueMs = Number.NaN;
    if (this.#slots.get(slot.wish.monitorId) === slot) this.#slots.delete(slot.wish.monitorId);
  }
}

/** A part of the limits, with those that wait for a place in it. */
class Lane {
  readonly waiting = new Queue();
  inFlight = 0;
  readonly #inFlightMost: number;
  readonly #perSecond: number;
  #tokens: number;
  #countedMs = Number.NEGATIVE_INFINITY;

  constructor(inFlightMost: number, perSecond: number) {
    this.#inFlightMost = inFlightMost;
    this.#perSecond = perSecond;
    this.#tokens = this.#most;
  }

  /** A tenth of a second's worth may go at once. */
  get #most(): number {
    return Math.max(1, this.#perSecond / 10);
  }

  /** When a place is free by rate; while all places are taken, the end of a check says so. */
  get nextMs(): number {
    if (this.waiting.size === 0 || this.inFlight >= this.#inFlightMost) return Number.POSITIVE_INFINITY;
    return this.#countedMs + (Math.max(0, 1 - this.#tokens) * 1_000) / this.#perSecond;
  }

  /** Takes the oldest that waits when there is a place for it. */
  next(nowMs: number): CentralSlot | undefined {
    const passedMs = this.#countedMs === Number.NEGATIVE_INFINITY ? 0 : Math.max(0, nowMs - this.#countedMs);
    this.#tokens = Math.min(this.#most, this.#tokens + (passedMs * this.#perSecond) / 1_000);
    this.#countedMs = nowMs;
    while (this.waiting.size > 0 && this.inFlight < this.#inFlightMost && this.#tokens >= 1) {
      const slot = this.waiting.shift();
      if (slot === undefined || slot.isRemoved) continue;
      this.#tokens -= 1;
      return slot;
    }
    return undefined;
  }
}

/** First in, first out, without moving what is in it. */
class Queue {
  #items: CentralSlot[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(slot: CentralSlot): void {
    this.#items.push(slot);
  }

  shift(): CentralSlot | undefined {
    const slot = this.#items[this.#head];
    this.#head += 1;
    if (this.#head >= this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head > 1_000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return slot;
  }
}

function newSlot(wish: CentralWish): CentralSlot {
  return {
    wish,
    phase: phaseOf(wish.monitorId),
    regularMs: Number.POSITIVE_INFINITY,
    recheckMs: Number.POSITIVE_INFINITY,
    dueMs: Number.POSITIVE_INFINITY,
    state: 'idle',
    waitingKind: 'scheduled',
    lane: 'own',
    streak: 0,
    isLast: false,
    isRemoved: false,
    isOutdated: false,
  };
}
