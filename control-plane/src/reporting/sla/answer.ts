import type { Sla, SlaCorrection } from '@parallax/api-contract';
import { fourDecimals, percentOf } from '../../platform/figures.ts';
import { iso, latencyAnswer, secondsAnswer, windowAnswer } from '../statistics/index.ts';
import type { TimeByStatus } from '../statistics/index.ts';
import type { ErrorBudget } from './budget.ts';
import type { ChainHead } from './ledger/chain.ts';
import type { Correction, Outage, ProbeFigures, SlaReport } from './report.ts';

/** A report as the API answers it. */
export function slaAnswer(report: SlaReport): Sla {
  const { availability } = report;
  return {
    monitor_id: report.monitor.id,
    name: report.monitor.name,
    generated_at: iso(report.generatedMs),
    ...windowAnswer(report.window),
    uptime_percent: percentOf(availability.uptime),
    measured_uptime_percent: percentOf(report.measured.uptime),
    uptime_seconds: seconds(availability.uptimeMs),
    downtime_seconds: seconds(availability.downtimeMs),
    measured_seconds: seconds(availability.measuredMs),
    unknown_seconds: seconds(availability.unknownMs),
    maintenance_seconds: seconds(availability.maintenanceMs),
    paused_seconds: seconds(availability.pausedMs),
    excluded_seconds: seconds(availability.excludedMs),
    corrected_seconds: seconds(report.correctedMs),
    seconds: slaSeconds(availability),
    incidents: report.incidents,
    mttr_seconds: optionalSeconds(report.mttrMs),
    mtbf_seconds: optionalSeconds(report.mtbfMs),
    outages: report.outages.map(outageAnswer),
    outages_omitted: report.outagesOmitted,
    response_time: latencyAnswer(report.latency),
    probes: report.probes.map(probeAnswer),
    error_budget: report.budget === null ? null : budgetAnswer(report.budget),
    corrections: report.corrections.map((correction) => correctionAnswer(report.monitor.id, correction)),
    ledger: report.ledger,
  };
}

/** A correction as the API answers it. */
export function correctionAnswer(monitorId: number, correction: Correction): SlaCorrection {
  return {
    id: correction.id,
    monitor_id: monitorId,
    started_at: iso(correction.startedMs),
    ended_at: iso(correction.endedMs),
    counted_as: correction.countedAs,
    reason: correction.reason,
    created_by: { user_id: correction.userId, name: correction.by },
    created_at: iso(correction.createdMs),
    before: slaSeconds(correction.before),
    after: slaSeconds(correction.after),
  };
}

/** Where a chain ends, as the API answers it. */
export function headAnswer(chain: number, head: ChainHead): Sla['ledger'] {
  return { chain, seq: head.seq, digest: head.seq === 0 ? null : head.digest.toString('hex') };
}

function slaSeconds(time: TimeByStatus): Sla['seconds'] {
  return { ...secondsAnswer(time), excluded: seconds(time.excludedMs) };
}

function outageAnswer(outage: Outage): Sla['outages'][number] {
  return {
    started_at: iso(outage.startedMs),
    ended_at: outage.endedMs === null ? null : iso(outage.endedMs),
    duration_seconds: seconds(outage.durationMs),
    downtime_seconds: seconds(outage.downtimeMs),
    status: outage.status,
    cause: outage.cause,
    is_revised: outage.isRevised,
    is_corrected: outage.isCorrected,
  };
}

function probeAnswer(probe: ProbeFigures): Sla['probes'][number] {
  return {
    probe_id: probe.probeId,
    name: probe.name,
    region: probe.region,
    uptime_percent: percentOf(probe.availability.uptime),
    uptime_seconds: seconds(probe.availability.uptimeMs),
    downtime_seconds: seconds(probe.availability.downtimeMs),
    checks: probe.checks,
    answered: probe.answered,
    response_time: latencyAnswer(probe.latency),
  };
}

function budgetAnswer(budget: ErrorBudget): Sla['error_budget'] {
  return {
    slo_target: budget.targetPercent,
    is_met: budget.isMet,
    budget_seconds: seconds(budget.budgetMs),
    consumed_seconds: seconds(budget.consumedMs),
    remaining_seconds: seconds(budget.remainingMs),
    consumed_percent: fourDecimals(budget.consumedShare === null ? null : budget.consumedShare * 100),
    burn_rate: fourDecimals(budget.burnRate),
    burn_rate_1h: fourDecimals(budget.burnRate1h),
    burn_rate_6h: fourDecimals(budget.burnRate6h),
  };
}

const seconds = (ms: number): number => ms / 1_000;
const optionalSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms) / 1_000);
