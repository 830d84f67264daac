import { percentOf } from '../../platform/figures.ts';
import type { AvailabilityReport } from './availability-fold.ts';
import type { TimeByStatus } from './availability.ts';
import { checkCounts } from './check-counts.ts';
import type { LatencyFigures } from './latency.ts';
import type { ProbeFigures } from './probes.ts';
import type { ReportWindow } from './window.ts';

/** ISO 8601 in UTC with milliseconds. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Fields of a window in an answer. */
export function windowAnswer(window: Omit<ReportWindow, 'openUntilMs'>) {
  return {
    hours: window.hours,
    period: window.period,
    timezone: window.timezone,
    requested_from: iso(window.requestedFromMs),
    requested_to: iso(window.requestedToMs),
    from: iso(window.fromMs),
    to: iso(window.toMs),
    clamped_by: window.clampedBy,
  };
}

/** Seconds by what they count as, without what corrections took out. */
export function secondsAnswer(time: TimeByStatus) {
  return {
    up: time.upMs / 1_000,
    degraded: time.degradedMs / 1_000,
    down: time.downMs / 1_000,
    timeout: time.timeoutMs / 1_000,
    unknown: time.unknownMs / 1_000,
    maintenance: time.maintenanceMs / 1_000,
    paused: time.pausedMs / 1_000,
  };
}

/** Response times in an answer. */
export function latencyAnswer(figures: LatencyFigures) {
  return {
    count: figures.count,
    mean_ms: figures.meanMs,
    min_ms: figures.minMs,
    max_ms: figures.maxMs,
    p50_ms: figures.p50Ms,
    p90_ms: figures.p90Ms,
    p95_ms: figures.p95Ms,
    p99_ms: figures.p99Ms,
  };
}

/** Availability as it was measured. */
export function availabilityAnswer({ measured, incidents }: AvailabilityReport) {
  return {
    uptime_percent: percentOf(measured.uptime),
    seconds: secondsAnswer(measured),
    downtime_seconds: measured.downtimeMs / 1_000,
    outages: incidents,
  };
}

/** One vantage point. */
export function probeAnswer(probe: ProbeFigures) {
  return {
    probe_id: probe.probeId,
    name: probe.name,
    region: probe.region,
    uptime_percent: percentOf(probe.availability.uptime),
    checks: checkCounts(probe.counts),
    response_time: latencyAnswer(probe.latency),
  };
}
