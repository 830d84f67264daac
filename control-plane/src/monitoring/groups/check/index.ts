export { createGroupCheck, createGroupFinder } from './gateway.ts';
export type { GroupCheck, GroupFinder } from './gateway.ts';
export { onsetOf } from './onset.ts';
export type { FormerLook, GroupLook } from './onset.ts';
export { findCycle, tellCycle } from './cycle.ts';
export type { GroupNode } from './cycle.ts';
export { inNameOrder, insteadOfIdentifier, namedGroupSettings, namedGroupTarget } from './named.ts';
export type { NamedGroupSettings } from './named.ts';
export {
  areGroupMonitors,
  groupMonitorsOf,
  leaveGroupMonitors,
  liveMembers,
  namedSettings,
  presentSettings,
  requireNoCycle,
  requireWatchable,
} from './queries.ts';
