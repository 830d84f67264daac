import type { KnownProbe } from './admit.ts';
import { ShardFold } from './fold.ts';
import type { RebuildWish, RestoredMonitor } from './fold.ts';
import { keepingOld } from './old-inputs.ts';
import { quarantinesOf } from './quarantines.ts';
import type { Quarantines } from './quarantines.ts';
import type { ShardMonitor } from './queries.ts';
import type { StoredWindow, WindowWanted } from './windows/queries.ts';
import type { Cursors } from './trim.ts';
import { rowsBeforeHorizon } from '../../consensus/index.ts';

/** All that the owner of a shard holds in memory. Dropped whole and read anew when anything is in doubt. */
export type ShardMemory = {
  readonly fold: ShardFold;
  readonly cursors: Cursors;
  readonly monitors: Map<number, ShardMonitor>;
  probes: ReadonlyMap<number, KnownProbe>;
  /** When a backup was last restored, microseconds; undefined when never. */
  readonly restoredUs: number | undefined;
  /** Where the next poll for changed configuration begins. */
  mark: string;
  /** Up to when what is written tells. */
  toldUntilUs: number;
};

export function createMemory(facts: {
  readonly cursors: Cursors;
  readonly probes: ReadonlyMap<number, KnownProbe>;
  readonly mark: string;
  readonly toldUntilUs: number;
  readonly restoredUs?: number | undefined;
}): ShardMemory {
  return { restoredUs: undefined, ...facts, fold: new ShardFold(), monitors: new Map() };
}

/** A takeover reads results from so long before what is told: what arrives out of order must not ask for another reading. */
const overlapUs = 30_000_000;

/**
 * From where on a takeover reads a monitor. Normally from shortly before what was told. A change of its configuration that the owner
 * before may not have taken in is recomputed whole: from before the streaks that it can touch.
 */
export function takeoverHorizon(monitor: ShardMonitor, toldUntilUs: number): number {
  const nearUs = toldUntilUs - overlapUs;
  const changes = changesOf(monitor).filter((at) => at > nearUs - overlapUs);
  if (changes.length === 0) return nearUs;
  return Math.min(nearUs, Math.min(...changes) - rowsBeforeHorizon * monitor.longestFreshUs);
}

function changesOf({ inputs }: ShardMonitor): number[] {
  const intervals = [...inputs.assignments, ...inputs.pauses, ...inputs.quarantines];
  return [
    ...intervals.flatMap(({ fromUs, toUs }) => (toUs === null ? [fromUs] : [fromUs, toUs])),
    ...inputs.configurations.map((event) => event.fromUs),
    ...(inputs.resetUs === null ? [] : [inputs.resetUs]),
  ];
}

/** What must be read of a monitor to restore it from a horizon on. */
export function windowOf(monitor: ShardMonitor, horizonUs: number): WindowWanted {
  return {
    monitorId: monitor.monitorId,
    horizonUs,
    // One freshness more than rows: a gap may be as long as one.
    backUs: (rowsBeforeHorizon + 1) * monitor.longestFreshUs,
    voters: [...new Set([0, ...monitor.probes])],
  };
}

/** The window of a monitor that is new here, or whose ranges somebody wants to be derived anew. */
export function freshWindow(monitor: ShardMonitor, toldUntilUs: number): WindowWanted {
  const horizonUs = takeoverHorizon(monitor, toldUntilUs);
  const refoldFromUs = monitor.refoldFromUs ?? undefined;
  if (refoldFromUs === undefined) return windowOf(monitor, horizonUs);
  return { ...windowOf(monitor, Math.min(horizonUs, refoldFromUs)), refoldFromUs };
}

/** Puts what was read into memory. */
export function restoreAll(
  memory: ShardMemory,
  wanted: readonly WindowWanted[],
  windows: ReadonlyMap<number, StoredWindow>,
): void {
  for (const { monitorId, horizonUs, refoldFromUs } of wanted) {
    const monitor = memory.monitors.get(monitorId);
    const window = windows.get(monitorId);
    if (monitor === undefined || window === undefined || monitor.isDeleted) continue;
    const { toldUntilUs } = memory;
    const restored: RestoredMonitor = { monitor, window, horizonUs, toldUntilUs, refoldFromUs };
    memory.fold.restore(restored);
    // Once is enough: what is read of the monitor's neighbours later must not begin it again.
    if (refoldFromUs !== undefined) memory.monitors.set(monitorId, { ...monitor, refoldFromUs: null });
  }
}

export function rebuildWindows(memory: ShardMemory, wishes: readonly RebuildWish[]): WindowWanted[] {
  return wishes.flatMap(({ monitorId, fromUs }) => {
    const monitor = memory.monitors.get(monitorId);
    return monitor === undefined ? [] : [windowOf(monitor, Math.max(fromUs, monitor.inputs.createdUs - 1))];
  });
}

/**
 * Takes configuration that was read anew into memory.
 * @returns monitors that are new here, or to be derived anew, and must be restored
 */
export function adopt(memory: ShardMemory, read: Iterable<ShardMonitor>): WindowWanted[] {
  const newcomers: WindowWanted[] = [];
  for (const present of read) {
    const known = memory.monitors.get(present.monitorId);
    const monitor = known === undefined ? present : { ...present, inputs: keepingOld(known.inputs, present.inputs) };
    memory.monitors.set(monitor.monitorId, monitor);
    const isKept = memory.fold.has(monitor.monitorId) && monitor.refoldFromUs == null;
    if (monitor.isDeleted) memory.fold.remove(monitor.monitorId);
    else if (isKept) memory.fold.reconfigure(monitor.monitorId, monitor.inputs);
    else newcomers.push(freshWindow(monitor, memory.toldUntilUs));
  }
  return newcomers;
}

/** The monitors of memory that quarantines of these probes concern and that know others of them, with these. */
export function underQuarantine(memory: ShardMemory, quarantines: Quarantines): ShardMonitor[] {
  return [...memory.monitors.values()].flatMap((monitor) => {
    if (monitor.isDeleted || !monitor.inputs.assignments.some(({ voter }) => quarantines.has(voter))) return [];
    const { assignments, quarantines: known } = monitor.inputs;
    const kept = known.filter(({ voter }) => !quarantines.has(voter));
    const present = [...kept, ...quarantinesOf(assignments, quarantines)];
    const told = (list: typeof known): string =>
      list
        .map(({ voter, fromUs, toUs }) => `${voter} ${fromUs} ${toUs}`)
        .sort()
        .join();
    if (told(present) === told(known)) return [];
    return [{ ...monitor, inputs: { ...monitor.inputs, quarantines: present } }];
  });
}
