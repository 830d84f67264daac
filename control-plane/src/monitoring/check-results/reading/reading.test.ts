import assert from 'node:assert/strict';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { fallbackFlag } from '../flags.ts';
import { RunningSummary } from '../packed/summary.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { latencySeries } from './latency-series/queries.ts';
import { resultsPage } from './page/queries.ts';
import type { ResultsFilter } from './page/queries.ts';
import type { ResultItem } from './result-item.ts';
import { readResults, storedResults } from './slices/queries.ts';
import { hourUs } from './time.ts';
import { windowSummary } from './window-summary/queries.ts';
import { dayUs, madeHistory, storeHistory } from './testing/stored-history.ts';
import type { HistoryRow, Storage } from './testing/stored-history.ts';

const { database } = await testDatabase(t);
const pool = database.raw;
const connection = database.worker;

// Eleven days with the beginning of a quarter of packed days, of two weeks of packed hours, and of a month.
const fromUs = Date.UTC(2026, 0, 21, 12) * 1_000;
const days = 11;
const firstDay = Math.floor(fromUs / dayUs);
const firstHour = Math.floor(fromUs / hourUs);
const hours = days * 24;
const probes = [0, 3, 4];
let monitors = 0;

const anyStorage: fc.Arbitrary<Storage> = fc
  .record({
    packedHours: fc.oneof(fc.constantFrom(0, hours), fc.nat(hours)),
    hotDays: fc.oneof(fc.constant(null), fc.nat(days)),
    unmerged: fc.uniqueArray(fc.nat(days), { maxLength: 3 }),
    mergedDays: fc.nat(days),
    stale: fc.uniqueArray(fc.nat(hours - 1), { maxLength: 6 }),
  })
  .map(({ packedHours, hotDays, unmerged, mergedDays, stale }) => {
    // The boundary is at the beginning of a day, everything before it is packed, and stale hours are packed and after it.
    const hotFromUs = hotDays === null ? null : (firstDay + hotDays) * dayUs;
    const packedUntilHour = Math.max(firstHour + packedHours, hotFromUs === null ? 0 : hotFromUs / hourUs);
    return {
      packedUntilHour,
      hotFromUs,
      mergedUntilDay: Math.min(firstDay + mergedDays, Math.floor(packedUntilHour / 24)),
      unmergedDays: unmerged.map((day) => firstDay + day),
      staleHours: stale
        .map((hour) => firstHour + hour)
        .filter((hour) => hour < packedUntilHour && hour * hourUs >= (hotFromUs ?? 0)),
    };
  });

/** The definition: all rows, filtered and sorted. */
const listed = (rows: readonly HistoryRow[], filter: Partial<ResultsFilter>): HistoryRow[] =>
  rows
    .filter(
      (row) =>
        row.eUs >= Math.max(filter.startMs ?? 0, filter.sinceMs ?? 0) * 1_000 &&
        (filter.endMs === undefined || row.eUs < (filter.endMs + 1) * 1_000) &&
        (filter.probeId === undefined || row.probeId === filter.probeId) &&
        (filter.includeManual !== false || ((row.flags & 3) !== 2 && (row.flags & fallbackFlag) === 0)),
    )
    .toReversed();

/** What of an item tells it from others. */
const keyOf = (item: ResultItem): unknown[] => [
  item.effectiveMs,
  item.probeId,
  item.receivedMs,
  item.kind,
  item.outcome,
  item.fallback,
  item.totalUs,
  item.probeRevision,
  item.connectUs,
  item.transferUs,
];
const phaseOf = (value: number | null): number | null => value;
const expectedKey = (row: HistoryRow): unknown[] => [
  Math.floor(row.eUs / 1_000),
  row.probeId,
  Math.floor(row.receivedUs / 1_000),
  (['scheduled', 'recheck', 'manual'] as const)[row.flags & 3],
  (['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error'] as const)[(row.flags >> 2) & 15],
  (row.flags & fallbackFlag) !== 0,
  row.totalUs,
  row.probeRevision,
  phaseOf(row.connectUs),
  phaseOf(row.transferUs),
];

const told = (summary: RunningSummary) => ({
  entries: summary.counts.entries(),
  sumUs: summary.latency.sumUs,
  buckets: summary.latency.buckets(),
  bounds: [summary.latency.minUs, summary.latency.maxUs],
});
const summaryOfRows = (rows: readonly HistoryRow[]): RunningSummary => {
  const summary = new RunningSummary();
  for (const row of rows) summary.addRow(row.flags, row.totalUs);
  return summary;
};

/** An instant in or around the history, often at the beginning of an hour or a day, in milliseconds. */
const instantMs = fc.oneof(
  fc.integer({ min: fromUs / 1_000 - 86_400_000, max: fromUs / 1_000 + (days + 1) * 86_400_000 }),
  fc.integer({ min: -3, max: days * 24 + 3 }).map((hour) => (fromUs + hour * hourUs) / 1_000),
  fc.integer({ min: -1, max: days + 1 }).map((day) => ((firstDay + day) * dayUs) / 1_000),
);
const anyProbe = fc.option(fc.constantFrom(...probes, 99), { nil: undefined });
const anyFilter = fc.record({
  startMs: fc.option(instantMs, { nil: undefined }),
  endMs: fc.option(instantMs, { nil: undefined }),
  sinceMs: fc.option(instantMs, { nil: undefined }),
  probeId: anyProbe,
  includeManual: fc.option(fc.boolean(), { nil: undefined }),
});

const runs = Number(process.env['READING_RUNS'] ?? 25);

void t.test('however results are stored, every page, total, slice and summary is that of the plain rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.constantFrom(1_200, 3_600, 7_200),
      anyStorage,
      fc.array(fc.tuple(anyFilter, fc.constantFrom(1, 7, 100)), { minLength: 3, maxLength: 3 }),
      fc.array(fc.tuple(instantMs, instantMs, anyProbe, fc.option(instantMs, { nil: undefined })), {
        minLength: 3,
        maxLength: 3,
      }),
      async (seed, intervalS, storage, filters, windows) => {
        const rows = madeHistory({ seed, fromUs, days, probes, intervalS });
        monitors += 1;
        const monitorId = monitors;
        await storeHistory(pool, monitorId, rows, storage);
        // Another monitor's results are nobody's business.
        await storeHistory(pool, 1_000_000 + monitorId, rows.slice(0, 50), storage);
        for (const [filter, pageSize] of filters) await comparePages(monitorId, rows, filter, pageSize);
        for (const [fromMs, toMs, probeId, floorMs] of windows) {
          await compareWindow(monitorId, rows, { fromMs, toMs, probeId, floorMs });
        }
      },
    ),
    { numRuns: runs },
  );
});

async function comparePages(
  monitorId: number,
  rows: readonly HistoryRow[],
  filter: Partial<ResultsFilter>,
  pageSize: number,
): Promise<void> {
  const expected = listed(rows, filter);
  const pages = Math.ceil(expected.length / pageSize);
  const wanted = new Set([1, 2, Math.ceil(pages / 3), Math.ceil(pages / 2), pages - 1, pages, pages + 1, pages + 500]);
  for (const page of [...wanted].filter((number) => number >= 1)) {
    const withTotal = page % 2 === 1;
    const found = await resultsPage(connection, monitorId, { ...filter, page, pageSize, withTotal });
    const here = `page ${page} of ${pageSize}`;
    const own = expected.slice((page - 1) * pageSize, page * pageSize);
    assert.deepEqual(found.items.map(keyOf), own.map(expectedKey), here);
    assert.equal(found.total, withTotal ? expected.length : undefined, here);
  }
}

async function compareWindow(
  monitorId: number,
  rows: readonly HistoryRow[],
  window: { fromMs: number; toMs: number; probeId: number | undefined; floorMs: number | undefined },
): Promise<void> {
  const { fromMs, toMs, probeId, floorMs = 0 } = window;
  const expected = rows.filter(
    (row) =>
      row.eUs >= Math.max(fromMs, floorMs) * 1_000 &&
      row.eUs < toMs * 1_000 &&
      (probeId === undefined || row.probeId === probeId),
  );
  const slices: ResultItem[] = [];
  for await (const slice of readResults(connection, monitorId, window)) slices.push(...slice);
  assert.deepEqual(slices.map(keyOf), expected.map(expectedKey), 'slices');

  if (probeId === undefined) {
    const stored = await storedResults(connection, monitorId, Math.max(fromMs, floorMs) * 1_000, toMs * 1_000);
    assert.deepEqual(
      stored.map((one) => [one.eUs, one.voter, one.receivedUs, one.error, one.freshS, one.probeRevision, one.totalUs]),
      expected.map((one) => [
        one.eUs,
        one.probeId,
        one.receivedUs,
        one.error,
        one.freshS,
        one.probeRevision,
        one.totalUs,
      ]),
    );
  }

  const summary = await windowSummary(connection, monitorId, window);
  assert.deepEqual(told(summary.all as RunningSummary), told(summaryOfRows(expected)), 'summary');
  assert.deepEqual(
    [...summary.perProbe]
      .toSorted(([one], [other]) => one - other)
      .map(([probe, own]) => [probe, told(own as RunningSummary)]),
    [...Map.groupBy(expected, (row) => row.probeId)]
      .toSorted(([one], [other]) => one - other)
      .map(([probe, own]) => [probe, told(summaryOfRows(own))]),
  );

  for (const stepMs of [86_400_000, 3 * 3_600_000, 5_400_000 * 3 + 1]) {
    const series = await latencySeries(connection, monitorId, { ...window, stepMs });
    const count = toMs > fromMs ? Math.ceil((toMs - fromMs) / stepMs) : 0;
    assert.deepEqual(
      series,
      Array.from({ length: count }, (_, index) => {
        const atMs = fromMs + index * stepMs;
        const own = expected.filter((row) => row.eUs >= atMs * 1_000 && row.eUs < (atMs + stepMs) * 1_000);
        const { latency } = summaryOfRows(own);
        const [p50Us, p95Us, p99Us] = [0.5, 0.95, 0.99].map((q) => latency.quantile(q));
        return { atMs, count: latency.count, meanUs: latency.meanUs, p50Us, p95Us, p99Us };
      }),
      `steps of ${stepMs}`,
    );
  }
}
