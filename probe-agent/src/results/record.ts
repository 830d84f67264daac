import { crc32 } from 'node:zlib';
import { packFlags, unpackFlags } from '@parallax/wire';
import type { ResultRecord } from '@parallax/wire';

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
  let at = offset + recordHeadBytes;
  buffer.writeUInt16LE(logged.shard, at);
  buffer.writeDoubleLE(logged.seq, at + 2);
  buffer.writeDoubleLE(logged.monotonicUs, at + 10);
  buffer.writeDoubleLE(result.effectiveUs, at + 18);
  buffer.writeUInt32LE(result.monitorId, at + 26);
  buffer.writeUInt32LE(result.probeRevision, at + 30);
  buffer.writeUInt8(packFlags(result.kind, result.outcome, result.source), at + 34);
  buffer.writeUInt16LE(result.error, at + 35);
  buffer.writeUInt32LE(result.freshS, at + 37);
  buffer.writeUInt32LE(result.totalUs, at + 41);
  buffer.writeUInt32LE(plusOne(result.dnsUs), at + 45);
  buffer.writeUInt32LE(plusOne(result.connectUs), at + 49);
  buffer.writeUInt32LE(plusOne(result.tlsUs), at + 53);
  buffer.writeUInt32LE(plusOne(result.firstByteUs), at + 57);
  buffer.writeUInt32LE(plusOne(result.transferUs), at + 61);
  at += resultFixedBytes;
  let messageBytes = 0xffff_ffff;
  if (result.evidence !== undefined) {
    messageBytes = buffer.write(result.evidence.message, at);
    at += messageBytes;
    at += buffer.write(result.evidence.json, at);
  }
  buffer.writeUInt32LE(messageBytes, offset + recordHeadBytes + 65);
  return seal(buffer, offset, at, recordTypes.result, salt);
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
  buffer.writeUInt8(type, start + 8);
  buffer.writeUInt32LE(length, start);
  buffer.writeUInt32LE(crc32(buffer.subarray(start + 8, end), (salt ^ length) >>> 0), start + 4);
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
  return crc32(bytes.subarray(offset + 8, end), (salt ^ length) >>> 0) === bytes.readUInt32LE(offset + 4)
    ? end
    : undefined;
}

/** Type number of the record at `offset`, which `endOfRecord` has accepted. */
export function typeAt(bytes: Buffer, offset: number): number {
  return bytes[offset + 8] ?? 0;
}

/** What recovery needs of a result without building it. */
export function placeOfResult(
  bytes: Buffer,
  offset: number,
): { shard: number; seq: number; monotonicUs: number; effectiveUs: number; isSkipped: boolean } | undefined {
  if (bytes.readUInt32LE(offset) < resultFixedBytes + 1) return undefined;
  const at = offset + recordHeadBytes;
  const seq = bytes.readDoubleLE(at + 2);
  if (!Number.isSafeInteger(seq) || seq < 1) return undefined;
  return {
    shard: bytes.readUInt16LE(at),
    seq,
    monotonicUs: bytes.readDoubleLE(at + 10),
    effectiveUs: bytes.readDoubleLE(at + 18),
    isSkipped: unpackFlags(bytes.readUInt8(at + 34))?.outcome === 'skipped',
  };
}

/** The result at `offset`; undefined for one that this version does not understand. */
export function readResult(bytes: Buffer, offset: number, end: number): LoggedResult | undefined {
  const place = placeOfResult(bytes, offset);
  const at = offset + recordHeadBytes;
  const flags = place && unpackFlags(bytes.readUInt8(at + 34));
  if (place === undefined || flags === undefined) return undefined;
  const textStart = at + resultFixedBytes;
  const messageBytes = bytes.readUInt32LE(at + 65);
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
      monitorId: bytes.readUInt32LE(at + 26),
      effectiveUs: place.effectiveUs,
      probeRevision: bytes.readUInt32LE(at + 30),
      ...flags,
      error: bytes.readUInt16LE(at + 35),
      freshS: bytes.readUInt32LE(at + 37),
      totalUs: bytes.readUInt32LE(at + 41),
      dnsUs: minusOne(bytes.readUInt32LE(at + 45)),
      connectUs: minusOne(bytes.readUInt32LE(at + 49)),
      tlsUs: minusOne(bytes.readUInt32LE(at + 53)),
      firstByteUs: minusOne(bytes.readUInt32LE(at + 57)),
      transferUs: minusOne(bytes.readUInt32LE(at + 61)),
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
