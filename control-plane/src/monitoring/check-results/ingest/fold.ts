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

/** The consensus of a shard's monitors, in memory. All that it decides is handed out by `take`; nothing here does I/O. */
export class ShardFold {
  readonly #entries = new Map<number, Entry>();
  readonly #heap = createExpiryHeap<Entry>();
  #touched: Entry[] = [];
  #removed: number[] = [];
  #roundRows: (readonly IngestRow[])[] = [];
  #rowsByMonitor: Map<number, IngestRow[]> | undefined;
  /** Everything up to here is told, also of monitors that are not looked at because nothing happens to them. */
  #toldUs = Number.NEGATIVE_INFINITY;
  /** A change of theirs waits to be announced. */
  readonly #waiting = new Set<Entry>();
  /** Holds the row that is applied alone, so that no list is made for each. */
  readonly #one: IngestRow[] = [];

  has(monitorId: number): boolean {
    return this.#entries.has(monitorId);
  }

  /** As last handed out by `take`, which is as last written. */
  written(monitorId: number): { readonly status: Status; readonly sinceUs: number | null } | undefined {
    return this.#entries.get(monitorId);
  }

  /** When time alone changes something, at the earliest. */
  nextDueUs(): number {
    return this.#heap.nextUs();
  }

  /** Monitors that cannot go on without older rows; each must be restored before `take`. */
  rebuilds(): RebuildWish[] {
    return this.#touched.flatMap(({ monitorId, isVoid, rebuildFromUs, refold }) =>
      isVoid || rebuildFromUs === undefined
        ? []
        : [{ monitorId, fromUs: Math.min(rebuildFromUs, refold?.fromUs ?? rebuildFromUs) }],
    );
  }

  /** Adds a monitor, or replaces its memory; results of this round that it had taken are folded again. */
  restore(restored: RestoredMonitor): void {
    const { monitorId } = restored.monitor;
    const known = this.#entries.get(monitorId);
    const entry = restoredEntry(restored, known);
    if (known !== undefined) this.#makeVoid(known);
    this.#entries.set(monitorId, entry);
    this.#touch(entry);
    this.#rowsByMonitor ??= byMonitor(this.#roundRows);
    const own = this.#rowsByMonitor.get(monitorId);
    const result = own === undefined ? 'folded' : entry.fold.apply(own);
    if (typeof result === 'object') this.#wantRebuild(entry, result.rebuildFromUs);
  }

  remove(monitorId: number): void {
    const entry = this.#entries.get(monitorId);
    if (entry === undefined) return;
    this.#entries.delete(monitorId);
    this.#removed.push(monitorId);
    this.#makeVoid(entry);
  }

  /** New inputs of a monitor that is known. */
  reconfigure(monitorId: number, inputs: MonitorInputs): void {
    const entry = this.#entries.get(monitorId);
    if (entry === undefined) return;
    this.#touch(entry);
    const result = entry.fold.reconfigure(inputs);
    if (typeof result === 'object') this.#wantRebuild(entry, result.rebuildFromUs);
  }

  apply(rows: readonly IngestRow[]): void {
    this.#roundRows.push(rows);
    this.#rowsByMonitor = undefined;
    for (const row of rows) {
      const entry = this.#entries.get(row.monitorId);
      if (entry === undefined) continue;
      if (entry.rebuildFromUs !== undefined) {
        // Its memory is void; the rows of the round are folded once it is read again, at least back to this one.
        if (row.eUs < entry.rebuildFromUs) entry.rebuildFromUs = row.eUs;
        continue;
      }
      // Most rows only repeat what is held: nothing is to be taken of them, and what the heap has is early enough.
      if (entry.fold.repeat(row)) continue;
      this.#touch(entry);
      this.#one[0] = row;
      const result = entry.fold.apply(this.#one);
      if (result !== 'folded') this.#wantRebuild(entry, result.rebuildFromUs);
    }
  }

  /**
   * Ends the round: what changed since the last.
   * @param hold leaves time where it is, so that no vote ends while older results are still to come; then nobody is asked for a recheck either, and
   * no outage is announced
   * @param isBehind a probe that still sends what had gathered
   */
  take(nowUs: number, hold: boolean, isBehind: (voter: number) => boolean = () => false): TakenRound {
    if (!hold) this.#touchDue(nowUs);
    const round: Round = {
      changes: { edits: [], statuses: [], outbox: [], refolded: [] },
      rechecks: [],
      standings: this.#removed.map((monitorId) => ({ monitorId, standing: null })),
      circumstances: { nowUs, isHeld: hold, isBehind },
    };
    for (const entry of this.#touched) {
      entry.isTouched = false;
      if (!entry.isVoid) this.#takeOne(entry, round);
    }
    this.#announceWaiting(round);
    if (!hold) this.#toldUs = nowUs;
    this.#removed = [];
    this.#touched = [];
    this.#roundRows = [];
    this.#rowsByMonitor = undefined;
    return { ...round.changes, rechecks: round.rechecks, standings: round.standings };
  }

  #takeOne(entry: Entry, round: Round): void {
    const { nowUs, isHeld } = round.circumstances;
    if (!isHeld) entry.fold.advance(nowUs);
    const { refold } = entry;
    const taken = refold === undefined ? entry.fold.take() : asRevision(entry.fold.take(), refold.toldUntilUs);
    let isChanged = taken.edits.length + taken.transitions.length > 0 && collect(round.changes, entry, taken, nowUs);
    if (refold !== undefined) {
      round.changes.refolded.push({ monitorId: entry.monitorId, fromUs: refold.fromUs });
      entry.refold = undefined;
      // What stands in the database may be another status than what was written last.
      isChanged = true;
    }
    if (isChanged || entry.announcer.told !== entry.status) this.#announce(entry, isChanged, round);
    if (!isHeld) round.rechecks.push(...taken.rechecks);
    const { standing } = entry.fold;
    if (standing !== entry.standing) {
      entry.standing = standing;
      round.standings.push({ monitorId: entry.monitorId, standing });
    }
    this.#plan(entry);
  }

  /** What waits is looked at in every round; who was touched has been. */
  #announceWaiting(round: Round): void {
    if (this.#waiting.size === 0) return;
    const looked = new Set(this.#touched);
    for (const entry of this.#waiting) if (!looked.has(entry)) this.#announce(entry, false, round);
  }

  #announce(entry: Entry, isChanged: boolean, { changes, circumstances }: Round): void {
    if (announceStatus(changes, entry, isChanged, circumstances)) this.#waiting.add(entry);
    else this.#waiting.delete(entry);
  }

  /** Touches what time alone changes. */
  #touchDue(nowUs: number): void {
    const heap = this.#heap;
    for (let entry = heap.popDue(nowUs, isCurrent); entry !== undefined; entry = heap.popDue(nowUs, isCurrent)) {
      entry.dueUs = Number.POSITIVE_INFINITY;
      this.#touch(entry);
    }
  }

  #touch(entry: Entry): void {
    entry.fold.toldUntil(this.#toldUs);
    if (entry.isTouched) return;
    entry.isTouched = true;
    this.#touched.push(entry);
  }

  /** Its places in the heap and among the touched ones count no more. */
  #makeVoid(entry: Entry): void {
    entry.isVoid = true;
    entry.dueUs = Number.NaN;
    this.#waiting.delete(entry);
  }

  #plan(entry: Entry): void {
    const dueUs = entry.fold.nextExpiryUs;
    // What is in the heap may be early, never late: one entry that comes up too soon costs less than one per result.
    if (dueUs >= entry.dueUs) return;
    entry.dueUs = dueUs;
    this.#heap.push(dueUs, entry);
  }

  #wantRebuild(entry: Entry, fromUs: number): void {
    entry.rebuildFromUs = Math.min(entry.rebuildFromUs ?? Number.POSITIVE_INFINITY, fromUs);
    this.#touch(entry);
  }
}

/** What a round gathers. */
type Round = {
  readonly changes: Changes & { readonly refolded: NonNullable<Changes['refolded']> };
  readonly rechecks: RecheckWish[];
  readonly standings: TakenRound['standings'][number][];
  readonly circumstances: Circumstances;
};

/** The entry of a restored monitor, which has what was written and announced in common with the one before. */
function restoredEntry(restored: RestoredMonitor, known: Entry | undefined): Entry {
  const { monitor, window, horizonUs, toldUntilUs, refoldFromUs } = restored;
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
  return {
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
