import type { CentralTarget, ProbeSession } from '../../../control-plane/src/monitoring/central-checks/queries.ts';
import { current } from '../engine/current.ts';

/* What the control plane's own checks read, on the modelled database. */

export function readTargets(
  _reader: unknown,
  _sealer: unknown,
  monitorIds: readonly number[],
): Promise<Map<number, CentralTarget>> {
  const { database } = current();
  return database.ask(
    () =>
      new Map(
        monitorIds.flatMap((id): [number, CentralTarget][] => {
          const monitor = database.configuration.monitors.get(id);
          if (monitor === undefined || monitor.isDeleted) return [];
          const { timeoutS, probeRevision } = monitor;
          const url = `http://monitor-${id}.example/`;
          return [
            [id, { protocol: 'http', url, settings: {}, timeoutS, degradedThresholdMs: undefined, probeRevision }],
          ];
        }),
      ),
  );
}

export function readSessions(_reader: unknown): Promise<ProbeSession[]> {
  const { database } = current();
  return database.ask(() => database.openSessions());
}
