import { chooseProbes, defaultSeats, isAble } from './choose.ts';
import type { ProbeCandidate } from './choose.ts';
import { requiredCapabilities } from './requirements.ts';
import type { SeatChange } from './seats/queries.ts';

/** A monitor with the seats that it has. */
export type SeatedMonitor = {
  readonly id: number;
  readonly workspaceId: number;
  readonly protocol: string;
  readonly url: string;
  readonly settings: unknown;
  readonly wantedProbeIds: readonly number[] | null;
  readonly wantedRegions: readonly string[] | null;
  readonly seats: readonly { readonly probeId: number; readonly region: string }[];
  readonly supplements: readonly { readonly probeId: number; readonly standsInFor: number }[];
};

/** A probe that has connected and is not revoked, with the workspace that it serves alone, if any. */
export type SeatingProbe = ProbeCandidate & { readonly workspaceId: number | null };

/**
 * What has to change so that every monitor has the seats it should have: seats of probes that are not given here are given up, seats whose probe
 * has moved to another region are opened anew there, and free ones go to probes that came later. Seats that fit stay, and
 * what is chosen here counts as load for what is chosen next. A supplement whose probe is chosen becomes a seat; that of a
 * revoked probe is chosen before others, since it checks the monitor already.
 */
export function planSeats(monitors: readonly SeatedMonitor[], probes: readonly SeatingProbe[]): SeatChange[] {
  const loads = new Map(probes.map((probe) => [probe.id, probe.load]));
  return monitors.flatMap((monitor) => {
    const usable = probes
      .filter((probe) => probe.workspaceId === null || probe.workspaceId === monitor.workspaceId)
      .map((probe) => ({ ...probe, load: loads.get(probe.id) ?? 0 }));
    const changes = planMonitor(monitor, usable);
    for (const { operation, probeId } of changes) {
      loads.set(probeId, (loads.get(probeId) ?? 0) + (operation === 'open' ? 1 : -1));
    }
    return changes;
  });
}

function planMonitor(monitor: SeatedMonitor, probes: readonly ProbeCandidate[]): SeatChange[] {
  const { id: monitorId, seats, supplements } = monitor;
  const regions = new Map(probes.map((probe) => [probe.id, probe.region]));
  const wanted = wantedSeats(monitor, probes);
  const fitting = seats.filter((seat) => wanted.includes(seat.probeId) && regions.get(seat.probeId) === seat.region);
  const closed = seats.filter((seat) => !fitting.includes(seat));
  const opened = wanted.filter((probeId) => !fitting.some((seat) => seat.probeId === probeId));
  const seated = supplements.filter(({ probeId }) => opened.includes(probeId));
  return [
    ...[...closed, ...seated].map(({ probeId }): SeatChange => ({ operation: 'close', monitorId, probeId })),
    ...opened.map(
      (probeId): SeatChange => ({ operation: 'open', monitorId, probeId, region: regions.get(probeId) ?? '' }),
    ),
  ];
}

/** Named probes keep their seats until they are revoked. Those that connect after they were named get theirs then. */
function namedSeats(monitor: SeatedMonitor, probes: readonly ProbeCandidate[], held: readonly number[]): number[] {
  const requires = requiredCapabilities(monitor.protocol, monitor.url, monitor.settings);
  return probes
    .filter(({ id }) => held.includes(id) || monitor.wantedProbeIds?.includes(id) === true)
    .filter((probe) => held.includes(probe.id) || isAble(probe, requires))
    .map(({ id }) => id);
}

function wantedSeats(monitor: SeatedMonitor, probes: readonly ProbeCandidate[]): readonly number[] {
  const present = new Set(probes.map((probe) => probe.id));
  const held = monitor.seats.map((seat) => seat.probeId);
  if (monitor.wantedProbeIds !== null && monitor.wantedProbeIds.length > 0) return namedSeats(monitor, probes, held);
  const healthy = new Set(probes.filter((probe) => !probe.isLost && !probe.isPaused).map((probe) => probe.id));
  const heirs = new Map(
    monitor.supplements
      .filter(({ probeId }) => healthy.has(probeId))
      .map(({ probeId, standsInFor }) => [standsInFor, probeId]),
  );
  const current = held.map((id) => (present.has(id) ? id : (heirs.get(id) ?? id))).filter((id) => present.has(id));
  const choice = chooseProbes(
    {
      probeIds: null,
      regions: monitor.wantedRegions,
      requires: requiredCapabilities(monitor.protocol, monitor.url, monitor.settings),
    },
    probes,
    current,
  );
  // A seat is not taken away because its probe lost a capability or the region was renamed: its results would only vanish.
  if (choice.kind !== 'probes') return current;
  const target = Math.max(defaultSeats, monitor.wantedRegions?.length ?? 0, current.length);
  const added = choice.probeIds.filter((probeId) => !current.includes(probeId));
  return [...current, ...added].slice(0, target);
}
