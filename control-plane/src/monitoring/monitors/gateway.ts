import type { Bus } from '../../platform/bus/bus.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { configurationSubject, dispatchSubject } from '../../platform/bus/subjects.ts';

/** Who does something to a monitor, and by which request. */
export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** Hints, after the commit, that a monitor has changed: its probes get the change at once instead of at their next look. */
export function announceChange(bus: Bus, shard: number, probeIds: readonly number[]): void {
  announceChanges(bus, [shard], probeIds);
}

/** The same for many monitors: each shard and each probe is told once. */
export function announceChanges(bus: Bus, shards: readonly number[], probeIds: readonly number[]): void {
  for (const shard of new Set(shards)) bus.hint(configurationSubject(shard), { type: 'configuration' });
  for (const probeId of new Set(probeIds)) bus.hint(dispatchSubject(probeId), { type: 'assignments' });
}
