import { latencySeries } from '../../monitoring/check-results/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import {
  daysOfZone,
  latencyFigures,
  milliseconds,
  readAvailability,
  readProbeFigures,
  readSummary,
  windowOf,
} from '../statistics/index.ts';
import type {
  Availability,
  DayBounds,
  LatencyFigures,
  ReportWindow,
  Subject,
  WantedWindow,
} from '../statistics/index.ts';
import { errorBudget } from './budget.ts';
import type { ErrorBudget } from './budget.ts';
import { createCorrector } from './correction.ts';
import { correctionsOf } from './corrections/queries.ts';
import { headOf } from './ledger/queries.ts';
import type { LatencyStep, MonitorFigures, SlaReport } from './report.ts';
import { stepOf } from './steps.ts';
import { shownTarget } from './target.ts';

const hourMs = 3_600_000;
const mostOutages = 10_000;

export type ReportRequest = {
  readonly wanted: WantedWindow;
  /** Per cent. */
  readonly sloTarget: number | undefined;
  /** Whether steps of response times are wanted. */
  readonly withChart: boolean;
};

/** Everything that a report on a monitor shows, in the caller's transaction. */
export async function readReport(
  transaction: Transaction,
  scope: Scope,
  subject: Subject,
  request: ReportRequest,
  nowMs: number,
): Promise<SlaReport> {
  const window = windowOf(subject, request.wanted, nowMs);
  const { corrections, availability } = await readCorrected(transaction, scope, subject, window, {
    listedOutages: mostOutages,
  });
  const { ends, ...report } = availability;
  const summary = await readSummary(transaction, subject.id, window);
  const probes = await readProbeFigures(transaction, subject.id, window, summary, report.measured.pausedMs);
  const head = await headOf(transaction, subject.id, subject.sla_chain);
  const { openUntilMs: _openUntilMs, ...shownWindow } = window;
  return {
    monitor: {
      id: subject.id,
      name: subject.name,
      protocol: subject.protocol,
      target: shownTarget(subject.url),
      workspaceId: subject.workspace_id,
      workspaceName: subject.workspace_name,
      intervalSeconds: subject.interval_seconds,
    },
    generatedMs: Math.floor(nowMs),
    window: shownWindow,
    ...report,
    latency: latencyFigures(summary.all.latency),
    latencySteps: request.withChart ? await readSteps(transaction, subject.id, window) : [],
    probes: probes.map(({ counts: _counts, ...probe }) => probe),
    budget: budgetOf(request.sloTarget, report.availability, ends),
    corrections: corrections.toSorted((one, other) => one.startedMs - other.startedMs || one.id - other.id),
    ledger: {
      chain: subject.sla_chain,
      seq: head.seq,
      digest: head.seq === 0 ? null : head.digest.toString('hex'),
    },
  };
}

/** The availability of a window as corrections have it: what every report of a monitor shows. */
async function readCorrected(
  transaction: Transaction,
  scope: Scope,
  subject: Subject,
  window: ReportWindow,
  wanted: { readonly listedOutages: number; readonly days?: readonly DayBounds[] },
) {
  const corrections = await correctionsOf(transaction, scope, subject, window);
  const availability = await readAvailability(transaction, subject.id, window, {
    ...wanted,
    endsMs: [hourMs, 6 * hourMs],
    correct: createCorrector(corrections),
  });
  return { corrections, availability };
}

/** What the line of a monitor in a report of several shows: the same figures as its own report, without what only that one lists. */
export async function readFigures(
  transaction: Transaction,
  scope: Scope,
  subject: Subject,
  request: Pick<ReportRequest, 'wanted' | 'sloTarget'>,
  nowMs: number,
): Promise<MonitorFigures> {
  const window = windowOf(subject, request.wanted, nowMs);
  const { availability: report } = await readCorrected(transaction, scope, subject, window, {
    listedOutages: 1_000,
    days: daysOfZone(window, request.wanted.timezone),
  });
  const { availability, incidents, days, outages, ends } = report;
  return {
    window: { fromMs: window.fromMs, toMs: window.toMs, clampedBy: window.clampedBy },
    availability,
    incidents,
    days,
    longestMs: outages.reduce((longest, { downtimeMs }) => Math.max(longest, downtimeMs), 0),
    budget: budgetOf(request.sloTarget, availability, ends),
  };
}

/** The response times of a window, for the line of a monitor in a report of several. */
export async function readLatency(
  transaction: Transaction,
  subject: Subject,
  wanted: WantedWindow,
  nowMs: number,
): Promise<LatencyFigures> {
  const summary = await readSummary(transaction, subject.id, windowOf(subject, wanted, nowMs));
  return latencyFigures(summary.all.latency);
}

function budgetOf(
  sloTarget: number | undefined,
  availability: Availability,
  ends: readonly (Availability | null)[],
): ErrorBudget | null {
  if (sloTarget === undefined) return null;
  return errorBudget(sloTarget, availability, { hour: ends[0] ?? null, sixHours: ends[1] ?? null });
}

/** Steps begin at whole multiples of their length, so that they are whole hours and days. */
async function readSteps(transaction: Transaction, monitorId: number, window: ReportWindow): Promise<LatencyStep[]> {
  const { fromMs, toMs, requestedFromMs, requestedToMs } = window;
  if (fromMs >= toMs) return [];
  const stepMs = stepOf((requestedToMs - requestedFromMs) / hourMs);
  const steps = await latencySeries(transaction, monitorId, {
    fromMs: Math.floor(fromMs / stepMs) * stepMs,
    floorMs: fromMs,
    toMs,
    stepMs,
  });
  return steps.map((step) => ({
    fromMs: Math.max(step.atMs, fromMs),
    toMs: Math.min(step.atMs + stepMs, toMs),
    count: step.count,
    meanMs: milliseconds(step.meanUs),
    p50Ms: milliseconds(step.p50Us),
    p95Ms: milliseconds(step.p95Us),
    p99Ms: milliseconds(step.p99Us),
  }));
}
