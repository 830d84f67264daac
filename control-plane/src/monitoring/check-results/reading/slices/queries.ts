import type { CommonQueryMethods } from 'slonik';
import type { StoredResult } from '../../../consensus/index.ts';
import { decodeChunk } from '../../packed/chunk.ts';
import { mergedBlock } from '../block.ts';
import type { ResultBlock } from '../block.ts';
import { resultItem, storedResult } from '../result-item.ts';
import type { ResultItem } from '../result-item.ts';
import { chunksOf, hotFromUs, oldestChunks, oldestRows } from '../rows/queries.ts';
import type { StoredChunk } from '../rows/queries.ts';
import { hourOf, hourUs } from '../time.ts';
import type { Span } from '../time.ts';
import { isEmpty, spanOf } from '../window.ts';
import type { ResultsWindow, WantedProbes } from '../window.ts';

/** Chunks that are read at once. */
const chunksAtOnce = 100;
/** Rows that are read at once. */
const rowsAtOnce = 5_000;
/** Results in one slice at most. */
const sliceItems = 5_000;

/**
 * All results of a window, oldest first (ties by probe), in slices of at most 5,000. Their evidence is not read.
 * @throws ChunkError when packed results are damaged
 */
export async function* readResults(
  connection: CommonQueryMethods,
  monitorId: number,
  window: ResultsWindow,
): AsyncGenerator<ResultItem[], void, undefined> {
  for await (const block of blocks(connection, monitorId, spanOf(window), window.probeId)) {
    for (let from = 0; from < block.rows.length; from += sliceItems) {
      const count = Math.min(sliceItems, block.rows.length - from);
      yield Array.from({ length: count }, (_, index) => resultItem(monitorId, block, from + index));
    }
  }
}

/**
 * What consensus needs of the results in [fromUs, toUs), oldest first (ties by probe), and how long each check took.
 * @throws ChunkError when packed results are damaged
 */
export async function storedResults(
  connection: CommonQueryMethods,
  monitorId: number,
  fromUs: number,
  toUs: number,
): Promise<(StoredResult & { readonly totalUs: number })[]> {
  const results: (StoredResult & { readonly totalUs: number })[] = [];
  const span = spanOf({ fromMs: fromUs / 1_000, toMs: toUs / 1_000 });
  for await (const block of blocks(connection, monitorId, span, undefined)) {
    for (let at = 0; at < block.rows.length; at += 1) results.push(storedResult(block, at));
  }
  return results;
}

/**
 * The results of a span as blocks, oldest first: chunks before the boundary, rows from it on. Each reading of rows tells in the same statement where
 * the boundary is; where it has moved past what was to be read, that is in chunks by now, so nothing is missed however long the reader
 * takes. What is committed meanwhile may be seen or not, but each result once at most: every instant is read once.
 */
async function* blocks(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  probeId: WantedProbes,
): AsyncGenerator<ResultBlock, void, undefined> {
  if (isEmpty(span)) return;
  let boundaryUs = await hotFromUs(connection);
  let { fromUs } = span;
  let take = rowsAtOnce;
  while (fromUs < span.toUs) {
    if (fromUs < boundaryUs) {
      const toUs = Math.min(span.toUs, boundaryUs);
      yield* coldBlocks(connection, monitorId, { fromUs, toUs }, probeId);
      fromUs = toUs;
      continue;
    }
    const found = await oldestRows(connection, monitorId, { fromUs, toUs: span.toUs }, { probeId, take });
    boundaryUs = found.hotFromUs;
    if (boundaryUs > fromUs) continue;
    const { rows } = found.block;
    const isLast = rows.length < take;
    if (!isLast) {
      // What begins at one instant is not torn apart: the next reading begins there.
      fromUs = rows.eUs[rows.length - 1] ?? 0;
      while (rows.length > 0 && rows.eUs[rows.length - 1] === fromUs) rows.length -= 1;
      if (rows.length === 0) take *= 2;
    }
    yield found.block;
    if (isLast) return;
  }
}

async function* coldBlocks(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  probeId: WantedProbes,
): AsyncGenerator<ResultBlock, void, undefined> {
  const toHour = Math.ceil(span.toUs / hourUs);
  let fromHour = hourOf(span.fromUs);
  while (fromHour < toHour) {
    let chunks = await oldestChunks(connection, monitorId, { fromHour, toHour, probeId, take: chunksAtOnce });
    const last = chunks.at(-1);
    if (last === undefined) return;
    fromHour = last.hour + 1;
    if (chunks.length === chunksAtOnce) {
      // Of the last hour perhaps only some probes came.
      const whole = chunks.filter((chunk) => chunk.hour < last.hour);
      if (whole.length > 0) {
        chunks = whole;
        fromHour = last.hour;
      } else chunks = await chunksOf(connection, monitorId, [last.hour], probeId);
    }
    for (const ofHour of Map.groupBy(chunks, (chunk) => chunk.hour).values()) {
      yield mergedBlock(decoded(ofHour), span.fromUs, span.toUs);
    }
  }
}

const decoded = (chunks: readonly StoredChunk[]) =>
  chunks.map(({ probeId, chunk }) => ({ probeId, rows: decodeChunk(chunk) }));
