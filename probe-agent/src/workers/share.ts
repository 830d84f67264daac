import type { PlannedChange } from '../runner/plan.ts';
import { targetHost } from '../runner/target-host.ts';

/**
 * Which of `count` workers, from 0, checks a target: by a hash of its host (FNV-1a, mixed at the end), so that all checks of one host are
 * with one worker and the limit per host holds over all of them.
 */
export function workerOf(url: string, count: number): number {
  const host = targetHost(url);
  let hash = 0x811c9dc5;
  for (let index = 0; index < host.length; index += 1) hash = Math.imul(hash ^ host.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.floor((((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * count);
}

/** How many of `total` places each of `count` workers gets: all of them together, and none of them none. */
export function placesOf(total: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Math.floor(total / count) + (index < total % count ? 1 : 0));
}

/** Who checks what: remembers the worker of each monitor, since a monitor that gets another target may get another worker. */
export class Shares {
  readonly #count: number;
  readonly #byMonitor = new Map<number, number>();

  constructor(count: number) {
    this.#count = count;
  }

  /** The worker that checks a monitor; undefined for one that nobody does. */
  of(monitorId: number): number | undefined {
    return this.#byMonitor.get(monitorId);
  }

  /** The part of a change that each worker gets; a worker that has none of it is left out. A monitor that moves is removed from where it was. */
  divide(change: PlannedChange): ReadonlyMap<number, PlannedChange> {
    const parts = new Map<
      number,
      { set: PlannedChange['set'][number][]; removed: number[]; isPresumedGood: boolean }
    >();
    const partOf = (worker: number) => {
      let part = parts.get(worker);
      if (part === undefined) {
        part = { set: [], removed: [], isPresumedGood: change.isPresumedGood };
        parts.set(worker, part);
      }
      return part;
    };
    for (const monitorId of change.removed) {
      const worker = this.#byMonitor.get(monitorId);
      if (worker === undefined) continue;
      this.#byMonitor.delete(monitorId);
      partOf(worker).removed.push(monitorId);
    }
    for (const planned of change.set) {
      const { monitorId, url } = planned.assignment;
      const before = this.#byMonitor.get(monitorId);
      const worker = workerOf(url, this.#count);
      if (before !== undefined && before !== worker) partOf(before).removed.push(monitorId);
      this.#byMonitor.set(monitorId, worker);
      partOf(worker).set.push(planned);
    }
    return parts;
  }
}
