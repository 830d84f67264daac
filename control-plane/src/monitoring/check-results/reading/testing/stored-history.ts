import { packFlags } from '@parallax/wire';
import type pg from 'pg';
import { centralFlag, fallbackFlag } from '../../flags.ts';
import { encodeChunk } from '../../packed/chunk.ts';
import { ResultColumns } from '../../packed/columns.ts';
import type { ResultRow } from '../../packed/columns.ts';
import { lastResultOf } from '../../packed/last-result.ts';
import { encodeSummary, mergeSummaries, summaryOf } from '../../packed/summary.ts';
import { seededRandom } from '../../packed/testing/made-results.ts';
import { hourUs, isoOfUs } from '../time.ts';

/** For tests: a result and whose it is. */
export type HistoryRow = ResultRow & { readonly probeId: number };

export const dayUs = 24 * hourUs;

const compare = (one: HistoryRow, other: HistoryRow): number =>
  one.eUs - other.eUs ||
  one.probeId - other.probeId ||
  one.receivedUs - other.receivedUs ||
  one.flags - other.flags ||
  one.totalUs - other.totalUs;

/** Results in order of time, as readers must give them. */
export const inOrder = (rows: readonly HistoryRow[]): HistoryRow[] => rows.toSorted(compare);

export type HistoryShape = {
  readonly seed: number;
  readonly fromUs: number;
  readonly days: number;
  readonly probes: readonly number[];
  /** Seconds between results of a probe. */
  readonly intervalS: number;
};

/**
 * Made results with what is hard for readers: probes that begin at the same microsecond, several results of one probe at one instant, hours and
 * days without any, manual checks and fallbacks, results at the very ends of hours.
 */
export function madeHistory({ seed, fromUs, days, probes, intervalS }: HistoryShape): HistoryRow[] {
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const rows: HistoryRow[] = [];
  const toUs = fromUs + days * dayUs;
  const silent = (): boolean => random() < 0.1;
  for (const probeId of probes) {
    const jitterUs = pick([0, 0, 700_000]);
    let isSilent = silent();
    for (let slotUs = fromUs; slotUs < toUs; slotUs += intervalS * 1_000_000) {
      if (slotUs % (6 * hourUs) === 0) isSilent = silent();
      if (isSilent) continue;
      const eUs = Math.min(toUs - 1, slotUs + Math.floor(random() * jitterUs));
      rows.push(row(random, probeId, eUs));
      if (random() < 0.03) rows.push(row(random, probeId, eUs));
      if (random() < 0.02) rows.push(row(random, probeId, Math.floor(eUs / hourUs) * hourUs));
      if (random() < 0.02) rows.push(row(random, probeId, Math.floor(eUs / hourUs) * hourUs + hourUs - 1));
    }
  }
  return inOrder(rows);
}

function row(random: () => number, probeId: number, eUs: number): HistoryRow {
  const isCentral = probeId === 0;
  const outcome = (['ok', 'ok', 'ok', 'slow', 'fail', 'timeout', 'skipped', 'warn'] as const)[Math.floor(random() * 8)];
  const kind = (['scheduled', 'scheduled', 'scheduled', 'recheck', 'manual'] as const)[Math.floor(random() * 5)];
  const isFallback = isCentral && random() < 0.5;
  const phase = (): number | null => (random() < 0.3 ? null : Math.floor(random() * 100_000));
  return {
    probeId,
    eUs,
    receivedUs: eUs + Math.floor(random() * 4) * 100_000,
    probeRevision: 1 + Math.floor(random() * 2),
    flags:
      packFlags(kind ?? 'scheduled', outcome ?? 'ok', undefined) |
      (isCentral ? centralFlag : 0) |
      (isFallback ? fallbackFlag : 0),
    freshS: 160,
    totalUs: Math.floor(20_000 * (1 + random() * 10)),
    dnsUs: phase(),
    connectUs: phase(),
    tlsUs: phase(),
    firstByteUs: phase(),
    transferUs: phase(),
    error: Math.floor(random() * 3),
  };
}

export type Storage = {
  /** Hours before it are packed. */
  readonly packedUntilHour: number;
  /** Days before it are merged, but those in `unmergedDays`. */
  readonly mergedUntilDay: number;
  readonly unmergedDays?: readonly number[];
  /** Rows before it are gone. */
  readonly hotFromUs: number | null;
  /** Hours that were packed without some of their rows. */
  readonly staleHours?: readonly number[];
};

/** Stores results of a monitor as the ingest and the packing would have. What else is in the tables must lie on the same side of the boundary. */
export async function storeHistory(
  pool: pg.Pool,
  monitorId: number,
  rows: readonly HistoryRow[],
  storage: Storage,
): Promise<void> {
  const first = rows[0]?.eUs ?? 0;
  const last = rows.at(-1)?.eUs ?? 0;
  await pool.query("update result_storage set hot_from = '-infinity'");
  const lastHour = Math.floor(last / hourUs);
  for (let hour = Math.floor(first / hourUs); hour <= lastHour; hour += 50 * 24) {
    await pool.query('select ensure_packed_partitions($1, $2)', [hour, Math.min(lastHour, hour + 50 * 24)]);
  }
  await insertRows(
    pool,
    monitorId,
    rows.filter((one) => storage.hotFromUs === null || one.eUs >= storage.hotFromUs),
  );
  await packHistory(pool, monitorId, rows, storage);
  if (storage.hotFromUs !== null) {
    await pool.query('update result_storage set hot_from = $1', [isoOfUs(storage.hotFromUs)]);
  }
}

export async function insertRows(pool: pg.Pool, monitorId: number, rows: readonly HistoryRow[]): Promise<void> {
  if (rows.length === 0) return;
  const days = [...new Set(rows.map((one) => Math.floor(one.eUs / dayUs)))];
  for (const day of days) {
    const at = isoOfUs(day * dayUs);
    await pool.query('select ensure_result_partitions($1::timestamptz, $1::timestamptz)', [at]);
  }
  const keys = [
    'probeRevision',
    'flags',
    'freshS',
    'totalUs',
    'dnsUs',
    'connectUs',
    'tlsUs',
    'firstByteUs',
    'transferUs',
    'error',
  ] as const;
  await pool.query(
    `insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, dns_us, connect_us,
       tls_us, first_byte_us, transfer_us, error)
     select e, received, $1, probe, revision, flags, fresh, total, dns, connect, tls, first_byte, transfer, error
     from unnest($2::timestamptz[], $3::timestamptz[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::integer[],
       $9::integer[], $10::integer[], $11::integer[], $12::integer[], $13::integer[], $14::integer[])
       as r (e, received, probe, revision, flags, fresh, total, dns, connect, tls, first_byte, transfer, error)`,
    [
      monitorId,
      rows.map((one) => isoOfUs(one.eUs)),
      rows.map((one) => isoOfUs(one.receivedUs)),
      rows.map((one) => one.probeId),
      ...keys.map((key) => rows.map((one) => one[key])),
    ],
  );
}

async function packHistory(
  pool: pg.Pool,
  monitorId: number,
  rows: readonly HistoryRow[],
  { packedUntilHour, mergedUntilDay, unmergedDays = [], staleHours = [] }: Storage,
): Promise<void> {
  // Late results came after the packing.
  const isKnown = (one: HistoryRow, index: number): boolean =>
    !staleHours.includes(Math.floor(one.eUs / hourUs)) || index % 2 === 0;
  const known = rows.filter((one, index) => one.eUs < packedUntilHour * hourUs && isKnown(one, index));
  await packHours(pool, monitorId, known);
  await mergeDays(
    pool,
    monitorId,
    known.filter((one) => one.eUs < mergedUntilDay * dayUs && !unmergedDays.includes(Math.floor(one.eUs / dayUs))),
  );
  await pool.query('insert into stale_hours (monitor_id, hour) select $1, unnest($2::integer[])', [
    monitorId,
    staleHours,
  ]);
}

const columnsOf = (rows: readonly HistoryRow[]): ResultColumns => {
  const columns = new ResultColumns();
  for (const one of rows) columns.push(one);
  return columns;
};

/** Packs the hours of these rows, which are all of each hour. */
export async function packHours(pool: pg.Pool, monitorId: number, rows: readonly HistoryRow[]): Promise<void> {
  const packed = groups(rows, hourUs).map(({ unit, probeId, own }) => {
    const columns = columnsOf(own);
    const last = lastResultOf(columns);
    const shown = [last?.atMs ?? null, last?.totalUs ?? null, last?.flags ?? null];
    return [unit, probeId, own.length, ...shown, encodeSummary(summaryOf(columns)), encodeChunk(columns)];
  });
  await pool.query(
    `insert into result_hours (monitor_id, hour, probe_id, results, last_ms, last_total_us, last_flags, summary, chunk)
     select $1, * from unnest($2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::smallint[], $8::bytea[], $9::bytea[])
     on conflict (monitor_id, hour, probe_id) do update
       set results = excluded.results, last_ms = excluded.last_ms, last_total_us = excluded.last_total_us, last_flags = excluded.last_flags,
         summary = excluded.summary, chunk = excluded.chunk`,
    [monitorId, ...[0, 1, 2, 3, 4, 5, 6, 7].map((index) => packed.map((one) => one[index]))],
  );
}

/** Merges the days of these rows, which are all of each day. */
export async function mergeDays(pool: pg.Pool, monitorId: number, rows: readonly HistoryRow[]): Promise<void> {
  const merged = groups(rows, dayUs).map(({ unit, probeId, own }) => {
    const hours = groups(own, hourUs).map((hour) => summaryOf(columnsOf(hour.own)));
    return [unit, probeId, own.length, encodeSummary(mergeSummaries(hours))];
  });
  await pool.query(
    `insert into result_days (monitor_id, day, probe_id, results, summary)
     select $1, * from unnest($2::integer[], $3::integer[], $4::integer[], $5::bytea[])
     on conflict (monitor_id, day, probe_id) do update set results = excluded.results, summary = excluded.summary`,
    [monitorId, ...[0, 1, 2, 3].map((index) => merged.map((one) => one[index]))],
  );
}

function groups(rows: readonly HistoryRow[], unitUs: number) {
  return [...Map.groupBy(rows, (one) => `${Math.floor(one.eUs / unitUs)} ${one.probeId}`).values()].map((own) => ({
    unit: Math.floor((own[0]?.eUs ?? 0) / unitUs),
    probeId: own[0]?.probeId ?? 0,
    own,
  }));
}
