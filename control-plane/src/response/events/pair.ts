/*
 * After `monitor.down`, once or more, comes exactly one of `monitor.up` with its outage, `paused`, `reset`, `moved` and `deleted`: whoever counts open
 * outages by these need not know what PARTIAL or UNKNOWN mean.
 */

/** An outage that was announced and whose end was not. */
export type OpenOutage = { readonly startedMs: number; readonly incidentId: number | null };

/** What is told of a change of status. */
export type Told =
  | { readonly type: 'monitor.down'; readonly continues: boolean }
  | { readonly type: 'monitor.up'; readonly outage: OpenOutage | null }
  | { readonly type: 'monitor.degraded' | 'monitor.partial' | 'monitor.warning' | 'monitor.unknown' };

const isBad = (status: string): boolean => status === 'DOWN' || status === 'TIMEOUT';

const ownEvents = {
  DEGRADED: 'monitor.degraded',
  PARTIAL: 'monitor.partial',
  WARNING: 'monitor.warning',
  UNKNOWN: 'monitor.unknown',
} as const;

const hasOwnEvent = (status: string): status is keyof typeof ownEvents => Object.hasOwn(ownEvents, status);

/**
 * What a change of a monitor's status tells, and what is open after it.
 * @param change.atMs since when the new status holds
 * @param change.incidentId the incident that is open for the monitor
 */
export function afterTransition(
  open: OpenOutage | null,
  change: { readonly from: string; readonly to: string; readonly atMs: number; readonly incidentId: number | null },
): { readonly told: readonly Told[]; readonly open: OpenOutage | null } {
  const { from, to, atMs, incidentId } = change;
  if (isBad(to)) {
    // From DOWN to TIMEOUT and back is another cause of the same outage, which the incident tells. Its onset may have moved.
    const outage = { startedMs: open?.startedMs ?? atMs, incidentId: incidentId ?? open?.incidentId ?? null };
    if (open !== null && isBad(from)) return { told: [], open: outage };
    return { told: [{ type: 'monitor.down', continues: open !== null }], open: outage };
  }
  if (to === 'UP') return { told: [{ type: 'monitor.up', outage: open }], open: null };
  if (!hasOwnEvent(to)) return { told: [], open };
  const own: Told = { type: ownEvents[to] };
  // Slow or doubtful answers are answers: the outage is over. PARTIAL and UNKNOWN say nothing of its end.
  const ends = open !== null && (to === 'DEGRADED' || to === 'WARNING');
  return ends ? { told: [{ type: 'monitor.up', outage: open }, own], open: null } : { told: [own], open };
}
