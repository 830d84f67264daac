import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const sealedRow = z.object({ id: z.number(), sealed_secrets: z.instanceof(Buffer) });

/** The sealed secrets of those monitors of the scope that have any, by identifier. */
export async function sealedSecretsOf(
  scope: Scope,
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, Buffer>> {
  const rows = await connection.any(sql.type(sealedRow)`
    select id, sealed_secrets from monitors
    where id = any(${sql.array(monitorIds, 'int4')}) and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and sealed_secrets is not null`);
  return new Map(rows.map((row) => [row.id, row.sealed_secrets]));
}

/** A result that was kept without evidence. */
export type BareResult = { readonly at: number; readonly createdAt: string; readonly probeId: number };

const detailsRow = z.object({ at: z.number(), details: z.record(z.string(), z.unknown()) });

/**
 * The facts of the last evidence before each result that tells of a failed step, by the result's `at`: agents keep evidence with the first of
 * equal failures only. Nothing from before a reset counts.
 */
export async function lastFailures(
  scope: Scope,
  connection: CommonQueryMethods,
  monitorId: number,
  results: readonly BareResult[],
): Promise<ReadonlyMap<number, Readonly<Record<string, unknown>>>> {
  if (results.length === 0) return new Map();
  const keys = results.map(({ at, createdAt, probeId }) => [at, createdAt, probeId]);
  // Times of results are answered in whole milliseconds and kept in microseconds.
  const rows = await connection.any(sql.type(detailsRow)`
    select k.at, v.details from ${sql.unnest(keys, ['int4', 'timestamptz', 'int4'])} as k (at, e, probe_id)
    cross join lateral (
      select v.evidence -> 'details' as details from result_evidence v join monitors m on m.id = v.monitor_id
      where v.monitor_id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
        and v.probe_id = k.probe_id and v.e < k.e + interval '1 millisecond' and v.e >= coalesce(m.reset_at, '-infinity')
        and v.evidence #> '{details,failed_step}' is not null
      order by v.e desc limit 1
    ) v`);
  return new Map(rows.map((row) => [row.at, row.details]));
}
