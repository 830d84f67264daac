import { AcknowledgedFile } from './acknowledged.ts';
import type { LogOptions } from './log-options.ts';
import { Placement } from './placement.ts';
import { recoverStreams } from './recovery.ts';
import { readSegments } from './segment-files.ts';
import type { Segment } from './segment-files.ts';
import { LogStream } from './stream.ts';

/** What an earlier run has left, ready to be carried on. */
export type RecoveredLog = {
  readonly segments: Segment[];
  readonly streams: readonly LogStream[];
  readonly placements: Map<string, Placement>;
  readonly acknowledged: AcknowledgedFile;
  readonly nextIndex: number;
  /** Higher than every epoch that is known, and than the start time in milliseconds, so that a wiped folder uses none again. */
  readonly epoch: number;
  readonly damagedRecords: number;
};

/** Reads the folder of a log. Damage is counted and named in the log of the agent, never fatal. Throws when the folder cannot be read. */
export async function recoverLog(options: LogOptions): Promise<RecoveredLog> {
  const { segments, highestIndex, unreadable } = await readSegments(options.folder);
  const { file, vector } = await AcknowledgedFile.open(options.folder);
  const scanned = segments.map((each) => each.scanned);
  const { streams, damagedResults } = recoverStreams(scanned, vector);
  const placements = new Map<string, Placement>();
  let damagedPlaces = unreadable;
  let tornBytes = 0;
  for (const segment of scanned) {
    const placement = placements.get(segment.header.bootId) ?? new Placement();
    placements.set(segment.header.bootId, placement);
    for (const anchor of segment.anchors) placement.add(anchor);
    damagedPlaces += segment.damagedPlaces;
    tornBytes += segment.tornBytes;
  }
  if (damagedPlaces + damagedResults + tornBytes > 0) {
    options.logger.warn(
      { damaged_places: damagedPlaces, damaged_results: damagedResults, torn_bytes: tornBytes },
      'the log of an earlier run was damaged or cut off; what cannot be read is reported as lost',
    );
  }
  const knownEpochs = [vector.highestEpoch, ...scanned.map((each) => each.header.epoch)];
  return {
    segments: segments.map((each) => each.segment),
    streams: streams.map((stream) => new LogStream({ ...stream, synced: stream.lastSeq })),
    placements,
    acknowledged: file,
    nextIndex: highestIndex + 1,
    epoch: Math.max(...knownEpochs, Math.floor(options.wallMs()) - 1) + 1,
    damagedRecords: damagedPlaces + damagedResults,
  };
}
