import type { Bus } from '../../platform/bus/bus.ts';
import { configurationSubject, dispatchSubject } from '../../platform/bus/subjects.ts';

/** Hints, after the commit, that a monitor has changed: its probes get the change at once instead of at their next look. */
export function announceChange(bus: Bus, shard: number, probeIds: readonly number[]): void {
  bus.hint(configurationSubject(shard), { type: 'configuration' });
  for (const probeId of probeIds) bus.hint(dispatchSubject(probeId), { type: 'assignments' });
}
