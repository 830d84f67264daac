import type { AcknowledgedVector } from './acknowledged.ts';
import type { LostRecord } from './record.ts';
import type { Extent, ScannedSegment } from './segment.ts';

/** One `(epoch, shard)` as the log holds it: its results and what is known to be gone, without a hole from `acknowledged + 1` to `lastSeq`. */
export type RecoveredStream = {
  readonly epoch: number;
  readonly shard: number;
  readonly acknowledged: number;
  readonly lastSeq: number;
  /** Ascending, not overlapping; only what is not acknowledged. */
  readonly lost: readonly LostRecord[];
};

/**
 * Joins what the segments hold with what is acknowledged. A sequence number that should be there and is neither in a segment nor in a
 * record of dropped results was damaged: it becomes part of a lost range, timed by its neighbours.
 */
export function recoverStreams(
  segments: readonly ScannedSegment[],
  vector: AcknowledgedVector,
): { streams: RecoveredStream[]; damagedResults: number } {
  const acknowledged = new Map(vector.positions.map((position) => [keyOf(position), position.seq]));
  const pieces = new Map<string, { epoch: number; shard: number; extents: Extent[]; lost: LostRecord[] }>();
  const piecesOf = (epoch: number, shard: number) => {
    const key = keyOf({ epoch, shard });
    const found = pieces.get(key) ?? { epoch, shard, extents: [], lost: [] };
    pieces.set(key, found);
    return found;
  };
  for (const segment of segments) {
    for (const extent of segment.extents) piecesOf(segment.header.epoch, extent.shard).extents.push(extent);
    for (const lost of segment.lost) piecesOf(lost.epoch, lost.shard).lost.push(lost);
  }
  let damagedResults = 0;
  const streams: RecoveredStream[] = [];
  for (const [key, { epoch, shard, extents, lost }] of pieces) {
    const start = acknowledged.get(key) ?? 0;
    const joined = join(start, { epoch, shard }, extents, lost);
    damagedResults += joined.damagedResults;
    streams.push({ epoch, shard, acknowledged: start, lastSeq: joined.lastSeq, lost: joined.lost });
  }
  streams.sort((a, b) => a.epoch - b.epoch || a.shard - b.shard);
  return { streams, damagedResults };
}

function join(
  acknowledged: number,
  stream: { epoch: number; shard: number },
  extents: readonly Extent[],
  recorded: readonly LostRecord[],
): { lastSeq: number; lost: LostRecord[]; damagedResults: number } {
  const parts = [
    ...extents.map((extent) => ({
      from: extent.firstSeq,
      to: extent.lastSeq,
      fromUs: extent.fromUs,
      toUs: extent.toUs,
      here: true,
    })),
    ...recorded.map((range) => ({
      from: range.fromSeq,
      to: range.toSeq,
      fromUs: range.fromUs,
      toUs: range.toUs,
      here: false,
    })),
  ].sort((a, b) => a.from - b.from || Number(b.here) - Number(a.here));
  const lost: LostRecord[] = [];
  let damagedResults = 0;
  let reached = acknowledged;
  let reachedUs = 0;
  for (const part of parts) {
    if (part.from > reached + 1) {
      lost.push({
        ...stream,
        fromSeq: reached + 1,
        toSeq: part.from - 1,
        fromUs: reachedUs || part.fromUs,
        toUs: part.fromUs,
      });
      damagedResults += part.from - 1 - reached;
    }
    if (part.to <= reached) {
      reachedUs = Math.max(reachedUs, part.toUs);
      continue;
    }
    if (!part.here) {
      const fromSeq = Math.max(part.from, reached + 1);
      lost.push({ ...stream, fromSeq, toSeq: part.to, fromUs: part.fromUs, toUs: part.toUs });
    }
    reached = part.to;
    reachedUs = Math.max(reachedUs, part.toUs);
  }
  return { lastSeq: reached, lost: mergeLost(lost), damagedResults };
}

/** Ranges of one stream in ascending order, overlapping or neighbouring ones as one. */
export function mergeLost(ranges: readonly LostRecord[]): LostRecord[] {
  const merged: LostRecord[] = [];
  for (const range of ranges.toSorted((a, b) => a.fromSeq - b.fromSeq)) {
    const last = merged.at(-1);
    if (last !== undefined && range.fromSeq <= last.toSeq + 1) {
      const toSeq = Math.max(last.toSeq, range.toSeq);
      merged[merged.length - 1] = { ...last, toSeq, toUs: Math.max(last.toUs, range.toUs) };
    } else merged.push(range);
  }
  return merged;
}

export const keyOf = (stream: { readonly epoch: number; readonly shard: number }): string =>
  `${stream.epoch}/${stream.shard}`;
