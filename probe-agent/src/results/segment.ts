import { crc32 } from 'node:zlib';
import { endOfRecord, placeOfResult, readAnchor, readLostRecord, recordTypes, typeAt } from './record.ts';
import type { Anchor, LostRecord } from './record.ts';

/** A segment starts with its header twice, each in a sector of its own, so that one damaged sector does not cost the whole segment. */
export const headerCopyBytes = 512;
export const headerBytes = 2 * headerCopyBytes;
const magic = Buffer.from('PLXLOG\r\n');
const version = 1;

export type SegmentHeader = {
  /** All results of a segment belong to one epoch. */
  readonly epoch: number;
  /** Position of the segment in the log, ascending for ever. */
  readonly index: number;
  /** Random; see record.ts. */
  readonly salt: number;
  /** Of the machine, not of the agent: monotonic times of equal boots can be compared. At most 64 characters. */
  readonly bootId: string;
  readonly openedMonotonicUs: number;
  readonly openedWallMs: number;
};

/** Both copies, ready to be written at the start of a new file. */
export function encodeHeader(header: SegmentHeader): Buffer {
  const copy = Buffer.alloc(headerCopyBytes);
  magic.copy(copy, 0);
  copy.writeUInt16LE(version, 8);
  copy.writeDoubleLE(header.epoch, 10);
  copy.writeDoubleLE(header.index, 18);
  copy.writeUInt32LE(header.salt, 26);
  copy.writeDoubleLE(header.openedMonotonicUs, 30);
  copy.writeDoubleLE(header.openedWallMs, 38);
  copy.write(header.bootId.slice(0, 64), 46, 64, 'latin1');
  copy.writeUInt32LE(crc32(copy.subarray(0, headerCopyBytes - 4)), headerCopyBytes - 4);
  return Buffer.concat([copy, copy]);
}

/** The header from whichever copy is whole; undefined when neither is. */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  return decodeCopy(bytes.subarray(0, headerCopyBytes)) ?? decodeCopy(bytes.subarray(headerCopyBytes, headerBytes));
}

function decodeCopy(copy: Buffer): SegmentHeader | undefined {
  if (copy.length < headerCopyBytes || !copy.subarray(0, 8).equals(magic) || copy.readUInt16LE(8) !== version)
    return undefined;
  if (crc32(copy.subarray(0, headerCopyBytes - 4)) !== copy.readUInt32LE(headerCopyBytes - 4)) return undefined;
  return {
    epoch: copy.readDoubleLE(10),
    index: copy.readDoubleLE(18),
    salt: copy.readUInt32LE(26),
    openedMonotonicUs: copy.readDoubleLE(30),
    openedWallMs: copy.readDoubleLE(38),
    bootId: copy.toString('latin1', 46, 110).replace(/\0+$/, ''),
  };
}

/** One contiguous run of results of a shard within a segment, with an offset for every 64th of them. */
export type Extent = {
  readonly shard: number;
  readonly firstSeq: number;
  lastSeq: number;
  /** Smallest and largest effective time, microseconds since the epoch (by the wall clock at opening where none was known). */
  fromUs: number;
  toUs: number;
  /** Sequence numbers and offsets, ascending. */
  readonly marks: { seq: number; offset: number }[];
};

export const resultsPerMark = 64;

/** Adds the result at `offset` to the extents of its segment, in order of the log. */
export function extend(extents: Extent[], place: { shard: number; seq: number; atUs: number; offset: number }): void {
  const last = extents.findLast((extent) => extent.shard === place.shard);
  if (last === undefined || last.lastSeq + 1 !== place.seq) {
    extents.push({
      shard: place.shard,
      firstSeq: place.seq,
      lastSeq: place.seq,
      fromUs: place.atUs,
      toUs: place.atUs,
      marks: [{ seq: place.seq, offset: place.offset }],
    });
    return;
  }
  last.lastSeq = place.seq;
  last.fromUs = Math.min(last.fromUs, place.atUs);
  last.toUs = Math.max(last.toUs, place.atUs);
  const mark = last.marks.at(-1);
  if (mark !== undefined && place.seq - mark.seq >= resultsPerMark)
    last.marks.push({ seq: place.seq, offset: place.offset });
}

/** What a segment holds that is whole. */
export type ScannedSegment = {
  readonly header: SegmentHeader;
  readonly extents: Extent[];
  /** Its last result that was stamped stands among them: what comes after is placed after it. */
  readonly anchors: Anchor[];
  readonly lost: LostRecord[];
  /** Number of places where bytes between whole records could not be read. */
  readonly damagedPlaces: number;
  /** Bytes after the last whole record: a write that was cut off, or damage at the very end. */
  readonly tornBytes: number;
};

/** Reads a segment that may have been cut or damaged anywhere; undefined when its header is gone. */
export function scanSegment(bytes: Buffer): ScannedSegment | undefined {
  const header = decodeHeader(bytes);
  if (header === undefined) return undefined;
  const extents: Extent[] = [];
  const anchors: Anchor[] = [];
  const lost: LostRecord[] = [];
  let stamped: Anchor | undefined;
  let damagedPlaces = 0;
  let offset = headerBytes;
  while (offset < bytes.length) {
    const end = endOfRecord(bytes, offset, header.salt);
    if (end === undefined) {
      const next = nextRecord(bytes, offset + 1, header.salt);
      if (next === undefined) break;
      damagedPlaces += 1;
      offset = next;
      continue;
    }
    const type = typeAt(bytes, offset);
    if (type === recordTypes.result) {
      const place = placeOfResult(bytes, offset);
      const previous = place && extents.findLast((extent) => extent.shard === place.shard);
      if (place === undefined || (previous !== undefined && place.seq <= previous.lastSeq)) damagedPlaces += 1;
      else {
        if (place.effectiveUs !== 0 && !place.isSkipped && place.monotonicUs > (stamped?.monotonicUs ?? -Infinity))
          stamped = { kind: 'sync', monotonicUs: place.monotonicUs, serverUs: place.effectiveUs };
        extend(extents, { ...place, atUs: place.effectiveUs || approximateUs(header, place.monotonicUs), offset });
      }
    } else if (type === recordTypes.anchor) {
      const anchor = readAnchor(bytes, offset);
      if (anchor !== undefined) anchors.push(anchor);
    } else {
      const range = readLostRecord(bytes, offset);
      if (range !== undefined) lost.push(range);
    }
    offset = end;
  }
  if (stamped !== undefined) anchors.push(stamped);
  return { header, extents, anchors, lost, damagedPlaces, tornBytes: bytes.length - Math.min(offset, bytes.length) };
}

/** Effective time of the result at `offset`, or about when it was where that is not known. Microseconds since the epoch. */
export function timeOfResult(header: SegmentHeader, bytes: Buffer, offset: number): number {
  const place = placeOfResult(bytes, offset);
  return place === undefined ? 0 : place.effectiveUs || approximateUs(header, place.monotonicUs);
}

/** Microseconds since the epoch by the wall clock at the opening of the segment; only for what has no better time. */
export function approximateUs(header: SegmentHeader, monotonicUs: number): number {
  return Math.round(header.openedWallMs * 1000 + (monotonicUs - header.openedMonotonicUs));
}

/** Offset of the next whole record at or after `from`. */
export function nextRecord(bytes: Buffer, from: number, salt: number): number | undefined {
  for (let offset = from; offset + 9 <= bytes.length; offset += 1) {
    if (endOfRecord(bytes, offset, salt) !== undefined) return offset;
  }
  return undefined;
}
