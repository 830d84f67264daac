import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const count = z.number();
const sums = { incidents: count, acknowledged: count, acknowledge_ms: count, resolved: count, resolve_ms: count };
const responseRow = z.object({ bucket: z.number(), ...sums });

/** Incidents of a bucket, and how long they took in sum. */
export type ResponseSum = Omit<z.infer<typeof responseRow>, 'bucket'>;

/**
 * Incidents of the scope by the bucket in which they began.
 * @param edgesMs bounds of the buckets in order, one more than there are buckets
 */
export async function responseSums(
  scope: Scope,
  tx: Transaction,
  workspaceId: number | undefined,
  edgesMs: readonly number[],
): Promise<ReadonlyMap<number, ResponseSum>> {
  const workspaces = scope.workspaceIds.filter((id) => workspaceId === undefined || id === workspaceId);
  const edges = edgesMs.map((ms) => new Date(ms).toISOString());
  // Opened is when it was known: before an acknowledgement there must be something to acknowledge.
  const rows = await tx.any(sql.type(responseRow)`
    select width_bucket(i.started_at, ${sql.array(edges, 'timestamptz')}) - 1 as bucket, count(*)::integer as incidents,
      count(i.acknowledged_at)::integer as acknowledged,
      coalesce(sum(greatest(0, extract(epoch from i.acknowledged_at - i.created_at) * 1000)), 0)::float8 as acknowledge_ms,
      count(i.resolved_at)::integer as resolved,
      coalesce(sum(greatest(0, extract(epoch from i.resolved_at - i.started_at) * 1000)), 0)::float8 as resolve_ms
    from incidents i
    where i.workspace_id = any(${sql.array(workspaces, 'int4')}) and i.deleted_at is null and i.folded_into is null
      and i.started_at >= ${sql.timestamp(new Date(edgesMs[0] ?? 0))} and i.started_at < ${sql.timestamp(new Date(edgesMs.at(-1) ?? 0))}
    group by 1`);
  return new Map(rows.map(({ bucket, ...sum }) => [bucket, sum]));
}
