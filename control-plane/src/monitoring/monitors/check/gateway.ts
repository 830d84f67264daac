import { createAddressPolicy, createResolver, errorCodes, runCheck, withThreshold } from '@parallax/checks';
import type { CheckOutcome } from '@parallax/checks';
import { packFlags } from '@parallax/wire';
import type { DatabasePool } from 'slonik';
import type { Context } from '../../../context.ts';
import { sql } from '../../../platform/database/pools.ts';
import { centralFlag } from '../../check-results/index.ts';
import type { MonitorRow } from '../queries.ts';

/** One run by the control plane itself. */
export type CentralRun = {
  readonly startedMs: number;
  readonly outcome: CheckOutcome;
  readonly trace: ReadonlyArray<{ readonly atMs: number; readonly step: string; readonly detail: string }>;
};

/** @param settings of the monitor, secrets included */
export type CentralCheck = (
  monitor: MonitorRow,
  settings: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<CentralRun>;

const clock = (): number => performance.now();

/** Makes what checks monitors that have no probe, under the control plane's own address policy. */
export function createCentralCheck(
  context: Pick<Context, 'allowedPrivateTargets' | 'deniedListeners' | 'now' | 'version'>,
): CentralCheck {
  const addresses = createAddressPolicy({
    allowedPrivate: context.allowedPrivateTargets,
    deniedListeners: context.deniedListeners,
    clock,
  });
  const resolver = createResolver({ clock });
  return async (monitor, settings, signal) => {
    const startedMs = context.now();
    const start = clock();
    const trace: { atMs: number; step: string; detail: string }[] = [];
    const outcome = await runCheck(monitor.protocol, { url: monitor.url }, settings, {
      signal,
      timeoutMs: monitor.timeout_seconds * 1_000,
      clock,
      wallClock: context.now,
      addresses,
      resolver,
      trace: (step, detail) => trace.push({ atMs: Math.round((clock() - start) * 1_000) / 1_000, step, detail }),
      userAgent: `Parallax/${context.version} (availability monitor)`,
    });
    return { startedMs, outcome: withThreshold(outcome, monitor.degraded_threshold_ms ?? undefined), trace };
  };
}

/**
 * Keeps a manual check of the control plane as a row that counts nowhere: manual results are neutral in every rule, so it need not
 * go through the fold.
 * @param worker a pool of the worker login: requests may not write results
 */
export async function storeManualResult(worker: DatabasePool, monitor: MonitorRow, run: CentralRun): Promise<void> {
  const { outcome } = run;
  const at = sql.timestamp(new Date(run.startedMs));
  const flags = packFlags('manual', outcome.outcome, outcome.source) | centralFlag;
  const freshS = Math.max(10, Math.ceil(2.5 * monitor.interval_seconds)) + monitor.timeout_seconds;
  const { phases } = outcome;
  await worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`select ensure_result_partitions(${at}, ${at})`);
    await tx.query(sql.unsafe`
      insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, dns_us,
        connect_us, tls_us, first_byte_us, transfer_us, error)
      values (${at}, clock_timestamp(), ${monitor.id}, 0, ${monitor.probe_revision}, ${flags}, ${freshS}, ${outcome.total},
        ${phases.dns ?? null}, ${phases.connect ?? null}, ${phases.tls ?? null}, ${phases.first_byte ?? null},
        ${phases.transfer ?? null}, ${outcome.code === undefined ? 0 : errorCodes[outcome.code]})`);
    if (outcome.outcome === 'ok' || outcome.outcome === 'slow') return;
    await tx.query(sql.unsafe`
      insert into result_evidence (e, monitor_id, probe_id, message, evidence)
      values (${at}, ${monitor.id}, 0, ${outcome.message ?? ''}, ${JSON.stringify(outcome.evidence ?? {})}::jsonb)`);
  });
}
