import type { RangeStatus } from '../../monitoring/consensus/index.ts';
import type { OutcomeCounts, Summary, WindowSummary } from '../../monitoring/check-results/index.ts';
import { addTime, availabilityOf, noTime } from './availability.ts';
import type { Availability } from './availability.ts';
import { latencyFigures } from './latency.ts';
import type { LatencyFigures } from './latency.ts';

/** How long one probe voted so within a window. */
export type ProbeTime = { readonly probeId: number; readonly status: RangeStatus; readonly ms: number };

/** What one vantage point measured. */
export type ProbeFigures = {
  /** Null: the control plane itself. */
  readonly probeId: number | null;
  readonly name: string;
  readonly region: string;
  /** Scheduled checks and rechecks, without those that did not run. */
  readonly checks: number;
  /** Of those, how many got an answer (ok, slow, warn). */
  readonly answered: number;
  /** Of the probe's own timeline, before corrections and maintenance. */
  readonly availability: Availability;
  readonly latency: LatencyFigures;
  /** All that was counted; undefined when it has no results. */
  readonly counts: OutcomeCounts | undefined;
};

/**
 * The figures of each probe that was assigned or has results, by identifier, the control plane last.
 * @param window its length, and how much of it was paused
 */
export function probeFigures(
  probes: readonly { readonly probeId: number; readonly name: string | null; readonly region: string | null }[],
  times: readonly ProbeTime[],
  summary: WindowSummary,
  window: { readonly ms: number; readonly pausedMs: number },
): ProbeFigures[] {
  return namedProbes(probes).map(({ id, ...named }) => ({
    ...named,
    availability: ownAvailability(
      times.filter((time) => time.probeId === id),
      window,
    ),
    ...resultFigures(summary.perProbe.get(id)),
  }));
}

/** A vantage point with what it is called. */
export type NamedProbe = {
  /** As results have it: 0 is the control plane itself. */
  readonly id: number;
  /** Null: the control plane itself. */
  readonly probeId: number | null;
  readonly name: string;
  readonly region: string;
};

/** Vantage points by identifier, the control plane last. */
export function namedProbes(
  probes: readonly { readonly probeId: number; readonly name: string | null; readonly region: string | null }[],
): NamedProbe[] {
  return probes
    .toSorted((one, other) => rank(one.probeId) - rank(other.probeId))
    .map(({ probeId, name, region }) => ({
      id: probeId,
      probeId: probeId === 0 ? null : probeId,
      name: probeId === 0 ? 'control plane' : (name ?? `probe ${probeId}`),
      region: probeId === 0 ? 'central' : (region ?? 'unknown'),
    }));
}

const rank = (probeId: number): number => (probeId === 0 ? Number.POSITIVE_INFINITY : probeId);

/** What a probe did not vote on is unknown, less what was paused for all. */
function ownAvailability(times: readonly ProbeTime[], window: { ms: number; pausedMs: number }): Availability {
  const sum = noTime();
  for (const { status, ms } of times) addTime(sum, status, ms);
  const voted = sum.upMs + sum.degradedMs + sum.downMs + sum.timeoutMs;
  const pausedMs = Math.min(window.pausedMs, Math.max(0, window.ms - voted));
  return availabilityOf({ ...sum, pausedMs, unknownMs: Math.max(0, window.ms - voted - pausedMs) });
}

const noLatency: LatencyFigures = {
  count: 0,
  meanMs: null,
  minMs: null,
  maxMs: null,
  p50Ms: null,
  p90Ms: null,
  p95Ms: null,
  p99Ms: null,
};

function resultFigures(summary: Summary | undefined): Pick<ProbeFigures, 'checks' | 'answered' | 'latency' | 'counts'> {
  if (summary === undefined) return { checks: 0, answered: 0, latency: noLatency, counts: undefined };
  const { counts } = summary;
  const counted = counts.entries().filter(({ kind, outcome }) => kind !== 'manual' && outcome !== 'skipped');
  const answered = counted.filter(({ outcome }) => outcome === 'ok' || outcome === 'slow' || outcome === 'warn');
  return {
    checks: sumOf(counted),
    answered: sumOf(answered),
    latency: latencyFigures(summary.latency),
    counts,
  };
}

function sumOf(entries: readonly { readonly count: number }[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0);
}
