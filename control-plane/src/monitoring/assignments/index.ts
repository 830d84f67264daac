import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startRebalance } from './job.ts';
import { startSupplements } from './supplements/job.ts';

/** Which probe checks which monitor, with its history. */
export const assignmentsCapability: Capability<Context> = {
  name: 'assignments',
  services: [
    { name: 'rebalance', role: 'worker', start: startRebalance },
    { name: 'supplements', role: 'worker', start: startSupplements },
  ],
};

export { choiceOf, chooseProbes, type MonitorWants, type ProbeCandidate, type ProbeChoice } from './choose.ts';
export { unknownProbes } from './unknown-probes.ts';
export { requiredCapabilities } from './requirements.ts';
export {
  assignMonitor,
  closeAssignments,
  deltaSince,
  loadCandidates,
  secretsContext,
  snapshotFor,
  touchAssignments,
  touchSeatsOfProbe,
  reachOf,
  workspaceReachColumns,
  type AssignmentDeltas,
  type AssignmentReader,
  type AssignmentSnapshot,
} from './queries.ts';
export { rebalanceAll } from './job.ts';
export { seatChanges } from './seat-changes.ts';
export { writeSeats } from './seats/queries.ts';
export {
  centralRanges,
  noReach,
  privateTargetsBasis,
  sharedProbeTargets,
  unreachableTarget,
  type InstallationReach,
  type WorkspaceReach,
} from './private-reach.ts';
export { inMessages, snapshotHash } from './snapshot.ts';
