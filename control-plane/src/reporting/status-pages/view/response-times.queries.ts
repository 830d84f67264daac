import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { RunningSummary, SummaryError } from '../../../monitoring/check-results/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const dayMs = 86_400_000;

const row = z.object({ monitor_id: z.number(), day: z.number(), summary: z.instanceof(Buffer) });

/** Summaries of days that monitors of the scope have: by monitor, and by the day since the epoch. */
export type DaySummaries = ReadonlyMap<number, ReadonlyMap<number, RunningSummary>>;

/**
 * Response times of UTC days, as they are summed: one statement. Days that have no sum of their own yet, such as the present one, are told by their
 * closed hours.
 */
export async function daySummaries(
  scope: Scope,
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<DaySummaries> {
  if (monitorIds.length === 0) return new Map();
  const fromDay = Math.floor(fromMs / dayMs);
  const toDay = Math.floor(toMs / dayMs);
  const since = (seconds: number) => sql.fragment`coalesce(ceil(extract(epoch from m.reset_at) / ${seconds}), 0)`;
  const rows = await connection.any(sql.type(row)`
    with m as materialized (
      select m.id, m.reset_at from monitors m
      where m.id = any(${sql.array([...monitorIds], 'int4')}) and m.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
        and m.deleted_at is null)
    select d.monitor_id, d.day, d.summary from m join result_days d on d.monitor_id = m.id
    where d.day between ${fromDay} and ${toDay} and d.day >= ${since(86_400)}
    union all
    select h.monitor_id, h.hour / 24 as day, h.summary from m join result_hours h on h.monitor_id = m.id
    where h.hour between ${Math.max(fromDay, toDay - daysByHours) * 24} and ${toDay * 24 + 23} and h.hour >= ${since(3_600)}
      and (not exists (select from result_days d where d.monitor_id = h.monitor_id and d.day = h.hour / 24)
        or h.hour / 24 < ${since(86_400)})`);
  const found = new Map<number, Map<number, RunningSummary>>();
  const one = new RunningSummary();
  for (const { monitor_id: id, day, summary } of rows) {
    const days = found.get(id) ?? new Map<number, RunningSummary>();
    found.set(id, days);
    const sum = days.get(day) ?? new RunningSummary();
    days.set(day, sum);
    addTo(sum, summary, one);
  }
  return found;
}

/** A day is summed when all of its hours are closed, some time after it is over. */
const daysByHours = 3;

/** What is damaged is left out. */
function addTo(sum: RunningSummary, summary: Buffer, one: RunningSummary): void {
  one.clear();
  try {
    one.addEncoded(summary);
  } catch (error) {
    if (error instanceof SummaryError) return;
    throw error;
  }
  sum.add(one);
}
