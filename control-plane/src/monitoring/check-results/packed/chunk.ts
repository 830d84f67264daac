import { crc32 } from 'node:zlib';
import { BitReader, BitsError, BitWriter } from './bits.ts';
import { ResultColumns, noPhase } from './columns.ts';
import { medianOf } from './median.ts';
import { readNumbers, writeNumbers } from './numbers.ts';
import { readShapes, writeShapes } from './shapes.ts';

/** Bytes that are no chunk of this version, or one that was cut or changed. */
export class ChunkError extends Error {
  override readonly name = 'ChunkError';
}

/** More rows than this in one chunk are refused: thirty-six a second, more than any monitor has. It bounds what hostile bytes can ask for. */
export const maxChunkRows = 131_072;

/*
 * A chunk is a byte with the version, two of a checksum over what follows, then bits: the number of rows, their shapes (shapes.ts), the phases, the
 * total by its difference from the sum of the phases, the effective time by its distance from a regular schedule, and the receipt by its
 * distance from the end of the check.
 */
const version = 1;
const headBytes = 3;
const secondUs = 1_000_000;
const writer = new BitWriter();
const reader = new BitReader();
/** Space for a column, and for the sums of the phases; used again. */
let numbers = new Float64Array(256);
let sums = new Float64Array(256);

/**
 * The rows of one hour of one monitor and probe as bytes, exact to the microsecond. The rows may be in any order; they are stored in that of
 * time, ties by receipt, flags and duration.
 * @throws RangeError for no rows or more than `maxChunkRows`
 */
export function encodeChunk(given: ResultColumns): Buffer {
  const rows = given.inOrder();
  if (rows.length < 1 || rows.length > maxChunkRows) {
    throw new RangeError(`a chunk of ${rows.length} rows; 1 to ${maxChunkRows} are possible`);
  }
  reserve(rows.length);
  writer.clear();
  writer.writeCount(rows.length);
  const phases = writeShapes(writer, rows);
  writePhases(rows, phases);
  writeTotals(rows);
  writeTimes(rows);
  writeReceipts(rows);
  const body = writer.bytes();
  const chunk = Buffer.allocUnsafe(headBytes + body.length);
  chunk[0] = version;
  chunk.writeUInt16LE(crc32(body) & 0xffff, 1);
  chunk.set(body, headBytes);
  return chunk;
}

/**
 * The rows of a chunk, oldest first, in `into` when it is given (what it held is lost) or in columns of their own.
 * @throws ChunkError
 */
export function decodeChunk(bytes: Uint8Array, into: ResultColumns = new ResultColumns()): ResultColumns {
  if (bytes.length <= headBytes) throw new ChunkError(`a chunk of ${bytes.length} bytes`);
  if (bytes[0] !== version) throw new ChunkError(`a chunk of the unknown version ${bytes[0]}`);
  const body = bytes.subarray(headBytes);
  if ((crc32(body) & 0xffff) !== ((bytes[1] ?? 0) | ((bytes[2] ?? 0) << 8))) {
    throw new ChunkError('a chunk whose checksum does not fit: it was cut or changed');
  }
  try {
    reader.open(body);
    readRows(into);
    reader.end();
  } catch (error) {
    if (error instanceof BitsError) {
      throw new ChunkError(`a chunk that cannot be read: ${error.message}`, { cause: error });
    }
    throw error;
  }
  return into;
}

function readRows(rows: ResultColumns): void {
  const count = reader.readCount();
  if (count < 1 || count > maxChunkRows) throw new BitsError(`${count} rows`);
  rows.reserve(count);
  rows.length = count;
  reserve(count);
  const phases = readShapes(reader, rows);
  readPhases(rows, phases);
  readTotals(rows);
  readTimes(rows);
  readReceipts(rows);
}

function reserve(count: number): void {
  if (numbers.length >= count) return;
  numbers = new Float64Array(count * 2);
  sums = new Float64Array(count * 2);
}

/** The columns of the phases that some row has. @param phases a bit for each of them, `dns` the lowest */
function present(rows: ResultColumns, phases: number): Int32Array[] {
  const all = [rows.dnsUs, rows.connectUs, rows.tlsUs, rows.firstByteUs, rows.transferUs];
  return all.filter((_, index) => (phases & (1 << index)) !== 0);
}

/** Writes the phases and leaves their sums in `sums`. */
function writePhases(rows: ResultColumns, phases: number): void {
  const all = numbers;
  const added = sums;
  const { length } = rows;
  added.fill(0, 0, length);
  for (const column of present(rows, phases)) {
    let found = 0;
    for (let at = 0; at < length; at += 1) {
      const value = column[at] ?? 0;
      if (value === noPhase) continue;
      all[found] = value;
      found += 1;
      added[at] = (added[at] ?? 0) + value;
    }
    writeNumbers(writer, all, found);
  }
}

function readPhases(rows: ResultColumns, phases: number): void {
  const all = numbers;
  const added = sums;
  const { length } = rows;
  added.fill(0, 0, length);
  for (const column of present(rows, phases)) {
    let count = 0;
    for (let at = 0; at < length; at += 1) if (column[at] !== noPhase) count += 1;
    readNumbers(reader, all, count);
    let read = 0;
    for (let at = 0; at < length; at += 1) {
      if (column[at] === noPhase) continue;
      const value = all[read] ?? 0;
      column[at] = value;
      read += 1;
      added[at] = (added[at] ?? 0) + value;
    }
  }
}

/** What a check took is hardly more than the sum of its phases. */
function writeTotals(rows: ResultColumns): void {
  for (let at = 0; at < rows.length; at += 1) numbers[at] = (rows.totalUs[at] ?? 0) - (sums[at] ?? 0);
  writeNumbers(writer, numbers, rows.length);
}

function readTotals(rows: ResultColumns): void {
  readNumbers(reader, numbers, rows.length);
  for (let at = 0; at < rows.length; at += 1) rows.totalUs[at] = (numbers[at] ?? 0) + (sums[at] ?? 0);
}

/** Effective times lie near the slots of a schedule that begins with the first of them and has a slot every so many seconds. */
function writeTimes(rows: ResultColumns): void {
  const { eUs, length } = rows;
  const firstUs = eUs[0] ?? 0;
  for (let at = 1; at < length; at += 1) numbers[at - 1] = (eUs[at] ?? 0) - (eUs[at - 1] ?? 0);
  const stepS = length < 3 ? 0 : Math.round(medianOf(numbers, length - 1) / secondUs);
  const stepUs = stepS * secondUs;
  writer.writeSigned(firstUs);
  writer.writeCount(stepS);
  if (stepS > 0) {
    for (let at = 1; at < length; at += 1) {
      numbers[at - 1] = slotOf((eUs[at] ?? 0) - firstUs, stepUs) - slotOf((eUs[at - 1] ?? 0) - firstUs, stepUs);
    }
    writeNumbers(writer, numbers, length - 1);
  }
  for (let at = 1; at < length; at += 1) {
    const sinceUs = (eUs[at] ?? 0) - firstUs;
    numbers[at - 1] = stepS === 0 ? sinceUs : sinceUs - slotOf(sinceUs, stepUs) * stepUs;
  }
  writeNumbers(writer, numbers, length - 1);
}

const slotOf = (sinceUs: number, stepUs: number): number => Math.round(sinceUs / stepUs);

function readTimes(rows: ResultColumns): void {
  const { eUs, length } = rows;
  const firstUs = reader.readSigned();
  const stepUs = reader.readCount() * secondUs;
  eUs.fill(firstUs, 0, length);
  if (stepUs > 0) {
    readNumbers(reader, numbers, length - 1);
    let slot = 0;
    for (let at = 1; at < length; at += 1) {
      slot += numbers[at - 1] ?? 0;
      eUs[at] = firstUs + slot * stepUs;
    }
  }
  readNumbers(reader, numbers, length - 1);
  for (let at = 1; at < length; at += 1) eUs[at] = (eUs[at] ?? 0) + (numbers[at - 1] ?? 0);
}

/**
 * Receipts by their distance from the end of the check, in the largest unit that all receipts of the chunk are whole numbers of beside a
 * common offset. One receipt for all, as after the backlog of a probe, is the unit 0. Where most are whole milliseconds and the others a little
 * more, milliseconds are the unit, and what is beyond them has a column of its own.
 */
function writeReceipts(rows: ResultColumns): void {
  const { receivedUs, length } = rows;
  const firstUs = receivedUs[0] ?? 0;
  const commonUs = commonUnit(receivedUs, length);
  if (commonUs === 0) {
    writer.write(sameReceipt, receiptBits);
    writer.writeSigned(firstUs - (rows.eUs[0] ?? 0));
    return;
  }
  const isSplit = commonUs < msUs && mostAreWhole(receivedUs, length);
  const unitUs = isSplit ? msUs : commonUs;
  const offsetUs = isSplit ? 0 : remainder(firstUs, unitUs);
  writer.write(isSplit ? splitReceipts : wholeReceipts, receiptBits);
  writer.writeCount(unitUs);
  writer.writeCount(offsetUs);
  for (let at = 0; at < length; at += 1) {
    numbers[at] = Math.floor(((receivedUs[at] ?? 0) - offsetUs) / unitUs) - endUnits(rows, at, offsetUs, unitUs);
  }
  writeNumbers(writer, numbers, length);
  if (!isSplit) return;
  for (let at = 0; at < length; at += 1) numbers[at] = remainder(receivedUs[at] ?? 0, unitUs);
  writeNumbers(writer, numbers, length);
}

function readReceipts(rows: ResultColumns): void {
  const { receivedUs, length } = rows;
  const form = reader.read(receiptBits);
  if (form > splitReceipts) throw new BitsError(`receipts of the unknown form ${form}`);
  if (form === sameReceipt) {
    receivedUs.fill((rows.eUs[0] ?? 0) + reader.readSigned(), 0, length);
    return;
  }
  const unitUs = reader.readCount();
  const offsetUs = reader.readCount();
  readNumbers(reader, numbers, length);
  for (let at = 0; at < length; at += 1) {
    receivedUs[at] = ((numbers[at] ?? 0) + endUnits(rows, at, offsetUs, unitUs)) * unitUs + offsetUs;
  }
  if (form === wholeReceipts) return;
  readNumbers(reader, numbers, length);
  for (let at = 0; at < length; at += 1) receivedUs[at] = (receivedUs[at] ?? 0) + (numbers[at] ?? 0);
}

const msUs = 1_000;
const receiptBits = 2;
const sameReceipt = 0;
const wholeReceipts = 1;
const splitReceipts = 2;

/** The largest unit that all distances between receipts are whole numbers of; 0 when there are none. */
function commonUnit(receivedUs: Float64Array, length: number): number {
  const firstUs = receivedUs[0] ?? 0;
  let unitUs = 0;
  for (let at = 1; at < length && unitUs !== 1; at += 1) {
    unitUs = commonDivisor(Math.abs((receivedUs[at] ?? 0) - firstUs), unitUs);
  }
  return unitUs;
}

function mostAreWhole(receivedUs: Float64Array, length: number): boolean {
  let whole = 0;
  for (let at = 0; at < length; at += 1) if ((receivedUs[at] ?? 0) % msUs === 0) whole += 1;
  return whole * 2 > length;
}

/** What is beyond whole units, from 0 on also for negative numbers. */
const remainder = (value: number, unit: number): number => ((value % unit) + unit) % unit;

/** The end of a check in whole units. */
function endUnits(rows: ResultColumns, at: number, offsetUs: number, unitUs: number): number {
  return Math.floor(((rows.eUs[at] ?? 0) + (rows.totalUs[at] ?? 0) - offsetUs) / unitUs);
}

function commonDivisor(one: number, other: number): number {
  let [larger, smaller] = [one, other];
  while (smaller > 0) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
