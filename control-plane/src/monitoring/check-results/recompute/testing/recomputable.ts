import type { Outcome } from '@parallax/checks';
import { packFlags } from '@parallax/wire';
import { from as copyFrom } from 'pg-copy-streams';
import type { Test } from 'tap';
import { ranges, timeline } from '../../../consensus/index.ts';
import { readMonitors } from '../../ingest/queries.ts';
import type { IngestRow } from '../../ingest/rows.ts';
import { fastLimits, world } from '../../ingest/testing/world.ts';
import { copyText, createCopyEncoder } from '../../ingest/copy-buffer.ts';
import { dayMs, hourMs } from '../../packing/hours.ts';
import { moveAndDrop, packAll } from '../../packing/job.ts';
import { createPackedPartitions } from '../../packing/queries.ts';
import { healMonitor } from '../healing/queries.ts';
import { lookAtMonitor } from '../queries.ts';
import type { Look } from '../look.ts';

export const startMs = Math.floor(Date.now() / dayMs) * dayMs - 6 * dayMs;
export const endMs = startMs + 28 * hourMs;
/** Between two results of a probe. */
export const everyMs = 600_000;
export const freshS = 1_510;
export const firstHour = startMs / hourMs;

/** Two outages of two probes, one of them long and of timeouts, and a slow hour. */
function outcomeAt(atMs: number, probe: number): Outcome {
  const hour = (atMs - startMs) / hourMs;
  if (hour >= 5 && hour < 7 && probe !== 2) return hour < 5.2 ? 'fail' : 'timeout';
  if (hour >= 20 && hour < 20.6) return 'fail';
  if (hour >= 12 && hour < 13) return 'slow';
  return 'ok';
}

/** A database whose results and ranges fit together. */
export type Recomputable = Awaited<ReturnType<typeof recomputable>>;

/** Monitors with 28 hours of results, packed, and the ranges that the batch form gives for them. */
export async function recomputable(t: Test) {
  const w = await world(t, { probes: 3, monitors: 2, intervalS: 600, timeoutS: 10, createdMs: startMs - 1_000 });
  const rows = w.monitors.flatMap((monitorId) =>
    w.probes.flatMap(({ id }, probe) => {
      const own: IngestRow[] = [];
      for (let atMs = startMs + probe * 60_000; atMs < endMs; atMs += everyMs) {
        own.push(rowOf(monitorId, id, atMs * 1_000 + monitorId, outcomeAt(atMs, probe)));
      }
      return own;
    }),
  );
  for (const ms of [startMs, startMs + dayMs])
    await w.pool.query('select ensure_result_partitions($1, $1)', [new Date(ms)]);
  const client = await w.pool.connect();
  await new Promise<void>((resolve, reject) => {
    const stream = client.query(copyFrom(copyText));
    stream.on('finish', resolve);
    stream.on('error', reject);
    stream.end(createCopyEncoder()(rows));
  });
  client.release();
  await w.pool.query('update shards set folded_until = $1', [new Date(endMs)]);
  await storeRanges(w, rows);
  const partitions = createPackedPartitions(w.pool);
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const log = silent as unknown as Parameters<typeof moveAndDrop>[1];
  const pack = () =>
    packAll({ pool: w.pool, partitions, shards: 1, now: () => endMs, log, isStopped: () => false, settledSeconds: 0 });
  await pack();
  let nowMs = endMs;
  return {
    ...w,
    log,
    pack,
    setNow: (ms: number) => {
      nowMs = ms;
    },
    run: () => w.start({ now: () => nowMs, limits: { ...fastLimits, holdMs: 100 } }),
    look: (monitorId = w.monitor, bounds: { fromMs?: number; toMs?: number } = {}) =>
      lookAtMonitor(w.pool, { monitorId, patienceMs: 20, ...bounds }),
    heal: (look: Look) => healMonitor(w.pool, look, { monitorId: w.monitor, patienceMs: 20_000 }, log),
  };
}

/** A result as the ingest stores it. */
export function rowOf(monitorId: number, voter: number, eUs: number, outcome: Outcome): IngestRow {
  return {
    monitorId,
    voter,
    eUs,
    receivedUs: eUs + 500_000,
    kind: 'scheduled',
    outcome,
    flags: packFlags('scheduled', outcome, undefined),
    error: 0,
    freshS,
    probeRevision: 1,
    totalUs: 20_000 + (eUs % 977),
    dnsUs: undefined,
    connectUs: 900,
    tlsUs: undefined,
    firstByteUs: undefined,
    transferUs: undefined,
    evidence: undefined,
  };
}

async function storeRanges(w: Pick<Recomputable, 'pool'>, rows: readonly IngestRow[]): Promise<void> {
  const untilUs = endMs * 1_000 + 1;
  const at = (us: number): string => `('epoch'::timestamptz + ${us} * interval '1 microsecond')`;
  for (const monitor of (await readMonitors(w.pool, 0)).values()) {
    const own = rows.filter((row) => row.monitorId === monitor.monitorId);
    const { segments, perVoter } = timeline(monitor.inputs, own, monitor.inputs.createdUs, untilUs);
    const insert = async (into: string, voter: string, list: ReturnType<typeof ranges>): Promise<void> => {
      for (const { fromUs, toUs, status } of list) {
        await w.pool.query(
          `insert into ${into} (monitor_id, ${voter === '' ? '' : 'probe_id,'} started_at, ended_at, status)
           values (${monitor.monitorId}, ${voter} ${at(fromUs)}, ${toUs >= untilUs ? 'null' : at(toUs)}, '${status}')`,
        );
      }
    };
    await insert('status_ranges', '', ranges(segments));
    for (const [voter, list] of perVoter) await insert('probe_ranges', `${voter},`, ranges(list));
    await w.pool.query('update monitors set status = $2, status_since = $3 where id = $1', [
      monitor.monitorId,
      segments.at(-1)?.status,
      new Date((segments.at(-1)?.fromUs ?? 0) / 1_000),
    ]);
  }
}

/** What a look found, in words. */
export function told({ ranges: list, status, packed }: Look): string[] {
  const hour = (us: number): string => ((us / 1_000 - startMs) / hourMs).toFixed(2);
  return [
    ...list.map(
      ({ voter, fromUs, toUs, expected, found }) =>
        `${voter ?? 'all'} ${hour(fromUs)}–${hour(toUs)} ${expected ?? 'nothing'}, not ${found.join('+') || 'nothing'}`,
    ),
    ...(status === undefined ? [] : [`status ${status.expected}, not ${status.found}`]),
    ...packed.map(({ kind, at, what }) => `${kind} ${kind === 'hour' ? at - firstHour : at - firstHour / 24}: ${what}`),
  ];
}

export const sound = (look: Look): boolean => told(look).length === 0;

/** SQL for rows of a table that began so many hours after the start. */
export const row = (table: string, hours: number): string =>
  `${table} where monitor_id = $1 and started_at > '${new Date(startMs + hours * hourMs).toISOString()}'`;

export const shift = (hours: number): string => `interval '${hours * 3_600} seconds'`;

/** SQL for a packed hour of one probe, counted from the start. */
export const packedHour = (n: number, probe = 'min(probe_id)'): string =>
  `monitor_id = $1 and hour = ${firstHour + n} and probe_id = (select ${probe} from result_hours where monitor_id = $1)`;

export const owner = async (w: Pick<Recomputable, 'pool'>): Promise<string | null> =>
  (await w.pool.query<{ owner: string | null }>('select owner from shards')).rows[0]?.owner ?? null;
export const foldedMs = async (w: Pick<Recomputable, 'pool'>): Promise<number> =>
  Number(
    (await w.pool.query<{ ms: string }>('select extract(epoch from folded_until) * 1000 as ms from shards')).rows[0]
      ?.ms,
  );
