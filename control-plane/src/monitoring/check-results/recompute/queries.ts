import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readMonitors } from '../ingest/queries.ts';
import type { PackedDifference } from './hour-differences.ts';
import type { Look, RecomputeOptions } from './look.ts';
import { lookAtPacked } from './packed/queries.ts';
import { noMonitor, placeOf } from './place/queries.ts';
import type { RangeDifference } from './range-differences.ts';
import { lookAtRanges } from './ranges/queries.ts';

/** A change of the configuration is taken in by the owner of the shard within this. */
const settleMs = 3_000;

/**
 * Derives a monitor's ranges, chunks and summaries again from its stored results and inputs, and compares them with what is stored. What differs
 * because the owner of the shard has not taken in a change yet is looked at again a little later.
 */
export async function lookAtMonitor(pool: pg.Pool, options: RecomputeOptions): Promise<Look> {
  const first = await lookOnce(pool, options);
  if (first.ranges.length === 0 && first.status === undefined && first.packed.length === 0) return first;
  await sleep(options.patienceMs === undefined ? settleMs : Math.min(settleMs, options.patienceMs));
  const second = await lookOnce(pool, options);
  const wasThere = (difference: RangeDifference): boolean =>
    first.ranges.some(({ voter, fromUs }) => voter === difference.voter && fromUs === difference.fromUs);
  const wasPacked = (difference: PackedDifference): boolean =>
    first.packed.some(
      ({ kind, at, probeId, what }) =>
        kind === difference.kind && at === difference.at && probeId === difference.probeId && what === difference.what,
    );
  return {
    ...second,
    ranges: second.ranges.filter(wasThere),
    packed: second.packed.filter(wasPacked),
    status: first.status?.found === second.status?.found ? second.status : undefined,
  };
}

/** One moment of the database: what the ingest commits together is seen together. */
async function lookOnce(pool: pg.Pool, options: RecomputeOptions): Promise<Look> {
  const client = await pool.connect();
  // The error of a query says what happened; without a listener the same would end the process.
  client.on('error', () => undefined);
  try {
    await client.query('begin isolation level repeatable read read only');
    // Before the snapshot: no day of rows is dropped while they are read.
    await client.query('lock table check_results, result_hours, result_days in access share mode');
    await client.query('set local statement_timeout = 0');
    const place = await placeOf(client, options.monitorId);
    const monitor = (await readMonitors(client, place.shard, [options.monitorId], place.floorUs)).get(
      options.monitorId,
    );
    if (monitor === undefined) throw noMonitor(options.monitorId);
    const fromUs = Math.max(place.floorUs, (options.fromMs ?? Number.NEGATIVE_INFINITY) * 1_000);
    const untilUs = Math.max(fromUs, Math.min(place.foldedUs + 1, (options.toMs ?? Number.POSITIVE_INFINITY) * 1_000));
    const packed = await lookAtPacked(client, place, fromUs, untilUs);
    const isPresent = untilUs === place.foldedUs + 1;
    const derived = await lookAtRanges(client, {
      place,
      monitor,
      fromUs,
      untilUs,
      isPresent,
      lostUntilUs: packed.lostUntilUs,
    });
    await client.query('commit');
    return { ...derived, packed: packed.differences, fromUs, untilUs };
  } finally {
    client.release(true);
  }
}
