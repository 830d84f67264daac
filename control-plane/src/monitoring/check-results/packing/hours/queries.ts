import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { ChunkError, decodeChunk, encodeChunk, maxChunkRows } from '../../packed/chunk.ts';
import { ResultColumns } from '../../packed/columns.ts';
import { lastResultOf } from '../../packed/last-result.ts';
import { encodeSummary, RunningSummary } from '../../packed/summary.ts';
import { atMicroseconds } from '../../../status-ranges/index.ts';
import { CopiedRows, copyRowsText } from '../copied-rows.ts';
import type { HourOfProbe } from '../copied-rows.ts';
import type { Packing } from '../queries.ts';
import { copyHoursText, encodeHours } from './copy-buffer.ts';
import type { EncodedHour } from './copy-buffer.ts';

/** A monitor whose results are packed. */
export type PackedMonitor = {
  readonly monitorId: number;
  /** Its last reset, microseconds: what is older is void. */
  readonly resetUs: number | null;
};

/** An hour of a monitor that is to be packed. */
export type WantedHour = PackedMonitor & { readonly hour: number };

/** What packing came to. */
export type Packed = {
  readonly results: number;
  /** Rows of `result_hours` that were written. */
  readonly chunks: number;
  /** Results beyond what a chunk can hold: they are left out. */
  readonly leftOut: number;
};

export const nothingPacked: Packed = { results: 0, chunks: 0, leftOut: 0 };

// One packing at a time writes into them; a second one in this process has its own.
const spare: CopiedRows[] = [];
/** A new one costs as much as an hour's results. */
const running = new RunningSummary();
/** Results that are encoded before others get their turn. */
const rowsAtOnce = 2_000;

/**
 * Packs hours of monitors of one shard as they are now: what is there of them is replaced, and an hour without results has no row afterwards. Each
 * hour of a monitor must be named once. The caller has closed the hours before its transaction, or takes them as they are.
 */
export async function packHours(packing: Packing, wanted: readonly WantedHour[]): Promise<Packed> {
  const copied = spare.pop() ?? new CopiedRows();
  try {
    const hot = wanted.filter(({ hour }) => hour >= packing.hotFromHour);
    await copyOut(packing, hot, copied);
    const { written, leftOut } = await encodeAll(copied.hours);
    written.push(...(await withoutVoid(packing, wanted)));
    await write(packing, wanted, written);
    return { results: written.reduce((sum, { results }) => sum + results, 0), chunks: written.length, leftOut };
  } finally {
    copied.clear(new Map());
    spare.push(copied);
  }
}

async function copyOut({ client }: Packing, wanted: readonly WantedHour[], copied: CopiedRows): Promise<void> {
  copied.clear(new Map(wanted.flatMap(({ monitorId, resetUs }) => (resetUs === null ? [] : [[monitorId, resetUs]]))));
  for (const [hour, own] of Map.groupBy(wanted, (item) => item.hour)) {
    const text = copyRowsText(
      hour,
      hour + 1,
      own.map(({ monitorId }) => monitorId),
    );
    copied.begin();
    const stream = client.query(copyTo(text));
    // Its iterator would cost as much as what is done with the bytes.
    stream.on('data', (bytes: Buffer) => copied.add(bytes));
    await finished(stream);
  }
}

async function encodeAll(hours: readonly HourOfProbe[]): Promise<{ written: EncodedHour[]; leftOut: number }> {
  const written: EncodedHour[] = [];
  let leftOut = 0;
  let since = 0;
  for (const item of hours) {
    let rows = item.rows;
    if (rows.length > maxChunkRows) {
      leftOut += rows.length - maxChunkRows;
      rows = rows.inOrder();
      rows.length = maxChunkRows;
    }
    written.push(encoded(item, rows));
    since += rows.length;
    if (since >= rowsAtOnce) {
      since = 0;
      await nextTurn();
    }
  }
  return { written, leftOut };
}

function encoded(key: Pick<EncodedHour, 'monitorId' | 'hour' | 'probeId'>, rows: ResultColumns): EncodedHour {
  const { monitorId, hour, probeId } = key;
  running.clear();
  running.addRows(rows);
  return {
    monitorId,
    hour,
    probeId,
    results: rows.length,
    last: lastResultOf(rows),
    summary: encodeSummary(running),
    chunk: encodeChunk(rows),
  };
}

/** SQL for the last result of a packed hour, as `EncodedHour` has it. @param row the alias of `result_hours` */
export const lastColumn = (row: string): string => `case when ${row}.last_ms is not null then json_build_object(
  'atMs', ${row}.last_ms, 'totalUs', ${row}.last_total_us, 'flags', ${row}.last_flags) end as last`;

/**
 * Hours whose rows are gone stand in their chunks alone: what a reset made void is taken out of those, and the rest is written anew. A damaged one
 * stays as it is.
 */
async function withoutVoid({ client, hotFromHour }: Packing, wanted: readonly WantedHour[]): Promise<EncodedHour[]> {
  const cold = wanted.filter(({ hour }) => hour < hotFromHour);
  if (cold.length === 0) return [];
  const found = await client.query<EncodedHour>(
    `select h.monitor_id as "monitorId", h.hour, h.probe_id as "probeId", h.results, ${lastColumn('h')}, h.summary, h.chunk from result_hours h
     join unnest($1::integer[], $2::integer[]) as w (monitor_id, hour) on h.monitor_id = w.monitor_id and h.hour = w.hour
     where h.hour >= $3 and h.hour <= $4`,
    hourKeys(cold),
  );
  const resets = new Map(cold.map(({ monitorId, resetUs }) => [monitorId, resetUs]));
  return found.rows.flatMap((stored) => {
    const decoded = decodeOrUndefined(stored.chunk);
    if (decoded === undefined) return [stored];
    const rows = notBefore(decoded, resets.get(stored.monitorId) ?? null);
    return rows.length === 0 ? [] : [encoded(stored, rows)];
  });
}

function decodeOrUndefined(chunk: Buffer): ResultColumns | undefined {
  try {
    return decodeChunk(chunk);
  } catch (error) {
    if (error instanceof ChunkError) return undefined;
    throw error;
  }
}

function notBefore(rows: ResultColumns, floorUs: number | null): ResultColumns {
  if (floorUs === null || (rows.eUs[0] ?? 0) >= floorUs) return rows;
  const kept = new ResultColumns(rows.length);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows.row(at);
    if (row.eUs >= floorUs) kept.push(row);
  }
  return kept;
}

/** The first and the last hour tell the planner which partitions there is nothing in. */
const hourKeys = (wanted: readonly WantedHour[]): [number[], number[], number, number] => [
  wanted.map(({ monitorId }) => monitorId),
  wanted.map(({ hour }) => hour),
  wanted.reduce((first, { hour }) => Math.min(first, hour), 2_147_483_647),
  wanted.reduce((last, { hour }) => Math.max(last, hour), 0),
];

// Nothing of a monitor that was deleted or reset since it was looked at is written, and what is there goes with the rest of it.
const changedText = `
  select m.id from unnest($1::integer[], $2::bigint[]) as w (id, reset_us) join monitors m on m.id = w.id
  where m.deleted_at is not null or m.reset_at is distinct from ${atMicroseconds('w.reset_us')}`;

const removeText = `
  delete from result_hours h using unnest($1::integer[], $2::integer[]) as w (monitor_id, hour)
  where h.monitor_id = w.monitor_id and h.hour = w.hour and h.hour >= $3 and h.hour <= $4`;

/** Nobody else writes packed hours of this shard now, so what is removed first is in nobody's way. */
async function write(
  { client }: Packing,
  wanted: readonly WantedHour[],
  written: readonly EncodedHour[],
): Promise<void> {
  await client.query(removeText, hourKeys(wanted));
  if (written.length === 0) return;
  const monitors = new Map(wanted.map(({ monitorId, resetUs }) => [monitorId, resetUs]));
  const found = await client.query<{ id: number }>(changedText, [[...monitors.keys()], [...monitors.values()]]);
  const changed = new Set(found.rows.map(({ id }) => id));
  const stream = client.query(copyFrom(copyHoursText));
  stream.end(encodeHours(written.filter(({ monitorId }) => !changed.has(monitorId))));
  await finished(stream);
}
