import { errorCodes } from '@parallax/checks';
import type { ResultRecord } from '@parallax/wire';
import type { Placement } from './placement.ts';
import { endOfRecord, maxPayloadBytes, readResult, recordTypes, typeAt } from './record.ts';
import type { LoggedResult, LostRecord } from './record.ts';
import { approximateUs, nextRecord } from './segment.ts';
import { readPart } from './segment-files.ts';
import type { Segment } from './segment-files.ts';
import type { LogStream } from './stream.ts';

/** What comes next in a stream: results without a gap from the asked number on, or a range that is gone. Undefined: nothing yet. */
export type LogRead =
  | { readonly results: readonly ResultRecord[]; readonly lost?: undefined }
  | { readonly results?: undefined; readonly lost: LostRecord }
  | undefined;

export type ReadLimits = { readonly results: number; readonly evidenceCharacters: number };

/** Where server time comes from: one placement for each boot of the machine, and the boot that is running. */
export type Times = { readonly currentBoot: string; readonly of: (bootId: string) => Placement };

/** Room for a batch of results without evidence and the results between two marks; more is read when that was not enough. */
const partBytes = 32 * 1024;

/** Takes from memory what is there, as far as it can be placed in time; undefined when the first one is not in memory. */
export function readFromMemory(
  stream: LogStream,
  fromSeq: number,
  limits: ReadLimits,
  times: Times,
): LogRead | 'on disk' {
  const results: ResultRecord[] = [];
  let evidence = 0;
  for (let seq = fromSeq; seq <= stream.synced && results.length < limits.results; seq += 1) {
    const logged = stream.inMemory(seq);
    if (logged === undefined) {
      if (results.length === 0) return 'on disk';
      break;
    }
    evidence += logged.result.evidence?.json.length ?? 0;
    if (results.length > 0 && evidence > limits.evidenceCharacters) break;
    const placed = withTime(logged, times.currentBoot, undefined, times);
    if (placed === undefined) {
      // Between two sleeps without a synchronisation nothing will ever tell its time: its segment says what it was about.
      const isHopeless = times.of(times.currentBoot).settled(logged.monotonicUs);
      if (results.length === 0 && isHopeless) return 'on disk';
      break;
    }
    results.push(placed);
  }
  return results.length === 0 ? undefined : { results };
}

/** Reads results back from the segment that holds the first of them. What has become unreadable since is given as lost. */
export async function readFromDisk(
  stream: LogStream,
  segments: readonly Segment[],
  fromSeq: number,
  limits: ReadLimits,
  times: Times,
): Promise<LogRead> {
  const found = locate(segments, stream, fromSeq);
  if (found === undefined) return { lost: missing(stream, segments, fromSeq) };
  const { segment, extent } = found;
  const mark = extent.marks.findLast((candidate) => candidate.seq <= fromSeq) ?? extent.marks[0];
  const results: ResultRecord[] = [];
  let offset = mark?.offset ?? 0;
  let evidence = 0;
  for (let length = partBytes; ; length = Math.max(partBytes, maxPayloadBytes + 64)) {
    const bytes = await readPart(segment, offset, length);
    if (bytes === undefined || bytes.length === 0) break;
    let at = 0;
    while (at < bytes.length) {
      const end = endOfRecord(bytes, at, segment.header.salt);
      if (end === undefined) {
        const next = nextRecord(bytes, at + 1, segment.header.salt);
        if (next === undefined) break;
        at = next;
        continue;
      }
      const logged = typeAt(bytes, at) === recordTypes.result ? readResult(bytes, at, end) : undefined;
      at = end;
      if (logged === undefined || logged.shard !== stream.shard || logged.seq < fromSeq) continue;
      if (logged.seq !== fromSeq + results.length)
        return results.length > 0 ? { results } : gap(stream, fromSeq, logged, segment);
      evidence += logged.result.evidence?.json.length ?? 0;
      if (results.length > 0 && evidence > limits.evidenceCharacters) return { results };
      const placed = withTime(logged, segment.header.bootId, segment, times);
      if (placed === undefined) return results.length > 0 ? { results } : undefined;
      results.push(placed);
      if (results.length >= limits.results || logged.seq >= extent.lastSeq) return { results };
    }
    if (at === 0 && length > partBytes) break;
    offset += at;
  }
  if (results.length > 0) return { results };
  return {
    lost: {
      epoch: stream.epoch,
      shard: stream.shard,
      fromSeq,
      toSeq: extent.lastSeq,
      fromUs: extent.fromUs,
      toUs: extent.toUs,
    },
  };
}

function gap(stream: LogStream, fromSeq: number, next: LoggedResult, segment: Segment): LogRead {
  const atUs = next.result.effectiveUs || approximateUs(segment.header, next.monotonicUs);
  return { lost: { epoch: stream.epoch, shard: stream.shard, fromSeq, toSeq: next.seq - 1, fromUs: atUs, toUs: atUs } };
}

function locate(segments: readonly Segment[], stream: LogStream, seq: number) {
  for (const segment of segments) {
    if (segment.header.epoch !== stream.epoch) continue;
    const extent = segment.extents.find(
      (each) => each.shard === stream.shard && each.firstSeq <= seq && seq <= each.lastSeq,
    );
    if (extent !== undefined) return { segment, extent };
  }
  return undefined;
}

/** Numbers that are neither in a segment nor recorded as lost: asked for again after they were acknowledged and deleted. */
function missing(stream: LogStream, segments: readonly Segment[], fromSeq: number): LostRecord {
  let toSeq = stream.synced;
  let atUs = 0;
  for (const segment of segments) {
    if (segment.header.epoch !== stream.epoch) continue;
    for (const extent of segment.extents) {
      if (extent.shard !== stream.shard || extent.firstSeq <= fromSeq || extent.firstSeq > toSeq) continue;
      toSeq = extent.firstSeq - 1;
      atUs = extent.fromUs;
    }
  }
  const known = stream.lost.find((range) => range.fromSeq > fromSeq && range.fromSeq <= toSeq);
  if (known !== undefined) toSeq = known.fromSeq - 1;
  return { epoch: stream.epoch, shard: stream.shard, fromSeq, toSeq, fromUs: atUs, toUs: atUs };
}

/**
 * The result with its effective time. One that was made without a synchronised clock waits for the next synchronisation as long as this boot
 * lasts; when none can come any more, or none tells its time within half an interval, it becomes the probe's own fault.
 */
function withTime(
  logged: LoggedResult,
  bootId: string,
  segment: Segment | undefined,
  times: Times,
): ResultRecord | undefined {
  const { result } = logged;
  if (result.effectiveUs !== 0) return result;
  const placement = times.of(bootId);
  if (bootId === times.currentBoot && !placement.settled(logged.monotonicUs)) return undefined;
  const placed = placement.place(logged.monotonicUs);
  if (placed !== undefined && placed.errorUs <= halfIntervalUs(result))
    return { ...result, effectiveUs: placed.serverUs };
  if (placed === undefined && segment === undefined) return undefined;
  const guessUs = placed?.serverUs ?? (segment && approximateUs(segment.header, logged.monotonicUs)) ?? 0;
  return {
    ...result,
    effectiveUs: guessUs,
    outcome: 'probe_error',
    source: 'probe',
    error: errorCodes.probe_clock,
    evidence: undefined,
  };
}

/** Half of the monitor's interval at least: a vote is fresh for two and a half intervals and a timeout, which is no longer than one. */
const halfIntervalUs = (result: ResultRecord): number => (result.freshS / 7) * 1_000_000;
