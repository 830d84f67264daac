import type { Logger } from '@parallax/telemetry';
import type pg from 'pg';
import { mergeDays } from '../days/queries.ts';
import type { WantedDay } from '../days/queries.ts';
import { dayOfHour, hoursOfDay } from '../hours.ts';
import { packHours } from '../hours/queries.ts';
import type { Packed, WantedHour } from '../hours/queries.ts';
import type { Packing } from '../queries.ts';

/** More late results of the same hour come soon: it is packed again when it has been stale for so long. */
const settleSeconds = 20;
/** A round of the ingest that notes one of these hours waits for the transaction: it takes some tens of milliseconds. */
const batchHours = 50;

// Hours that a job is about to pack anyway wait for it.
const dueText = `
  select s.monitor_id, s.hour, (extract(epoch from m.reset_at) * 1000000)::bigint as reset_us, m.deleted_at is not null as is_deleted,
    (extract(epoch from h.closed_until) / 3600)::integer as closed_hour,
    exists (
      select from packing_jobs j
      where j.kind = 'day' and j.shard = m.shard and j.at = s.hour / ${hoursOfDay} and j.next_monitor_id <= s.monitor_id) as has_day_job
  from stale_hours s join monitors m on m.id = s.monitor_id join shards h on h.shard = m.shard
  where m.shard = $1 and s.noted_at <= now() - make_interval(secs => $2)
    and not exists (
      select from packing_jobs j
      where j.kind = 'hour' and j.shard = m.shard and j.at = s.hour and j.next_monitor_id <= s.monitor_id)
  order by s.noted_at limit ${batchHours} for update of s skip locked`;

type StaleRow = {
  monitor_id: number;
  hour: number;
  reset_us: string | null;
  is_deleted: boolean;
  closed_hour: number | null;
  has_day_job: boolean;
};

/** The oldest stale hour; null when there is none. Its partition is to be made before the transaction that packs it. */
export async function oldestStaleHour(pool: pg.Pool): Promise<number | null> {
  const found = await pool.query<{ hour: number | null }>('select min(hour) as hour from stale_hours');
  return found.rows[0]?.hour ?? null;
}

/**
 * Packs some hours again in which late results were stored, and merges their days again where those stand already.
 * @param settledSeconds how long an hour must have been stale
 * @returns what was packed, and whether there may be more; undefined when nothing is due
 */
export async function packStaleHours(
  packing: Packing,
  log: Logger,
  settledSeconds: number = settleSeconds,
): Promise<(Packed & { readonly isMore: boolean }) | undefined> {
  const { client, shard } = packing;
  const due = await client.query<StaleRow>({
    name: 'packing-stale',
    text: dueText,
    values: [shard, settledSeconds],
  });
  if (due.rows.length === 0) return undefined;
  // Removed before the results are read: one that is stored from now on notes its hour anew.
  await client.query(
    `delete from stale_hours s using unnest($1::integer[], $2::integer[]) as w (monitor_id, hour)
     where s.monitor_id = w.monitor_id and s.hour = w.hour`,
    [due.rows.map((row) => row.monitor_id), due.rows.map((row) => row.hour)],
  );
  const kept = due.rows.filter((row) => !row.is_deleted);
  const hours = kept.map(
    ({ monitor_id: monitorId, hour, reset_us }): WantedHour => ({
      monitorId,
      hour,
      resetUs: reset_us === null ? null : Number(reset_us),
    }),
  );
  const packed = await packHours(packing, hours);
  await mergeDays(packing, daysToMerge(kept), log);
  return { ...packed, isMore: due.rows.length === batchHours };
}

/** Days that stand already: they are over, and no job is about to merge them. */
function daysToMerge(rows: readonly StaleRow[]): WantedDay[] {
  const days = new Map<string, WantedDay>();
  for (const { monitor_id: monitorId, hour, closed_hour: closedHour, has_day_job: hasJob } of rows) {
    const day = dayOfHour(hour);
    if (hasJob || closedHour === null || (day + 1) * hoursOfDay > closedHour) continue;
    days.set(`${monitorId} ${day}`, { monitorId, day });
  }
  return [...days.values()];
}
