import type { CommonQueryMethods } from 'slonik';
import { fallbackFlag } from '../../flags.ts';
import { decodeChunk } from '../../packed/chunk.ts';
import { decodeSummary } from '../../packed/summary.ts';
import { joinedBlock, mergedBlock, pickedBlock } from '../block.ts';
import type { ResultBlock } from '../block.ts';
import { splitAt } from '../cover.ts';
import { resultItem } from '../result-item.ts';
import type { ResultItem } from '../result-item.ts';
import { readCover } from '../rollups/queries.ts';
import type { Rollup } from '../rollups/queries.ts';
import { chunksOf, countRows, keptEvidence, newestRows } from '../rows/queries.ts';
import type { RowFilter, StoredChunk } from '../rows/queries.ts';
import { boundUs, hourOf, hourUs } from '../time.ts';
import type { Span } from '../time.ts';
import { isEmpty } from '../window.ts';
import { locate, totalOf } from './locate.ts';
import type { Stretch } from './locate.ts';

export type ResultsFilter = {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** Results older than this are none: the monitor's reset, the plan's retention. */
  readonly sinceMs?: number | undefined;
  /** Bounds of the effective time, both inclusive, in milliseconds. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly withTotal: boolean;
  readonly probeId?: number | undefined;
  /** Whether manual checks and those of the control plane beside probes are listed; true unless told otherwise. */
  readonly includeManual?: boolean | undefined;
};

export type ResultsPage = { readonly items: ResultItem[]; readonly total: number | undefined };

/** A page whose results are within so many of the newest is looked for among the rows before anything is counted. */
const nearRows = 1_000;

/**
 * A page of a monitor's results, newest first; ties by probe, receipt, flags and duration, all descending. The caller has seen that the monitor is
 * the tenant's: results carry no workspace.
 *
 * A page that the newest rows fill needs nothing else. Any other is found by what hours and days hold, and only what it lies in is read: the
 * cost of a page does not grow with its number. What is stored between the statements of one call can move the list by that much, as between
 * two pages; no result comes twice, because every stretch of time is read once.
 * @returns the items, and the number of all that match when asked for
 * @throws ChunkError when packed results are damaged
 */
export async function resultsPage(
  connection: CommonQueryMethods,
  monitorId: number,
  filter: ResultsFilter,
): Promise<ResultsPage> {
  const span = spanOfFilter(filter);
  if (isEmpty(span)) return { items: [], total: filter.withTotal ? 0 : undefined };
  const offset = (filter.page - 1) * filter.pageSize;
  const near = offset < nearRows ? await nearPage(connection, monitorId, span, filter, offset) : undefined;
  const { stretches, hotFromUs } =
    near !== undefined && !filter.withTotal
      ? { stretches: [], hotFromUs: 0 }
      : await readStretches(connection, monitorId, span, filter, true);
  const block = near ?? (await pageBlock(connection, monitorId, { span, filter, offset, stretches, hotFromUs }));
  const kept = await keptEvidence(connection, monitorId, block);
  const items = Array.from({ length: block.rows.length }, (_, at) => resultItem(monitorId, block, at, kept.get(at)));
  return { items: items.toReversed(), total: filter.withTotal ? totalOf(stretches) : undefined };
}

// A bound in milliseconds includes the whole millisecond that it names.
function spanOfFilter({ startMs = 0, sinceMs = 0, endMs }: ResultsFilter): Span {
  return {
    fromUs: boundUs(Math.max(startMs, sinceMs)),
    toUs: boundUs(endMs === undefined ? Number.POSITIVE_INFINITY : Math.floor(endMs) + 1),
  };
}

/** The page when the newest rows fill it. They are there without a gap, whatever days are dropped meanwhile: the oldest go first. */
async function nearPage(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  filter: ResultsFilter,
  offset: number,
): Promise<ResultBlock | undefined> {
  const block = await newestRows(connection, monitorId, span, { ...filter, skip: offset, take: filter.pageSize });
  return block.rows.length === filter.pageSize ? block : undefined;
}

type Stretches = { readonly stretches: Stretch[]; readonly hotFromUs: number };

/** How many results there are when, newest first. @param withDays whether days may stand for their hours */
async function readStretches(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  filter: RowFilter,
  withDays: boolean,
): Promise<Stretches> {
  const { probeId } = filter;
  const cover = await readCover(connection, monitorId, { ...span, probeId }, { withDays });
  const { hotFromUs, rollups, rest, recent } = cover;
  const stretches: Stretch[] = [];
  for (const [fromHour, own] of Map.groupBy(rollups, (rollup) => rollup.fromHour)) {
    stretches.push({
      fromUs: fromHour * hourUs,
      toUs: (own[0]?.toHour ?? 0) * hourUs,
      count: own.reduce((sum, rollup) => sum + listedOf(rollup, filter), 0),
    });
  }
  const { before, after } = splitAt(splitAt(rest, hotFromUs).after, recent.fromUs);
  const counts = await countRows(connection, monitorId, before, filter);
  for (const [index, part] of before.entries()) stretches.push({ ...part, count: counts[index] ?? 0 });
  for (const part of after) {
    const own = recent.rows.filter(
      ({ eUs, flags }) => part.fromUs <= eUs && eUs < part.toUs && isListed(flags, filter),
    );
    stretches.push({ ...part, count: own.length });
  }
  const edges = cover.edges.filter(({ hour }) => hour * hourUs < hotFromUs);
  for (const [hour, block] of blocksOf(edges, span, filter)) {
    stretches.push({
      fromUs: Math.max(span.fromUs, hour * hourUs),
      toUs: Math.min(span.toUs, (hour + 1) * hourUs),
      count: block.rows.length,
    });
  }
  return { stretches: stretches.toSorted((one, other) => other.fromUs - one.fromUs), hotFromUs };
}

function listedOf({ results, summary }: Rollup, { includeManual }: RowFilter): number {
  if (includeManual !== false) return results;
  return decodeSummary(summary)
    .counts.entries()
    .reduce((sum, { kind, origin, count }) => (kind === 'manual' || origin === 'fallback' ? sum : sum + count), 0);
}

/** The listed results of packed hours as far as they lie in a span, by hour. */
function blocksOf(chunks: readonly StoredChunk[], span: Span, filter: RowFilter): Map<number, ResultBlock> {
  const blocks = new Map<number, ResultBlock>();
  for (const [hour, own] of Map.groupBy(chunks, (chunk) => chunk.hour)) {
    const probes = own.map(({ probeId, chunk }) => ({ probeId, rows: decodeChunk(chunk) }));
    const block = mergedBlock(probes, span.fromUs, span.toUs);
    blocks.set(
      hour,
      filter.includeManual === false ? pickedBlock(block, (at) => isListed(block.rows.flags[at] ?? 0, filter)) : block,
    );
  }
  return blocks;
}

function isListed(flags: number, { includeManual }: RowFilter): boolean {
  return includeManual !== false || ((flags & 3) !== 2 && (flags & fallbackFlag) === 0);
}

type Wanted = Stretches & { readonly span: Span; readonly filter: ResultsFilter; readonly offset: number };

/** The results of a page in order of time, by what is known of how many there are when. */
async function pageBlock(connection: CommonQueryMethods, monitorId: number, wanted: Wanted): Promise<ResultBlock> {
  const { span, filter, offset } = wanted;
  const take = filter.pageSize;
  let { hotFromUs } = wanted;
  let place = locate(wanted.stretches, offset, take);
  if (place.stretches.some(({ fromUs, toUs }) => toUs - fromUs > hourUs)) {
    const around = { fromUs: place.stretches.at(-1)?.fromUs ?? 0, toUs: place.stretches[0]?.toUs ?? 0 };
    const hours = await readStretches(connection, monitorId, around, filter, false);
    hotFromUs = hours.hotFromUs;
    place = locate(hours.stretches, place.skip, take);
  }
  const [newest] = place.stretches;
  if (newest === undefined) return joinedBlock([]);

  const isHot = newest.toUs > hotFromUs;
  const hotSpan = { fromUs: Math.max(span.fromUs, hotFromUs), toUs: newest.toUs };
  const hot = isHot
    ? await newestRows(connection, monitorId, hotSpan, { ...filter, skip: place.skip, take })
    : undefined;
  const missing = take - (hot?.rows.length ?? 0);
  const hours = place.stretches.filter(({ fromUs }) => fromUs < hotFromUs).map(({ fromUs }) => hourOf(fromUs));
  if (missing === 0 || hours.length === 0) return hot ?? joinedBlock([]);
  const cold = blocksOf(await chunksOf(connection, monitorId, hours, filter.probeId), span, filter);
  const inOrder = [...cold].toSorted(([one], [other]) => one - other).map(([, block]) => block);
  const rows = newestOf(joinedBlock(inOrder), isHot ? 0 : place.skip, missing);
  return hot === undefined ? rows : joinedBlock([rows, hot]);
}

/** The newest rows of a block but some, so many at most. */
function newestOf(block: ResultBlock, skip: number, take: number): ResultBlock {
  const end = block.rows.length - skip;
  return pickedBlock(block, (at) => at >= end - take && at < end);
}
