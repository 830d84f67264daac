import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { uncountedSince } from '../../intake-watch/index.ts';
import { uptimeOf } from './uptime.ts';
import type { Uptime } from './uptime.ts';

/** How a heartbeat fared in a window. */
export type HeartbeatFigures = Uptime & { readonly id: number; readonly name: string };

const nameRow = z.object({ id: z.number(), name: z.string(), created_at: z.number() });
const spanRow = z.object({
  heartbeat_id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  status: z.enum(['up', 'down']),
});

/** Heartbeats of the scope among those, with what their timelines sum up to; a window begins no earlier than its heartbeat. */
export async function heartbeatFigures(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly HeartbeatFigures[]> {
  if (ids.length === 0) return [];
  const wanted = sql.array([...ids], 'int4');
  const workspaces = sql.array(scope.workspaceIds, 'int4');
  const names = await connection.any(sql.type(nameRow)`
    select id, name, created_at from heartbeats
    where id = any(${wanted}) and workspace_id = any(${workspaces}) and deleted_at is null`);
  const spans = await connection.any(sql.type(spanRow)`
    select p.heartbeat_id, p.started_at, p.ended_at, p.status from heartbeat_ranges p
    where p.heartbeat_id = any(${wanted}) and p.workspace_id = any(${workspaces}) and p.started_at < ${sql.timestamp(new Date(toMs))}
      and (p.ended_at is null or p.ended_at > ${sql.timestamp(new Date(fromMs))})
    order by p.heartbeat_id, p.started_at`);
  const byId = Map.groupBy(spans, (span) => span.heartbeat_id);
  const figures: HeartbeatFigures[] = [];
  for (const { id, name, created_at: createdMs } of names) {
    const startMs = Math.min(toMs, Math.max(fromMs, createdMs));
    const uncounted = await uncountedSince(connection, { type: 'heartbeat', id }, startMs);
    const ranges = (byId.get(id) ?? []).map((span) => ({
      startedMs: span.started_at,
      endedMs: span.ended_at,
      status: span.status,
    }));
    figures.push({ id, name, ...uptimeOf(ranges, uncounted, startMs, toMs) });
  }
  return figures;
}
