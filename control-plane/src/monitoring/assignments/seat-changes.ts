import type { ProbeCandidate } from './choose.ts';
import type { SeatChange } from './seats/queries.ts';
import type { Supplement } from './supplements.ts';

/** A supplement goes when it does not fit, when its seat is given up, and when its probe gets a seat. */
export function supplementChanges(
  monitorId: number,
  supplements: readonly Supplement[],
  fitting: readonly Supplement[],
  current: readonly number[],
  wanted: readonly number[],
): SeatChange[] {
  return supplements.map((supplement): SeatChange => {
    const { probeId, standsInFor } = supplement;
    const isKept =
      fitting.includes(supplement) &&
      current.includes(standsInFor) &&
      wanted.includes(standsInFor) &&
      !wanted.includes(probeId);
    return { operation: isKept ? 'touch' : 'close', monitorId, probeId };
  });
}

/** From the seats that are held to those that are wanted. */
export function seatChanges(
  monitorId: number,
  current: readonly number[],
  wanted: readonly number[],
  probes: readonly Pick<ProbeCandidate, 'id' | 'region'>[],
): SeatChange[] {
  const regions = new Map(probes.map((probe) => [probe.id, probe.region]));
  const closed = current.filter((probeId) => !wanted.includes(probeId));
  return [
    ...closed.map((probeId): SeatChange => ({ operation: 'close', monitorId, probeId })),
    ...wanted.map((probeId): SeatChange => {
      if (current.includes(probeId)) return { operation: 'touch', monitorId, probeId };
      return { operation: 'open', monitorId, probeId, region: regions.get(probeId) ?? '' };
    }),
  ];
}
