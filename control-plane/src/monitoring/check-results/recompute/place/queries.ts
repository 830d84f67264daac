import type pg from 'pg';
import { planOf } from '../../../../identity/plans/index.ts';
import type { PlanName } from '../../../../identity/plans/index.ts';
import { ExplainedError } from '../../../../platform/explained-error.ts';
import { microseconds, readHotFrom } from '../../ingest/windows/queries.ts';
import { dayMs } from '../../packing/hours.ts';

/** There is no such monitor, or nothing is known of it yet. */
export class RecomputeError extends ExplainedError {
  override readonly name = 'RecomputeError';
}

/** What is looked at of a monitor, and where its results stand. Times in microseconds. */
export type Place = {
  readonly monitorId: number;
  readonly shard: number;
  /** From here on there are results: the creation or the reset of the monitor, or as far back as the plan keeps them. */
  readonly floorUs: number;
  /** What is older was there once and is not kept any more. */
  readonly isCut: boolean;
  readonly foldedUs: number;
  readonly closedHour: number;
  readonly resetUs: number | null;
  readonly hotFromUs: number;
};

/** @throws RecomputeError when there is no such monitor */
export async function placeOf(client: pg.ClientBase, monitorId: number): Promise<Place> {
  const found = await client.query<{
    shard: number;
    plan: PlanName;
    begin_us: string;
    reset_us: string | null;
    folded_us: string | null;
    closed_hour: number | null;
    now_ms: string;
  }>(
    `select m.shard, u.plan, ${microseconds('greatest(m.created_at, m.reset_at)')} as begin_us, ${microseconds('m.reset_at')} as reset_us,
       ${microseconds('s.folded_until')} as folded_us, (extract(epoch from s.closed_until) / 3600)::integer as closed_hour,
       (extract(epoch from now()) * 1000)::bigint as now_ms
     from monitors m join workspaces w on w.id = m.workspace_id join users u on u.id = w.owner_id join shards s on s.shard = m.shard
     where m.id = $1 and m.deleted_at is null`,
    [monitorId],
  );
  const row = found.rows[0];
  if (row === undefined) throw noMonitor(monitorId);
  const keptDay = Math.floor((Number(row.now_ms) - planOf(row.plan).retentionDays * dayMs) / dayMs) + 1;
  const beginUs = Number(row.begin_us);
  const keptUs = keptDay * dayMs * 1_000;
  return {
    monitorId,
    shard: row.shard,
    floorUs: Math.max(beginUs, keptUs),
    isCut: keptUs > beginUs,
    foldedUs: row.folded_us === null ? Number.NEGATIVE_INFINITY : Number(row.folded_us),
    closedHour: row.closed_hour ?? Number.NEGATIVE_INFINITY,
    resetUs: row.reset_us === null ? null : Number(row.reset_us),
    hotFromUs: await readHotFrom(client),
  };
}

export const noMonitor = (monitorId: number): RecomputeError => new RecomputeError(`there is no monitor ${monitorId}`);
