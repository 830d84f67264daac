import { unpackFlags } from '@parallax/wire';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { StoredVote } from './votes.ts';

const rangeRow = z.object({
  started_at: z.number(),
  started_us: z.bigint(),
  ended_at: z.number().nullable(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  evidence: z.unknown(),
  revised_at: z.number().nullable(),
});
/** One stored range. Times in milliseconds since the epoch. */
export type OneRange = {
  readonly startedMs: number;
  readonly startedUs: number;
  readonly endedMs: number | null;
  readonly status: 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';
  readonly evidence: unknown;
  readonly revisedMs: number | null;
};

/** A range of the monitor, which the caller has seen to be the tenant's; null when it has none of that number. */
export async function findRange(
  connection: CommonQueryMethods,
  monitorId: number,
  rangeId: number,
): Promise<OneRange | null> {
  const row = await connection.maybeOne(sql.type(rangeRow)`
    select started_at, (extract(epoch from started_at) * 1000000)::bigint as started_us, ended_at, status, evidence, revised_at
    from status_ranges where monitor_id = ${monitorId} and id = ${rangeId}`);
  if (row === null) return null;
  return {
    startedMs: row.started_at,
    startedUs: Number(row.started_us),
    endedMs: row.ended_at,
    status: row.status,
    evidence: row.evidence,
    revisedMs: row.revised_at,
  };
}

const probeRow = z.object({ id: z.number(), name: z.string(), region: z.string() });

/** Names and regions of probes that the caller may see, by identifier. */
export async function probesNamed(
  connection: CommonQueryMethods,
  ids: readonly number[],
): Promise<ReadonlyMap<number, { readonly name: string; readonly region: string }>> {
  const rows = await connection.any(sql.type(probeRow)`
    select id, name, region from probes where id = any(${sql.array(ids, 'int4')})`);
  return new Map(rows.map(({ id, name, region }) => [id, { name, region }]));
}

const failureRow = z.object({
  probe_id: z.number(),
  message: z.string(),
  evidence: z.unknown(),
  flags: z.number().nullable(),
});
/** What was kept of a failure. */
export type KeptFailure = {
  readonly message: string;
  readonly evidence: unknown;
  readonly source: 'target' | 'resolver' | 'probe' | undefined;
};

/**
 * What was kept of the failures behind votes, by voter: the last that is not later than the beginning of the range, or else the first after it. A
 * failure is kept in full when it is the first, and whenever its error code changes.
 */
export async function failuresBehind(
  connection: CommonQueryMethods,
  monitorId: number,
  rangeStartedUs: number,
  votes: readonly StoredVote[],
): Promise<ReadonlyMap<number, KeptFailure>> {
  const rows = votes.map(({ voter, sinceUs }) => [voter, String(sinceUs), String(Math.max(sinceUs, rangeStartedUs))]);
  const found = await connection.any(sql.type(failureRow)`
    select v.probe_id, kept.message, kept.evidence, r.flags
    from (
      select probe_id, 'epoch'::timestamptz + since_us * interval '1 microsecond' as since,
        'epoch'::timestamptz + until_us * interval '1 microsecond' as until
      from ${sql.unnest(rows, ['int4', 'int8', 'int8'])} as given (probe_id, since_us, until_us)) v
    cross join lateral (
      select e, message, evidence from result_evidence k
      where k.monitor_id = ${monitorId} and k.probe_id = v.probe_id and k.e >= v.since and k.e < v.since + interval '1 day'
      order by k.e > v.until, case when k.e <= v.until then v.until - k.e else k.e - v.until end limit 1) kept
    left join check_results r on r.monitor_id = ${monitorId} and r.e = kept.e and r.probe_id = v.probe_id`);
  return new Map(
    found.map((row) => [
      row.probe_id,
      {
        message: row.message,
        evidence: row.evidence,
        source: row.flags === null ? undefined : unpackFlags(row.flags & 255)?.source,
      },
    ]),
  );
}
