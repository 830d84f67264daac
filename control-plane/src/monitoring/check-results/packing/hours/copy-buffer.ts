import type { LastResult } from '../../packed/last-result.ts';

/** A packed hour of one monitor and probe: a row of `result_hours`. */
export type EncodedHour = {
  readonly monitorId: number;
  readonly hour: number;
  readonly probeId: number;
  readonly results: number;
  readonly last: LastResult | null;
  readonly summary: Buffer;
  readonly chunk: Buffer;
};

/** The statement that `encodeHours` writes for. */
export const copyHoursText = `copy result_hours (monitor_id, hour, probe_id, results, last_ms, last_total_us, last_flags, summary, chunk) from stdin (format binary)`;

// See ingest/copy-buffer.ts for the format.
const header = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const fields = 9;
/** Without what a missing last result leaves out. */
const fixedBytes = 2 + fields * 4 + 6 * 4 + 2;

/** Packed hours as COPY BINARY takes them. */
export function encodeHours(hours: readonly EncodedHour[]): Buffer {
  const length = hours.reduce(
    (sum, { summary, chunk }) => sum + fixedBytes + summary.length + chunk.length,
    header.length + 2,
  );
  const buffer = Buffer.allocUnsafe(length);
  let at = header.copy(buffer);
  for (const { monitorId, hour, probeId, results, last, summary, chunk } of hours) {
    at = buffer.writeInt16BE(fields, at);
    for (const value of [monitorId, hour, probeId, results]) {
      at = buffer.writeInt32BE(4, at);
      at = buffer.writeInt32BE(value, at);
    }
    at = writeLast(buffer, at, last);
    for (const bytes of [summary, chunk]) {
      at = buffer.writeInt32BE(bytes.length, at);
      at += bytes.copy(buffer, at);
    }
  }
  at = buffer.writeInt16BE(-1, at);
  return buffer.subarray(0, at);
}

function writeLast(buffer: Buffer, from: number, last: LastResult | null): number {
  let at = from;
  if (last === null) {
    for (let field = 0; field < 3; field += 1) at = buffer.writeInt32BE(-1, at);
    return at;
  }
  for (const value of [last.atMs, last.totalUs]) {
    at = buffer.writeInt32BE(4, at);
    at = buffer.writeInt32BE(value, at);
  }
  at = buffer.writeInt32BE(2, at);
  return buffer.writeInt16BE(last.flags, at);
}
