export {
  foldedUntil,
  onsetOf,
  onsetsOf,
  rangesOfProbes,
  removeProbeRanges,
  removeStatusRanges,
  sampleReadModels,
  statusRanges,
  statusRangesPage,
} from './queries.ts';
export type { ReadModelSample, StatusRangeItem } from './queries.ts';
export { atMicroseconds, RangeDriftError, writeRangeEdits } from './write-edits.ts';
