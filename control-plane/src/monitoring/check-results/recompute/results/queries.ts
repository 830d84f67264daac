import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { StoredResult } from '../../../consensus/index.ts';
import { votingRows } from '../../ingest/windows/packed-rows.ts';
import { microseconds } from '../../ingest/windows/queries.ts';
import { ChunkError, decodeChunk } from '../../packed/chunk.ts';
import { ResultColumns } from '../../packed/columns.ts';
import { CopiedRows, copyRowsText } from '../../packing/copied-rows.ts';
import type { HourOfProbe } from '../../packing/copied-rows.ts';
import { dayMs, hourUs } from '../../packing/hours.ts';
import type { Place } from '../place/queries.ts';

const dayUs = dayMs * 1_000;

/** Results that vote, oldest first, a day at once. */
export async function* resultsFrom(
  client: pg.ClientBase,
  place: Place,
  fromUs: number,
): AsyncGenerator<StoredResult[]> {
  const last = await client.query<{ us: string | null }>(
    `select ${microseconds('max(e)')} as us from check_results where monitor_id = $1`,
    [place.monitorId],
  );
  const newestUs = Math.max(place.foldedUs, Number(last.rows[0]?.us ?? 0));
  for (let day = Math.floor(fromUs / dayUs); day * dayUs <= newestUs; day += 1) {
    const windowUs = { fromUs: Math.max(fromUs, day * dayUs), toUs: (day + 1) * dayUs };
    const rows =
      windowUs.toUs <= place.hotFromUs ? await packedOf(client, place, windowUs) : await hotOf(client, place, windowUs);
    yield rows.sort((a, b) => a.eUs - b.eUs);
  }
}

type Span = { readonly fromUs: number; readonly toUs: number };

async function packedOf(client: pg.ClientBase, place: Place, { fromUs, toUs }: Span): Promise<StoredResult[]> {
  const found = await client.query<[probeId: number, chunk: Buffer]>({
    text: 'select probe_id, chunk from result_hours where monitor_id = $1 and hour >= $2 and hour < $3',
    values: [place.monitorId, Math.floor(fromUs / hourUs), Math.ceil(toUs / hourUs)],
    rowMode: 'array',
  });
  const columns = new ResultColumns();
  return found.rows.flatMap(([probeId, chunk]) =>
    canDecode(chunk, columns) ? votingRows(columns, probeId, fromUs, toUs) : [],
  );
}

async function hotOf(client: pg.ClientBase, place: Place, { fromUs, toUs }: Span): Promise<StoredResult[]> {
  const hours = await copyRows(client, place, Math.floor(fromUs / hourUs), Math.ceil(toUs / hourUs));
  return hours.flatMap(({ probeId, rows }) => votingRows(rows, probeId, fromUs, toUs));
}

/** Results as they are stored as rows, without those that a reset made void. */
export async function copyRows(
  client: pg.ClientBase,
  { monitorId, resetUs }: Place,
  firstHour: number,
  untilHour: number,
): Promise<readonly HourOfProbe[]> {
  const copied = new CopiedRows();
  copied.clear(new Map(resetUs === null ? [] : [[monitorId, resetUs]]));
  copied.begin();
  const text = copyRowsText(firstHour, untilHour, [monitorId]);
  for await (const bytes of client.query(copyTo(text))) copied.add(bytes as Buffer);
  return copied.hours;
}

function canDecode(chunk: Buffer, into: ResultColumns): boolean {
  try {
    decodeChunk(chunk, into);
    return true;
  } catch (error) {
    if (error instanceof ChunkError) return false;
    throw error;
  }
}
