import { errorCodes } from '@parallax/checks';
import { packFlags } from '@parallax/wire';
import type { DatabasePool } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';
import { freshSeconds } from '@parallax/checks';
import type { CentralRun } from '../../central-checks/index.ts';
import { centralFlag } from '../../check-results/index.ts';
import type { MonitorRow } from '../queries.ts';

/**
 * Keeps a manual check of the control plane as a row that counts nowhere: manual results are neutral in every rule, so it need not
 * go through the fold.
 * @param worker a pool of the worker login: requests may not write results
 */
export async function storeManualResult(worker: DatabasePool, monitor: MonitorRow, run: CentralRun): Promise<void> {
  const { outcome } = run;
  const at = sql.timestamp(new Date(run.startedMs));
  const flags = packFlags('manual', outcome.outcome, outcome.source) | centralFlag;
  const freshS = freshSeconds(monitor.interval_seconds, monitor.timeout_seconds);
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
