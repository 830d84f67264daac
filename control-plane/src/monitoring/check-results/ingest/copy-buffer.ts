import type { IngestRow } from './rows.ts';

/** The statement that `encodeCopy` writes for. */
export const copyText = `copy check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us,
  dns_us, connect_us, tls_us, first_byte_us, transfer_us, error) from stdin (format binary)`;

// Format of COPY BINARY: a header of 19 bytes, for each row the number of fields (int16) and each field as int32 length and value,
// at the end −1 as int16. All in network byte order.
const header = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const fields = 14;
const longestRow = 2 + fields * 4 + 2 * 8 + 11 * 4 + 2;
/** Timestamps count microseconds from 2000-01-01. */
const epochOffsetUs = 946_684_800_000_000;
const twoTo32 = 4_294_967_296;

/** Writes rows for COPY BINARY into one buffer that it owns; what it returned is good until the next call. */
export function createCopyEncoder(): (rows: readonly IngestRow[]) => Buffer {
  let buffer = Buffer.allocUnsafeSlow(64 * 1024);
  return (rows) => {
    const most = header.length + rows.length * longestRow + 2;
    if (buffer.length < most) buffer = Buffer.allocUnsafeSlow(most * 2);
    header.copy(buffer, 0);
    let at = header.length;
    for (const index of byMonitor(rows)) at = writeRow(buffer, at, rows[index] as IngestRow);
    at = int16(buffer, at, -1);
    return buffer.subarray(0, at);
  };
}

/** More rows than a round has, times the largest number of a monitor, is still exact as a number. */
const mostRows = 1 << 20;

/**
 * The places of rows in the order of their monitors, those of one as they came. The key of the table begins with the monitor: entries that go to
 * one page of its index follow on one another then.
 */
function byMonitor(rows: readonly IngestRow[]): Float64Array {
  const keys = Float64Array.from(rows, (row, index) => row.monitorId * mostRows + index).sort();
  for (let at = 0; at < keys.length; at += 1) keys[at] = (keys[at] as number) % mostRows;
  return keys;
}

function writeRow(buffer: Buffer, start: number, row: IngestRow): number {
  let at = int16(buffer, start, fields);
  at = timestamp(buffer, at, row.eUs);
  at = timestamp(buffer, at, row.receivedUs);
  at = integer(buffer, at, row.monitorId);
  at = integer(buffer, at, row.voter);
  at = integer(buffer, at, row.probeRevision);
  at = integer(buffer, at, row.flags);
  at = integer(buffer, at, row.freshS);
  // An integer column holds 35 minutes in microseconds; no check lasts that long.
  at = integer(buffer, at, Math.min(row.totalUs, 2_147_483_647));
  at = optional(buffer, at, row.dnsUs);
  at = optional(buffer, at, row.connectUs);
  at = optional(buffer, at, row.tlsUs);
  at = optional(buffer, at, row.firstByteUs);
  at = optional(buffer, at, row.transferUs);
  at = int32(buffer, at, 2);
  return int16(buffer, at, row.error);
}

function timestamp(buffer: Buffer, at: number, us: number): number {
  const value = us - epochOffsetUs;
  const high = Math.floor(value / twoTo32);
  int32(buffer, at, 8);
  int32(buffer, at + 4, high);
  return int32(buffer, at + 8, value - high * twoTo32);
}

function integer(buffer: Buffer, at: number, value: number): number {
  int32(buffer, at, 4);
  return int32(buffer, at + 4, value);
}

function optional(buffer: Buffer, at: number, value: number | undefined): number {
  if (value === undefined) return int32(buffer, at, -1);
  return integer(buffer, at, Math.min(value, 2_147_483_647));
}

// By hand instead of Buffer's methods, whose checks of range cost more than the rest of this file.
function int32(buffer: Buffer, at: number, value: number): number {
  buffer[at] = value >>> 24;
  buffer[at + 1] = value >>> 16;
  buffer[at + 2] = value >>> 8;
  buffer[at + 3] = value;
  return at + 4;
}

function int16(buffer: Buffer, at: number, value: number): number {
  buffer[at] = value >>> 8;
  buffer[at + 1] = value;
  return at + 2;
}
