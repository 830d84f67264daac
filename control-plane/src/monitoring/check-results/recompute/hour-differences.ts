import { ChunkError, decodeChunk } from '../packed/chunk.ts';
import { ResultColumns } from '../packed/columns.ts';
import { lastResultOf } from '../packed/last-result.ts';
import type { LastResult } from '../packed/last-result.ts';
import { decodeSummary, RunningSummary, summaryOf, SummaryError } from '../packed/summary.ts';
import { hourUs } from '../packing/hours.ts';

/** A row of `result_hours`. */
export type StoredHour = {
  readonly hour: number;
  readonly probeId: number;
  readonly results: number;
  readonly last: LastResult | null;
  readonly summary: Buffer;
  readonly chunk: Buffer;
};

/** What is wrong with an hour of one probe, or with one of its days. */
export type PackedDifference = {
  readonly kind: 'hour' | 'day';
  /** The hour or the day, counted since 1970. */
  readonly at: number;
  readonly probeId: number;
  readonly what: string;
  /** False where the results themselves are gone. */
  readonly isHealable: boolean;
};

/** What an hour of one probe should be, and what is wrong with it. */
export type JudgedHour = {
  readonly differences: readonly PackedDifference[];
  /** Undefined when its results are lost. */
  readonly summary: RunningSummary | undefined;
};

/**
 * Compares a packed hour of one probe with its results.
 * @param hot the results as rows, where those are kept; undefined: the chunk is all that there is
 * @param stored the packed hour; undefined: there is none
 */
export function judgeHour(
  key: { readonly hour: number; readonly probeId: number },
  hot: ResultColumns | undefined,
  stored: StoredHour | undefined,
): JudgedHour {
  const differs = (what: string, isHealable = true): PackedDifference => ({
    kind: 'hour',
    at: key.hour,
    probeId: key.probeId,
    what,
    isHealable,
  });
  if (stored === undefined) {
    const isMissing = hot !== undefined && hot.length > 0;
    return {
      differences: isMissing ? [differs(`${hot.length} results are not packed`)] : [],
      summary: summaryOf(hot ?? new ResultColumns()),
    };
  }
  const packed = readChunk(stored.chunk);
  if (typeof packed === 'string') {
    const differences = [differs(packed, hot !== undefined)];
    return { differences, summary: hot === undefined ? undefined : summaryOf(hot) };
  }
  const truth = hot ?? packed;
  const summary = summaryOf(truth);
  const differences: PackedDifference[] = [];
  if (hot !== undefined && !isSameRows(hot, packed)) {
    differences.push(
      differs(`the chunk holds ${packed.length} results that are not the ${hot.length} that are stored`),
    );
  }
  if (hot === undefined && !isOfHour(packed, key.hour))
    differences.push(differs('the chunk holds results of another hour', false));
  if (stored.results !== truth.length)
    differences.push(differs(`it counts ${stored.results} results instead of ${truth.length}`));
  if (!isSameLast(stored.last, lastResultOf(truth))) differences.push(differs('its last result is another one'));
  const wrong = wrongSummary(stored.summary, summary);
  if (wrong !== undefined) differences.push(differs(wrong));
  return { differences, summary };
}

/** Compares a day of one probe with the summaries of its hours. @param stored undefined: there is none */
export function judgeDay(
  key: { readonly day: number; readonly probeId: number },
  expected: RunningSummary,
  stored: { readonly results: number; readonly summary: Buffer } | undefined,
): PackedDifference[] {
  const differs = (what: string): PackedDifference => ({
    kind: 'day',
    at: key.day,
    probeId: key.probeId,
    what,
    isHealable: true,
  });
  const { results } = expected.counts;
  if (stored === undefined) return results === 0 ? [] : [differs(`${results} results are not in any day`)];
  const differences: PackedDifference[] = [];
  if (stored.results !== results)
    differences.push(differs(`it counts ${stored.results} results instead of ${results}`));
  const wrong = wrongSummary(stored.summary, expected);
  if (wrong !== undefined) differences.push(differs(wrong));
  return differences;
}

function readChunk(chunk: Buffer): ResultColumns | string {
  try {
    return decodeChunk(chunk);
  } catch (error) {
    if (error instanceof ChunkError) return `the chunk is damaged: ${error.message}`;
    throw error;
  }
}

function wrongSummary(stored: Buffer, expected: RunningSummary): string | undefined {
  try {
    return told(decodeSummary(stored)) === told(expected) ? undefined : 'the summary is not that of its results';
  } catch (error) {
    if (error instanceof SummaryError) return `the summary is damaged: ${error.message}`;
    throw error;
  }
}

/** All that a summary says. */
function told({ counts, latency }: RunningSummary): string {
  return JSON.stringify([
    counts.entries(),
    latency.count,
    latency.sumUs,
    latency.minUs,
    latency.maxUs,
    latency.buckets(),
  ]);
}

const isSameLast = (one: LastResult | null, other: LastResult | null): boolean =>
  one?.atMs === other?.atMs && one?.totalUs === other?.totalUs && one?.flags === other?.flags;

const isOfHour = (rows: ResultColumns, hour: number): boolean =>
  rows.eUs.subarray(0, rows.length).every((eUs) => Math.floor(eUs / hourUs) === hour);

function isSameRows(one: ResultColumns, other: ResultColumns): boolean {
  const texts = (rows: ResultColumns): string =>
    Array.from({ length: rows.length }, (_, at) => Object.values(rows.row(at)).join())
      .sort()
      .join('\n');
  return one.length === other.length && texts(one) === texts(other);
}
