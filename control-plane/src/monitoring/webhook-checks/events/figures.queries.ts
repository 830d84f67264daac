import { payloadStatuses } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { uncountedSince } from '../../intake-watch/index.ts';
import { uptimeOf } from './uptime.ts';
import type { Uptime } from './uptime.ts';

/** How a webhook check fared in a window. */
export type WebhookCheckFigures = Uptime & { readonly id: number; readonly name: string };

const nameRow = z.object({ id: z.number(), name: z.string(), created_at: z.number() });
const rangeRow = z.object({
  check_id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  status: z.enum(payloadStatuses),
  is_missed: z.boolean(),
});

/** Webhook checks of the scope among those, with what their timelines sum up to; a window begins no earlier than its check. */
export async function webhookCheckFigures(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly WebhookCheckFigures[]> {
  if (ids.length === 0) return [];
  const wanted = sql.array([...ids], 'int4');
  const workspaces = sql.array(scope.workspaceIds, 'int4');
  const names = await connection.any(sql.type(nameRow)`
    select id, name, created_at from webhook_checks
    where id = any(${wanted}) and workspace_id = any(${workspaces}) and deleted_at is null`);
  const rows = await connection.any(sql.type(rangeRow)`
    select check_id, started_at, ended_at, status, coalesce(reason = 'missed', false) as is_missed from webhook_check_ranges
    where check_id = any(${wanted}) and workspace_id = any(${workspaces}) and started_at < ${sql.timestamp(new Date(toMs))}
      and (ended_at is null or ended_at > ${sql.timestamp(new Date(fromMs))})
    order by check_id, started_at`);
  const byId = Map.groupBy(rows, (row) => row.check_id);
  const figures: WebhookCheckFigures[] = [];
  for (const { id, name, created_at: createdMs } of names) {
    const startMs = Math.min(toMs, Math.max(fromMs, createdMs));
    const uncounted = await uncountedSince(connection, { type: 'webhook_check', id }, startMs);
    const ranges = (byId.get(id) ?? []).map((row) => ({
      startedMs: row.started_at,
      endedMs: row.ended_at,
      status: row.status,
      isMissed: row.is_missed,
    }));
    figures.push({ id, name, ...uptimeOf(ranges, uncounted, startMs, toMs) });
  }
  return figures;
}
