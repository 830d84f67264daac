import type pg from 'pg';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { resultsPage, windowSummary } from '../../control-plane/src/monitoring/check-results/index.ts';
import {
  insertMonitors,
  insertProbe,
  insertWorkspace,
} from '../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import { isoOfUs } from '../../control-plane/src/monitoring/check-results/reading/time.ts';
import { statusRanges, statusRangesPage } from '../../control-plane/src/monitoring/status-ranges/index.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { startDatabase } from './database.ts';
import { processorTimeUs } from './processor-time.ts';
import { buffersOf } from './query/buffers.ts';
import { bytesPerRow, fillHotRows, fillRanges, fillSubject, packedBytes } from './query/fill.ts';
import type { Measured } from './query/fill.ts';
import type { Bench, Figures } from './report.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const shares = [0.5, 0.9, 0.95, 0.99];
/** What the monitors of an installation check, for the bytes of an average result. */
const mix = { https: 0.5, http: 0.15, tcp: 0.1, dns: 0.1, icmp: 0.15 } as const;

const sizes = {
  full: {
    monitors: 1_000,
    days: 90,
    rangesEveryHours: 12,
    rounds: 300,
    sizedMonitors: 200,
    sizedHours: 8,
    deepPage: 10_000,
  },
  brief: { monitors: 30, days: 8, rangesEveryHours: 2, rounds: 20, sizedMonitors: 10, sizedHours: 4, deepPage: 1_000 },
} as const;

/** What statistics and lists of results cost to read, of packed hours and days and of hot rows. */
export const queryBench: Bench = {
  name: 'query',
  summary: 'percentiles, pages and ranges of ninety days of results, and the bytes that a result takes',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      return await measure(say, options?.brief === true ? 'brief' : 'full', (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

type Size = keyof typeof sizes;

type Stored = {
  readonly monitors: { readonly subject: number; readonly sparse: number };
  readonly nowMs: number;
  readonly measured: readonly Measured[];
  readonly size: Size;
};

/** What the readings cost, over one connection. */
async function readings(
  say: (line: string) => void,
  worker: pg.Pool,
  connection: CommonQueryMethods,
  { monitors: { subject, sparse }, nowMs, measured, size }: Stored,
) {
  const { days, rounds, deepPage } = sizes[size];
  const backend = await connection.oneFirst(sql.type(z.object({ pid: z.number() }))`select pg_backend_pid() as pid`);
  say('percentiles');
  const summaryOver = (monitorId: number, window: number) => async () => {
    const { all } = await windowSummary(connection, monitorId, { fromMs: nowMs - window * dayMs, toMs: nowMs });
    return shares.map((share) => all.latency.quantile(share));
  };
  const third = Math.floor(days / 3);
  const bare = await processorMs(backend, rounds, () =>
    connection.one(sql.type(z.object({ one: z.number() }))`select 1 as one`),
  );
  const firsts = await costOf(backend, Math.ceil(rounds / 10), summaryOver(subject, third), 0);
  const thirdCost = await costOf(backend, rounds, summaryOver(subject, third), rounds);
  const third3 = thirdCost.ms;
  const all3 = await processorMs(backend, rounds, summaryOver(subject, days));
  const sparse3 = await processorMs(backend, rounds, summaryOver(sparse, third));
  const error = largestError(
    measured,
    (nowMs - third * dayMs) * 1_000,
    nowMs * 1_000,
    await summaryOver(subject, third)(),
  );

  say('pages');
  const page = (number: number, withTotal: boolean) => () =>
    resultsPage(connection, subject, { page: number, pageSize: 20, withTotal, sinceMs: nowMs - days * dayMs });
  const first = await processorMs(backend, rounds, page(1, false));
  const deep = await processorMs(backend, rounds, page(deepPage, false));
  const firstTotal = await processorMs(backend, rounds, page(1, true));
  const deepTotal = await processorMs(backend, rounds, page(deepPage, true));
  const listed = await page(deepPage, true)();
  if (listed.items.length !== 20) throw new Error(`page ${deepPage} has ${listed.items.length} results`);

  say('ranges');
  const windowMs = (share: number) => [nowMs - (days * dayMs) / share, nowMs] as const;
  const ranges = (share: number) => (tx: CommonQueryMethods) => statusRanges(tx, subject, ...windowMs(share));
  const rangeCounts = await Promise.all([3, 1].map(async (share) => (await ranges(share)(connection)).length));
  const timelineBuffers = [
    await buffersOf(worker, connection, ranges(3)),
    await buffersOf(worker, connection, ranges(1)),
  ] as const;
  const rangePage = (pageSize: number) => (tx: CommonQueryMethods) =>
    statusRangesPage(tx, subject, { page: 1, pageSize, hours: days * 24 });
  const pageBuffers = await buffersOf(worker, connection, rangePage(10));

  const figures = {
    bare_query_ms: round(bare),
    percentiles_ms: round(third3),
    percentiles_database_ms: round(thirdCost.databaseMs),
    percentiles_first_ms: round(firsts.ms),
    percentiles_error: Math.round(error * 100_000) / 100_000,
    cost_90_vs_30: round(all3 / third3),
    cost_dense_vs_sparse: round(third3 / sparse3),
    first_page_ms: round(first),
    deep_page_vs_first: round(deep / first),
    deep_page_vs_first_with_total: round(deepTotal / firstTotal),
    total_ms: round(firstTotal - first),
    timeline_buffers_per_range: round(
      (timelineBuffers[1] - timelineBuffers[0]) / ((rangeCounts[1] ?? 0) - (rangeCounts[0] ?? 0)),
    ),
    timeline_buffers: timelineBuffers[1],
    range_page_buffers: pageBuffers,
  };
  return { figures, ranges: rangeCounts };
}

async function measure(say: (line: string) => void, size: Size, teardown: (step: () => unknown) => void) {
  const { monitors: count, days, rangesEveryHours, deepPage } = sizes[size];
  const database = await startDatabase(say, teardown);
  const { worker } = database;

  say(`${count} monitors, one of them with three probes every 60 s and one every 600 s, ${days} days`);
  const nowMs = Math.floor(Date.now() / hourMs) * hourMs + 37 * 60_000;
  const nowUs = nowMs * 1_000;
  const owner = await insertWorkspace(worker);
  const probes = await Promise.all(['a', 'b', 'c'].map((name) => insertProbe(worker, name)));
  const createdMs = nowMs - (days + 1) * dayMs;
  const monitors = await insertMonitors(worker, owner, { count, probes, createdMs });
  const plan = { monitors, days, nowUs };
  const subject = monitors[Math.floor(count / 2)] ?? 0;
  const sparse = monitors[Math.floor(count / 4)] ?? 0;
  const probeIds = probes.map(({ id }) => id);
  const firstHour = Math.floor(createdMs / hourMs);
  for (let hour = firstHour; hour < nowMs / hourMs + 24; hour += 50 * 24) {
    await worker.query('select ensure_packed_partitions($1, $2)', [hour, hour + 50 * 24]);
  }
  const measured = await fillSubject(worker, { monitorId: subject, probes: probeIds, intervalS: 60, seed: 1 }, plan);
  await fillSubject(worker, { monitorId: sparse, probes: probeIds, intervalS: 600, seed: 2 }, plan);
  say('rows of the hot days, and ranges');
  await fillHotRows(
    worker,
    monitors.filter((id) => id !== subject && id !== sparse),
    nowUs,
  );
  await fillRanges(worker, monitors, { days, nowUs, everyHours: rangesEveryHours });
  const hotFromMs = (Math.floor(nowMs / dayMs) - 2) * dayMs;
  await worker.query('update result_storage set hot_from = $1', [isoOfUs(hotFromMs * 1_000)]);
  await database.owner.query('vacuum analyze');

  const reading = await database.readers.connect(async (connection) =>
    readings(say, worker, connection, { monitors: { subject, sparse }, nowMs, measured, size }),
  );

  say('bytes per result');
  const { sizedMonitors, sizedHours } = sizes[size];
  const bytes = await packedBytes(database.owner, worker, { monitors: sizedMonitors, hours: sizedHours });
  const perDay = (await bytesPerRow(database.owner, 'result_days')) / 1_440;
  const hotBytes = await bytesPerRow(database.owner, 'check_results');

  const figures = {
    ...reading.figures,
    bytes_per_result: round(average(bytes) + perDay),
    ...Object.fromEntries(Object.entries(bytes).map(([protocol, value]) => [`bytes_${protocol}`, round(value)])),
    bytes_day: round(perDay),
    bytes_hot: round(hotBytes),
  } satisfies Figures;
  const about = { days, third: Math.floor(days / 3), deepPage, ranges: reading.ranges };
  return { figures, table: tableOf(figures, about) };
}

type Cost = { readonly ms: number; readonly databaseMs: number };

/**
 * Processor time of both sides for one run of the work, in milliseconds, when it has been run as often before: in a process that serves, its code is
 * compiled, and PostgreSQL knows its tables and has its plans.
 */
async function processorMs(backend: number, rounds: number, work: () => Promise<unknown>): Promise<number> {
  return (await costOf(backend, rounds, work, rounds)).ms;
}

async function costOf(backend: number, rounds: number, work: () => Promise<unknown>, before: number): Promise<Cost> {
  for (let round = 0; round < before; round += 1) await work();
  const own = process.cpuUsage();
  const backendUs = processorTimeUs(backend);
  for (let round = 0; round < rounds; round += 1) await work();
  const used = process.cpuUsage(own);
  const databaseMs = (processorTimeUs(backend) - backendUs) / rounds / 1_000;
  return { ms: (used.user + used.system) / rounds / 1_000 + databaseMs, databaseMs };
}

/** The largest relative error of the percentiles of a window, against the nearest ranks of all its latencies. */
function largestError(
  measured: readonly Measured[],
  fromUs: number,
  toUs: number,
  told: readonly (number | null)[],
): number {
  const sorted = Float64Array.from(
    measured.filter(({ eUs }) => eUs >= fromUs && eUs < toUs),
    ({ totalUs }) => totalUs,
  ).sort();
  return shares.reduce((worst, share, index) => {
    const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN;
    return Math.max(worst, Math.abs((told[index] ?? Number.NaN) - exact) / exact);
  }, 0);
}

function average(bytes: Readonly<Record<keyof typeof mix, number>>): number {
  return Object.entries(mix).reduce((sum, [protocol, share]) => sum + share * bytes[protocol as keyof typeof mix], 0);
}

const round = (value: number): number => Math.round(value * 100) / 100;

function tableOf(
  figures: Figures,
  about: {
    readonly days: number;
    readonly third: number;
    readonly deepPage: number;
    readonly ranges: readonly number[];
  },
): (readonly [string, string])[] {
  const figure = (key: string): string => String(figures[key]);
  const protocols = Object.keys(mix)
    .map((protocol) => `${protocol} ${figure(`bytes_${protocol}`)}`)
    .join(', ');
  return [
    [
      'a query that asks for nothing',
      `${figure('bare_query_ms')} ms of processor time: what this machine makes of it today`,
    ],
    [
      `percentiles of ${about.third} days`,
      `${figure('percentiles_ms')} ms of processor time (goal 1), of it the database ${figure('percentiles_database_ms')}, error ${figure('percentiles_error')} (goal 0.01)`,
    ],
    ['the first times', `${figure('percentiles_first_ms')} ms: code that is not compiled yet, a plan that is made`],
    [`${about.days} days : ${about.third} days`, `${figure('cost_90_vs_30')} (goal: below 2)`],
    ['ten times the results : the rest', figure('cost_dense_vs_sparse')],
    [
      `page ${about.deepPage} : page 1`,
      `${figure('deep_page_vs_first')} (goal 15), with totals ${figure('deep_page_vs_first_with_total')}`,
    ],
    ['page 1', `${figure('first_page_ms')} ms, its total ${figure('total_ms')} ms`],
    [
      'ranges',
      `${figure('timeline_buffers')} buffers for ${about.ranges[1]} ranges of the timeline, ${figure('timeline_buffers_per_range')} for one more; a page of 10: ${figure('range_page_buffers')}`,
    ],
    [
      'bytes per result',
      `${figure('bytes_per_result')} (goal 12), tables and indexes, ${figure('bytes_day')} of it for the day`,
    ],
    ['by protocol', protocols],
    ['as a row of the hot days', figure('bytes_hot')],
  ];
}
