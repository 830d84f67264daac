import assert from 'node:assert/strict';
import fc from '@parallax/testkit/fast-check';
import type { CommonQueryMethods } from 'slonik';
import t from 'tap';
import { testDatabase } from '../../../platform/database/testing.ts';
import { RunningSummary } from '../packed/summary.ts';
import { resultsPage } from './page/queries.ts';
import { readResults } from './slices/queries.ts';
import { hourUs, isoOfUs } from './time.ts';
import {
  dayUs,
  inOrder,
  insertRows,
  madeHistory,
  mergeDays,
  packHours,
  storeHistory,
} from './testing/stored-history.ts';
import type { HistoryRow } from './testing/stored-history.ts';
import { windowSummary } from './window-summary/queries.ts';

const { database } = await testDatabase(t);
const pool = database.raw;
const fromUs = Date.UTC(2026, 0, 21) * 1_000;
const days = 4;
const firstDay = fromUs / dayUs;
let monitors = 0;

/** A connection beside which something happens before its second, third … statement. */
function disturbed(
  steps: readonly (() => Promise<unknown>)[],
): CommonQueryMethods & { readonly finish: () => Promise<void> } {
  const waiting = [...steps];
  let isFirst = true;
  const next = async (): Promise<void> => {
    if (!isFirst) await waiting.shift()?.();
    isFirst = false;
  };
  const finish = async (): Promise<void> => {
    for (const step of waiting.splice(0)) await step();
  };
  return new Proxy(database.worker, {
    get: (target, name) => {
      if (name === 'finish') return finish;
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        await next();
        return method.apply(target, args);
      };
    },
  }) as unknown as CommonQueryMethods & { readonly finish: () => Promise<void> };
}

const keys = (rows: readonly { readonly effectiveMs: number; readonly probeId: number; readonly totalUs: number }[]) =>
  rows.map((row) => `${row.effectiveMs} ${row.probeId} ${row.totalUs}`);
const expectedKeys = (rows: readonly HistoryRow[]) =>
  rows.map((row) => `${Math.floor(row.eUs / 1_000)} ${row.probeId} ${row.totalUs}`);

type Course = {
  readonly seed: number;
  /** Days that are packed, merged, and without rows at the beginning. */
  readonly coldDays: number;
  /** Whether the rows of the last cold day are dropped while the reading goes on. */
  readonly dropsLater: boolean;
  /** Hours that are packed meanwhile, from the end of the cold days on. */
  readonly packedHours: number;
  /** How far the boundary moves meanwhile. */
  readonly movedDays: number;
  /** How each step comes: with the one before it, before the next statement, or one later. */
  readonly pauses: readonly number[];
};

const course: fc.Arbitrary<Course> = fc.record({
  seed: fc.nat(),
  coldDays: fc.nat(days),
  dropsLater: fc.boolean(),
  packedHours: fc.nat(days * 24),
  movedDays: fc.nat(days),
  pauses: fc.array(fc.nat(2), { minLength: 8, maxLength: 8 }),
});

const rowsIn = (rows: readonly HistoryRow[], span: { fromUs: number; toUs: number }): HistoryRow[] =>
  rows.filter((row) => row.eUs >= span.fromUs && row.eUs < span.toUs);

/** Stores a history and says what the packing does next. @param dropsBehind whether days that the boundary passes go at once */
async function begin(one: Course, dropsBehind: boolean) {
  const rows = madeHistory({ seed: one.seed, fromUs, days, probes: [0, 3], intervalS: 1_800 });
  monitors += 1;
  const monitorId = monitors;
  const coldUs = (firstDay + one.coldDays) * dayUs;
  await storeHistory(pool, monitorId, rows, {
    packedUntilHour: coldUs / hourUs,
    mergedUntilDay: firstDay + one.coldDays,
    hotFromUs: one.coldDays === 0 ? null : coldUs,
  });
  if (one.dropsLater && one.coldDays > 0) {
    // Dropped already in the store; here it is still to come.
    await pool.query("update result_storage set hot_from = '-infinity'");
    await insertRows(pool, monitorId, rowsIn(rows, { fromUs: coldUs - dayUs, toUs: coldUs }));
    await pool.query('update result_storage set hot_from = $1', [isoOfUs(coldUs)]);
  }
  const packedUs = coldUs + one.packedHours * hourUs;
  const wholeDaysUs = Math.floor(packedUs / dayUs) * dayUs;
  const boundaryUs = Math.min(wholeDaysUs, coldUs + one.movedDays * dayUs);
  const drop = (us: number) => () =>
    pool.query('delete from check_results where monitor_id = $1 and e < $2', [monitorId, isoOfUs(us)]);
  const steps: (() => Promise<unknown>)[] = [
    ...(one.dropsLater ? [drop(coldUs)] : []),
    () => packHours(pool, monitorId, rowsIn(rows, { fromUs: coldUs, toUs: packedUs })),
    () => mergeDays(pool, monitorId, rowsIn(rows, { fromUs: coldUs, toUs: wholeDaysUs })),
    ...(boundaryUs > coldUs
      ? [() => pool.query('update result_storage set hot_from = $1', [isoOfUs(boundaryUs)])]
      : []),
    ...(dropsBehind && boundaryUs > coldUs ? [drop(boundaryUs)] : []),
  ];
  const spaced: (() => Promise<unknown>)[] = [];
  for (const [index, step] of steps.entries()) {
    const pause = one.pauses[index] ?? 0;
    const before = pause === 0 ? spaced.pop() : undefined;
    if (pause === 2) spaced.push(async () => undefined);
    spaced.push(async () => {
      await before?.();
      await step();
    });
  }
  return { rows, monitorId, connection: disturbed(spaced) };
}

const window = { fromMs: fromUs / 1_000 + 1_800_000, toMs: (fromUs + days * dayUs) / 1_000 - 5 };
const inWindow = (rows: readonly HistoryRow[]): HistoryRow[] =>
  rowsIn(rows, { fromUs: window.fromMs * 1_000, toUs: window.toMs * 1_000 });

const numRuns = Number(process.env['READING_RUNS'] ?? 30);

void t.test('slices are whole whatever is packed, and however soon days are dropped, while they are read', async () => {
  await fc.assert(
    fc.asyncProperty(course, async (one) => {
      const { rows, monitorId, connection } = await begin(one, true);
      const found: string[] = [];
      for await (const slice of readResults(connection, monitorId, window)) found.push(...keys(slice));
      await connection.finish();
      assert.deepEqual(found, expectedKeys(inWindow(rows)));
    }),
    { numRuns },
  );
});

void t.test('pages and summaries are right whatever is packed and dropped behind them', async () => {
  await fc.assert(
    fc.asyncProperty(course, fc.nat(), async (one, place) => {
      const { rows, monitorId, connection } = await begin(one, false);
      const pageSize = 20;
      const expected = inWindow(rows).toReversed();
      const page = 1 + (place % Math.max(1, Math.ceil(expected.length / pageSize)));
      const found = await resultsPage(connection, monitorId, {
        page,
        pageSize,
        withTotal: true,
        startMs: window.fromMs,
        endMs: window.toMs - 1,
      });
      await connection.finish();
      assert.deepEqual(keys(found.items), expectedKeys(expected.slice((page - 1) * pageSize, page * pageSize)));
      assert.equal(found.total, expected.length);

      const again = await begin(one, false);
      const summary = await windowSummary(again.connection, again.monitorId, window);
      await again.connection.finish();
      const plain = new RunningSummary();
      for (const row of inWindow(again.rows)) plain.addRow(row.flags, row.totalUs);
      assert.deepEqual(summary.all.counts.entries(), plain.counts.entries());
      assert.deepEqual(summary.all.latency.buckets(), plain.latency.buckets());
    }),
    { numRuns },
  );
});

void t.test('late results are seen or not, and none twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(days * 24 - 1), fc.nat(4), async (seed, lateHour, pauses) => {
      const all = madeHistory({ seed, fromUs, days, probes: [0, 3], intervalS: 1_800 });
      const hour = firstDay * 24 + lateHour;
      const ofHour = all.filter((row) => Math.floor(row.eUs / hourUs) === hour);
      const late = new Set(ofHour.filter((_, index) => index % 2 === 0));
      const early = all.filter((row) => !late.has(row));
      monitors += 1;
      const monitorId = monitors;
      await storeHistory(pool, monitorId, early, {
        packedUntilHour: (firstDay + days) * 24,
        mergedUntilDay: firstDay + days,
        hotFromUs: null,
      });
      const day = Math.floor(hour / 24);
      const repack = async (): Promise<void> => {
        await packHours(pool, monitorId, ofHour);
        await mergeDays(pool, monitorId, inOrder(all.filter((row) => Math.floor(row.eUs / dayUs) === day)));
        await pool.query('delete from stale_hours where monitor_id = $1', [monitorId]);
      };
      const store = async (): Promise<void> => {
        await pool.query('insert into stale_hours (monitor_id, hour) values ($1, $2)', [monitorId, hour]);
        await insertRows(pool, monitorId, [...late]);
      };
      const steps = [...Array.from({ length: pauses }, () => async () => undefined), store, repack];

      const slices = disturbed(steps);
      const found: string[] = [];
      for await (const slice of readResults(slices, monitorId, window)) found.push(...keys(slice));
      await slices.finish();
      const known = expectedKeys(inWindow(early));
      const most = expectedKeys(inWindow(all));
      assert.ok(found.length <= most.length);
      assert.deepEqual(
        countsOf([...found, ...missing(found, most)]),
        countsOf(most),
        'none twice, none that there is not',
      );
      assert.deepEqual(missing(found, known), [], 'none of those before is missing');

      const { total } = await resultsPage(database.worker, monitorId, {
        page: 1,
        pageSize: 1,
        withTotal: true,
        startMs: window.fromMs,
        endMs: window.toMs - 1,
      });
      assert.equal(total, most.length, 'afterwards all are there');
    }),
    { numRuns },
  );
});

function countsOf(list: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of list) counts[key] = (counts[key] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** What of the second list, with its multiples, the first does not have. */
function missing(found: readonly string[], wanted: readonly string[]): string[] {
  const left = countsOf(found);
  return wanted.filter((key) => {
    const count = left[key] ?? 0;
    left[key] = count - 1;
    return count <= 0;
  });
}
