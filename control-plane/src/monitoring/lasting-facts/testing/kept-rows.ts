import type { DatabasePool } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

/** Tables of what is kept of a monitor, and what requests do with them: nothing, read, or write too. */
export const keptTables = [
  ['monitor_expiries', 'read'],
  ['dnsbl_views', 'read'],
  ['dnsbl_runs', 'read'],
  ['expiry_notices', 'nothing'],
  ['pauses', 'write'],
  ['monitor_history', 'append'],
  ['sla_ledger', 'append'],
  ['stale_hours', 'read'],
  ['status_ranges', 'read'],
  ['probe_ranges', 'read'],
  ['result_evidence', 'read'],
] as const;

/** For tests: a row of a monitor in each of the tables. Its creation has made those of `monitor_history`. */
export async function keepRows(worker: DatabasePool, monitorId: number): Promise<void> {
  await worker.query(sql.unsafe`
    insert into monitor_expiries (monitor_id, kind, probe_id, probe_revision, not_after, seen_at) values (${monitorId}, 'domain', 1, 1, now(), now())`);
  await worker.query(sql.unsafe`
    insert into expiry_notices (monitor_id, kind, not_after, threshold_days, told_at) values (${monitorId}, 'domain', now(), 1, now())`);
  await worker.query(sql.unsafe`
    insert into dnsbl_views (monitor_id, probe_id, probe_revision, listings, seen_at) values (${monitorId}, 1, 1, '{}', now())`);
  await worker.query(sql.unsafe`
    insert into dnsbl_runs (monitor_id, provider, started_at, state, is_listed) values (${monitorId}, 'a.test', now(), 'clean', false)`);
  await worker.query(
    sql.unsafe`insert into pauses (monitor_id, started_at, ended_at) values (${monitorId}, now(), now())`,
  );
  await worker.query(sql.unsafe`
    insert into sla_ledger (monitor_id, chain, seq, kind, day, entry, digest)
    values (${monitorId}, 1, 1, 'day', '2026-01-01', '{}', ${sql.binary(Buffer.alloc(32))})`);
  await worker.query(sql.unsafe`insert into stale_hours (monitor_id, hour) values (${monitorId}, 1)`);
  await worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, status) values (${monitorId}, now(), 'UP')`);
  await worker.query(sql.unsafe`
    insert into probe_ranges (monitor_id, probe_id, started_at, status) values (${monitorId}, 1, now(), 'UP')`);
  await worker.query(sql.unsafe`select ensure_result_partitions(now(), now())`);
  await worker.query(sql.unsafe`
    insert into result_evidence (e, monitor_id, probe_id, message, evidence) values (now(), ${monitorId}, 1, 'refused', '{}')`);
}
