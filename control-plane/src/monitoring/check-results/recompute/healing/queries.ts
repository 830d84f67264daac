import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@parallax/telemetry';
import type pg from 'pg';
import { rowsBeforeHorizon } from '../../../consensus/index.ts';
import { atMicroseconds } from '../../../status-ranges/index.ts';
import { readMonitors } from '../../ingest/queries.ts';
import { mergeDays } from '../../packing/days/queries.ts';
import { dayOfHour, hoursOfDay } from '../../packing/hours.ts';
import { packHours } from '../../packing/hours/queries.ts';
import { whenPacking } from '../../packing/queries.ts';
import type { Healing, Look, RecomputeOptions } from '../look.ts';
import { placeOf } from '../place/queries.ts';
import type { Place } from '../place/queries.ts';

/** An ingest that has renewed its ownership within this runs. */
const aliveSeconds = 15;

/**
 * Puts right what a look has found. Hours and days are packed again in one transaction. Ranges have one writer, the owner of the shard: it is told
 * from where on to derive them anew, does so with its next round, and marks what changes as revised. Whoever is told of outages is told of that.
 */
export async function healMonitor(pool: pg.Pool, look: Look, options: RecomputeOptions, log: Logger): Promise<Healing> {
  const packed = await healPacked(pool, look, options.monitorId, log);
  if (look.ranges.length === 0 && look.status === undefined) return { packed, ranges: 'none' };
  await wantRefold(pool, look, options.monitorId);
  return { packed, ranges: await awaitRefold(pool, options) };
}

async function healPacked(pool: pg.Pool, look: Look, monitorId: number, log: Logger): Promise<number> {
  const hours = [...new Set(look.packed.flatMap((one) => (one.kind === 'hour' && one.isHealable ? [one.at] : [])))];
  const days = new Set(look.packed.flatMap((one) => (one.kind === 'day' ? [one.at] : [])));
  if (hours.length + days.size === 0) return 0;
  const client = await pool.connect();
  let place: Place;
  try {
    place = await placeOf(client, monitorId);
  } finally {
    client.release();
  }
  // Days of hours that are packed again are merged again, where they stand already.
  for (const hour of hours) if ((dayOfHour(hour) + 1) * hoursOfDay <= place.closedHour) days.add(dayOfHour(hour));
  await whenPacking(pool, place.shard, async (packing) => {
    const wanted = hours.map((hour) => ({ monitorId, hour, resetUs: place.resetUs }));
    await packHours(packing, wanted);
    await mergeDays(
      packing,
      [...days].map((day) => ({ monitorId, day })),
      log,
    );
  });
  return hours.length + days.size;
}

/** From before the streaks that the earliest difference can touch. */
async function wantRefold(pool: pg.Pool, look: Look, monitorId: number): Promise<void> {
  const firstUs = look.ranges.reduce((first, { fromUs }) => Math.min(first, fromUs), look.untilUs);
  const client = await pool.connect();
  try {
    const place = await placeOf(client, monitorId);
    const monitor = (await readMonitors(client, place.shard, [monitorId], firstUs)).get(monitorId);
    const fromUs = Math.floor(firstUs - rowsBeforeHorizon * (monitor?.longestFreshUs ?? 0) - 1);
    await client.query(
      `update monitors set refold_from = least(refold_from, ${atMicroseconds('$2::bigint')}), changed_xid = pg_current_xact_id()
       where id = $1 and deleted_at is null`,
      [monitorId, fromUs],
    );
  } finally {
    client.release();
  }
}

async function awaitRefold(
  pool: pg.Pool,
  { monitorId, patienceMs = 60_000 }: RecomputeOptions,
): Promise<'healed' | 'waiting'> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const found = await pool.query<{ is_done: boolean; is_alive: boolean }>(
      `select m.refold_from is null as is_done,
         coalesce(s.owner is not null and s.renewed_at > clock_timestamp() - interval '${aliveSeconds} seconds', false) as is_alive
       from monitors m join shards s on s.shard = m.shard where m.id = $1`,
      [monitorId],
    );
    const row = found.rows[0];
    if (row?.is_done === true) return 'healed';
    if (row?.is_alive !== true || performance.now() >= untilMs) return 'waiting';
    await sleep(100);
  }
}
