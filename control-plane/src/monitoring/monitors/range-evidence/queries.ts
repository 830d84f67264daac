import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { readResults } from '../../check-results/index.ts';
import type { StoredVote } from './votes.ts';

const rangeRow = z.object({
  started_at: z.number(),
  started_us: z.bigint(),
  ended_us: z.bigint().nullable(),
  ended_at: z.number().nullable(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  evidence: z.record(z.string(), z.unknown()),
  revised_at: z.number().nullable(),
});
/** One stored range. Times in milliseconds since the epoch, and exactly in microseconds. */
export type OneRange = {
  readonly startedMs: number;
  readonly startedUs: number;
  readonly endedUs: number | null;
  readonly endedMs: number | null;
  readonly status: 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';
  readonly evidence: unknown;
  readonly revisedMs: number | null;
};

/** A range of the monitor, which the caller has seen to be the tenant's; null when it has none of that number, or a reset made it void. */
export async function findRange(
  connection: CommonQueryMethods,
  monitorId: number,
  rangeId: number,
): Promise<OneRange | null> {
  const row = await connection.maybeOne(sql.type(rangeRow)`
    select r.started_at, (extract(epoch from r.started_at) * 1000000)::bigint as started_us, r.ended_at,
      (extract(epoch from r.ended_at) * 1000000)::bigint as ended_us, r.status, r.evidence, r.revised_at
    from status_ranges r join monitors m on m.id = r.monitor_id
    where r.monitor_id = ${monitorId} and r.id = ${rangeId} and coalesce(r.started_at >= m.reset_at, true)`);
  if (row === null) return null;
  return {
    startedMs: row.started_at,
    startedUs: Number(row.started_us),
    endedUs: row.ended_us === null ? null : Number(row.ended_us),
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
  monitor_id: z.number(),
  probe_id: z.number(),
  e: z.number(),
  message: z.string(),
  // A probe may have sent any JSON; what is no object says nothing.
  evidence: z.record(z.string(), z.unknown()).catch({}),
});
/** What was kept of a failure. */
export type KeptFailure = {
  readonly message: string;
  readonly evidence: unknown;
  readonly source: 'target' | 'resolver' | 'probe' | undefined;
};

/** Votes of one range that are to be explained. */
type BlamedVotes = {
  readonly monitorId: number;
  readonly rangeStartedUs: number;
  readonly votes: readonly StoredVote[];
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
  const failures = new Map<number, KeptFailure>();
  for (const { probe_id: probeId, e, message, evidence } of await keptOf(connection, [
    { monitorId, rangeStartedUs, votes },
  ])) {
    failures.set(probeId, { message, evidence, source: await sourceOf(connection, monitorId, probeId, e) });
  }
  return failures;
}

/** Evidence of the same failures of many monitors, in one statement: by monitor and voter. One range of each monitor. */
export async function evidenceBehind(
  connection: CommonQueryMethods,
  ranges: readonly BlamedVotes[],
): Promise<ReadonlyMap<number, ReadonlyMap<number, unknown>>> {
  const found = await keptOf(connection, ranges);
  return new Map(
    [...Map.groupBy(found, (row) => row.monitor_id)].map(([monitorId, rows]) => [
      monitorId,
      new Map(rows.map((row) => [row.probe_id, row.evidence])),
    ]),
  );
}

async function keptOf(connection: CommonQueryMethods, ranges: readonly BlamedVotes[]) {
  const rows = ranges.flatMap(({ monitorId, rangeStartedUs, votes }) =>
    votes.map(({ voter, sinceUs }) => [monitorId, voter, String(sinceUs), String(Math.max(sinceUs, rangeStartedUs))]),
  );
  if (rows.length === 0) return [];
  return connection.any(sql.type(failureRow)`
    select v.monitor_id, v.probe_id, kept.e, kept.message, kept.evidence
    from (
      select monitor_id, probe_id, 'epoch'::timestamptz + since_us * interval '1 microsecond' as since,
        'epoch'::timestamptz + until_us * interval '1 microsecond' as until
      from ${sql.unnest(rows, ['int4', 'int4', 'int8', 'int8'])} as given (monitor_id, probe_id, since_us, until_us)) v
    cross join lateral (
      select e, message, evidence from result_evidence k
      where k.monitor_id = v.monitor_id and k.probe_id = v.probe_id and k.e >= v.since and k.e < v.since + interval '1 day'
      order by k.e > v.until, case when k.e <= v.until then v.until - k.e else k.e - v.until end limit 1) kept`);
}

/** Whose fault the result of a probe at an instant was, wherever it is kept now. One short reading for each failing voter of a range. */
async function sourceOf(
  connection: CommonQueryMethods,
  monitorId: number,
  probeId: number,
  atMs: number,
): Promise<KeptFailure['source']> {
  const fromMs = Math.floor(atMs);
  for await (const items of readResults(connection, monitorId, { fromMs, toMs: fromMs + 1, probeId })) {
    for (const item of items) if (item.source !== undefined) return item.source;
  }
  return undefined;
}
