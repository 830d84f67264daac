export { Announcer } from './announcer.ts';
export type { Announcement, Circumstances, Present } from './announcer.ts';
export { ranges, timeline } from './batch.ts';
export { fromLastVerdicts } from './before-horizon.ts';
export type { Timeline } from './batch.ts';
export { rowsBeforeHorizon } from './fold.ts';
export type { FoldLimits, FoldRestore, FoldResult, MonitorFold, Taken } from './fold.ts';
export { createMonitorFold } from './increment.ts';
export type { Opinion, Outlook } from './outlook.ts';
export { Playback } from './playback.ts';
export type { PlaybackOptions, Told } from './playback.ts';
export type { KeptRange } from './range-ledger.ts';
export { canVote, PreparedInputs } from './prepared-inputs.ts';
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
export { countedTime } from './uptime.ts';
export type { CountedAs, CountedSpan, UptimeInputs } from './uptime.ts';
