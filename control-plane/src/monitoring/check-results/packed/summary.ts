import { BitReader, BitWriter, BitsError } from './bits.ts';
import { checksumOf } from './checksum.ts';
import type { ResultColumns } from './columns.ts';
import { OutcomeNumbers, isLatency } from './counts.ts';
import type { OutcomeCounts } from './counts.ts';
import { LatencySketch } from './sketch.ts';
import type { Sketch } from './sketch.ts';

export type { CheckOrigin, CountedResults, OutcomeCounts } from './counts.ts';

/** What an hour, a day or any window of results says in sum. Summaries of parts add up to exactly that of the whole. */
export type Summary = {
  readonly counts: OutcomeCounts;
  /** Of scheduled results that got an answer (`ok`, `slow`, `warn`) and were no fallback. */
  readonly latency: Sketch;
};

/** Bytes that are no summary of this version, or one that was cut or changed. */
export class SummaryError extends Error {
  override readonly name = 'SummaryError';
}

// A byte with the version, two of a checksum over what follows, then bits: the counts and the sketch.
const version = 1;
const headBytes = 3;
const writer = new BitWriter();
const reader = new BitReader();

/** A summary that grows. */
export class RunningSummary implements Summary {
  readonly counts = new OutcomeNumbers();
  readonly latency = new LatencySketch();

  clear(): void {
    this.counts.clear();
    this.latency.clear();
  }

  /** @param totalUs how long the check took */
  addRow(flags: number, totalUs: number): void {
    this.counts.addRow(flags);
    if (isLatency(flags)) this.latency.add(totalUs);
  }

  /** The rows from one index on and below another one. */
  addRows(rows: ResultColumns, from = 0, to = rows.length): void {
    for (let at = from; at < to; at += 1) this.addRow(rows.flags[at] ?? 0, rows.totalUs[at] ?? 0);
  }

  add(other: RunningSummary): void {
    this.counts.addCounts(other.counts);
    this.latency.addSketch(other.latency);
  }

  /**
   * Adds what `encodeSummary` wrote; faster than decoding and adding.
   * @throws SummaryError; the summary is of no use then
   */
  addEncoded(bytes: Uint8Array): void {
    if (bytes.length <= headBytes) throw new SummaryError(`a summary of ${bytes.length} bytes`);
    if (bytes[0] !== version) throw new SummaryError(`a summary of the unknown version ${bytes[0]}`);
    if (checksumOf(bytes, headBytes) !== ((bytes[1] ?? 0) | ((bytes[2] ?? 0) << 8))) {
      throw new SummaryError('a summary whose checksum does not fit: it was cut or changed');
    }
    try {
      reader.open(bytes, headBytes);
      this.latency.addWritten(reader, this.counts.addWritten(reader));
      reader.end();
    } catch (error) {
      if (error instanceof BitsError) {
        throw new SummaryError(`a summary that cannot be read: ${error.message}`, { cause: error });
      }
      throw error;
    }
  }
}

/** The summary of rows of one monitor, whatever their order. */
export function summaryOf(rows: ResultColumns): RunningSummary {
  const summary = new RunningSummary();
  summary.addRows(rows);
  return summary;
}

/** The sum of summaries; of none the empty one. */
export function mergeSummaries(parts: Iterable<RunningSummary>): RunningSummary {
  const sum = new RunningSummary();
  for (const part of parts) sum.add(part);
  return sum;
}

export function encodeSummary(summary: RunningSummary): Buffer {
  writer.clear();
  summary.counts.write(writer);
  summary.latency.write(writer);
  const body = writer.bytes();
  const bytes = Buffer.allocUnsafe(headBytes + body.length);
  bytes[0] = version;
  bytes.set(body, headBytes);
  bytes.writeUInt16LE(checksumOf(bytes, headBytes), 1);
  return bytes;
}

/** @throws SummaryError */
export function decodeSummary(bytes: Uint8Array): RunningSummary {
  const summary = new RunningSummary();
  summary.addEncoded(bytes);
  return summary;
}
