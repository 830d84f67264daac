import { isAble } from './choose.ts';
import type { ProbeCandidate } from './choose.ts';
import { isMassLoss } from './mass-loss.ts';
import type { SeatingProbe } from './rebalance.ts';
import { requiredCapabilities } from './requirements.ts';
import type { SeatChange } from './seats/queries.ts';

/** How long a probe that was lost must have been back, and have voted without a gap, before its supplement leaves. */
export const votedAgainMs = 10 * 60_000;
/** How long a probe is lost before its seats are given to those that stand in for it. */
export const swapAfterMs = 24 * 3_600_000;

/** A monitor with its seats and supplements. */
export type SupplementedMonitor = {
  readonly id: number;
  readonly workspaceId: number;
  readonly protocol: string;
  readonly url: string;
  readonly settings: unknown;
  readonly wantedProbeIds: readonly number[] | null;
  readonly wantedRegions: readonly string[] | null;
  /** False also for one that is deleted. */
  readonly isActive: boolean;
  readonly seats: readonly {
    readonly probeId: number;
    readonly region: string;
    /**
     * The probe's own votes at this monitor cover the last `votedAgainMs` without a gap, all since its return. By rule 2 a vote lasts
     * two and a half intervals, so at a monitor with a long interval a vote from before the loss may be among them: it counts in the
     * consensus, so it counts here.
     */
    readonly hasVotedAgain: boolean;
  }[];
  readonly supplements: readonly Supplement[];
};

/** A probe that stands in for the one that has the seat. */
export type Supplement = { readonly probeId: number; readonly region: string; readonly standsInFor: number };

/** A probe that is not revoked. `isLost` is `lostSinceMs !== null`. */
export type SupplementingProbe = SeatingProbe & {
  /** Since when it is lost, ms since the epoch; null while it is heard of. */
  readonly lostSinceMs: number | null;
};

/**
 * What has to change so that every seat of a lost probe has a supplement and no other seat has one. A seat that cannot be supplemented,
 * because no probe is free, stays as it is and is looked at again later. N, the number of seats, is the same before and after.
 *
 * - The supplement leaves when the probe has come back and voted for ten minutes. A probe that is back and never votes keeps
 *   its supplement: its seat is served by nobody else.
 * - After a day of loss the supplement takes the seat, or one that is free then: closing the rows and opening the new seat are
 *   changes of one instant, so the caller must write all changes of a monitor in one transaction. The probe that was lost is
 *   then as free as any.
 * - A supplement that is itself lost, paused, moved or no longer able is replaced.
 * - Monitors that named their probes get none: a named probe may see what nobody else can reach, and whoever named it asked for
 *   no other opinion. Paused and deleted monitors need none, and central ones have no seats.
 * - The seat of a paused probe gets none: its silence is what the administrator asked for.
 * - In a mass loss (`isMassLoss`) only monitors without any healthy probe get one, and one at most: enough to tell that a target
 *   answers, and with the policy `majority` too few to say DOWN, should it be our own network that is cut off from the world
 *   together with the probes that are left. It bounds the load on those too.
 *
 * Changes of one monitor stand together, closings before openings. What is opened here counts as load for what is chosen next.
 */
export function planSupplements(
  monitors: readonly SupplementedMonitor[],
  probes: readonly SupplementingProbe[],
  nowMs: number,
): SeatChange[] {
  const byId = new Map<number, CountedProbe>(probes.map((probe) => [probe.id, { ...probe }]));
  const healthy = [...byId.values()].filter(isHealthy);
  const isMass = isMassLoss(probes, nowMs);
  return monitors.flatMap((monitor) => {
    const changes = planMonitor(monitor, { byId, healthy, isMass, nowMs });
    for (const { operation, probeId } of changes) {
      const probe = byId.get(probeId);
      if (probe !== undefined) probe.load += operation === 'open' ? 1 : -1;
    }
    return changes;
  });
}

/** Whether a probe that the monitor's workspace may use can be a supplement: heard of, not paused, able, in a wanted region. */
export function canSupplement(
  probe: ProbeCandidate,
  monitor: Pick<
    SupplementedMonitor,
    'workspaceId' | 'protocol' | 'url' | 'settings' | 'wantedProbeIds' | 'wantedRegions'
  >,
): boolean {
  return !isNamed(monitor) && isHealthy(probe) && fits({ ...probe, workspaceId: null }, wishesOf(monitor));
}

type Wishes = {
  readonly workspaceId: number;
  readonly requires: readonly string[];
  readonly regions: readonly string[] | null;
};

type CountedProbe = Omit<SupplementingProbe, 'load'> & { load: number };

type World = {
  readonly byId: ReadonlyMap<number, CountedProbe>;
  readonly healthy: readonly CountedProbe[];
  readonly isMass: boolean;
  readonly nowMs: number;
};

function planMonitor(monitor: SupplementedMonitor, world: World): SeatChange[] {
  const wishes = wishesOf(monitor);
  const kept = monitor.supplements.filter((supplement) => stays(supplement, monitor, wishes, world));
  const chosen = isNamed(monitor) || !monitor.isActive ? [] : chooseSupplements(monitor, kept, wishes, world);
  const isHeir = ({ standsInFor }: Supplement): boolean => isOverdue(world.byId.get(standsInFor), world.nowMs);
  const heirs = [...kept, ...chosen].filter(isHeir);
  const leaving = monitor.supplements.filter((supplement) => !kept.includes(supplement) || heirs.includes(supplement));
  const monitorId = monitor.id;
  return [
    ...heirs.map(({ standsInFor }): SeatChange => ({ operation: 'close', monitorId, probeId: standsInFor })),
    ...leaving.map(({ probeId }): SeatChange => ({ operation: 'close', monitorId, probeId })),
    ...heirs.map(({ probeId, region }): SeatChange => ({ operation: 'open', monitorId, probeId, region })),
    ...chosen
      .filter((supplement) => !isHeir(supplement))
      .map((supplement): SeatChange => ({ operation: 'open', monitorId, ...supplement })),
  ];
}

function stays(supplement: Supplement, monitor: SupplementedMonitor, wishes: Wishes, world: World): boolean {
  const seat = monitor.seats.find(({ probeId }) => probeId === supplement.standsInFor);
  const absent = world.byId.get(supplement.standsInFor);
  const probe = world.byId.get(supplement.probeId);
  if (seat === undefined || probe === undefined) return false;
  if (!monitor.isActive || isNamed(monitor)) return false;
  // The seat of a revoked probe is the rebalancing's to give, which lets the supplement inherit it.
  if (absent !== undefined && !absent.isLost && seat.hasVotedAgain) return false;
  return isHealthy(probe) && probe.region === supplement.region && fits(probe, wishes);
}

function isOverdue(absent: CountedProbe | undefined, nowMs: number): boolean {
  return (
    absent !== undefined && absent.isLost && absent.lostSinceMs !== null && nowMs - absent.lostSinceMs >= swapAfterMs
  );
}

function chooseSupplements(
  monitor: SupplementedMonitor,
  kept: readonly Supplement[],
  wishes: Wishes,
  { byId, healthy, isMass }: World,
): Supplement[] {
  const isServed = (probeId: number): boolean => kept.some(({ standsInFor }) => standsInFor === probeId);
  const wanting = monitor.seats.filter((seat) => {
    const probe = byId.get(seat.probeId);
    return probe !== undefined && probe.isLost && !probe.isPaused && !isServed(seat.probeId);
  });
  const chosen: Supplement[] = [];
  const present = [...monitor.seats, ...kept];
  let voices = present.filter(({ probeId }) => isHealthy(byId.get(probeId))).length;
  for (const seat of wanting) {
    if (isMass && voices > 0) break;
    const taken = [...present, ...chosen];
    const free = healthy.filter((probe) => fits(probe, wishes) && !taken.some(({ probeId }) => probeId === probe.id));
    const best = bestFor(seat.region, free, new Set(taken.map(({ region }) => region)));
    if (best === undefined) break;
    chosen.push({ probeId: best.id, region: best.region, standsInFor: seat.probeId });
    voices += 1;
  }
  return chosen;
}

/** The lost seat's region first, then one where nobody is, then the least load. */
function bestFor(
  region: string,
  free: readonly CountedProbe[],
  takenRegions: ReadonlySet<string>,
): CountedProbe | undefined {
  const rank = (probe: CountedProbe): number => {
    if (probe.region === region) return 0;
    return takenRegions.has(probe.region) ? 2 : 1;
  };
  let best: CountedProbe | undefined;
  for (const probe of free) {
    if (best === undefined || (rank(probe) - rank(best) || probe.load - best.load || probe.id - best.id) < 0) {
      best = probe;
    }
  }
  return best;
}

function wishesOf(
  monitor: Pick<SupplementedMonitor, 'workspaceId' | 'protocol' | 'url' | 'settings' | 'wantedRegions'>,
): Wishes {
  return {
    workspaceId: monitor.workspaceId,
    requires: requiredCapabilities(monitor.protocol, monitor.url, monitor.settings),
    regions: monitor.wantedRegions !== null && monitor.wantedRegions.length > 0 ? monitor.wantedRegions : null,
  };
}

function fits(probe: Pick<SeatingProbe, 'workspaceId' | 'region' | 'capabilities'>, wishes: Wishes): boolean {
  return (
    (probe.workspaceId === null || probe.workspaceId === wishes.workspaceId) &&
    (wishes.regions === null || wishes.regions.includes(probe.region)) &&
    isAble(probe, wishes.requires)
  );
}

function isNamed({ wantedProbeIds }: Pick<SupplementedMonitor, 'wantedProbeIds'>): boolean {
  return wantedProbeIds !== null && wantedProbeIds.length > 0;
}

function isHealthy(probe: Pick<SeatingProbe, 'isLost' | 'isPaused'> | undefined): boolean {
  return probe !== undefined && !probe.isLost && !probe.isPaused;
}
