import type pg from 'pg';
import type { Reader } from '../../ingest/windows/queries.ts';
import { dayOfHour, hoursOfDay } from '../hours.ts';
import { inTransaction } from '../queries.ts';
import type { PackedPartitions } from '../queries.ts';

/** An hour is closed when its shard is folded so far beyond its end: what comes later is late, and costs another packing. */
const settledMinutes = 5;
/** Hours that are closed in one step: after a standstill the work comes in pieces. */
const hoursAtOnce = 48;

/** A shard as far as closing is concerned; hours as they are counted since 1970. */
type Progress = {
  /** The first hour that is not closed; null when none ever was. */
  readonly closedHour: number | null;
  /** The first hour that may not be closed yet; null when nothing was folded. */
  readonly foldedHour: number | null;
};

async function readProgress(client: Reader, shard: number, suffix = ''): Promise<Progress> {
  const found = await client.query<{ closed: number | null; folded: number | null }>(
    `select (extract(epoch from closed_until) / 3600)::integer as closed,
       floor(extract(epoch from folded_until - interval '${settledMinutes} minutes') / 3600)::integer as folded
     from shards where shard = $1 ${suffix}`,
    [shard],
  );
  return { closedHour: found.rows[0]?.closed ?? null, foldedHour: found.rows[0]?.folded ?? null };
}

/**
 * Closes hours of a shard that are folded, oldest first, some at once, and leaves jobs to pack them. From the commit on every result that is older
 * makes its hour stale: the row that this changes is locked by every round of the ingest.
 * @param oldestHour what is older than this is packed no more: it is beyond every plan's retention
 * @returns how many hours were closed
 */
export async function closeHours(
  pool: pg.Pool,
  shard: number,
  partitions: PackedPartitions,
  oldestHour: number,
): Promise<number> {
  const seen = await readProgress(pool, shard);
  if (seen.foldedHour === null || (seen.closedHour ?? 0) >= seen.foldedHour) return 0;
  const firstHour = seen.closedHour ?? (await firstHourWithResults(pool)) ?? seen.foldedHour;
  const fromHour = Math.max(firstHour, seen.closedHour ?? oldestHour);
  const untilHour = Math.min(seen.foldedHour, fromHour + hoursAtOnce);
  // Before the lock: making a partition waits for everybody who reads packed results. A day ahead, so that it is seldom in anybody's way.
  await partitions.ensure(fromHour, untilHour + hoursOfDay);
  return inTransaction(pool, async (client) => {
    const { closedHour, foldedHour } = await readProgress(client, shard, 'for update');
    // Somebody else has closed hours meanwhile.
    if (closedHour !== seen.closedHour || foldedHour === null || foldedHour < untilHour) return 0;
    // The first time, older results may have come since the look; from here on none comes without a note.
    if (closedHour === null && ((await firstHourWithResults(client)) ?? firstHour) < firstHour) return 0;
    await addJobs(client, shard, fromHour, untilHour);
    await client.query(
      `update shards set closed_until = 'epoch'::timestamptz + $2 * interval '1 hour' where shard = $1`,
      [shard, untilHour],
    );
    return Math.max(0, untilHour - fromHour);
  });
}

/** Jobs for the hours [fromHour, untilHour), and for the days that end in them. A day without any result needs none. */
async function addJobs(client: Reader, shard: number, fromHour: number, untilHour: number): Promise<void> {
  const days = await daysWithResults(client, dayOfHour(fromHour), dayOfHour(untilHour - 1));
  await client.query(
    `with days as (select unnest($4::integer[]) as day)
     insert into packing_jobs (kind, shard, at)
     select 'hour', $1::integer, hour from days, generate_series(day * ${hoursOfDay}, (day + 1) * ${hoursOfDay} - 1) as hour
     where hour >= $2::integer and hour < $3::integer
     union all
     select 'day', $1, day from days where (day + 1) * ${hoursOfDay} <= $3
     on conflict (kind, shard, at) do update set next_monitor_id = 0`,
    [shard, fromHour, untilHour, days],
  );
}

async function firstHourWithResults(client: Reader): Promise<number | null> {
  const [day] = await daysWithResults(client, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 1);
  return day === undefined ? null : day * hoursOfDay;
}

/** The days [firstDay, lastDay] of which there are results, of any shard, oldest first. */
async function daysWithResults(
  client: Reader,
  firstDay: number,
  lastDay: number,
  most = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const found = await client.query<{ name: string; day: number }>(
    `select part.relname::text as name, to_date(right(part.relname, 8), 'YYYYMMDD') - date '1970-01-01' as day
     from pg_inherits i join pg_class part on part.oid = i.inhrelid
     where i.inhparent = 'check_results'::regclass and part.relname ~ '^check_results_[0-9]{8}$' order by day`,
  );
  const days: number[] = [];
  for (const { name, day } of found.rows) {
    if (day < firstDay || day > lastDay || days.length >= most) continue;
    const answer = await client.query<{ is_any: boolean }>(`select exists (select from ${name}) as is_any`);
    if (answer.rows[0]?.is_any === true) days.push(day);
  }
  return days;
}
