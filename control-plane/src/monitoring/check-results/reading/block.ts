import { ResultColumns } from '../packed/columns.ts';

/**
 * Results of one monitor and any probes, in order of time; ties by probe, receipt, flags and duration. `probeIds` may be longer than the
 * rows.
 */
export type ResultBlock = { readonly rows: ResultColumns; readonly probeIds: Int32Array };

/** The rows of one probe, in that order. */
export type RowsOfProbe = { readonly probeId: number; readonly rows: ResultColumns };

/** Bytes of a result as `packedRow` of rows/queries.ts has it. */
const rowBytes = 2 * 8 + 11 * 4;
/** Timestamps count microseconds from 2000-01-01. */
const epochOffsetUs = 946_684_800_000_000;
const twoTo32 = 4_294_967_296;

/** Results as the database packed them, one after another. */
export function blockOfBytes(bytes: Buffer): ResultBlock {
  const count = bytes.length / rowBytes;
  const rows = new ResultColumns(count);
  const probeIds = new Int32Array(count);
  for (let at = 0; at < count; at += 1) {
    const from = at * rowBytes;
    rows.eUs[at] = timestampUs(bytes, from);
    rows.receivedUs[at] = timestampUs(bytes, from + 8);
    probeIds[at] = int32(bytes, from + 16);
    rows.probeRevision[at] = int32(bytes, from + 20);
    rows.flags[at] = int32(bytes, from + 24);
    rows.freshS[at] = int32(bytes, from + 28);
    rows.totalUs[at] = int32(bytes, from + 32);
    rows.dnsUs[at] = int32(bytes, from + 36);
    rows.connectUs[at] = int32(bytes, from + 40);
    rows.tlsUs[at] = int32(bytes, from + 44);
    rows.firstByteUs[at] = int32(bytes, from + 48);
    rows.transferUs[at] = int32(bytes, from + 52);
    rows.error[at] = int32(bytes, from + 56);
  }
  rows.length = count;
  return { rows, probeIds };
}

/** The instant that eight bytes of `timestamptz_send` tell, in microseconds since 1970. */
export function timestampUs(bytes: Buffer, at: number): number {
  return int32(bytes, at) * twoTo32 + (int32(bytes, at + 4) >>> 0) + epochOffsetUs;
}

// By hand instead of Buffer's methods, whose checks of range cost more.
export function int32(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

/** The rows of several probes in one order, those in [fromUs, toUs) only. */
export function mergedBlock(probes: readonly RowsOfProbe[], fromUs: number, toUs: number): ResultBlock {
  const sources = probes
    .toSorted((one, other) => one.probeId - other.probeId)
    .map(({ probeId, rows }) => ({ probeId, rows, at: firstNotBefore(rows, fromUs) }));
  const most = probes.reduce((sum, { rows }) => sum + rows.length, 0);
  const rows = new ResultColumns(most);
  const probeIds = new Int32Array(most);
  for (;;) {
    let next: (typeof sources)[number] | undefined;
    let nextUs = toUs;
    for (const source of sources) {
      if (source.at >= source.rows.length) continue;
      const eUs = source.rows.eUs[source.at] ?? 0;
      // Of equals the first probe's row comes first.
      if (eUs < nextUs) {
        next = source;
        nextUs = eUs;
      }
    }
    if (next === undefined) return { rows, probeIds };
    probeIds[rows.length] = next.probeId;
    rows.pushFrom(next.rows, next.at);
    next.at += 1;
  }
}

/** The rows of blocks one after another. */
export function joinedBlock(blocks: readonly ResultBlock[]): ResultBlock {
  const count = blocks.reduce((sum, block) => sum + block.rows.length, 0);
  const rows = new ResultColumns(count);
  const probeIds = new Int32Array(count);
  for (const block of blocks) {
    for (let at = 0; at < block.rows.length; at += 1) {
      probeIds[rows.length] = block.probeIds[at] ?? 0;
      rows.pushFrom(block.rows, at);
    }
  }
  return { rows, probeIds };
}

/** The rows of a block that are kept, by their index. */
export function pickedBlock(block: ResultBlock, isKept: (at: number) => boolean): ResultBlock {
  const rows = new ResultColumns(block.rows.length);
  const probeIds = new Int32Array(block.rows.length);
  for (let at = 0; at < block.rows.length; at += 1) {
    if (!isKept(at)) continue;
    probeIds[rows.length] = block.probeIds[at] ?? 0;
    rows.pushFrom(block.rows, at);
  }
  return { rows, probeIds };
}

/** The index of the first row that is not before an instant; the number of rows when all are. */
export function firstNotBefore(rows: ResultColumns, us: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows.eUs[middle] ?? 0) < us) low = middle + 1;
    else high = middle;
  }
  return low;
}
