import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { testDatabase } from '../../../platform/database/testing.ts';
import { ChunkError } from '../packed/chunk.ts';
import { RunningSummary } from '../packed/summary.ts';
import { atMost, hoursNotCovered, notCovered } from './cover.ts';
import { latencySeries } from './latency-series/queries.ts';
import { locate } from './page/locate.ts';
import { resultsPage } from './page/queries.ts';
import { readResults, storedResults } from './slices/queries.ts';
import { dayUs, madeHistory, storeHistory } from './testing/stored-history.ts';
import type { HistoryRow } from './testing/stored-history.ts';
import { hourUs, isoOfUs } from './time.ts';
import { windowSummary } from './window-summary/queries.ts';

const { database } = await testDatabase(t);
const pool = database.raw;
const connection = database.worker;
const fromUs = Date.UTC(2026, 0, 30) * 1_000;
const firstHour = fromUs / hourUs;
const allDays = { fromMs: 0, toMs: (fromUs + 40 * dayUs) / 1_000 };

const counted = (rows: readonly HistoryRow[]): RunningSummary => {
  const summary = new RunningSummary();
  for (const row of rows) summary.addRow(row.flags, row.totalUs);
  return summary;
};

/** All is packed and merged, and no rows are left. */
const cold = (days: number) => ({
  packedUntilHour: firstHour + days * 24,
  mergedUntilDay: fromUs / dayUs + days,
  hotFromUs: fromUs + days * dayUs,
});

void t.test('a monitor without results has empty answers', async (t) => {
  t.same(await resultsPage(connection, 99, { page: 1, pageSize: 10, withTotal: true }), { items: [], total: 0 });
  t.same(await resultsPage(connection, 99, { page: 10_000, pageSize: 100, withTotal: false }), {
    items: [],
    total: undefined,
  });
  const slices = [];
  for await (const slice of readResults(connection, 99, allDays)) slices.push(...slice);
  t.same(slices, []);
  t.same(await storedResults(connection, 99, 0, fromUs), []);
  const { all, perProbe } = await windowSummary(connection, 99, allDays);
  t.same([all.counts.results, all.latency.quantile(0.5), perProbe.size], [0, null, 0]);
});

void t.test('windows that hold nothing, or end before they begin, or reach beyond all time', async (t) => {
  const rows = madeHistory({ seed: 1, fromUs, days: 2, probes: [1], intervalS: 600 });
  await storeHistory(pool, 1, rows, { packedUntilHour: firstHour + 30, mergedUntilDay: 0, hotFromUs: null });
  const within = async (fromMs: number, toMs: number) =>
    (await windowSummary(connection, 1, { fromMs, toMs })).all.counts.results;
  const atMs = fromUs / 1_000;
  t.equal(await within(-1e15, 1e15), rows.length);
  t.equal(await within(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), rows.length);
  t.equal(await within(atMs + 86_400_000, atMs), 0);
  t.equal(await within(atMs, atMs), 0);
  t.equal(await within(atMs - 10 * 86_400_000, atMs), 0);
  const page = (startMs: number, endMs: number) =>
    resultsPage(connection, 1, { page: 1, pageSize: 1, withTotal: true, startMs, endMs });
  t.equal((await page(-62_000_000_000_000, 253_000_000_000_000)).total, rows.length);
  t.equal((await page(atMs + 5, atMs)).total, 0);
  t.same(await latencySeries(connection, 1, { fromMs: atMs, toMs: atMs, stepMs: 60_000 }), []);
  for (const stepMs of [0, -5, Number.NaN, 1]) {
    await t.rejects(latencySeries(connection, 1, { fromMs: atMs, toMs: atMs + 86_400_000, stepMs }), RangeError);
  }
});

void t.test('more results than are read at once, many at one instant, come whole and in order', async (t) => {
  const rows = madeHistory({ seed: 5, fromUs, days: 1, probes: [1, 2, 3], intervalS: 7 }).map((row) => ({
    ...row,
    // Five at once.
    eUs: Math.floor(row.eUs / 35_000_000) * 35_000_000,
  }));
  const inOrder = rows.toSorted(
    (a, b) =>
      a.eUs - b.eUs ||
      a.probeId - b.probeId ||
      a.receivedUs - b.receivedUs ||
      a.flags - b.flags ||
      a.totalUs - b.totalUs,
  );
  t.ok(rows.length > 25_000);
  await storeHistory(pool, 2, rows, { packedUntilHour: 0, mergedUntilDay: 0, hotFromUs: null });
  const found: string[] = [];
  let most = 0;
  for await (const slice of readResults(connection, 2, allDays)) {
    most = Math.max(most, slice.length);
    found.push(...slice.map((item) => `${item.effectiveMs} ${item.probeId} ${item.totalUs}`));
  }
  t.ok(found.join() === inOrder.map((row) => `${row.eUs / 1_000} ${row.probeId} ${row.totalUs}`).join());
  t.ok(most <= 5_000);
  const { all } = await windowSummary(connection, 2, allDays);
  t.same(all.counts.entries(), counted(rows).counts.entries());
  t.same(all.latency.buckets(), counted(rows).latency.buckets());
  const deep = await resultsPage(connection, 2, { page: 201, pageSize: 100, withTotal: true });
  t.equal(deep.total, rows.length);
  t.same(
    deep.items.map((item) => item.totalUs),
    inOrder
      .toReversed()
      .slice(20_000, 20_100)
      .map((row) => row.totalUs),
  );
});

void t.test('more rows of the present hour than are read along are read by themselves', async (t) => {
  const rows = madeHistory({ seed: 6, fromUs, days: 1 / 24, probes: [1, 2, 3], intervalS: 1 });
  t.ok(rows.length > 10_000);
  await storeHistory(pool, 5, rows, { packedUntilHour: 0, mergedUntilDay: 0, hotFromUs: null });
  const window = { fromMs: (fromUs - dayUs) / 1_000, toMs: (fromUs + hourUs) / 1_000 };
  t.equal((await windowSummary(connection, 5, window)).all.counts.results, rows.length);
  const { total } = await resultsPage(connection, 5, { page: 1, pageSize: 1, withTotal: true, endMs: window.toMs - 1 });
  t.equal(total, rows.length);
});

void t.test(
  'days that are missing here and there are made up for by their hours, the others counted once',
  async (t) => {
    const rows = madeHistory({ seed: 7, fromUs, days: 16, probes: [1, 2], intervalS: 3_600 });
    const today = fromUs / dayUs;
    await storeHistory(pool, 6, rows, { ...cold(16), unmergedDays: [1, 3, 5, 7, 9, 11, 13].map((day) => today + day) });
    const { all } = await windowSummary(connection, 6, allDays);
    t.same(all.counts.entries(), counted(rows).counts.entries());
    t.equal((await resultsPage(connection, 6, { page: 2, pageSize: 10, withTotal: true })).total, rows.length);
  },
);

void t.test('evidence is found beside packed results', async (t) => {
  const rows = madeHistory({ seed: 2, fromUs, days: 2, probes: [1, 2], intervalS: 3_600 });
  await storeHistory(pool, 3, rows, cold(2));
  const row = rows.find((one) => one.probeId === 2);
  await pool.query(
    `insert into result_evidence (e, monitor_id, probe_id, message, evidence) values ($1, 3, 2, 'refused', '{"port": 80}')`,
    [isoOfUs(row?.eUs ?? 0)],
  );
  const { items } = await resultsPage(connection, 3, { page: 1, pageSize: 100, withTotal: false });
  const told = items.filter((item) => item.message !== null);
  t.ok(told.length > 0);
  for (const item of told) {
    t.match(item, {
      probeId: 2,
      effectiveMs: Math.floor((row?.eUs ?? 0) / 1_000),
      message: 'refused',
      evidence: { port: 80 },
    });
  }
});

void t.test('a damaged summary is made up for by the results; damaged results are an error', async (t) => {
  const rows = madeHistory({ seed: 3, fromUs, days: 3, probes: [1, 2], intervalS: 600 });
  await storeHistory(pool, 4, rows, cold(3));
  const expected = counted(rows);
  const summary = async () => (await windowSummary(connection, 4, allDays)).all;
  t.same((await summary()).counts.entries(), expected.counts.entries());
  for (const table of ['result_days', 'result_hours']) {
    await pool.query(
      `update ${table} set summary = set_byte(summary, 9, get_byte(summary, 9) # 1) where monitor_id = 4`,
    );
    t.same((await summary()).counts.entries(), expected.counts.entries(), table);
    t.same((await summary()).latency.buckets(), expected.latency.buckets(), table);
    const [step] = await latencySeries(connection, 4, {
      fromMs: fromUs / 1_000,
      toMs: (fromUs + 3 * dayUs) / 1_000,
      stepMs: (3 * dayUs) / 1_000,
    });
    t.equal(step?.count, expected.latency.count, table);
  }
  await pool.query('update result_hours set chunk = set_byte(chunk, 9, get_byte(chunk, 9) # 1) where monitor_id = 4');
  await t.rejects(summary(), ChunkError);
  await t.rejects(resultsPage(connection, 4, { page: 1, pageSize: 10, withTotal: false }), ChunkError);
  await t.rejects(async () => {
    for await (const slice of readResults(connection, 4, allDays)) t.equal(slice.length, 0);
  }, ChunkError);
});

void t.test('what runs of hours do not cover, and the runs, make up the span', async () => {
  const runs = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 12 })).map(([fromHour, hours]) => ({
      fromHour,
      toHour: fromHour + hours,
    })),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(runs, fc.nat(60 * 4), fc.nat(60 * 4), fc.integer({ min: 1, max: 9 }), (covered, one, other, most) => {
      const span = { fromUs: (Math.min(one, other) * hourUs) / 4, toUs: (Math.max(one, other) * hourUs) / 4 };
      const rest = notCovered(span, covered);
      for (let quarter = 0; quarter < 80 * 4; quarter += 1) {
        const us = (quarter * hourUs) / 4;
        const isWanted =
          us >= span.fromUs &&
          us < span.toUs &&
          !covered.some((run) => run.fromHour * hourUs <= us && us < run.toHour * hourUs);
        if (rest.filter((part) => part.fromUs <= us && us < part.toUs).length !== (isWanted ? 1 : 0)) return false;
      }
      const disjoint = hoursNotCovered({ fromHour: 0, toHour: 80 }, covered);
      const joined = atMost(disjoint, most);
      return (
        joined.length <= most &&
        disjoint.every((run) =>
          joined.some(({ fromHour, toHour }) => fromHour <= run.fromHour && run.toHour <= toHour),
        ) &&
        joined.every((run, index) => index === 0 || (joined[index - 1]?.toHour ?? 0) <= run.fromHour)
      );
    }),
  );
});

void t.test('a page is found in the stretches that hold it', async (t) => {
  const stretches = [4, 0, 3, 10].map((count, index) => ({ fromUs: 10 - index, toUs: 11 - index, count }));
  const found = (offset: number, size: number) => {
    const { stretches: own, skip } = locate(stretches, offset, size);
    return [own.map(({ count }) => count), skip];
  };
  t.same(found(0, 4), [[4], 0]);
  t.same(found(3, 2), [[4, 3], 3]);
  t.same(found(4, 3), [[3], 0]);
  t.same(found(6, 100), [[3, 10], 2]);
  t.same(found(16, 1), [[10], 9]);
  t.same(found(17, 5), [[], 0]);
});
