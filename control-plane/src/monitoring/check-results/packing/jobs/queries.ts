import type { Logger } from '@parallax/telemetry';
import { mergeDays } from '../days/queries.ts';
import { hoursOfDay } from '../hours.ts';
import { nothingPacked, packHours } from '../hours/queries.ts';
import type { Packed, PackedMonitor } from '../hours/queries.ts';
import type { Packing } from '../queries.ts';

/** Results of a batch, about: its transaction takes some tens of milliseconds. */
const batchResults = 20_000;
/** Monitors of a batch at most; those of a day are merged from some 72 summaries each. */
const batchMonitors = { hour: 500, day: 100 } as const;
/** Seats of a monitor as the size of a batch is reckoned. */
const usualVoters = 3;

type Kind = 'hour' | 'day';
type Job = { readonly kind: Kind; readonly at: number; readonly nextMonitorId: number };
type Batch = { readonly monitors: readonly PackedMonitor[]; readonly nextMonitorId: number | null };

// A day waits for its hours.
const nextJobText = `
  select j.kind, j.at, j.next_monitor_id from packing_jobs j
  where j.shard = $1 and (j.kind = 'hour' or not exists (
    select from packing_jobs h where h.kind = 'hour' and h.shard = j.shard
      and h.at >= j.at * ${hoursOfDay} and h.at < (j.at + 1) * ${hoursOfDay}))
  order by case j.kind when 'hour' then j.at else (j.at + 1) * ${hoursOfDay} end limit 1`;

/**
 * Packs the next batch of the oldest job of a shard: some monitors of a closed hour, or of a day. The job moves on in the same transaction, so a
 * worker that ends in the middle leaves nothing half done.
 * @returns what was packed; undefined when there is no job
 */
export async function packBatch(packing: Packing, log: Logger): Promise<Packed | undefined> {
  const job = await nextJob(packing);
  if (job === undefined) return undefined;
  const batch = await monitorsFrom(packing, job);
  const packed = await pack(packing, job, batch.monitors, log);
  await moveOn(packing, job, batch.nextMonitorId);
  return packed;
}

async function nextJob({ client, shard }: Packing): Promise<Job | undefined> {
  const found = await client.query<{ kind: Kind; at: number; next_monitor_id: number }>({
    name: 'packing-next',
    text: nextJobText,
    values: [shard],
  });
  const row = found.rows[0];
  return row === undefined ? undefined : { kind: row.kind, at: row.at, nextMonitorId: row.next_monitor_id };
}

async function monitorsFrom({ client, shard }: Packing, job: Job): Promise<Batch> {
  const most = batchMonitors[job.kind];
  const found = await client.query<{ id: number; interval_seconds: number; reset_us: string | null }>(
    `select id, interval_seconds, (extract(epoch from reset_at) * 1000000)::bigint as reset_us from monitors
     where shard = $1 and id >= $2 and deleted_at is null order by id limit $3`,
    [shard, job.nextMonitorId, most],
  );
  const monitors: PackedMonitor[] = [];
  let results = 0;
  for (const row of found.rows) {
    if (job.kind === 'hour' && results >= batchResults) return { monitors, nextMonitorId: row.id };
    results += (usualVoters * 3_600) / row.interval_seconds;
    monitors.push({ monitorId: row.id, resetUs: row.reset_us === null ? null : Number(row.reset_us) });
  }
  const last = monitors.at(-1);
  return { monitors, nextMonitorId: last === undefined || monitors.length < most ? null : last.monitorId + 1 };
}

async function pack(packing: Packing, job: Job, monitors: readonly PackedMonitor[], log: Logger): Promise<Packed> {
  if (job.kind === 'hour') {
    return packHours(
      packing,
      monitors.map((monitor) => ({ ...monitor, hour: job.at })),
    );
  }
  await mergeDays(
    packing,
    monitors.map(({ monitorId }) => ({ monitorId, day: job.at })),
    log,
  );
  return nothingPacked;
}

async function moveOn({ client, shard }: Packing, job: Job, nextMonitorId: number | null): Promise<void> {
  const key = [job.kind, shard, job.at];
  if (nextMonitorId === null) {
    await client.query('delete from packing_jobs where kind = $1 and shard = $2 and at = $3', key);
  } else {
    await client.query('update packing_jobs set next_monitor_id = $4 where kind = $1 and shard = $2 and at = $3', [
      ...key,
      nextMonitorId,
    ]);
  }
}
