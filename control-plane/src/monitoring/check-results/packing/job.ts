import type { Logger } from '@parallax/telemetry';
import type pg from 'pg';
import type { Context } from '../../../context.ts';
import { longestRetentionDays } from '../../../identity/plans/index.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { dropPackedDay, moveBoundary } from './boundary/queries.ts';
import { closeHours } from './closing/queries.ts';
import { dayMs, hourMs } from './hours.ts';
import type { Packed } from './hours/queries.ts';
import { packBatch } from './jobs/queries.ts';
import { createPackedPartitions, whilePacking } from './queries.ts';
import type { PackedPartitions } from './queries.ts';
import { oldestStaleHour, packStaleHours } from './stale/queries.ts';

const everyMs = 10_000;
const boundaryEveryMs = 60_000;

/** Packs closed hours, oldest first, and hours that late results reopened. */
export async function startPacking(context: Context, log: Logger): Promise<RunningService> {
  const { raw: pool } = context.database;
  const partitions = createPackedPartitions(pool);
  return repeat({
    everyMs,
    work: (isStopped) => packAll({ pool, partitions, shards: context.shards, now: context.now, log, isStopped }),
    onError: (error) => log.warn({ err: error }, 'packing results failed; it is tried again'),
  });
}

/** Gives up days of rows that are packed. */
export async function startBoundary(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: boundaryEveryMs,
    work: (isStopped) => moveAndDrop(context, log, isStopped),
    onError: (error) =>
      log.info({ err: error }, 'days of results that are packed could not be dropped yet; it is tried again'),
  });
}

export type PackingWork = {
  readonly pool: pg.Pool;
  readonly partitions: PackedPartitions;
  readonly shards: number;
  /** The database's clock, milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
  readonly isStopped: () => boolean;
  /** How long an hour must have been stale before it is packed again; the usual time when absent. */
  readonly settledSeconds?: number | undefined;
};

/** Works until there is nothing left to be packed now, a batch of each shard after the other. @returns what was packed */
export async function packAll(work: PackingWork): Promise<Packed> {
  const { log, isStopped } = work;
  const sum = { results: 0, chunks: 0, leftOut: 0 };
  const startedMs = performance.now();
  await makeStalePartitions(work);
  let idle = new Set<number>();
  while (idle.size < work.shards && !isStopped()) {
    const before = idle;
    idle = new Set();
    for (let shard = 0; shard < work.shards && !isStopped(); shard += 1) {
      const packed = before.has(shard) ? undefined : await tryNext(work, shard);
      if (packed === undefined) idle.add(shard);
      else add(sum, packed);
    }
  }
  if (sum.chunks > 0) log.debug({ ...sum, ms: Math.round(performance.now() - startedMs) }, 'results were packed');
  return sum;
}

/** What is wrong with one shard does not keep the others from being packed. */
async function tryNext(work: PackingWork, shard: number): Promise<Packed | undefined> {
  try {
    return await packNext(work, shard);
  } catch (error) {
    work.log.warn({ err: error, shard }, 'packing the results of a shard failed; it is tried again');
    return undefined;
  }
}

/** One step of a shard: hours that are stale, a batch of a job, or hours to be closed. Undefined when nothing is to be done now. */
async function packNext(work: PackingWork, shard: number): Promise<Packed | undefined> {
  const { pool, log } = work;
  const packed = await whilePacking(
    pool,
    shard,
    async (packing) => (await packStaleHours(packing, log, work.settledSeconds)) ?? (await packBatch(packing, log)),
  );
  if (packed !== undefined && packed.leftOut > 0) {
    log.error(
      { count: packed.leftOut },
      'a monitor has more results in an hour than are kept; the latest of it were left out',
    );
  }
  if (packed !== undefined) return packed;
  const oldestHour = Math.floor((work.now() - longestRetentionDays * dayMs) / hourMs);
  const closed = await closeHours(pool, shard, work.partitions, oldestHour);
  return closed > 0 ? { results: 0, chunks: 0, leftOut: 0 } : undefined;
}

/** Late results may be of a week that had none. */
async function makeStalePartitions({ pool, partitions }: PackingWork): Promise<void> {
  const hour = await oldestStaleHour(pool);
  if (hour !== null) await partitions.ensure(hour, hour);
}

function add(sum: { results: number; chunks: number; leftOut: number }, packed: Packed): void {
  sum.results += packed.results;
  sum.chunks += packed.chunks;
  sum.leftOut += packed.leftOut;
}

/** Moves the boundary, and drops the days that an earlier round has left behind. @returns the names of what was dropped */
export async function moveAndDrop(
  context: Pick<Context, 'database' | 'now'>,
  log: Logger,
  isStopped: () => boolean,
): Promise<string[]> {
  const { raw: pool } = context.database;
  const boundaryMs = await moveBoundary(pool, context.now());
  if (boundaryMs !== null) {
    log.info({ from: new Date(boundaryMs).toISOString() }, 'older results stand in packed hours only');
  }
  const dropped: string[] = [];
  while (!isStopped()) {
    const name = await dropPackedDay(pool);
    if (name === null) break;
    dropped.push(name);
    log.info({ table: name }, 'a day of results was dropped: it is packed');
  }
  return dropped;
}
