import { errorCodeOf } from '@parallax/checks';
import type { CheckKind, ErrorCode, FailureSource, Outcome } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { centralFlag, fallbackFlag, lateFlag } from './flags.ts';

/** One stored result as readers see it. Times in milliseconds since the epoch, durations in whole microseconds. */
export type ResultItem = {
  readonly monitorId: number;
  /** 0: the control plane itself. */
  readonly probeId: number;
  /** Effective time: the start of the check. */
  readonly effectiveMs: number;
  readonly receivedMs: number;
  readonly probeRevision: number;
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source: FailureSource | undefined;
  /** A code of `errorCodes`; undefined for none and for codes of a newer version. */
  readonly code: ErrorCode | undefined;
  /** Run by the control plane and not by a probe. */
  readonly central: boolean;
  /** Run by the control plane beside probes that could not vote. */
  readonly fallback: boolean;
  /** Arrived more than 15 s after its check had ended. */
  readonly late: boolean;
  /** Seconds that its vote stays fresh. */
  readonly freshS: number;
  readonly totalUs: number;
  readonly dnsUs: number | null;
  readonly connectUs: number | null;
  readonly tlsUs: number | null;
  readonly firstByteUs: number | null;
  readonly transferUs: number | null;
  /** Kept for first failures and changed error codes. */
  readonly message: string | null;
  readonly evidence: unknown;
};

export type ResultsFilter = {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** Bounds of the effective time, both inclusive, in milliseconds. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly withTotal: boolean;
  readonly probeId?: number | undefined;
  /** Whether manual checks and those of the control plane beside probes are listed; true unless told otherwise. */
  readonly includeManual?: boolean | undefined;
};

const row = z.object({
  monitor_id: z.number(),
  probe_id: z.number(),
  e: z.number(),
  received_at: z.number(),
  probe_revision: z.number(),
  flags: z.number(),
  fresh_s: z.number(),
  total_us: z.number(),
  dns_us: z.number().nullable(),
  connect_us: z.number().nullable(),
  tls_us: z.number().nullable(),
  first_byte_us: z.number().nullable(),
  transfer_us: z.number().nullable(),
  error: z.number(),
  message: z.string().nullable(),
  evidence: z.unknown(),
});

/**
 * A page of a monitor's results, newest first. The caller has seen that the monitor is the tenant's: results carry no workspace.
 * @returns the items, and the number of all that match when asked for
 */
export async function resultsPage(
  connection: CommonQueryMethods,
  monitorId: number,
  filter: ResultsFilter,
): Promise<{ readonly items: ResultItem[]; readonly total: number | undefined }> {
  const conditions = [
    sql.fragment`r.monitor_id = ${monitorId}`,
    ...(filter.startMs === undefined ? [] : [sql.fragment`r.e >= ${sql.timestamp(new Date(filter.startMs))}`]),
    // A bound in milliseconds includes the whole millisecond that it names.
    ...(filter.endMs === undefined ? [] : [sql.fragment`r.e < ${sql.timestamp(new Date(filter.endMs + 1))}`]),
    ...(filter.probeId === undefined ? [] : [sql.fragment`r.probe_id = ${filter.probeId}`]),
    // Kind is in the two lowest bits, 2 being manual.
    ...(filter.includeManual === false ? [sql.fragment`r.flags & 3 <> 2`] : []),
    ...(filter.includeManual === false ? [sql.fragment`r.flags & ${fallbackFlag} = 0`] : []),
  ];
  const where = sql.join(conditions, sql.fragment` and `);
  const found = await connection.any(sql.type(row)`
    select r.monitor_id, r.probe_id, r.e, r.received_at, r.probe_revision, r.flags, r.fresh_s, r.total_us, r.dns_us,
      r.connect_us, r.tls_us, r.first_byte_us, r.transfer_us, r.error, v.message, v.evidence
    from (
      select * from check_results r where ${where}
      order by r.e desc, r.probe_id desc limit ${filter.pageSize} offset ${(filter.page - 1) * filter.pageSize}
    ) r
    left join lateral (
      select message, evidence from result_evidence v
      where v.monitor_id = r.monitor_id and v.e = r.e and v.probe_id = r.probe_id limit 1
    ) v on true
    order by r.e desc, r.probe_id desc`);
  const total = filter.withTotal
    ? await connection.oneFirst(
        sql.type(z.object({ total: z.bigint() }))`select count(*) as total from check_results r where ${where}`,
      )
    : undefined;
  return { items: found.map(resultItem), total: total === undefined ? undefined : Number(total) };
}

/**
 * Joins the newest scheduled or recheck result to each row of a query whose monitors stand under the alias `m`: columns
 * `latest.e`, `latest.total_us`, `latest.flags`, `latest.probe_id`, null where there is none. For lists of at most a page.
 */
export const latestResultJoin = sql.fragment`
  left join lateral (
    select r.e, r.total_us, r.flags, r.probe_id from check_results r
    where r.monitor_id = m.id and r.flags & 3 <> 2
    order by r.e desc limit 1
  ) latest on true`;

function resultItem(found: z.infer<typeof row>): ResultItem {
  const flags = unpackFlags(found.flags & 255);
  return {
    monitorId: found.monitor_id,
    probeId: found.probe_id,
    effectiveMs: found.e,
    receivedMs: found.received_at,
    probeRevision: found.probe_revision,
    // Only numbers that unpack are stored, so the fallback is for a database that was written by hand.
    kind: flags?.kind ?? 'scheduled',
    outcome: flags?.outcome ?? 'probe_error',
    source: flags?.source,
    code: errorCodeOf(found.error),
    central: (found.flags & centralFlag) !== 0,
    fallback: (found.flags & fallbackFlag) !== 0,
    late: (found.flags & lateFlag) !== 0,
    freshS: found.fresh_s,
    totalUs: found.total_us,
    dnsUs: found.dns_us,
    connectUs: found.connect_us,
    tlsUs: found.tls_us,
    firstByteUs: found.first_byte_us,
    transferUs: found.transfer_us,
    message: found.message,
    evidence: found.evidence ?? null,
  };
}
