import type pg from 'pg';
import { hoursOfDay } from '../hours.ts';
import { inTransaction } from '../queries.ts';

/**
 * Days are kept as rows until their end is so old: a result is stored up to 49 h after its effective time, and what the ingest reads again must
 * not lie in chunks more often than it has to.
 */
const keptHours = 50;
/** Everybody who reads or stores results waits behind a drop: it is given up after this, and tried again. */
const dropLockMs = 300;

const possibleBoundary = `date_trunc('day', least(
    $1::timestamptz - interval '${keptHours} hours',
    (select case when bool_and(closed_until is not null) then min(closed_until) else '-infinity' end from shards),
    (select 'epoch'::timestamptz + min(case kind when 'hour' then at else at * ${hoursOfDay} end) * interval '1 hour' from packing_jobs),
    (select 'epoch'::timestamptz + min(hour) * interval '1 hour' from stale_hours)
  ), 'UTC')`;

/**
 * Moves the boundary between rows and chunks to the latest start of a UTC day before which everything is packed, is old enough, and changes no more.
 * @param nowMs the database's clock
 * @returns the new boundary in milliseconds; null when it stays
 */
export async function moveBoundary(pool: pg.Pool, nowMs: number): Promise<number | null> {
  const values = [new Date(nowMs)];
  const look = await pool.query<{ may_move: boolean }>(
    `select ${possibleBoundary} > hot_from as may_move from result_storage`,
    values,
  );
  if (look.rows[0]?.may_move !== true) return null;
  return inTransaction(pool, async (client) => {
    // The rounds of the ingest lock these rows: none is under way that stores older rows without a note, and the next one sees the boundary.
    await client.query('select from shards order by shard for update');
    const found = await client.query<{ ms: string }>(
      `update result_storage s set hot_from = b.boundary, moved_at = clock_timestamp()
       from (select ${possibleBoundary} as boundary) b
       where b.boundary > s.hot_from
       returning (extract(epoch from s.hot_from) * 1000)::bigint as ms`,
      values,
    );
    const ms = found.rows[0]?.ms;
    return ms === undefined ? null : Number(ms);
  });
}

/**
 * Drops the oldest day of results before the boundary, a minute after that was moved or later.
 * @returns its name; null when there is none
 * @throws when somebody holds on to results for long: it is to be tried again
 */
export async function dropPackedDay(pool: pg.Pool): Promise<string | null> {
  return inTransaction(pool, async (client) => {
    await client.query(`set local lock_timeout = '${dropLockMs}ms'`);
    const found = await client.query<{ name: string | null }>('select drop_packed_day() as name');
    return found.rows[0]?.name ?? null;
  });
}
