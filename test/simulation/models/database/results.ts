import type { OutboxEntry } from '../../../../control-plane/src/platform/outbox/enqueue.ts';
import { RangeTables } from '../../../../control-plane/src/monitoring/consensus/test-support.ts';
import type { RangeEdit, Status } from '../../../../control-plane/src/monitoring/consensus/index.ts';
import type { IngestRow } from '../../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import type { CursorMove } from '../../../../control-plane/src/monitoring/check-results/ingest/round.ts';
import { cursorKey } from '../../../../control-plane/src/monitoring/check-results/ingest/trim.ts';
import type { Configuration } from './configuration.ts';

/** What a round of the ingest writes. */
export type RoundWrite = {
  readonly shard: number;
  readonly owner: string;
  readonly term: number;
  readonly rows: readonly IngestRow[];
  readonly moves: readonly CursorMove[];
  readonly lost: readonly {
    readonly probeId: number;
    readonly epoch: number;
    readonly fromSeq: number;
    readonly toSeq: number;
  }[];
  readonly refused: readonly { readonly probeId: number | null; readonly reason: string; readonly detail: string }[];
  readonly edits: readonly RangeEdit[];
  readonly statuses: readonly {
    readonly monitorId: number;
    readonly status: Status;
    readonly sinceUs: number;
    readonly announced: Status | null;
  }[];
  readonly outbox: readonly OutboxEntry[];
  readonly foldedUntilUs: number | undefined;
  /** When the owner had last read what is configured, as it made the round. */
  readonly configuredUs: number;
};

/** The tables that the ingest writes. */
export class Results {
  readonly #configuration: Configuration;
  readonly rows = new Map<number, IngestRow[]>();
  readonly ranges = new Map<number, RangeTables>();
  /** By shard and `cursorKey`. */
  readonly cursors = new Map<
    string,
    { readonly shard: number; readonly probeId: number; readonly epoch: number; seq: number }
  >();
  readonly lost: (RoundWrite['lost'][number] & { readonly shard: number })[] = [];
  readonly refused: RoundWrite['refused'][number][] = [];
  readonly outbox: OutboxEntry[] = [];

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  rowsOf(monitorId: number): IngestRow[] {
    const rows = this.rows.get(monitorId) ?? [];
    this.rows.set(monitorId, rows);
    return rows;
  }

  rangesOf(monitorId: number): RangeTables {
    const tables = this.ranges.get(monitorId) ?? new RangeTables();
    this.ranges.set(monitorId, tables);
    return tables;
  }

  /** What a reset has made void goes: results and ranges of before it. */
  empty(monitorId: number, beforeUs: number): void {
    this.rows.set(
      monitorId,
      this.rowsOf(monitorId).filter((row) => row.eUs >= beforeUs),
    );
    this.rangesOf(monitorId).empty(beforeUs);
  }

  cursor(shard: number, probeId: number, epoch: number): number {
    return this.cursors.get(`${shard} ${cursorKey({ probeId, epoch })}`)?.seq ?? 0;
  }

  /** How many of these moves start where their cursors are. */
  movable(shard: number, moves: readonly CursorMove[]): number {
    return moves.filter((move) => this.cursor(shard, move.probeId, move.epoch) === move.from).length;
  }

  commit(write: RoundWrite): void {
    for (const { probeId, epoch, to } of write.moves)
      this.cursors.set(`${write.shard} ${cursorKey({ probeId, epoch })}`, {
        shard: write.shard,
        probeId,
        epoch,
        seq: to,
      });
    for (const row of write.rows) this.rowsOf(row.monitorId).push(row);
    this.lost.push(...write.lost.map((lost) => ({ ...lost, shard: write.shard })));
    this.refused.push(...write.refused);
    for (const [monitorId, edits] of Map.groupBy(write.edits, (edit) => edit.monitorId))
      this.rangesOf(monitorId).apply(edits);
    for (const { monitorId, status, sinceUs, announced } of write.statuses) {
      const monitor = this.#configuration.monitor(monitorId);
      if (monitor.resetUs !== null && monitor.resetUs > sinceUs) continue;
      monitor.status = status;
      monitor.statusSinceUs = sinceUs;
      monitor.announcedStatus = announced;
    }
    this.outbox.push(...write.outbox);
  }
}
