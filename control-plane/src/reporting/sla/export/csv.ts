import { writeCsv } from '../../../platform/csv/write-csv.ts';
import type { CsvCell } from '../../../platform/csv/write-csv.ts';
import { fourDecimals, percentOf } from '../../../platform/figures.ts';
import { iso } from '../../statistics/index.ts';
import type { Availability, TimeByStatus } from '../../statistics/index.ts';
import type { LatencyFigures, SlaReport } from '../report.ts';

/**
 * A report as the records of a CSV file. The first cell of each names its section, and the first record of a section names its columns. Begins
 * with a byte order mark, by which spreadsheets know UTF-8.
 */
export function reportCsv(report: SlaReport): string {
  return `\uFEFF${writeCsv([
    ...section('summary', ['name', 'value'], summary(report)),
    ...section('day', ['date', 'from', 'to', 'outages', 'uptime_percent', ...timeNames], days(report)),
    ...section('probe', probeNames, probes(report)),
    ...section('outage', outageNames, outages(report)),
    ...section('correction', correctionNames, corrections(report)),
  ])}`;
}

function section(name: string, columns: readonly string[], records: readonly (readonly CsvCell[])[]): CsvCell[][] {
  return [columns, ...records].map((record) => [name, ...record]);
}

function summary(report: SlaReport): CsvCell[][] {
  const { availability, budget, monitor, window } = report;
  return [
    ['monitor', monitor.name],
    ['monitor_id', monitor.id],
    ['workspace', monitor.workspaceName],
    ['protocol', monitor.protocol],
    ['target', monitor.target],
    ['interval_seconds', monitor.intervalSeconds],
    ['time_zone', 'UTC'],
    ['from', iso(window.fromMs)],
    ['to', iso(window.toMs)],
    ['requested_from', iso(window.requestedFromMs)],
    ['clamped_by', window.clampedBy],
    ['generated_at', iso(report.generatedMs)],
    ['uptime_percent', percentOf(availability.uptime)],
    ['measured_uptime_percent', percentOf(report.measured.uptime)],
    ['uptime_seconds', availability.uptimeMs / 1_000],
    ['downtime_seconds', availability.downtimeMs / 1_000],
    ['measured_seconds', availability.measuredMs / 1_000],
    ...timeCells(availability).map((cell, index): CsvCell[] => [timeNames[index] ?? '', cell]),
    ['corrected_seconds', report.correctedMs / 1_000],
    ['incidents', report.incidents],
    ['outages_omitted', report.outagesOmitted],
    ['mttr_seconds', secondsOrNull(report.mttrMs)],
    ['mtbf_seconds', secondsOrNull(report.mtbfMs)],
    ...latencyCells(report.latency).map((cell, index): CsvCell[] => [latencyNames[index] ?? '', cell]),
    ...(budget === null
      ? []
      : [
          ['slo_target_percent', budget.targetPercent],
          ['slo_met', yesNo(budget.isMet)],
          ['error_budget_seconds', budget.budgetMs / 1_000],
          ['error_budget_consumed_seconds', budget.consumedMs / 1_000],
          ['error_budget_remaining_seconds', budget.remainingMs / 1_000],
          ['burn_rate', fourDecimals(budget.burnRate)],
          ['burn_rate_1h', fourDecimals(budget.burnRate1h)],
          ['burn_rate_6h', fourDecimals(budget.burnRate6h)],
        ]),
    ['ledger_chain', report.ledger.chain],
    ['ledger_seq', report.ledger.seq],
    ['ledger_digest', report.ledger.digest],
  ];
}

const timeNames = [
  'up_seconds',
  'degraded_seconds',
  'down_seconds',
  'timeout_seconds',
  'unknown_seconds',
  'maintenance_seconds',
  'paused_seconds',
  'excluded_seconds',
];

function timeCells(time: TimeByStatus): number[] {
  return [
    time.upMs,
    time.degradedMs,
    time.downMs,
    time.timeoutMs,
    time.unknownMs,
    time.maintenanceMs,
    time.pausedMs,
    time.excludedMs,
  ].map((ms) => ms / 1_000);
}

function days(report: SlaReport): CsvCell[][] {
  return report.days.map((day) => [
    day.day,
    iso(day.fromMs),
    iso(day.toMs),
    day.outages,
    percentOf(day.uptime),
    ...timeCells(day),
  ]);
}

const latencyNames = [
  'response_time_count',
  'response_time_mean_ms',
  'response_time_min_ms',
  'response_time_max_ms',
  'response_time_p50_ms',
  'response_time_p90_ms',
  'response_time_p95_ms',
  'response_time_p99_ms',
];

function latencyCells(figures: LatencyFigures): CsvCell[] {
  const { count, meanMs, minMs, maxMs, p50Ms, p90Ms, p95Ms, p99Ms } = figures;
  return [count, meanMs, minMs, maxMs, p50Ms, p90Ms, p95Ms, p99Ms];
}

const probeNames = [
  'probe_id',
  'name',
  'region',
  'uptime_percent',
  'uptime_seconds',
  'downtime_seconds',
  'checks',
  'answered',
  ...latencyNames,
];

function probes(report: SlaReport): CsvCell[][] {
  const ownTime = ({ uptime, uptimeMs, downtimeMs }: Availability): CsvCell[] => [
    percentOf(uptime),
    uptimeMs / 1_000,
    downtimeMs / 1_000,
  ];
  return report.probes.map((probe) => [
    probe.probeId,
    probe.name,
    probe.region,
    ...ownTime(probe.availability),
    probe.checks,
    probe.answered,
    ...latencyCells(probe.latency),
  ]);
}

const outageNames = [
  'started_at',
  'ended_at',
  'duration_seconds',
  'downtime_seconds',
  'status',
  'cause',
  'is_revised',
  'is_corrected',
];

function outages(report: SlaReport): CsvCell[][] {
  return report.outages.map((outage) => [
    iso(outage.startedMs),
    outage.endedMs === null ? null : iso(outage.endedMs),
    outage.durationMs / 1_000,
    outage.downtimeMs / 1_000,
    outage.status,
    outage.cause,
    yesNo(outage.isRevised),
    yesNo(outage.isCorrected),
  ]);
}

const correctionNames = [
  'id',
  'started_at',
  'ended_at',
  'counted_as',
  'reason',
  'created_by',
  'created_at',
  'downtime_seconds_before',
  'downtime_seconds_after',
  'excluded_seconds_before',
  'excluded_seconds_after',
];

function corrections(report: SlaReport): CsvCell[][] {
  return report.corrections.map(({ before, after, ...correction }) => [
    correction.id,
    iso(correction.startedMs),
    iso(correction.endedMs),
    correction.countedAs,
    correction.reason,
    correction.by,
    iso(correction.createdMs),
    (before.downMs + before.timeoutMs) / 1_000,
    (after.downMs + after.timeoutMs) / 1_000,
    before.excludedMs / 1_000,
    after.excludedMs / 1_000,
  ]);
}

const yesNo = (value: boolean | null): string | null => (value === null ? null : value ? 'yes' : 'no');
const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : Math.round(ms) / 1_000);
