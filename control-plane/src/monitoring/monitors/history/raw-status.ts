import type { CheckResult, ResultStatus } from '@parallax/api-contract';
import type { CheckKind, CheckOutcome, Outcome } from '@parallax/checks';
import type { ResultItem } from '../../check-results/index.ts';
import { readableRecord } from '../range-evidence/readable-record.ts';

/** What a result says about the target, by itself and by its probe's own timeline. */
export type RawResult = {
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  /** Whether the probe's own timeline is DOWN or TIMEOUT at that time: the failure was confirmed. */
  readonly isConfirmed: boolean;
};

/**
 * Status of one row of results. A failure that was not confirmed is `transient` (a streak shorter than the monitor's
 * confirmations, rule 3 of consensus); a manual check is in no streak, so its failure stands for itself. A fault of the probe
 * says nothing about the target: UNKNOWN.
 */
export function rawStatus(result: RawResult): ResultStatus {
  switch (result.outcome) {
    case 'ok':
      return 'UP';
    case 'slow':
      return 'DEGRADED';
    case 'warn':
      return 'WARNING';
    case 'skipped':
      return 'skipped';
    case 'probe_error':
      return 'UNKNOWN';
    case 'fail':
      return result.isConfirmed || result.kind === 'manual' ? 'DOWN' : 'transient';
    case 'timeout':
      return result.isConfirmed || result.kind === 'manual' ? 'TIMEOUT' : 'transient';
  }
}

/** A run of confirmed failure in a probe's own timeline; half-open, milliseconds, `endedMs` null while it lasts. */
export type FailureRun = { readonly startedMs: number; readonly endedMs: number | null };

/** Runs of confirmed failure by probe, each probe's in order of time and without overlap. */
export type FailureRuns = ReadonlyMap<number, readonly FailureRun[]>;

/** Whether a result lies in a run of its probe. */
export function isConfirmed(
  runs: FailureRuns,
  result: { readonly probeId: number; readonly effectiveMs: number },
): boolean {
  const own = runs.get(result.probeId) ?? [];
  let low = 0;
  let high = own.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((own[middle]?.startedMs ?? 0) <= result.effectiveMs) low = middle + 1;
    else high = middle;
  }
  const last = own[low - 1];
  return last !== undefined && (last.endedMs === null || last.endedMs > result.effectiveMs);
}

/** Milliseconds to a microsecond's precision; null for null. */
function milliseconds(us: number | null | undefined): number | null {
  return us === null || us === undefined ? null : us / 1_000;
}

/** Time that a check took; null for one that did not run, and for one that measures none, such as a look at the members of a group. */
export function responseTimeMs(outcome: Outcome, totalUs: number): number | null {
  return outcome === 'skipped' || outcome === 'probe_error' || totalUs === 0 ? null : totalUs / 1_000;
}

type PhasesUs = {
  readonly dns?: number | null | undefined;
  readonly connect?: number | null | undefined;
  readonly tls?: number | null | undefined;
  readonly first_byte?: number | null | undefined;
  readonly transfer?: number | null | undefined;
};

/** Phases as the API answers them, null where there was no such phase. */
export function phasesOf(phases: PhasesUs): CheckResult['phases'] {
  return {
    dns_ms: milliseconds(phases.dns),
    connect_ms: milliseconds(phases.connect),
    tls_ms: milliseconds(phases.tls),
    first_byte_ms: milliseconds(phases.first_byte),
    transfer_ms: milliseconds(phases.transfer),
  };
}

/** What a fresh outcome of a manual check and a stored row have in common on the wire. */
export type OutcomeFields = Pick<
  CheckResult,
  'status' | 'outcome' | 'failure_source' | 'response_time_ms' | 'phases' | 'error_code' | 'message' | 'evidence'
>;

/** A fresh outcome as the API answers it. */
export function outcomeFields(kind: CheckKind, outcome: CheckOutcome): OutcomeFields {
  return {
    status: rawStatus({ kind, outcome: outcome.outcome, isConfirmed: false }),
    outcome: outcome.outcome,
    failure_source: outcome.source ?? null,
    response_time_ms: responseTimeMs(outcome.outcome, outcome.total),
    phases: phasesOf(outcome.phases),
    error_code: outcome.code ?? null,
    message: outcome.message ?? null,
    evidence: readableRecord(outcome.evidence),
  };
}

/** A stored row as the API answers it. */
export function checkResult(row: Omit<ResultItem, 'monitorId' | 'freshS'>, runs: FailureRuns): CheckResult {
  return {
    created_at: new Date(row.effectiveMs).toISOString(),
    received_at: new Date(row.receivedMs).toISOString(),
    probe_id: row.probeId === 0 ? null : row.probeId,
    kind: row.kind,
    is_manual: row.kind === 'manual',
    is_fallback: row.fallback,
    is_late: row.late,
    probe_revision: row.probeRevision,
    status: rawStatus({ kind: row.kind, outcome: row.outcome, isConfirmed: isConfirmed(runs, row) }),
    outcome: row.outcome,
    failure_source: row.source ?? null,
    response_time_ms: responseTimeMs(row.outcome, row.totalUs),
    phases: phasesOf({
      dns: row.dnsUs,
      connect: row.connectUs,
      tls: row.tlsUs,
      first_byte: row.firstByteUs,
      transfer: row.transferUs,
    }),
    error_code: row.code ?? null,
    message: row.message,
    evidence: readableRecord(row.evidence),
  };
}
