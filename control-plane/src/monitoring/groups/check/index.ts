export { createGroupCheck, createGroupFinder } from './gateway.ts';
export type { GroupCheck, GroupFinder } from './gateway.ts';
export { onsetOf } from './onset.ts';
export type { FormerLook, GroupLook } from './onset.ts';
export {
  areGroupMonitors,
  groupMonitorsOf,
  leaveGroupMonitors,
  liveMembers,
  presentSettings,
  requireNoCycle,
  requireWatchable,
} from './queries.ts';
