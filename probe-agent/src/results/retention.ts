import type { LostRecord } from './record.ts';
import { keyOf } from './recovery.ts';
import type { Segment } from './segment-files.ts';
import type { LogStream } from './stream.ts';

type Streams = ReadonlyMap<string, LogStream>;

/** Whether everything in a segment is committed at the control plane. A stream that is not there any more is done with. */
export function isAcknowledged(segment: Segment, streams: Streams): boolean {
  const upTo = (epoch: number, shard: number): number => streams.get(keyOf({ epoch, shard }))?.acknowledged ?? Infinity;
  return (
    segment.extents.every((extent) => extent.lastSeq <= upTo(segment.header.epoch, extent.shard)) &&
    segment.lost.every((lost) => lost.toSeq <= upTo(lost.epoch, lost.shard))
  );
}

/** What is lost when a segment is dropped: its results, and the losses recorded in it, that are not acknowledged. */
export function lostWith(segment: Segment, streams: Streams): LostRecord[] {
  const { epoch } = segment.header;
  const held = segment.extents.map(({ shard, firstSeq, lastSeq, fromUs, toUs }) => ({
    epoch,
    shard,
    fromSeq: firstSeq,
    toSeq: lastSeq,
    fromUs,
    toUs,
  }));
  return [...held, ...segment.lost].flatMap((range) => {
    const acknowledged = streams.get(keyOf(range))?.acknowledged;
    if (acknowledged === undefined || range.toSeq <= acknowledged) return [];
    return [{ ...range, fromSeq: Math.max(range.fromSeq, acknowledged + 1) }];
  });
}

/** The oldest segments that go beyond the limits; the last one, which is written to, never does. `oldestUs` 0: no limit of age now. */
export function beyondLimits(
  segments: readonly Segment[],
  limits: { readonly maxBytes: number; readonly oldestUs: number },
): { readonly segment: Segment; readonly reason: 'age' | 'size' }[] {
  const present = segments.filter((segment) => !segment.dropping);
  let bytes = present.reduce((sum, segment) => sum + segment.bytes, 0);
  const dropped: { segment: Segment; reason: 'age' | 'size' }[] = [];
  for (const segment of present) {
    const newestUs = Math.max(0, ...segment.extents.map((extent) => extent.toUs));
    const isTooOld = newestUs > 0 && newestUs < limits.oldestUs;
    if (segment === segments.at(-1) || (bytes <= limits.maxBytes && !isTooOld)) break;
    bytes -= segment.bytes;
    dropped.push({ segment, reason: isTooOld ? 'age' : 'size' });
  }
  return dropped;
}

/** Age of the first result of a stream that is not acknowledged, by the wall clock, as its segment tells; 0 when no segment does. */
export function oldestOnDiskMs(stream: LogStream, segments: readonly Segment[], wallMs: number): number {
  const seq = stream.acknowledged + 1;
  for (const segment of segments) {
    if (segment.header.epoch !== stream.epoch) continue;
    const extent = segment.extents.find((each) => each.shard === stream.shard && each.lastSeq >= seq);
    if (extent !== undefined) return Math.max(0, wallMs - extent.fromUs / 1_000);
  }
  return 0;
}
