import type { Assignment } from '@parallax/wire';
import type { AssignmentDeltas, AssignmentSnapshot } from '../../../control-plane/src/monitoring/assignments/index.ts';
import { inMessages, snapshotHash, toSteps } from '../../../control-plane/src/monitoring/assignments/snapshot.ts';
import { current } from '../engine/current.ts';
import type { MonitorRecord, Seat } from '../models/database/tables.ts';

/* What the sessions of probes read of the assignments, on the modelled database. */

export { inMessages };
export { privateTargetsBasis } from '../../../control-plane/src/monitoring/assignments/private-reach.ts';

export function snapshotFor(_reader: unknown, probeId: number): Promise<AssignmentSnapshot> {
  const { database } = current();
  return database.ask(() => {
    const assignments = database.configuration
      .seatsOf(probeId, 0n)
      .filter(({ monitor, seat }) => isWanted(monitor, seat))
      .map(({ monitor, seat }) => assignmentOf(monitor, seat))
      .sort((a, b) => a.monitorId - b.monitorId);
    const revision = database.configuration.probes.get(probeId)?.revision ?? 0n;
    return { revision, assignments, hash: snapshotHash(assignments) };
  });
}

export function deltaSince(_reader: unknown, probeId: number, known: bigint): Promise<AssignmentDeltas> {
  const { database } = current();
  return database.ask(() => {
    const rows = database.configuration.seatsOf(probeId, known).map(({ monitor, seat }) => ({
      monitorId: monitor.id,
      revision: seat.revision,
      isWanted: isWanted(monitor, seat),
      configuration: isWanted(monitor, seat) ? assignmentOf(monitor, seat) : undefined,
    }));
    return { steps: toSteps(rows), isComplete: true };
  });
}

const isWanted = (monitor: MonitorRecord, seat: Seat): boolean =>
  seat.toUs === null && monitor.isActive && !monitor.isDeleted;

function assignmentOf(monitor: MonitorRecord, seat: Seat): Assignment {
  return {
    monitorId: monitor.id,
    revision: seat.revision,
    probeRevision: monitor.probeRevision,
    shard: monitor.shard,
    protocol: 'http',
    url: `http://monitor-${monitor.id}.example/`,
    intervalSeconds: monitor.intervalS,
    timeoutSeconds: monitor.timeoutS,
    confirmations: monitor.confirmations,
    degradedThresholdMs: 0,
    settingsJson: Buffer.from('{}'),
    supplement: seat.supplement,
    privateTargets: undefined,
  };
}
