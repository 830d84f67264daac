import type { Engine } from '../../engine/engine.ts';
import type { MonitorRecord, ProbeRecord, Quarantine, Seat } from './tables.ts';

/** How long a change of the configuration takes: from the begin of its transaction to its statements, and from there to its commit. */
export type ChangeTimes = { readonly beforeUs: number; readonly afterUs: number };

/**
 * What users and the control plane itself configure. Changes are transactions with numbers; what a transaction has changed bears its
 * number and is seen when it is over, so numbers become visible out of order.
 */
export class Configuration {
  readonly monitors = new Map<number, MonitorRecord>();
  readonly probes = new Map<number, ProbeRecord>();
  readonly quarantines: Quarantine[] = [];
  /** When something was last changed, microseconds. */
  changedUs = 0;
  readonly #engine: Engine;
  #nextXid = 100;
  readonly #running = new Set<number>();
  /** Rows that a transaction has locked. */
  readonly #locked = new Set<number>();
  /** Told after each commit which monitors and probes it concerns. */
  onChanged: ((monitorIds: readonly number[], probeIds: readonly number[]) => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The oldest transaction that is not over. */
  get mark(): number {
    return Math.min(this.#nextXid, ...this.#running);
  }

  get isChanging(): boolean {
    return this.#running.size > 0;
  }

  monitor(id: number): MonitorRecord {
    const found = this.monitors.get(id);
    if (found === undefined) throw new Error(`there is no monitor ${id}`);
    return found;
  }

  /**
   * Changes monitors in one transaction. `change` is handed the time of its statements, and happens at the commit. Nothing happens
   * when one of them is being changed, or gone.
   */
  change(monitorIds: readonly number[], times: ChangeTimes, change: (nowUs: number) => void): void {
    const isFree = monitorIds.every((id) => !this.#locked.has(id) && this.monitors.get(id)?.isDeleted === false);
    if (!isFree) return;
    const xid = this.#nextXid;
    this.#nextXid += 1;
    this.#running.add(xid);
    for (const id of monitorIds) this.#locked.add(id);
    this.#engine.after(times.beforeUs, undefined, () => {
      const statementUs = this.#engine.nowUs;
      this.#engine.after(times.afterUs, undefined, () => {
        this.#running.delete(xid);
        for (const id of monitorIds) this.#locked.delete(id);
        change(statementUs);
        this.#committed(monitorIds, xid);
      });
    });
  }

  /** Opens or closes a quarantine, in a transaction that concerns no monitor. Nothing happens when there is nothing to close. */
  quarantine(probeId: number, isOpened: boolean, times: ChangeTimes): void {
    const xid = this.#nextXid;
    this.#nextXid += 1;
    this.#running.add(xid);
    this.#engine.after(times.beforeUs, undefined, () => {
      const statementUs = this.#engine.nowUs;
      this.#engine.after(times.afterUs, undefined, () => {
        this.#running.delete(xid);
        this.changedUs = this.#engine.nowUs;
        const index = this.quarantines.findIndex(({ voter, toUs }) => voter === probeId && toUs === null);
        const open = this.quarantines[index];
        if (open === undefined && isOpened)
          this.quarantines.push({ voter: probeId, fromUs: statementUs, toUs: null, changedXid: xid });
        else if (open !== undefined && !isOpened)
          this.quarantines[index] = { ...open, toUs: Math.max(statementUs, open.fromUs + 1), changedXid: xid };
      });
    });
  }

  /** Monitors are what they are now, in a transaction of no length. */
  changedAtOnce(monitorIds: readonly number[]): void {
    this.#nextXid += 1;
    this.#committed(monitorIds, this.#nextXid - 1);
  }

  /** What a probe's seats say above a revision, in its order. */
  seatsOf(probeId: number, above: bigint): { readonly monitor: MonitorRecord; readonly seat: Seat }[] {
    return [...this.monitors.values()]
      .flatMap((monitor) => monitor.seats.map((seat) => ({ monitor, seat })))
      .filter(({ seat }) => seat.probeId === probeId && seat.revision > above)
      .sort((a, b) => (a.seat.revision < b.seat.revision ? -1 : 1));
  }

  #committed(monitorIds: readonly number[], xid: number): void {
    const probeIds = new Set<number>();
    for (const id of monitorIds) {
      const monitor = this.monitor(id);
      monitor.changedXid = xid;
      for (const seat of monitor.seats) {
        const probe = this.probes.get(seat.probeId);
        // A closed seat says so once; it had the probe's lock when it was closed.
        if (probe === undefined || (seat.toUs !== null && seat.revision > 0n && !this.#isFresh(seat))) continue;
        probe.revision += 1n;
        seat.revision = probe.revision;
        this.#told.set(seat, seat.toUs);
        probeIds.add(seat.probeId);
      }
    }
    this.changedUs = this.#engine.nowUs;
    this.onChanged?.(monitorIds, [...probeIds]);
  }

  /** Seats with the end that their last revision told of. */
  readonly #told = new WeakMap<Seat, number | null>();

  #isFresh(seat: Seat): boolean {
    return this.#told.get(seat) !== seat.toUs;
  }
}
