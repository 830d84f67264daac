import type {
  Availability,
  DayFigures,
  LatencyFigures,
  LatencyStep,
  Outage,
  ProbeFigures,
  TimeByStatus,
} from '../report.ts';

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const startMs = Date.UTC(2026, 2, 1);

export const noTime: TimeByStatus = {
  upMs: 0,
  degradedMs: 0,
  downMs: 0,
  timeoutMs: 0,
  unknownMs: 0,
  maintenanceMs: 0,
  pausedMs: 0,
  excludedMs: 0,
};

export const noLatency: LatencyFigures = {
  count: 0,
  meanMs: null,
  minMs: null,
  maxMs: null,
  p50Ms: null,
  p90Ms: null,
  p95Ms: null,
  p99Ms: null,
};

export function availabilityOf(times: Partial<TimeByStatus>): Availability {
  const all = { ...noTime, ...times };
  const uptimeMs = all.upMs + all.degradedMs;
  const downtimeMs = all.downMs + all.timeoutMs;
  const measuredMs = uptimeMs + downtimeMs;
  return { ...all, uptimeMs, downtimeMs, measuredMs, uptime: measuredMs === 0 ? null : uptimeMs / measuredMs };
}

/** Outages spread over some days, the same at every call. */
export function manyOutages(count: number, days: number): Outage[] {
  const step = Math.floor((days * dayMs) / count);
  return Array.from({ length: count }, (_, index) =>
    outageAt(
      index * step,
      Math.min(step / 2, (1 + ((index * 7_919) % 97)) * 7_300),
      index % 3 === 0 ? null : `connect_refused, ${1 + (index % 3)} of 3 probes`,
      {
        status: index % 4 === 0 ? 'TIMEOUT' : 'DOWN',
        isRevised: index % 11 === 0,
        isCut: index === 0,
        ...(index === count - 1 && { endedMs: null }),
      },
    ),
  );
}

export function outageAt(atMs: number, lastedMs: number, cause: string | null, more: Partial<Outage> = {}): Outage {
  return {
    startedMs: startMs + atMs,
    endedMs: startMs + atMs + lastedMs,
    downtimeMs: lastedMs,
    measuredMs: lastedMs,
    durationMs: lastedMs,
    status: 'DOWN',
    cause,
    isRevised: false,
    isCorrected: false,
    isCut: false,
    ...more,
  };
}

export function daysOf(fromMs: number, days: number, outages: readonly Outage[]): DayFigures[] {
  return Array.from({ length: days }, (_, index) => {
    const dayFromMs = fromMs + index * dayMs;
    const begun = outages.filter(({ startedMs }) => startedMs >= dayFromMs && startedMs < dayFromMs + dayMs);
    const downMs = sumOf(begun, (outage) => outage.downtimeMs);
    const isPaused = index === 15;
    return {
      ...availabilityOf(isPaused ? { pausedMs: dayMs } : { downMs, upMs: dayMs - downMs }),
      day: new Date(dayFromMs).toISOString().slice(0, 10),
      fromMs: dayFromMs,
      toMs: dayFromMs + dayMs,
      outages: begun.length,
    };
  });
}

/** A working day's rise and fall, with a gap and one peak. */
export function latencySteps(fromMs: number, lengthMs: number, count: number): LatencyStep[] {
  const stepMs = lengthMs / count;
  return Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + index * stepMs;
    const isGap = index >= 90 && index < 96;
    const p50Ms = 110 + 25 * Math.sin((2 * Math.PI * (atMs % dayMs)) / dayMs) + ((index * 37) % 17);
    const peak = index === 70 ? 9_000 : 0;
    return {
      fromMs: atMs,
      toMs: atMs + stepMs,
      count: isGap ? 0 : 1_440,
      meanMs: isGap ? null : p50Ms * 1.2,
      p50Ms: isGap ? null : p50Ms,
      p95Ms: isGap ? null : p50Ms * 2.2 + ((index * 53) % 41) + peak,
      p99Ms: isGap ? null : p50Ms * 5,
    };
  });
}

export function probeOf(probeId: number, name: string, region: string, uptime: number, p50Ms: number): ProbeFigures {
  const downMs = Math.round((1 - uptime) * 30 * dayMs);
  return {
    probeId,
    name,
    region,
    checks: 86_400,
    answered: Math.round(86_400 * uptime),
    availability: availabilityOf({ downMs, upMs: 30 * dayMs - downMs }),
    latency: { ...noLatency, count: 86_000, meanMs: p50Ms * 1.1, p50Ms, p95Ms: p50Ms * 2.3 },
  };
}

export function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}
