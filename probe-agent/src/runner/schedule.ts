import type { Verdict } from '@parallax/checks';
import { Heap } from './heap.ts';
import { Hosts } from './hosts.ts';
import type { Host } from './hosts.ts';
import { nextSlot, phaseOf } from './phase.ts';
import { Queue } from './queue.ts';
import type { SkipReason } from './skipped.ts';
import { Slot } from './slot.ts';
import type { ScheduledMonitor } from './slot.ts';

/** When a monitor is checked first: at once, somewhere within a window (a start with many), or at its next regular slot. */
export type FirstCheck = 'at_once' | 'on_phase' | { readonly withinMs: number };

export type ScheduleLimits = {
  readonly maxInFlight: number;
  readonly perHost: number;
  /** Rechecks under way at most: a tenth of the capacity. */
  readonly maxRechecks: number;
};

/** Told by the schedule what to do; called from within its methods. */
export type ScheduleActions = {
  readonly start: (slot: Slot, kind: 'scheduled' | 'recheck') => void;
  /** A slot that is not run; `dueMs` is when it should have been. */
  readonly skip: (slot: Slot, dueMs: number, why: SkipReason) => void;
};

/** From the end of a failing check to the next look (rule 7). */
export const recheckAfterMs = 5_000;
/** A slot that is found later than this is not run any more: a machine that was stopped resumes without a burst. */
export const latestMs = (intervalMs: number): number => Math.min(Math.max(intervalMs / 10, 500), 2_000);
const busyRetryMs = 100;
/** A machine that is busy finds slots too late again and again, always those of the same monitors: after so many in a row one is run. */
const mostLateInARow = 2;

/**
 * Decides when which check runs; pure: the caller tells the time (server milliseconds, ascending) and does the work. Due times are
 * `start + k × interval` with a phase from the monitor and probe, so load is level and a restart changes nothing. A monitor has at most one
 * check under way and one waiting.
 */
export class Schedule {
  readonly #probeId: number;
  readonly #limits: ScheduleLimits;
  readonly #actions: ScheduleActions;
  readonly #slots = new Map<number, Slot>();
  readonly #due = new Heap<Slot>();
  readonly #rechecks = new Heap<Slot>();
  readonly #hosts = new Hosts<Slot>();
  readonly #waiting = new Queue<Slot>();
  #inFlight = 0;
  #rechecksInFlight = 0;

  constructor(options: { probeId: number; limits: ScheduleLimits; actions: ScheduleActions }) {
    this.#probeId = options.probeId;
    this.#limits = options.limits;
    this.#actions = options.actions;
  }

  get size(): number {
    return this.#slots.size;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Adds a monitor. One that is there takes its new settings; `first` then says when what has changed is looked at, undefined: as before. */
  set(monitor: ScheduledMonitor, nowMs: number, first?: FirstCheck): void {
    const known = this.#slots.get(monitor.id);
    const slot = known ?? this.#newSlot(monitor);
    const sameRhythm = known !== undefined && known.monitor.intervalMs === monitor.intervalMs;
    slot.monitor = monitor;
    this.#moveTo(slot, monitor.host);
    if (first !== undefined) {
      slot.streak = 0;
      slot.outdated = slot.runningOn !== undefined;
      this.#rechecks.delete(slot.recheck);
    } else if (sameRhythm) return;
    slot.offPhase = first !== undefined && first !== 'on_phase';
    if (first === 'at_once') this.#due.set(slot.due, nowMs);
    else if (typeof first === 'object')
      this.#due.set(slot.due, nowMs + phaseOf(this.#probeId, monitor.id) * first.withinMs);
    else this.#due.set(slot.due, nextSlot(nowMs, monitor.intervalMs, slot.phase));
  }

  /** Takes a monitor out; a check of it that is under way ends as it will. */
  remove(monitorId: number): void {
    const slot = this.#slots.get(monitorId);
    if (slot === undefined) return;
    slot.removed = true;
    slot.waitingDueMs = undefined;
    this.#slots.delete(monitorId);
    this.#due.delete(slot.due);
    this.#rechecks.delete(slot.recheck);
    slot.host.users -= 1;
    this.#hosts.forgetUnused(slot.host);
  }

  /**
   * The control plane asks for a second opinion now. One that has failed and is about to look again looks no sooner: two failures must outlast
   * what lies between them, and whoever asks may not know of the first yet. False for a monitor that is not here.
   */
  askRecheck(monitorId: number, nowMs: number): boolean {
    const slot = this.#slots.get(monitorId);
    if (slot === undefined) return false;
    if (slot.runningOn === undefined && slot.recheck.index < 0) this.#rechecks.set(slot.recheck, nowMs);
    return true;
  }

  /** Starts what is due, within the limits. */
  run(nowMs: number): void {
    this.#runRechecks(nowMs);
    for (let top = this.#due.top; top !== undefined && top.key <= nowMs; top = this.#due.top)
      this.#runDue(top.value, nowMs);
  }

  /** A check that was started has ended. */
  finished(slot: Slot, kind: 'scheduled' | 'recheck', verdict: Verdict, nowMs: number): void {
    const host = slot.runningOn ?? slot.host;
    slot.runningOn = undefined;
    if (kind === 'recheck') this.#rechecksInFlight -= 1;
    if (!slot.removed && !slot.outdated) this.#judge(slot, verdict, nowMs);
    slot.outdated = false;
    this.#release(host, nowMs);
  }

  /** A check outside of the schedule (a manual one) takes a place; false when there is none. It is not held back by the limit per host. */
  enter(host: string): boolean {
    if (this.#inFlight >= this.#limits.maxInFlight) return false;
    this.#inFlight += 1;
    this.#hosts.of(host).inFlight += 1;
    return true;
  }

  /** The check outside of the schedule has ended. */
  leave(host: string, nowMs: number): void {
    this.#release(this.#hosts.of(host), nowMs);
  }

  /** When `run` has to be called next; Infinity when nothing is planned. */
  get nextMs(): number {
    const canRecheck = this.#rechecksInFlight < this.#limits.maxRechecks && this.#inFlight < this.#limits.maxInFlight;
    const recheckMs = canRecheck ? (this.#rechecks.top?.key ?? Infinity) : Infinity;
    return Math.min(this.#due.top?.key ?? Infinity, recheckMs);
  }

  /** The time that the schedule runs on has jumped by `jumpMs`: every monitor goes to its next regular slot, what was begun off phase moves along. */
  rephase(nowMs: number, jumpMs: number): void {
    for (const slot of this.#slots.values()) {
      const { monitor, phase, due, recheck } = slot;
      this.#due.set(due, slot.offPhase ? due.key + jumpMs : nextSlot(nowMs, monitor.intervalMs, phase));
      if (recheck.index >= 0) this.#rechecks.set(recheck, recheck.key + jumpMs);
    }
  }

  #newSlot(monitor: ScheduledMonitor): Slot {
    const host = this.#hosts.of(monitor.host);
    host.users += 1;
    const slot = new Slot(monitor, host, phaseOf(monitor.id, this.#probeId));
    this.#slots.set(monitor.id, slot);
    return slot;
  }

  /** The monitor has another target now; it waits no longer for a place at the one before. */
  #moveTo(slot: Slot, hostName: string): void {
    const before = slot.host;
    if (before.name === hostName) return;
    slot.host = this.#hosts.of(hostName);
    slot.host.users += 1;
    slot.waitingDueMs = undefined;
    before.users -= 1;
    this.#hosts.forgetUnused(before);
  }

  #runDue(slot: Slot, nowMs: number): void {
    const { intervalMs } = slot.monitor;
    let dueMs = slot.due.key;
    if (slot.offPhase && slot.runningOn !== undefined) {
      // A check of the configuration before is still under way.
      this.#due.set(slot.due, nowMs + busyRetryMs);
      return;
    }
    if (slot.offPhase) {
      slot.offPhase = false;
      this.#due.set(slot.due, nextSlot(Math.max(nowMs, dueMs) + intervalMs / 2, intervalMs, slot.phase));
      this.#startOrSkip(slot, dueMs, undefined);
      return;
    }
    // Slots that lie wholly in the past are passed over together and named once.
    const passed = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs));
    dueMs += passed * intervalMs;
    this.#due.set(slot.due, dueMs + intervalMs);
    const isTooLate = nowMs - dueMs > latestMs(intervalMs) && slot.lateInARow < mostLateInARow;
    slot.lateInARow = isTooLate ? slot.lateInARow + 1 : 0;
    if (isTooLate) this.#actions.skip(slot, dueMs, slot.runningOn === undefined ? 'overload' : 'overrun');
    else this.#startOrSkip(slot, dueMs, passed > 0 ? dueMs - intervalMs : undefined);
  }

  #startOrSkip(slot: Slot, dueMs: number, missedMs: number | undefined): void {
    if (slot.runningOn !== undefined) this.#actions.skip(slot, dueMs, 'overrun');
    else if (slot.waitingDueMs !== undefined) {
      this.#actions.skip(slot, slot.waitingDueMs, 'overload');
      slot.waitingDueMs = dueMs;
    } else {
      if (missedMs !== undefined) this.#actions.skip(slot, missedMs, 'overload');
      this.#admit(slot, dueMs);
    }
  }

  #admit(slot: Slot, dueMs: number): void {
    slot.startedDueMs = dueMs;
    if (this.#inFlight >= this.#limits.maxInFlight) {
      slot.waitingDueMs = dueMs;
      this.#waiting.push(slot);
      return;
    }
    const { host } = slot;
    if (host.inFlight >= this.#limits.perHost) {
      slot.waitingDueMs = dueMs;
      host.wait(slot);
      return;
    }
    this.#start(slot, 'scheduled');
  }

  #start(slot: Slot, kind: 'scheduled' | 'recheck'): void {
    const { host } = slot;
    slot.runningOn = host;
    slot.waitingDueMs = undefined;
    this.#rechecks.delete(slot.recheck);
    this.#inFlight += 1;
    host.inFlight += 1;
    if (kind === 'recheck') this.#rechecksInFlight += 1;
    this.#actions.start(slot, kind);
  }

  #judge(slot: Slot, verdict: Verdict, nowMs: number): void {
    if (verdict === 'neutral') return;
    slot.streak = verdict === 'failing' ? slot.streak + 1 : 0;
    if (slot.streak > 0 && slot.streak < slot.monitor.confirmations) {
      this.#rechecks.set(slot.recheck, nowMs + Math.min(recheckAfterMs, slot.monitor.intervalMs));
    } else this.#rechecks.delete(slot.recheck);
  }

  /**
   * Gives a place back and starts what has waited for it: second looks first, of which there are few and on which an alert waits, then the
   * oldest of the same host, then the oldest of all.
   */
  #release(host: Host<Slot>, nowMs: number): void {
    this.#inFlight -= 1;
    host.inFlight -= 1;
    this.#runRechecks(nowMs);
    while (host.inFlight < this.#limits.perHost && this.#inFlight < this.#limits.maxInFlight) {
      const slot = host.next();
      if (slot === undefined) break;
      // It may have another target by now.
      if (slot.host === host) this.#startWaiting(slot, nowMs);
    }
    while (this.#inFlight < this.#limits.maxInFlight) {
      const slot = this.#waiting.shift();
      if (slot === undefined) break;
      const own = slot.host;
      if (own.inFlight >= this.#limits.perHost && slot.waitingDueMs !== undefined) own.wait(slot);
      else this.#startWaiting(slot, nowMs);
    }
    this.#hosts.forgetUnused(host);
  }

  #startWaiting(slot: Slot, nowMs: number): void {
    const dueMs = slot.waitingDueMs;
    if (dueMs === undefined || slot.removed) return;
    const { intervalMs } = slot.monitor;
    slot.waitingDueMs = undefined;
    if (slot.runningOn !== undefined) {
      this.#actions.skip(slot, dueMs, 'overrun');
      return;
    }
    slot.startedDueMs = dueMs;
    if (nowMs - dueMs >= intervalMs) {
      this.#actions.skip(slot, dueMs, 'overload');
      const nextMs = slot.due.key;
      if (slot.offPhase || nextMs > nowMs) return;
      // Its next slot is due by now and takes the place: who has waited longest must not go to the end for it.
      slot.startedDueMs = nextMs + Math.floor((nowMs - nextMs) / intervalMs) * intervalMs;
      this.#due.set(slot.due, slot.startedDueMs + intervalMs);
    }
    this.#start(slot, 'scheduled');
  }

  #runRechecks(nowMs: number): void {
    for (let top = this.#rechecks.top; top !== undefined && top.key <= nowMs; top = this.#rechecks.top) {
      const slot = top.value;
      if (slot.runningOn !== undefined) {
        this.#rechecks.delete(slot.recheck);
        continue;
      }
      if (this.#rechecksInFlight >= this.#limits.maxRechecks || this.#inFlight >= this.#limits.maxInFlight) return;
      if (slot.host.inFlight >= this.#limits.perHost) this.#rechecks.set(slot.recheck, nowMs + busyRetryMs);
      else this.#start(slot, 'recheck');
    }
  }
}
