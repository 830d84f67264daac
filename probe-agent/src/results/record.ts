import { packFlags, unpackFlags } from '@parallax/wire';
import type { ResultRecord } from '@parallax/wire';
import { checksumOf } from './checksum.ts';

/**
 * Records of the log, without any I/O. A record is: u32 length of type and payload, u32 CRC32, u8 type, payload. The CRC starts from the
 * segment's random salt mixed with the length, so that bytes that a target made us store can never pass for a record of ours.
 */
export const recordTypes = { result: 1, anchor: 2, lost: 3 } as const;
export const recordHeadBytes = 9;
/** No record is longer: evidence is bounded before it is logged. */
export const maxPayloadBytes = 256 * 1024;

/** One result in the log. `result.effectiveUs` is 0 while its place in server time is not known. */
export type LoggedResult = {
  readonly shard: number;
  readonly seq: number;
  /** Start of the check on the machine's monotonic clock. */
  readonly monotonicUs: number;
  readonly result: ResultRecord;
};

/** Where a result stands in bytes that hold its record. Much smaller than the result: so many of these live until they are acknowledged. */
export type RecordPlace = {
  readonly shard: number;
  readonly seq: number;
  readonly offset: number;
  /** Written from `offset` on; another buffer with the same bytes may take the place of the one that they were written to. */
  bytes: Buffer;
};

/**
 * `sync`: at `monotonicUs` the server's clock was `serverUs`. `break`: monotonic time before and after cannot be joined (the machine slept).
 * `jump`: the wall clock jumped, which may have been a sleep; the synchronisations before and after tell.
 */
export type Anchor = {
  readonly kind: (typeof anchorKinds)[number];
  readonly monotonicUs: number;
  readonly serverUs: number;
};

/** By the number that stands in the log. */
const anchorKinds = ['sync', 'break', 'jump'] as const;

/** Sequence numbers of one stream that are gone for good; both ends belong to it. Times in microseconds since the epoch, 0 when unknown. */
export type LostRecord = {
  readonly epoch: number;
  readonly shard: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly fromUs: number;
  readonly toUs: number;
};

const resultFixedBytes = 69;
const anchorBytes = 17;
const lostBytes = 42;

/** Bytes that the record of a result will take. */
export function sizeOfResult(result: ResultRecord): number {
  const { evidence } = result;
  const texts = evidence === undefined ? 0 : Buffer.byteLength(evidence.message) + Buffer.byteLength(evidence.json);
  return recordHeadBytes + resultFixedBytes + texts;
}

/** Writes a result at `offset`, which must have `sizeOfResult` bytes left; gives the offset after it. */
export function writeResult(buffer: Buffer, offset: number, logged: LoggedResult, salt: number): number {
  const { result } = logged;
  const view = viewOf(buffer);
  let at = offset + recordHeadBytes;
  view.setUint16(at, logged.shard, true);
  view.setFloat64(at + 2, logged.seq, true);
  view.setFloat64(at + 10, logged.monotonicUs, true);
  view.setFloat64(at + 18, result.effectiveUs, true);
  view.setUint32(at + 26, result.monitorId, true);
  view.setUint32(at + 30, result.probeRevision, true);
  view.setUint8(at + 34, packFlags(result.kind, result.outcome, result.source));
  view.setUint16(at + 35, result.error, true);
  view.setUint32(at + 37, result.freshS, true);
  view.setUint32(at + 41, result.totalUs, true);
  view.setUint32(at + 45, plusOne(result.dnsUs), true);
  view.setUint32(at + 49, plusOne(result.connectUs), true);
  view.setUint32(at + 53, plusOne(result.tlsUs), true);
  view.setUint32(at + 57, plusOne(result.firstByteUs), true);
  view.setUint32(at + 61, plusOne(result.transferUs), true);
  at += resultFixedBytes;
  let messageBytes = 0xffff_ffff;
  if (result.evidence !== undefined) {
    messageBytes = buffer.write(result.evidence.message, at);
    at += messageBytes;
    at += buffer.write(result.evidence.json, at);
  }
  view.setUint32(offset + recordHeadBytes + 65, messageBytes, true);
  return seal(buffer, offset, at, recordTypes.result, salt);
}

/** The last buffer that was written to, and its view: the methods of a Buffer write four bytes for a number, those of a view one word. */
let viewed: { readonly buffer: Buffer; readonly view: DataView } | undefined;

function viewOf(buffer: Buffer): DataView {
  if (viewed?.buffer !== buffer)
    viewed = { buffer, view: new DataView(buffer.buffer, buffer.byteOffset, buffer.length) };
  return viewed.view;
}

/** A record of its own buffer. */
export function encodeAnchor(anchor: Anchor, salt: number): Buffer {
  const buffer = Buffer.alloc(recordHeadBytes + anchorBytes);
  buffer.writeUInt8(anchorKinds.indexOf(anchor.kind), recordHeadBytes);
  buffer.writeDoubleLE(anchor.monotonicUs, recordHeadBytes + 1);
  buffer.writeDoubleLE(anchor.serverUs, recordHeadBytes + 9);
  seal(buffer, 0, buffer.length, recordTypes.anchor, salt);
  return buffer;
}

/** A record of its own buffer. */
export function encodeLostRecord(lost: LostRecord, salt: number): Buffer {
  const buffer = Buffer.alloc(recordHeadBytes + lostBytes);
  let at = recordHeadBytes;
  buffer.writeUInt16LE(lost.shard, at);
  at += 2;
  for (const number of [lost.epoch, lost.fromSeq, lost.toSeq, lost.fromUs, lost.toUs])
    at = buffer.writeDoubleLE(number, at);
  seal(buffer, 0, buffer.length, recordTypes.lost, salt);
  return buffer;
}

function seal(buffer: Buffer, start: number, end: number, type: number, salt: number): number {
  const length = end - start - 8;
  const view = viewOf(buffer);
  view.setUint8(start + 8, type);
  view.setUint32(start, length, true);
  view.setUint32(start + 4, checksumOf(buffer, start + 8, end, (salt ^ length) >>> 0), true);
  return end;
}

/** End of a whole and undamaged record that starts at `offset`; undefined when there is none. */
export function endOfRecord(bytes: Buffer, offset: number, salt: number): number | undefined {
  if (offset + recordHeadBytes > bytes.length) return undefined;
  const length = bytes.readUInt32LE(offset);
  if (length < 1 || length > maxPayloadBytes + 1 || offset + 8 + length > bytes.length) return undefined;
  const type = bytes[offset + 8] ?? 0;
  if (type < recordTypes.result || type > recordTypes.lost) return undefined;
  const end = offset + 8 + length;
  return checksumOf(bytes, offset + 8, end, (salt ^ length) >>> 0) === bytes.readUInt32LE(offset + 4) ? end : undefined;
}

/** Type number of the record at `offset`, which `endOfRecord` has accepted. */
export function typeAt(bytes: Buffer, offset: number): number {
  return bytes[offset + 8] ?? 0;
}

/** Bytes of the record at `offset`, which is whole. */
export function sizeOfRecord(bytes: Buffer, offset: number): number {
  return 8 + viewOf(bytes).getUint32(offset, true);
}

/** What recovery needs of a result without building it. */
export function placeOfResult(
  bytes: Buffer,
  offset: number,
): { shard: number; seq: number; monotonicUs: number; effectiveUs: number; isSkipped: boolean } | undefined {
  const view = viewOf(bytes);
  if (view.getUint32(offset, true) < resultFixedBytes + 1) return undefined;
  const at = offset + recordHeadBytes;
  const seq = view.getFloat64(at + 2, true);
  if (!Number.isSafeInteger(seq) || seq < 1) return undefined;
  return {
    shard: view.getUint16(at, true),
    seq,
    monotonicUs: view.getFloat64(at + 10, true),
    effectiveUs: view.getFloat64(at + 18, true),
    isSkipped: unpackFlags(view.getUint8(at + 34))?.outcome === 'skipped',
  };
}

/** The result at `offset`; undefined for one that this version does not understand. */
export function readResult(bytes: Buffer, offset: number, end: number): LoggedResult | undefined {
  const place = placeOfResult(bytes, offset);
  const view = viewOf(bytes);
  const at = offset + recordHeadBytes;
  const flags = place && unpackFlags(view.getUint8(at + 34));
  if (place === undefined || flags === undefined) return undefined;
  const textStart = at + resultFixedBytes;
  const messageBytes = view.getUint32(at + 65, true);
  const evidence =
    messageBytes === 0xffff_ffff
      ? undefined
      : {
          message: bytes.toString('utf8', textStart, textStart + messageBytes),
          json: bytes.toString('utf8', textStart + messageBytes, end),
        };
  return {
    shard: place.shard,
    seq: place.seq,
    monotonicUs: place.monotonicUs,
    result: {
      monitorId: view.getUint32(at + 26, true),
      effectiveUs: place.effectiveUs,
      probeRevision: view.getUint32(at + 30, true),
      kind: flags.kind,
      outcome: flags.outcome,
      source: flags.source,
      error: view.getUint16(at + 35, true),
      freshS: view.getUint32(at + 37, true),
      totalUs: view.getUint32(at + 41, true),
      dnsUs: minusOne(view.getUint32(at + 45, true)),
      connectUs: minusOne(view.getUint32(at + 49, true)),
      tlsUs: minusOne(view.getUint32(at + 53, true)),
      firstByteUs: minusOne(view.getUint32(at + 57, true)),
      transferUs: minusOne(view.getUint32(at + 61, true)),
      evidence,
    },
  };
}

/** The anchor at `offset`. */
export function readAnchor(bytes: Buffer, offset: number): Anchor | undefined {
  if (bytes.readUInt32LE(offset) !== anchorBytes + 1) return undefined;
  const at = offset + recordHeadBytes;
  return {
    kind: anchorKinds[bytes[at] ?? 1] ?? 'break',
    monotonicUs: bytes.readDoubleLE(at + 1),
    serverUs: bytes.readDoubleLE(at + 9),
  };
}

/** The range of dropped results at `offset`. */
export function readLostRecord(bytes: Buffer, offset: number): LostRecord | undefined {
  if (bytes.readUInt32LE(offset) !== lostBytes + 1) return undefined;
  const at = offset + recordHeadBytes;
  const number = (index: number): number => bytes.readDoubleLE(at + 2 + index * 8);
  const lost = {
    epoch: number(0),
    shard: bytes.readUInt16LE(at),
    fromSeq: number(1),
    toSeq: number(2),
    fromUs: number(3),
    toUs: number(4),
  };
  const whole = [lost.epoch, lost.fromSeq, lost.toSeq].every((value) => Number.isSafeInteger(value) && value >= 1);
  return whole && lost.toSeq >= lost.fromSeq ? lost : undefined;
}

const plusOne = (value: number | undefined): number => (value === undefined ? 0 : value + 1);
const minusOne = (value: number): number | undefined => (value === 0 ? undefined : value - 1);
