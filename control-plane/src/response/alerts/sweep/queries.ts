import type { DatabasePool } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';
import { sweepReset } from '../hooks/reset.queries.ts';

/** So long what was told is kept. */
const keepDays = 90;
const atOnce = 1_000;

/**
 * Removes a batch of what is older than 90 days: messages, notifications, and occasions that are over or were told once. What lasts stays with
 * what was told of it. What was reset goes when services have closed it. @returns how many rows went
 */
export async function sweepOnce(pool: DatabasePool, nowMs: number): Promise<number> {
  const before = sql.timestamp(new Date(nowMs - keepDays * 86_400_000));
  const notifications = await pool.query(sql.unsafe`
    delete from notifications where id in (
      select id from notifications where created_at < ${before} and status not in ('held', 'queued') order by created_at limit ${atOnce})`);
  const deliveries = await pool.query(sql.unsafe`
    delete from deliveries where id in (
      select id from deliveries where done_at < ${before} order by done_at limit ${atOnce})`);
  const occasions = await pool.query(sql.unsafe`
    delete from alert_occasions where id in (
      select id from alert_occasions o where created_at < ${before} and due_at is null and (ended_at < ${before} or not is_lasting)
        and not exists (select from notifications n where n.occasion_id = o.id)
      order by created_at limit ${atOnce})`);
  const reset = await sweepReset(pool, atOnce);
  return reset + notifications.rowCount + deliveries.rowCount + occasions.rowCount;
}
