import type { BatchHeader, ResultRecord } from './batch.ts';
import { packFlags } from './flags.ts';
import { sizeOfVarint, writeVarint } from './varint.ts';

/*
 * The generated encoder makes an array for each column and a BigInt for each time: it takes four times as long. This one writes the same
 * bytes by what results.proto says; a test holds one against the other.
 */

/** Columns of a batch that are unsigned numbers of 32 bits, in the order of `gather`. */
const columnTags = [6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17].map(lengthDelimited);
const columnCount = 11;
const deltaTag = lengthDelimited(7);
const evidenceTag = lengthDelimited(18);
/** A number of 32 bits takes up to 5 bytes in each column, a difference of times up to 10. */
const mostBytesOfResult = 5 * columnCount + 10;
const mostBytesOfHead = 256;
/** Of evidence beside its texts, of which a UTF-16 unit takes up to 3 bytes in UTF-8. */
const mostBytesOfEvidence = 32;

/** What most batches need; one with much evidence gets room of its own. */
const room = Buffer.allocUnsafeSlow(192 * 1024);
/** The columns, one result after the other: so each result is read once, and each column is a walk over numbers. */
let columns = new Uint32Array(128 * columnCount);
let deltasUs = new Float64Array(128);

/** Serialises results of one `(epoch, shard)` in order of their sequence; unsigned. The bytes are the caller's. */
export function encodeBatch(header: BatchHeader, results: readonly ResultRecord[]): Uint8Array {
  const count = results.length;
  if (count > deltasUs.length) {
    columns = new Uint32Array(count * columnCount);
    deltasUs = new Float64Array(count);
  }
  const needed = gather(results);
  const bytes = needed <= room.length ? room : Buffer.allocUnsafe(needed);
  let at = writeNumber(bytes, 0, 1, header.probeId);
  at = writeNumber(bytes, at, 2, Number(header.epoch));
  at = writeNumber(bytes, at, 3, header.shard);
  at = writeNumber(bytes, at, 4, Number(header.firstSeq));
  at = writeNumber(bytes, at, 5, results[0]?.effectiveUs ?? 0);
  at = writeColumn(bytes, at, 0, count);
  at = writeDeltas(bytes, at, count);
  for (let column = 1; column < columnCount; column += 1) at = writeColumn(bytes, at, column, count);
  for (let index = 0; index < count; index += 1) {
    const evidence = results[index]?.evidence;
    if (evidence !== undefined) at = writeEvidence(bytes, at, index, evidence);
  }
  return Buffer.from(bytes.subarray(0, at));
}

/** Puts the results into `columns` and `deltasUs`; gives the bytes that the batch takes at most. */
function gather(results: readonly ResultRecord[]): number {
  let previousUs = results[0]?.effectiveUs ?? 0;
  let at = 0;
  let needed = mostBytesOfHead + results.length * mostBytesOfResult;
  for (let index = 0; index < results.length; index += 1) {
    const result = results[index];
    if (result === undefined) continue;
    deltasUs[index] = result.effectiveUs - previousUs;
    previousUs = result.effectiveUs;
    columns[at] = result.monitorId;
    columns[at + 1] = result.probeRevision;
    columns[at + 2] = packFlags(result.kind, result.outcome, result.source);
    columns[at + 3] = result.error;
    columns[at + 4] = result.freshS;
    columns[at + 5] = result.totalUs;
    columns[at + 6] = plusOne(result.dnsUs);
    columns[at + 7] = plusOne(result.connectUs);
    columns[at + 8] = plusOne(result.tlsUs);
    columns[at + 9] = plusOne(result.firstByteUs);
    columns[at + 10] = plusOne(result.transferUs);
    at += columnCount;
    const { evidence } = result;
    if (evidence !== undefined) needed += mostBytesOfEvidence + 3 * (evidence.message.length + evidence.json.length);
  }
  return needed;
}

function writeColumn(bytes: Buffer, start: number, column: number, count: number): number {
  const from = writeVarint(bytes, start, columnTags[column] ?? 0);
  let at = from;
  const end = count * columnCount;
  for (let index = column; index < end; index += columnCount) {
    let value = columns[index] ?? 0;
    while (value > 0x7f) {
      bytes[at] = (value & 0x7f) | 0x80;
      at += 1;
      value >>>= 7;
    }
    bytes[at] = value;
    at += 1;
  }
  return withLength(bytes, from, at);
}

/** Differences may be negative, so they are written in zigzag: 0, -1, 1, -2 … as 0, 1, 2, 3 … */
function writeDeltas(bytes: Buffer, start: number, count: number): number {
  const from = writeVarint(bytes, start, deltaTag);
  let at = from;
  for (let index = 0; index < count; index += 1) {
    const delta = deltasUs[index] ?? 0;
    at = writeVarint(bytes, at, delta < 0 ? -2 * delta - 1 : 2 * delta);
  }
  return withLength(bytes, from, at);
}

function writeEvidence(
  bytes: Buffer,
  start: number,
  index: number,
  { message, json }: NonNullable<ResultRecord['evidence']>,
): number {
  const from = writeVarint(bytes, start, evidenceTag);
  let at = writeNumber(bytes, from, 1, index);
  if (message !== '') at = writeText(bytes, at, 2, message);
  if (json !== '') at = writeText(bytes, at, 3, json);
  return withLength(bytes, from, at);
}

function writeText(bytes: Buffer, start: number, field: number, text: string): number {
  const from = writeVarint(bytes, start, lengthDelimited(field));
  return withLength(bytes, from, from + bytes.write(text, from));
}

/** A field of its own; 0 is what an absent one means. */
function writeNumber(bytes: Buffer, at: number, field: number, value: number): number {
  return value === 0 ? at : writeVarint(bytes, writeVarint(bytes, at, field << 3), value);
}

/** Puts the length of what stands from `from` to `end` before it; gives where it ends now. */
function withLength(bytes: Buffer, from: number, end: number): number {
  const length = end - from;
  const width = sizeOfVarint(length);
  bytes.copyWithin(from + width, from, end);
  writeVarint(bytes, from, length);
  return end + width;
}

function lengthDelimited(field: number): number {
  return (field << 3) | 2;
}

const plusOne = (value: number | undefined): number => (value === undefined ? 0 : value + 1);
