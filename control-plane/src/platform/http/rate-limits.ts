import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../database/pools.ts';

/** At most `quota` requests in each fixed window of `windowSeconds`, which begin at multiples of it since the epoch. */
export type Rate = { readonly name: 'minute' | 'hour' | 'day'; readonly quota: number; readonly windowSeconds: number };

/** How much of a rate is used, this request included; above the quota means refused. */
export type RateState = Rate & { readonly used: number; readonly resetSeconds: number };

/** `quota` in each minute. */
export const perMinute = (quota: number): Rate => ({ name: 'minute', quota, windowSeconds: 60 });
/** `quota` in each hour. */
export const perHour = (quota: number): Rate => ({ name: 'hour', quota, windowSeconds: 3_600 });

/** `quota` in each day. Counters are forgotten after two hours, so what is limited by the day is counted by its own rows. */
export const perDay = (quota: number): Rate => ({ name: 'day', quota, windowSeconds: 86_400 });

const oneRow = z.object({ used: z.number(), reset_seconds: z.number() });
const twoRow = z.object({
  short_used: z.number(),
  short_reset_seconds: z.number(),
  long_used: z.number(),
  long_reset_seconds: z.number(),
});

/** Start of the window that is open now, by the database's clock, which all replicas share. */
const windowStart = (rate: Rate) =>
  sql.fragment`to_timestamp(floor(extract(epoch from now()) / ${rate.windowSeconds}) * ${rate.windowSeconds})`;
const secondsLeft = (rate: Rate) =>
  sql.fragment`(${rate.windowSeconds} - mod(extract(epoch from now()), ${rate.windowSeconds}))::float8`;
// One above the quota is enough to know; a counter that hammers on stays where it is.
const onConflict = (rate: Rate) => sql.fragment`
  on conflict (key) do update set
    used = case when counter.window_started_at = excluded.window_started_at then least(counter.used + 1, ${rate.quota + 1}) else 1 end,
    window_started_at = excluded.window_started_at
`;

/** Counts one event under a key in one window. */
export async function countOnce(pool: DatabasePool, key: string, rate: Rate): Promise<RateState> {
  const row = await pool.one(sql.type(oneRow)`
    insert into rate_limits as counter (key, window_started_at, used)
    values (${`${key} ${rate.name}`}, ${windowStart(rate)}, 1)
    ${onConflict(rate)}
    returning used, ${secondsLeft(rate)} as reset_seconds
  `);
  return { ...rate, used: row.used, resetSeconds: row.reset_seconds };
}

/** How much of a rate is used under a key, counting nothing. */
export async function countedSoFar(pool: DatabasePool, key: string, rate: Rate): Promise<RateState> {
  const row = await pool.one(sql.type(oneRow)`
    select coalesce(max(used), 0)::integer as used, ${secondsLeft(rate)} as reset_seconds
    from rate_limits
    where key = ${`${key} ${rate.name}`} and window_started_at = ${windowStart(rate)}
  `);
  return { ...rate, used: row.used, resetSeconds: row.reset_seconds };
}

/**
 * Counts one request under a key in two windows with one statement. A request that the short window refuses does not use up the
 * long one.
 */
export async function countTwice(
  pool: DatabasePool,
  key: string,
  short: Rate,
  long: Rate,
): Promise<readonly [RateState, RateState]> {
  const row = await pool.one(sql.type(twoRow)`
    select short_used, short_reset_seconds, long_used, long_reset_seconds
    from count_in_two_windows(
      ${key}, ${short.name}, ${short.quota}, ${short.windowSeconds}, ${long.name}, ${long.quota}, ${long.windowSeconds})
  `);
  return [
    { ...short, used: row.short_used, resetSeconds: row.short_reset_seconds },
    { ...long, used: row.long_used, resetSeconds: row.long_reset_seconds },
  ];
}

/** Forgets windows that ended an hour ago or earlier. */
export async function sweepRateLimits(pool: DatabasePool): Promise<void> {
  await pool.query(sql.unsafe`delete from rate_limits where window_started_at < now() - interval '2 hours'`);
}
