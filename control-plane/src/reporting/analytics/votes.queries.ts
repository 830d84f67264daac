import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { addTime, noTime } from '../statistics/index.ts';
import type { TimeByStatus } from '../statistics/index.ts';

/** Time that probes voted for, by what they voted. */
export type VotedTime = { readonly key: string; readonly bucket: number; readonly time: TimeByStatus };

const row = z.object({
  key: z.string(),
  bucket: z.number(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  ms: z.number(),
});

const at = (ms: number) => sql.timestamp(new Date(ms));

/**
 * What probes, or the probes of regions, voted on the monitors of the scope in buckets, as the statistics of each monitor count it. An open
 * vote lasts as far as its shard is evaluated.
 * @param edgesMs bounds of the buckets in order, one more than there are buckets
 */
export async function readVotes(
  scope: Scope,
  tx: Transaction,
  selection: {
    readonly workspaceId?: number | undefined;
    readonly by: 'probe' | 'region';
    readonly keys?: readonly string[] | undefined;
  },
  edgesMs: readonly number[],
  nowMs: number,
): Promise<VotedTime[]> {
  const { workspaceId, by, keys } = selection;
  const workspaces = scope.workspaceIds.filter((id) => workspaceId === undefined || id === workspaceId);
  const key =
    by === 'probe'
      ? sql.fragment`r.probe_id::text`
      : sql.fragment`case r.probe_id when 0 then 'central' else coalesce(p.region, 'unknown') end`;
  const only = keys === undefined ? sql.fragment`` : sql.fragment`and ${key} = any(${sql.array([...keys], 'text')})`;
  const buckets = edgesMs
    .slice(0, -1)
    .map((from, bucket) => [bucket, new Date(from).toISOString(), new Date(edgesMs[bucket + 1] ?? from).toISOString()]);
  const end = sql.fragment`coalesce(date_trunc('milliseconds', r.ended_at), v.known)`;
  const rows = await tx.any(sql.type(row)`
    with seen as (
      select m.id, m.reset_at, date_trunc('milliseconds', least(${at(nowMs)}, s.folded_until)) as known
      from monitors m left join shards s on s.shard = m.shard
      where m.workspace_id = any(${sql.array(workspaces, 'int4')}) and m.deleted_at is null),
    votes as (
      select ${key} as key, r.status, greatest(date_trunc('milliseconds', r.started_at), ${at(edgesMs[0] ?? 0)}) as from_at, ${end} as to_at
      from seen v join probe_ranges r on r.monitor_id = v.id left join probes p on p.id = r.probe_id
      where r.started_at < ${at(edgesMs.at(-1) ?? 0)} and ${end} > ${at(edgesMs[0] ?? 0)} and r.started_at >= coalesce(v.reset_at, '-infinity') ${only})
    select votes.key, b.bucket, votes.status,
      sum(extract(epoch from least(votes.to_at, b.to_at) - greatest(votes.from_at, b.from_at)) * 1000)::float8 as ms
    from votes join ${sql.unnest(buckets, ['int4', 'timestamptz', 'timestamptz'])} as b (bucket, from_at, to_at)
      on votes.from_at < b.to_at and votes.to_at > b.from_at
    group by 1, 2, 3`);
  const sums = new Map<string, VotedTime & { readonly time: ReturnType<typeof noTime> }>();
  for (const { key: name, bucket, status, ms } of rows) {
    const place = `${bucket} ${name}`;
    const sum = sums.get(place) ?? { key: name, bucket, time: noTime() };
    sums.set(place, sum);
    addTime(sum.time, status, Math.round(ms));
  }
  return [...sums.values()];
}
