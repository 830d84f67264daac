import type {
  Availability,
  DayFigures,
  LatencyFigures,
  Outage,
  ProbeFigures as MeasuredProbe,
  ReportWindow,
  TimeByStatus,
} from '../statistics/index.ts';
import type { ErrorBudget } from './budget.ts';
import type { CorrectedTime } from './correction.ts';

export type { ErrorBudget } from './budget.ts';
export type { Availability, DayFigures, LatencyFigures, Outage, TimeByStatus } from '../statistics/index.ts';

/** A step of the chart of response times; null where nothing answered. */
export type LatencyStep = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
  readonly meanMs: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
};

/** What one vantage point measured. */
export type ProbeFigures = Omit<MeasuredProbe, 'counts'>;

/** What somebody said of a time, and what it changed. */
export type Correction = CorrectedTime & {
  readonly reason: string;
  /** Name of who made it: "User 17" for one without. */
  readonly by: string;
  /** Null when the account is gone. */
  readonly userId: number | null;
  readonly createdMs: number;
  /** Of the corrected time as it counted before and after. */
  readonly before: TimeByStatus;
  readonly after: TimeByStatus;
};

/** What a line of a monitor in a report of several shows. */
export type MonitorFigures = {
  readonly window: Pick<ReportWindow, 'fromMs' | 'toMs' | 'clampedBy'>;
  /** After corrections. */
  readonly availability: Availability;
  readonly incidents: number;
  /** Of the zone that was asked for. */
  readonly days: readonly DayFigures[];
  /** Downtime of the longest outage. */
  readonly longestMs: number;
  readonly budget: ErrorBudget | null;
};

/** Everything that a report on a monitor's availability shows. Times are milliseconds since the epoch, in UTC. */
export type SlaReport = {
  readonly monitor: {
    readonly id: number;
    readonly name: string;
    readonly protocol: string;
    /** What is checked, without credentials. */
    readonly target: string;
    readonly workspaceId: number;
    readonly workspaceName: string;
    readonly intervalSeconds: number;
  };
  readonly generatedMs: number;
  readonly window: Omit<ReportWindow, 'openUntilMs'>;
  /** After corrections. */
  readonly availability: Availability;
  /** As measured, before corrections. */
  readonly measured: Availability;
  /** How much of the window counts as something else than was measured. */
  readonly correctedMs: number;
  /** Oldest first; at most 10,000, the latest ones. */
  readonly outages: readonly Outage[];
  /** Older outages that are not listed, though counted. */
  readonly outagesOmitted: number;
  /** Outages with any downtime after corrections. */
  readonly incidents: number;
  /** Mean duration of the outages that ended in the window, each whole, less what does not count; null when none ended. */
  readonly mttrMs: number | null;
  /** Mean uptime between the starts of outages that follow each other; null with fewer than two. */
  readonly mtbfMs: number | null;
  readonly latency: LatencyFigures;
  /** Oldest first, without gaps; at most 200, none where no chart was asked for. */
  readonly latencySteps: readonly LatencyStep[];
  /** Oldest first; at most 91. */
  readonly days: readonly DayFigures[];
  readonly probes: readonly ProbeFigures[];
  /** Null when no target was given. */
  readonly budget: ErrorBudget | null;
  /** Those that touch the window, oldest first. */
  readonly corrections: readonly Correction[];
  /** Where the monitor's ledger stood. */
  readonly ledger: {
    /** From 1; a reset begins the next. */
    readonly chain: number;
    /** Of the last entry; 0 when there is none yet. */
    readonly seq: number;
    /** SHA-256 in hexadecimal; null when there is no entry yet. */
    readonly digest: string | null;
  };
};
