import type pg from 'pg';
import { ResultColumns } from '../../../control-plane/src/monitoring/check-results/packed/columns.ts';
import { encodeChunk } from '../../../control-plane/src/monitoring/check-results/packed/chunk.ts';
import { lastResultOf } from '../../../control-plane/src/monitoring/check-results/packed/last-result.ts';
import { encodeSummary, summaryOf } from '../../../control-plane/src/monitoring/check-results/packed/summary.ts';
import {
  madeProtocols,
  madeResults,
  madeTarget,
  seededRandom,
} from '../../../control-plane/src/monitoring/check-results/packed/testing/made-results.ts';
import type { MadeProtocol } from '../../../control-plane/src/monitoring/check-results/packed/testing/made-results.ts';
import {
  dayUs,
  insertRows,
  mergeDays,
  packHours,
} from '../../../control-plane/src/monitoring/check-results/reading/testing/stored-history.ts';
import type { HistoryRow } from '../../../control-plane/src/monitoring/check-results/reading/testing/stored-history.ts';
import { hourUs, isoOfUs } from '../../../control-plane/src/monitoring/check-results/reading/time.ts';

export type Subject = {
  readonly monitorId: number;
  readonly probes: readonly number[];
  readonly intervalS: number;
  readonly seed: number;
};

export type FillPlan = {
  readonly monitors: readonly number[];
  /** Whole days before the present one. */
  readonly days: number;
  readonly nowUs: number;
};

/** A result that counts among the latencies. */
export type Measured = { readonly eUs: number; readonly totalUs: number };

/** Days that stand as rows, the present one not counted. */
const hotDays = 2;
/** Monitors whose packed hours lie around those of a subject. */
const neighbours = 24;
/** No monitor has this number: what is to be copied to others. */
const template = 2_147_483_647;

/**
 * Stores the results of a subject as packing leaves them: hours until the present one, days until the present one, rows of the last two days and
 * the present one. Its packed hours lie among those of its neighbours, as packing writes an hour of all monitors at once.
 * @returns what counts among the latencies
 */
export async function fillSubject(pool: pg.Pool, subject: Subject, plan: FillPlan): Promise<Measured[]> {
  const random = seededRandom(subject.seed);
  const targets = subject.probes.map(() => madeTarget(random, 'https', subject.intervalS));
  const today = Math.floor(plan.nowUs / dayUs);
  const place = plan.monitors.indexOf(subject.monitorId);
  const around = plan.monitors.slice(Math.max(0, place - neighbours / 2), place + neighbours / 2);
  const measured: Measured[] = [];
  for (let day = today - plan.days; day <= today; day += 1) {
    const fromUs = day * dayUs;
    const toUs = Math.min(plan.nowUs, fromUs + dayUs);
    const rows = subject.probes.flatMap((probeId, index): HistoryRow[] => {
      const target = targets[index];
      return target === undefined
        ? []
        : Array.from(madeResults(random, target, fromUs, toUs), (row) => ({ ...row, probeId }));
    });
    for (const { eUs, totalUs, error } of rows) if (error === 0) measured.push({ eUs, totalUs });
    if (day >= today - hotDays) await insertRows(pool, subject.monitorId, rows);
    await packHours(
      pool,
      template,
      rows.filter((row) => row.eUs < Math.floor(plan.nowUs / hourUs) * hourUs),
    );
    await spread(pool, 'result_hours', 'hour', 'last_ms, last_total_us, last_flags, summary, chunk', around);
    if (day === today) continue;
    await mergeDays(pool, template, rows);
    await spread(pool, 'result_days', 'day', 'summary', plan.monitors);
  }
  return measured;
}

/** Copies the rows of the template to monitors, in the order in which packing would write them, and removes them. */
async function spread(
  pool: pg.Pool,
  table: 'result_hours' | 'result_days',
  unit: 'hour' | 'day',
  bytes: string,
  monitors: readonly number[],
): Promise<void> {
  await pool.query(
    `insert into ${table} (monitor_id, ${unit}, probe_id, results, ${bytes})
     select m, t.${unit}, t.probe_id, t.results, ${bytes} from ${table} t cross join unnest($2::integer[]) as m
     where t.monitor_id = $1 order by t.${unit}, m, t.probe_id on conflict do nothing`,
    [template, monitors],
  );
  await pool.query(`delete from ${table} where monitor_id = $1`, [template]);
}

/** Rows of all monitors but the subjects in the hot days, every five minutes, so that a subject's rows lie far apart. */
export async function fillHotRows(pool: pg.Pool, monitors: readonly number[], nowUs: number): Promise<void> {
  const today = Math.floor(nowUs / dayUs);
  await pool.query(
    `insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, dns_us, connect_us,
       tls_us, first_byte_us, transfer_us, error)
     select slot + m * interval '100 milliseconds', slot + interval '1 minute', m, probe, 1, 0, 160, 90000, 700, 30000, 32000, 26000, 300, 0
     from generate_series($1::timestamptz, $2::timestamptz, interval '5 minutes') as slot
     cross join unnest($3::integer[]) as m cross join generate_series(1, 3) as probe
     order by slot, m`,
    [isoOfUs((today - hotDays) * dayUs), isoOfUs(nowUs - 600_000_000), monitors],
  );
}

/** A range every few hours, of the consensus and of each probe. */
export async function fillRanges(
  pool: pg.Pool,
  monitors: readonly number[],
  { days, nowUs, everyHours }: { readonly days: number; readonly nowUs: number; readonly everyHours: number },
): Promise<void> {
  const bounds = [isoOfUs(nowUs - days * dayUs), isoOfUs(nowUs - hourUs), everyHours, monitors];
  const from = `from generate_series($1::timestamptz, $2::timestamptz, make_interval(hours => $3)) with ordinality as s (at, place)
    cross join unnest($4::integer[]) as m`;
  const columns = `at, at + make_interval(hours => $3) - interval '1 minute', case when place % 2 = 0 then 'UP' else 'DOWN' end,
    '{"rule": "answered", "quorum": 2, "voters": [], "missing": []}'::jsonb`;
  await pool.query(
    `insert into status_ranges (monitor_id, started_at, ended_at, status, evidence) select m, ${columns} ${from} order by at, m`,
    bounds,
  );
}

/** The ingest stamps receipts in whole milliseconds. */
const ingestStampUs = 1_000;

/** Bytes of a result with all that belongs to it in the table and its indexes, by protocol. */
export async function packedBytes(
  owner: pg.Pool,
  worker: pg.Pool,
  { monitors, hours }: { readonly monitors: number; readonly hours: number },
): Promise<Record<MadeProtocol, number>> {
  const bytes: Partial<Record<MadeProtocol, number>> = {};
  for (const [index, protocol] of madeProtocols.entries()) {
    // A week of its own for each, long before everything else.
    const firstHour = (1_000 + index) * 168;
    await worker.query('select ensure_packed_partitions($1, $1)', [firstHour]);
    const random = seededRandom(11);
    const targets = Array.from({ length: monitors * 3 }, () => madeTarget(random, protocol));
    let results = 0;
    for (let hour = firstHour; hour < firstHour + hours; hour += 1) {
      const rows = targets.map((target, place) => {
        const columns = new ResultColumns();
        for (const row of madeResults(random, target, hour * hourUs, (hour + 1) * hourUs, { receiptUs: ingestStampUs }))
          columns.push(row);
        results += columns.length;
        const last = lastResultOf(columns);
        return [
          1 + Math.floor(place / 3),
          1 + (place % 3),
          columns.length,
          last?.atMs ?? null,
          last?.totalUs ?? null,
          last?.flags ?? null,
          encodeSummary(summaryOf(columns)),
          encodeChunk(columns),
        ];
      });
      await worker.query(
        `insert into result_hours (monitor_id, hour, probe_id, results, last_ms, last_total_us, last_flags, summary, chunk)
         select m, $1, p, r, e, d, f, s, c from unnest($2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
           $7::smallint[], $8::bytea[], $9::bytea[]) as t (m, p, r, e, d, f, s, c)`,
        [hour, ...[0, 1, 2, 3, 4, 5, 6, 7].map((column) => rows.map((row) => row[column]))],
      );
    }
    bytes[protocol] = (await relationBytes(owner, `result_hours_${firstHour}`)) / results;
  }
  return bytes as Record<MadeProtocol, number>;
}

/** What a table takes with its indexes and what is stored beside it. */
export async function relationBytes(owner: pg.Pool, table: string): Promise<number> {
  const found = await owner.query<{ bytes: string }>('select pg_total_relation_size($1::regclass) as bytes', [table]);
  return Number(found.rows[0]?.bytes);
}

/** The same of all partitions of a table, for each row. */
export async function bytesPerRow(owner: pg.Pool, table: string): Promise<number> {
  const found = await owner.query<{ bytes: string; rows: string }>(
    `select (select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = $1::regclass) as bytes,
       (select count(*) from ${table}) as rows`,
    [table],
  );
  return Number(found.rows[0]?.bytes) / Math.max(1, Number(found.rows[0]?.rows));
}
