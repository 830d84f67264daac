export { foldedUntil, probeRanges, statusRanges, statusRangesPage } from './queries.ts';
export type { StatusRangeItem } from './queries.ts';
export { atMicroseconds, RangeDriftError, writeRangeEdits } from './write-edits.ts';
