import { createMonitorFold } from '../../consensus/index.ts';
import type { MonitorFold, MonitorInputs, RecheckWish, Standing, Status, Taken } from '../../consensus/index.ts';
import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import { createExpiryHeap } from '../../../platform/heap/expiry-heap.ts';
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
   * come; then nobody is asked for a recheck either.
   */
  readonly take: (nowUs: number, hold: boolean) => TakenRound;
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
  /** Start of the open range of the monitor; null while there is none. */
  openRangeUs: number | null;
  /** Where the heap has it. */
  dueUs: number;
  isTouched: boolean;
  rebuildFromUs: number | undefined;
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
  const one: IngestRow[] = [];

  function touch(entry: Entry): void {
    if (entry.isTouched) return;
    entry.isTouched = true;
    touched.push(entry);
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
      touched.flatMap(({ monitorId, rebuildFromUs }) =>
        rebuildFromUs === undefined ? [] : [{ monitorId, fromUs: rebuildFromUs }],
      ),

    remove: (monitorId) => {
      const entry = entries.get(monitorId);
      if (entry === undefined) return;
      entries.delete(monitorId);
      removed.push(monitorId);
      entry.dueUs = Number.NaN;
      touched = touched.filter((other) => other !== entry);
    },

    restore: ({ monitor, window, horizonUs, toldUntilUs }) => {
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
        openRangeUs: open?.startedUs ?? null,
        dueUs: Number.POSITIVE_INFINITY,
        isTouched: false,
        rebuildFromUs: undefined,
        standing: undefined,
      };
      if (known !== undefined) {
        known.dueUs = Number.NaN;
        touched = touched.filter((other) => other !== known);
      }
      entries.set(monitor.monitorId, entry);
      touch(entry);
      rowsByMonitor ??= byMonitor(roundRows);
      const own = rowsByMonitor.get(monitor.monitorId);
      const result = own === undefined ? 'folded' : fold.apply(own);
      if (result !== 'folded') wantRebuild(entry, result.rebuildFromUs);
    },

    reconfigure: (monitorId, inputs) => {
      const entry = entries.get(monitorId);
      if (entry === undefined) return;
      touch(entry);
      const result = entry.fold.reconfigure(inputs);
      if (result !== 'folded') wantRebuild(entry, result.rebuildFromUs);
    },

    apply: (rows) => {
      roundRows.push(rows);
      rowsByMonitor = undefined;
      for (const row of rows) {
        const entry = entries.get(row.monitorId);
        if (entry === undefined) continue;
        if (!entry.isTouched) touch(entry);
        if (entry.rebuildFromUs !== undefined) {
          // Its memory is void; the rows of the round are folded once it is read again, at least back to this one.
          if (row.eUs < entry.rebuildFromUs) entry.rebuildFromUs = row.eUs;
          continue;
        }
        one[0] = row;
        const result = entry.fold.apply(one);
        if (result !== 'folded') wantRebuild(entry, result.rebuildFromUs);
      }
    },

    take: (nowUs, hold) => {
      if (!hold) {
        for (let entry = heap.popDue(nowUs, isCurrent); entry !== undefined; entry = heap.popDue(nowUs, isCurrent)) {
          entry.dueUs = Number.POSITIVE_INFINITY;
          touch(entry);
        }
      }
      const changes = { edits: [], statuses: [], outbox: [] } as Changes;
      const rechecks: RecheckWish[] = [];
      const standings: TakenRound['standings'][number][] = removed.map((monitorId) => ({ monitorId, standing: null }));
      removed = [];
      for (const entry of touched) {
        entry.isTouched = false;
        if (!hold) entry.fold.advance(nowUs);
        const taken = entry.fold.take();
        if (taken.edits.length + taken.transitions.length > 0) collect(changes, entry, taken, nowUs);
        if (!hold) rechecks.push(...taken.rechecks);
        const { standing } = entry.fold;
        if (standing !== entry.standing) {
          entry.standing = standing;
          standings.push({ monitorId: entry.monitorId, standing });
        }
        plan(entry);
      }
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

/** Adds what a monitor's fold handed out, and remembers it as written. */
function collect(changes: Changes, entry: Entry, taken: Taken, nowUs: number): void {
  for (const edit of taken.edits) {
    changes.edits.push(edit);
    if (edit.voter !== null || edit.op === 'delete') continue;
    const startedUs = edit.op === 'update' ? (edit.newStartedUs ?? edit.startedUs) : edit.startedUs;
    if (edit.endedUs === null) entry.openRangeUs = startedUs;
    else if (entry.openRangeUs === edit.startedUs) entry.openRangeUs = null;
  }
  const from = entry.status;
  const isMoved = entry.sinceUs !== taken.statusSinceUs;
  entry.status = taken.status;
  entry.sinceUs = taken.statusSinceUs;
  if (from === taken.status && !isMoved) return;
  changes.statuses.push({ monitorId: entry.monitorId, status: taken.status, sinceUs: taken.statusSinceUs });
  const isFailing = taken.status === 'DOWN' || taken.status === 'TIMEOUT';
  // An onset that moves while the outage lasts is told too: the incident keeps its identity and takes the new beginning.
  if (from !== taken.status || isFailing) changes.outbox.push(transitionEntry(entry, from, taken, nowUs));
}

const iso = (us: number): string => new Date(us / 1000).toISOString();

function transitionEntry(entry: Entry, from: Status, taken: Taken, nowUs: number): OutboxEntry {
  return {
    key: `monitor:${entry.monitorId}`,
    kind: 'monitor.transition',
    payload: {
      monitor_id: entry.monitorId,
      workspace_id: entry.workspaceId,
      from,
      to: taken.status,
      at: iso(taken.statusSinceUs),
      detected_at: iso(nowUs),
      evidence: taken.transitions.at(-1)?.evidence ?? null,
      range_started_at: taken.status === 'UNKNOWN' || entry.openRangeUs === null ? null : iso(entry.openRangeUs),
    },
  };
}
