import { heapNode } from './heap.ts';
import type { HeapNode } from './heap.ts';
import type { Host } from './hosts.ts';

/** What the schedule knows of a monitor. Times in milliseconds. */
export type ScheduledMonitor = {
  readonly id: number;
  readonly intervalMs: number;
  /** What counts as one target for the limit per host. */
  readonly host: string;
  /** Failures in a row that confirm one. */
  readonly confirmations: number;
};

/** One monitor in the schedule; given to `start` and handed back to `finished`. */
export class Slot {
  readonly phase: number;
  readonly due: HeapNode<Slot> = heapNode(this);
  readonly recheck: HeapNode<Slot> = heapNode(this);
  monitor: ScheduledMonitor;
  /** That of the monitor's target. */
  host: Host<Slot>;
  /** Its next due time is not on its phase. */
  offPhase = false;
  /** The host that its check under way counts for. */
  runningOn: Host<Slot> | undefined;
  /** The check under way is of an earlier configuration: its verdict no longer counts. */
  outdated = false;
  /** When the scheduled check that began last was due. */
  startedDueMs = 0;
  /** Due time of the slot that waits for capacity. */
  waitingDueMs: number | undefined;
  /** Slots in a row that were found too late to be run. */
  lateInARow = 0;
  streak = 0;
  removed = false;

  constructor(monitor: ScheduledMonitor, host: Host<Slot>, phase: number) {
    this.monitor = monitor;
    this.host = host;
    this.phase = phase;
  }
}
