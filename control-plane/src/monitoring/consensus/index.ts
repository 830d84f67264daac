export { ranges, timeline } from './batch.ts';
export type { Timeline } from './batch.ts';
export { rowsBeforeHorizon } from './fold.ts';
export type { FoldLimits, FoldRestore, FoldResult, MonitorFold, Taken } from './fold.ts';
export { createMonitorFold } from './increment.ts';
export type { Standing } from './standing.ts';
export type {
  Assignment,
  ConfigurationEvent,
  Interval,
  MonitorInputs,
  Policy,
  RangeEdit,
  RangeEvidence,
  RangeRun,
  RangeStatus,
  RecheckWish,
  Rule,
  Segment,
  Status,
  StoredRange,
  StoredResult,
  Transition,
  Vote,
  VoteEvidence,
} from './types.ts';
