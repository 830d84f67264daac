import { incidentResolutions, incidentSeverities, incidentStatuses, recentDays } from '@parallax/api-contract';
import type { DashboardIncidents } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { fourDecimals } from '../../platform/figures.ts';

type Answer = Omit<DashboardIncidents, 'as_of' | 'workspace_id'>;

const incidentRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  title: z.string(),
  status: z.enum(incidentStatuses),
  severity: z.enum(incidentSeverities),
  resolution: z.enum(incidentResolutions).nullable(),
  is_held: z.boolean(),
  started_at: z.number(),
  acknowledged_at: z.number().nullable(),
  resolved_at: z.number().nullable(),
  member_count: z.number(),
});

const columns = sql.fragment`i.id, i.workspace_id, i.title, i.status, i.severity, i.resolution, i.held_at is not null as is_held,
  i.started_at, i.acknowledged_at, i.resolved_at,
  (select count(*)::integer from incident_members u where u.incident_id = i.id) as member_count`;

const figureRow = z.object({
  total_open: z.number(),
  mtta_seconds: z.number().nullable(),
  mttr_seconds: z.number().nullable(),
});

const dayMs = 86_400_000;

/** Open incidents of the scope, those that ended lately, and how long it took to react. */
export async function readIncidents(scope: Scope, tx: Transaction, limit: number, nowMs: number): Promise<Answer> {
  const since = sql.fragment`${sql.timestamp(new Date(nowMs - recentDays * dayMs))}::timestamptz`;
  const ofScope = sql.fragment`i.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and i.deleted_at is null`;
  // What was no outage, or part of another incident, took nobody any time.
  const counts = sql.fragment`coalesce(i.resolution, '') not in ('corrected', 'folded')`;
  const open = await tx.any(sql.type(incidentRow)`
    select ${columns} from incidents i where ${ofScope} and i.resolved_at is null
    order by i.started_at desc, i.id desc limit ${limit}`);
  const recent = await tx.any(sql.type(incidentRow)`
    select ${columns} from incidents i where ${ofScope} and i.resolved_at >= ${since} and ${counts}
    order by i.resolved_at desc, i.id desc limit ${limit}`);
  const figures = await tx.one(sql.type(figureRow)`
    select count(*) filter (where i.resolved_at is null)::integer as total_open,
      avg(extract(epoch from i.acknowledged_at - i.created_at)) filter (where i.acknowledged_at >= ${since})::float8 as mtta_seconds,
      avg(extract(epoch from i.resolved_at - i.started_at)) filter (where i.resolution in ('auto', 'manual'))::float8 as mttr_seconds
    from incidents i
    where ${ofScope} and ${counts} and (i.resolved_at is null or i.resolved_at >= ${since})`);
  return {
    open: open.map(answerOf),
    recent: recent.map(answerOf),
    total_open: figures.total_open,
    mtta_seconds: fourDecimals(figures.mtta_seconds),
    mttr_seconds: fourDecimals(figures.mttr_seconds),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

function answerOf(row: z.output<typeof incidentRow>): Answer['open'][number] {
  return {
    ...row,
    started_at: iso(row.started_at),
    acknowledged_at: isoOrNull(row.acknowledged_at),
    resolved_at: isoOrNull(row.resolved_at),
  };
}
