import { groupProtocol } from '@parallax/api-contract';

/** How many probes a monitor gets that did not name any. */
export const defaultSeats = 3;

/** A probe as the choice sees it. Revoked ones and other workspaces' private ones are not among them. */
export type ProbeCandidate = {
  readonly id: number;
  readonly region: string;
  readonly capabilities: readonly string[];
  /** Not heard of for so long that its notice was given. */
  readonly isLost: boolean;
  readonly isPaused: boolean;
  /** It has had a session. Until then nobody knows whether it ever answers, nor what it is capable of. */
  readonly hasConnected: boolean;
  /** Open assignments: the less, the sooner it is taken. */
  readonly load: number;
};

/** What a monitor asks of its probes. */
export type MonitorWants = {
  readonly probeIds: readonly number[] | null;
  readonly regions: readonly string[] | null;
  /** Capabilities without which the check cannot run. */
  readonly requires: readonly string[];
};

/**
 * - `probes`: the whole new set, kept seats included
 * - `central`: there is no probe at all, the control plane itself checks
 * - `refused`: the wish cannot be met; nothing should be changed
 */
export type ProbeChoice =
  | { readonly kind: 'probes'; readonly probeIds: readonly number[] }
  | { readonly kind: 'central' }
  | { readonly kind: 'refused'; readonly reason: 'no_probe_able'; readonly detail: string }
  | {
      readonly kind: 'refused';
      readonly reason: 'unknown_probe';
      readonly detail: string;
      /** Where the unknown ones stand among those that were named. */
      readonly places: readonly number[];
    };

/**
 * Chooses the probes of a monitor: those it named, or up to three in different regions first and then filled up. Seats that
 * are held and still fit are kept, so a choice that is made again changes nothing. Lost and paused probes get new seats only
 * when there is nothing else. A probe that has never connected gets none: its empty seat would raise the quorum. Where it was
 * named, it may be, and it gets its seat with its first session.
 */
export function chooseProbes(
  wants: MonitorWants,
  probes: readonly ProbeCandidate[],
  current: readonly number[],
): ProbeChoice {
  if (wants.probeIds !== null && wants.probeIds.length > 0) return chooseNamed(wants.probeIds, wants.requires, probes);
  const connected = probes.filter((probe) => probe.hasConnected);
  if (connected.length === 0) return { kind: 'central' };
  const able = connected.filter((probe) => isAble(probe, wants.requires));
  if (able.length === 0) return refusal(`no probe has ${wants.requires.join(' and ')}`);
  const regions = wants.regions !== null && wants.regions.length > 0 ? new Set(wants.regions) : undefined;
  const fitting = regions === undefined ? able : able.filter((probe) => regions.has(probe.region));
  if (fitting.length === 0) return refusal(`no probe that can run this check is in ${[...(regions ?? [])].join(', ')}`);
  const kept = fitting.filter((probe) => current.includes(probe.id));
  const seats = Math.max(defaultSeats, regions?.size ?? 0);
  return { kind: 'probes', probeIds: fill(kept, bestTier(fitting, kept), seats) };
}

/** True when the probe has everything that the check needs. */
export function isAble(probe: Pick<ProbeCandidate, 'capabilities'>, requires: readonly string[]): boolean {
  return requires.every((capability) => probe.capabilities.includes(capability));
}

function chooseNamed(
  named: readonly number[],
  requires: readonly string[],
  probes: readonly ProbeCandidate[],
): ProbeChoice {
  const byId = new Map(probes.map((probe) => [probe.id, probe]));
  const places = named.flatMap((id, place) => (byId.has(id) ? [] : [place]));
  if (places.length > 0) {
    const unknown = places.map((place) => named[place]).join(', ');
    return { kind: 'refused', reason: 'unknown_probe', detail: `there is no probe ${unknown}`, places };
  }
  const connected = named.filter((id) => byId.get(id)?.hasConnected === true);
  const unable = connected.filter((id) => !isAble(byId.get(id) ?? { capabilities: [] }, requires));
  if (unable.length > 0) return refusal(`probe ${unable.join(', ')} lacks ${requires.join(' or ')}`);
  return { kind: 'probes', probeIds: [...new Set(connected)].sort((a, b) => a - b) };
}

function refusal(detail: string): ProbeChoice {
  return { kind: 'refused', reason: 'no_probe_able', detail };
}

/** The candidates for new seats: the healthy; without any and without a kept seat the lost, then the paused. */
function bestTier(fitting: readonly ProbeCandidate[], kept: readonly ProbeCandidate[]): readonly ProbeCandidate[] {
  const healthy = fitting.filter((probe) => !probe.isLost && !probe.isPaused);
  if (healthy.length > 0 || kept.length > 0) return healthy;
  const lost = fitting.filter((probe) => !probe.isPaused);
  return lost.length > 0 ? lost : fitting;
}

function fill(kept: readonly ProbeCandidate[], candidates: readonly ProbeCandidate[], seats: number): number[] {
  const chosen = kept.slice();
  const free = candidates.filter((probe) => !kept.includes(probe));
  while (chosen.length < seats && free.length > 0) {
    const inRegion = (region: string): number => chosen.filter((probe) => probe.region === region).length;
    free.sort((a, b) => inRegion(a.region) - inRegion(b.region) || a.load - b.load || a.id - b.id);
    const next = free.shift();
    if (next !== undefined) chosen.push(next);
  }
  return chosen.map((probe) => probe.id).sort((a, b) => a - b);
}

/** The same by the protocol: a group monitor has no probes, since the control plane looks at its members itself. */
export function choiceOf(protocol: string, ...wanted: Parameters<typeof chooseProbes>): ProbeChoice {
  return protocol === groupProtocol ? { kind: 'central' } : chooseProbes(...wanted);
}
