import { Announcer, createMonitorFold } from '../../consensus/index.ts';
import type {
  Circumstances,
  MonitorFold,
  MonitorInputs,
  RecheckWish,
  Standing,
  Status,
  Taken,
} from '../../consensus/index.ts';
import { createExpiryHeap } from '../../../platform/heap/expiry-heap.ts';
import { revisedSince, revisionOf, transitionOf } from './news.ts';
import { asRevision } from './refold.ts';
import type { Refold } from './refold.ts';
import type { ShardMonitor } from './queries.ts';
import type { StoredWindow } from './windows/queries.ts';
import type { Changes } from './round.ts';
import type { IngestRow } from './rows.ts';

/** A monitor's memory that must be read from the database again, from a horizon on. */
export type RebuildWish = { readonly monitorId: number; readonly fromUs: number };

/** A monitor with what its memory is made from. */
export type RestoredMonitor = {
  readonly monitor: ShardMonitor;
  readonly window: StoredWindow;
  readonly horizonUs: number;
  /** Up to when the stored ranges tell. */
  readonly toldUntilUs: number;
  /** Its ranges from here on are derived anew: whatever is found to be different of the past is a revision. */
  readonly refoldFromUs?: number | undefined;
};

/** The consensus of a shard's monitors, in memory. All that it decides is handed out by `take`; nothing here does I/O. */
export type ShardFold = {
  /** Adds a monitor, or replaces its memory; results of this round that it had taken are folded again. */
  readonly restore: (restored: RestoredMonitor) => void;
  readonly remove: (monitorId: number) => void;
  readonly has: (monitorId: number) => boolean;
  /** New inputs of a monitor that is known. */
  readonly reconfigure: (monitorId: number, inputs: MonitorInputs) => void;
  readonly apply: (rows: readonly IngestRow[]) => void;
  /** Monitors that cannot go on without older rows; each must be restored before `take`. */
  readonly rebuilds: () => RebuildWish[];
  /** As last handed out by `take`, which is as last written. */
  readonly written: (monitorId: number) => { readonly status: Status; readonly sinceUs: number | null } | undefined;
  /** When time alone changes something, at the earliest. */
  readonly nextDueUs: () => number;
  /**
   * Ends the round: what changed since the last. `hold` leaves time where it is, so that no vote ends while older results are still to
   * come; then nobody is asked for a recheck either, and no outage is announced. `isBehind`: a probe that still sends what had gathered.
   */
  readonly take: (nowUs: number, hold: boolean, isBehind?: (voter: number) => boolean) => TakenRound;
};

export type TakenRound = Changes & {
  readonly rechecks: readonly RecheckWish[];
  /** Monitors whose standing changed since it was last told; null for those that are gone. */
  readonly standings: readonly { readonly monitorId: number; readonly standing: Standing | null }[];
};

type Entry = {
  readonly monitorId: number;
  readonly workspaceId: number;
  fold: MonitorFold;
  status: Status;
  sinceUs: number | null;
  /** What others are told of it. */
  readonly announcer: Announcer;
  /** The status last announced, as it is stored where it is not the present one. */
  announced: Status | null;
  /** Start of the open range of the monitor; null while there is none. */
  openRangeUs: number | null;
  /** Where the heap has it. */
  dueUs: number;
  isTouched: boolean;
  /** Another one took its place, or the monitor is gone. */
  isVoid: boolean;
  rebuildFromUs: number | undefined;
  /** What is taken next shows what was wrong with the ranges from here on. */
  refold: Refold | undefined;
  /** As last told. */
  standing: Standing | undefined;
};

export function createShardFold(): ShardFold {
  const entries = new Map<number, Entry>();
  const heap = createExpiryHeap<Entry>();
  let touched: Entry[] = [];
  let removed: number[] = [];
  let roundRows: (readonly IngestRow[])[] = [];
  let rowsByMonitor: Map<number, IngestRow[]> | undefined;
  /** Everything up to here is told, also of monitors that are not looked at because nothing happens to them. */
  let toldUs = Number.NEGATIVE_INFINITY;
  /** A change of theirs waits to be announced. */
  const waiting = new Set<Entry>();
  const one: IngestRow[] = [];

  function touch(entry: Entry): void {
    entry.fold.toldUntil(toldUs);
    if (entry.isTouched) return;
    entry.isTouched = true;
    touched.push(entry);
  }

  /** Its places in the heap and among the touched ones count no more. */
  function makeVoid(entry: Entry): void {
    entry.isVoid = true;
    entry.dueUs = Number.NaN;
    waiting.delete(entry);
  }

  function plan(entry: Entry): void {
    const dueUs = entry.fold.nextExpiryUs;
    // What is in the heap may be early, never late: one entry that comes up too soon costs less than one per result.
    if (dueUs >= entry.dueUs) return;
    entry.dueUs = dueUs;
    heap.push(dueUs, entry);
  }

  function wantRebuild(entry: Entry, fromUs: number): void {
    entry.rebuildFromUs = Math.min(entry.rebuildFromUs ?? Number.POSITIVE_INFINITY, fromUs);
    touch(entry);
  }

  return {
    has: (monitorId) => entries.has(monitorId),
    written: (monitorId) => entries.get(monitorId),
    nextDueUs: () => heap.nextUs(),
    rebuilds: () =>
      touched.flatMap(({ monitorId, isVoid, rebuildFromUs, refold }) =>
        isVoid || rebuildFromUs === undefined
          ? []
          : [{ monitorId, fromUs: Math.min(rebuildFromUs, refold?.fromUs ?? rebuildFromUs) }],
      ),

    remove: (monitorId) => {
      const entry = entries.get(monitorId);
      if (entry === undefined) return;
      entries.delete(monitorId);
      removed.push(monitorId);
      makeVoid(entry);
    },

    restore: ({ monitor, window, horizonUs, toldUntilUs, refoldFromUs }) => {
      const known = entries.get(monitor.monitorId);
      const status = known?.status ?? monitor.status;
      const sinceUs = known === undefined ? monitor.statusSinceUs : known.sinceUs;
      const fold = createMonitorFold({
        inputs: monitor.inputs,
        ...window,
        horizonUs,
        nowUs: toldUntilUs,
        status,
        ...(sinceUs === null ? {} : { statusSinceUs: sinceUs }),
      });
      const open = window.storedRanges.find((range) => range.endedUs === null);
      const entry: Entry = {
        monitorId: monitor.monitorId,
        workspaceId: monitor.workspaceId,
        fold,
        status,
        sinceUs,
        announcer: known?.announcer ?? announcerOf(monitor),
        announced: known === undefined ? monitor.announcedStatus : known.announced,
        openRangeUs: open?.startedUs ?? null,
        dueUs: Number.POSITIVE_INFINITY,
        isTouched: false,
        isVoid: false,
        rebuildFromUs: undefined,
        refold: refoldFromUs === undefined ? known?.refold : { fromUs: refoldFromUs, toldUntilUs },
        standing: undefined,
      };
      if (known !== undefined) makeVoid(known);
      entries.set(monitor.monitorId, entry);
      touch(entry);
      rowsByMonitor ??= byMonitor(roundRows);
      const own = rowsByMonitor.get(monitor.monitorId);
      const result = own === undefined ? 'folded' : fold.apply(own);
      if (typeof result === 'object') wantRebuild(entry, result.rebuildFromUs);
    },

    reconfigure: (monitorId, inputs) => {
      const entry = entries.get(monitorId);
      if (entry === undefined) return;
      touch(entry);
      const result = entry.fold.reconfigure(inputs);
      if (typeof result === 'object') wantRebuild(entry, result.rebuildFromUs);
    },

    apply: (rows) => {
      roundRows.push(rows);
      rowsByMonitor = undefined;
      for (const row of rows) {
        const entry = entries.get(row.monitorId);
        if (entry === undefined) continue;
        if (entry.rebuildFromUs !== undefined) {
          // Its memory is void; the rows of the round are folded once it is read again, at least back to this one.
          if (row.eUs < entry.rebuildFromUs) entry.rebuildFromUs = row.eUs;
          continue;
        }
        // Most rows only repeat what is held: nothing is to be taken of them, and what the heap has is early enough.
        if (entry.fold.repeat(row)) continue;
        touch(entry);
        one[0] = row;
        const result = entry.fold.apply(one);
        if (result !== 'folded') wantRebuild(entry, result.rebuildFromUs);
      }
    },

    take: (nowUs, hold, isBehind = () => false) => {
      if (!hold) {
        for (let entry = heap.popDue(nowUs, isCurrent); entry !== undefined; entry = heap.popDue(nowUs, isCurrent)) {
          entry.dueUs = Number.POSITIVE_INFINITY;
          touch(entry);
        }
      }
      const refolded: NonNullable<Changes['refolded']> = [];
      const changes = { edits: [], statuses: [], outbox: [], refolded } as Changes;
      const rechecks: RecheckWish[] = [];
      const standings: TakenRound['standings'][number][] = removed.map((monitorId) => ({ monitorId, standing: null }));
      removed = [];
      const circumstances = { nowUs, isHeld: hold, isBehind };
      const announce = (entry: Entry, isChanged: boolean): void => {
        if (announceStatus(changes, entry, isChanged, circumstances)) waiting.add(entry);
        else waiting.delete(entry);
      };
      for (const entry of touched) {
        entry.isTouched = false;
        if (entry.isVoid) continue;
        if (!hold) entry.fold.advance(nowUs);
        const { refold } = entry;
        const taken = refold === undefined ? entry.fold.take() : asRevision(entry.fold.take(), refold.toldUntilUs);
        let isChanged = taken.edits.length + taken.transitions.length > 0 && collect(changes, entry, taken, nowUs);
        if (refold !== undefined) {
          refolded.push({ monitorId: entry.monitorId, fromUs: refold.fromUs });
          entry.refold = undefined;
          // What stands in the database may be another status than what was written last.
          isChanged = true;
        }
        if (isChanged || entry.announcer.told !== entry.status) announce(entry, isChanged);
        if (!hold) rechecks.push(...taken.rechecks);
        const { standing } = entry.fold;
        if (standing !== entry.standing) {
          entry.standing = standing;
          standings.push({ monitorId: entry.monitorId, standing });
        }
        plan(entry);
      }
      // What waits is looked at in every round; who was touched has been.
      if (waiting.size > 0) {
        const looked = new Set(touched);
        for (const entry of waiting) if (!looked.has(entry)) announce(entry, false);
      }
      if (!hold) toldUs = nowUs;
      touched = [];
      roundRows = [];
      rowsByMonitor = undefined;
      return { ...changes, rechecks, standings };
    },
  };
}

function byMonitor(batches: readonly (readonly IngestRow[])[]): Map<number, IngestRow[]> {
  const groups = new Map<number, IngestRow[]>();
  for (const row of batches.flat()) {
    const group = groups.get(row.monitorId);
    if (group === undefined) groups.set(row.monitorId, [row]);
    else group.push(row);
  }
  return groups;
}

const isCurrent = (dueUs: number, entry: Entry): boolean => entry.dueUs === dueUs;

/** Adds what a monitor's fold handed out, and remembers it as written. True when the status or its beginning is another. */
function collect(changes: Changes, entry: Entry, taken: Taken, nowUs: number): boolean {
  for (const edit of taken.edits) {
    changes.edits.push(edit);
    if (edit.voter !== null || edit.op === 'delete') continue;
    const startedUs = edit.op === 'update' ? (edit.newStartedUs ?? edit.startedUs) : edit.startedUs;
    if (edit.endedUs === null) entry.openRangeUs = startedUs;
    else if (entry.openRangeUs === edit.startedUs) entry.openRangeUs = null;
  }
  const revisedUs = revisedSince(taken.edits);
  if (revisedUs !== undefined) changes.outbox.push(revisionOf(entry, revisedUs, nowUs));
  const isChanged = entry.status !== taken.status || entry.sinceUs !== taken.statusSinceUs;
  entry.status = taken.status;
  entry.sinceUs = taken.statusSinceUs;
  return isChanged;
}

/** Adds the status where it or what is announced of it changed, and the announcement when it is time for it. True while one waits. */
function announceStatus(changes: Changes, entry: Entry, isChanged: boolean, circumstances: Circumstances): boolean {
  const { announcer, fold, status } = entry;
  const sinceUs = entry.sinceUs ?? circumstances.nowUs;
  const outlook = fold.outlook;
  const announcement = announcer.next({ status, sinceUs }, outlook, circumstances);
  if (announcement !== undefined) {
    const { evidence } = outlook;
    const told = { from: announcement.from, to: status, atUs: sinceUs, rangeStartedUs: entry.openRangeUs, evidence };
    changes.outbox.push(transitionOf(entry, told, circumstances.nowUs));
  }
  const untoldUs = announcer.takeUntold();
  if (untoldUs !== undefined) changes.outbox.push(revisionOf(entry, untoldUs, circumstances.nowUs));
  const announced = announcer.isWaiting ? announcer.told : null;
  if (isChanged || announced !== entry.announced)
    changes.statuses.push({ monitorId: entry.monitorId, status, sinceUs, announced });
  entry.announced = announced;
  return announcer.isWaiting;
}

/** What the owner before has announced. */
function announcerOf({ status, statusSinceUs, announcedStatus }: ShardMonitor): Announcer {
  if (announcedStatus === null) return new Announcer(status, statusSinceUs);
  return new Announcer(announcedStatus, null, statusSinceUs === null ? undefined : { status, sinceUs: statusSinceUs });
}
