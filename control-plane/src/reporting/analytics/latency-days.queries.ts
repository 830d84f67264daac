import type { Logger } from '@parallax/telemetry';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { encodeSummary, RunningSummary, SummaryError } from '../../monitoring/check-results/index.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';

/** Summaries that are read at once. */
const atOnce = 5_000;
/** Sums are kept for as long as the days that they are merged from. */
const keptDays = 732;

const markRow = z.object({ workspace_id: z.number(), day: z.number() });
export type LatencyDay = z.infer<typeof markRow>;

/**
 * Takes the marks of the day of a workspace that was marked first and has not been since a while, because days are packed batch by batch. Null
 * when there is none, or others are at it.
 */
export async function takeLatencyDay(tx: Transaction, settledSeconds: number): Promise<LatencyDay | null> {
  const found = await tx.maybeOne(sql.type(markRow)`
    select workspace_id, day from latency_day_marks group by workspace_id, day
    having max(noted_at) <= clock_timestamp() - make_interval(secs => ${settledSeconds}) order by min(id) limit 1`);
  if (found === null) return null;
  // Whoever merges the same day waits here; then its marks are gone.
  const { rowCount } = await tx.query(sql.unsafe`
    delete from latency_day_marks where workspace_id = ${found.workspace_id} and day = ${found.day}`);
  return rowCount === 0 ? null : found;
}

const summaryRow = z.object({ monitor_id: z.number(), probe_id: z.number(), summary: z.instanceof(Buffer) });

/** Merges a day of a workspace from the days of its monitors, by probe, and writes it over what was there. */
export async function mergeLatencyDay(
  tx: Transaction,
  { workspace_id: workspaceId, day }: LatencyDay,
  log: Logger,
): Promise<void> {
  const sums = new Map<number, RunningSummary>();
  const one = new RunningSummary();
  for (let after = { monitorId: 0, probeId: -1 }; ; ) {
    const rows = await tx.any(sql.type(summaryRow)`
      select d.monitor_id, d.probe_id, d.summary from monitors m join result_days d on d.monitor_id = m.id and d.day = ${day}
      where m.workspace_id = ${workspaceId} and m.deleted_at is null
        and (m.reset_at is null or d.day >= floor(extract(epoch from m.reset_at) / 86400))
        and (d.monitor_id, d.probe_id) > (${after.monitorId}, ${after.probeId})
      order by d.monitor_id, d.probe_id limit ${atOnce}`);
    for (const row of rows) {
      if (!decodeInto(one, row.summary)) {
        log.error(
          { monitorId: row.monitor_id, day },
          'the summary of a day is damaged: its workspace is summed without it',
        );
        continue;
      }
      const sum = sums.get(row.probe_id) ?? new RunningSummary();
      sums.set(row.probe_id, sum);
      sum.add(one);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < atOnce) break;
    after = { monitorId: last.monitor_id, probeId: last.probe_id };
  }
  await tx.query(sql.unsafe`delete from latency_days where workspace_id = ${workspaceId} and day = ${day}`);
  const rows = [...sums].map(([probeId, sum]) => [workspaceId, day, probeId, encodeSummary(sum).toString('hex')]);
  await tx.query(sql.unsafe`
    insert into latency_days (workspace_id, day, probe_id, summary)
    select w.workspace_id, w.day, w.probe_id, decode(w.summary, 'hex')
    from ${sql.unnest(rows, ['int4', 'int4', 'int4', 'text'])} as w (workspace_id, day, probe_id, summary)`);
}

/** Decodes a summary into one that is used again. False: it is damaged. */
export function decodeInto(summary: RunningSummary, bytes: Buffer): boolean {
  summary.clear();
  try {
    summary.addEncoded(bytes);
    return true;
  } catch (error) {
    if (error instanceof SummaryError) return false;
    throw error;
  }
}

/** Removes what is older than it is kept. @returns how many rows */
export async function removeOldLatencyDays(connection: CommonQueryMethods, nowMs: number): Promise<number> {
  const { rowCount } = await connection.query(sql.unsafe`
    delete from latency_days where ctid = any(array(
      select ctid from latency_days where day < ${Math.floor(nowMs / 86_400_000) - keptDays} limit ${atOnce}))`);
  return rowCount;
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeLatencyDaysOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from latency_days where workspace_id = ${workspaceId}`);
}
