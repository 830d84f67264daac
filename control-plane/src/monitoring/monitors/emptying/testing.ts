import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Database } from '../../../platform/database/pools.ts';
import { addRange, addResults } from '../../testing.ts';

const hourMs = 3_600_000;

/** Rows of one monitor by table. */
export type KeptRows = Readonly<Record<(typeof tables)[number], number>>;

const tables = [
  'check_results',
  'result_evidence',
  'result_hours',
  'result_days',
  'stale_hours',
  'status_ranges',
  'probe_ranges',
  'diagnoses',
] as const;

/** For tests: how many rows of a monitor each table of results and of what is derived from them has. */
export async function keptRows(database: Database, monitorId: number): Promise<KeptRows> {
  const counts = tables.map(
    (table) =>
      sql.fragment`(select count(*) from ${sql.identifier([table])} where monitor_id = ${monitorId})::integer as ${sql.identifier([table])}`,
  );
  const shape = z.object(Object.fromEntries(tables.map((table) => [table, z.number()])));
  return (await database.worker.one(sql.type(shape)`select ${sql.join(counts, sql.fragment`, `)}`)) as KeptRows;
}

export const noRows: KeptRows = Object.fromEntries(tables.map((table) => [table, 0])) as KeptRows;

/**
 * For tests: something of everything that is kept of a monitor, with probes 1 and 2, around an instant: 30 hours of results (one an hour
 * and probe, the last at the instant), evidence, packed hours and days of the ten days before, a stale hour, an open range of the monitor and
 * of probe 1 that began an hour before, a closed one before, a diagnosis.
 * @returns the rows by table
 */
export async function addOfEverything(
  database: Database,
  monitor: { readonly id: number; readonly workspaceId: number },
  atMs: number,
): Promise<KeptRows> {
  const { worker } = database;
  const { id, workspaceId } = monitor;
  const hours = Array.from({ length: 30 }, (_, index) => index);
  const at = (ms: number) => sql.timestamp(new Date(ms));
  await addResults(
    database,
    hours.flatMap((hour) => [1, 2].map((probeId) => ({ monitorId: id, probeId, atMs: atMs - hour * hourMs }))),
  );
  await addRange(database, { monitorId: id, fromMs: atMs - 9 * hourMs, toMs: atMs - hourMs, status: 'DOWN' });
  await addRange(database, { monitorId: id, fromMs: atMs - hourMs, toMs: null, status: 'UP' });
  await addRange(database, {
    monitorId: id,
    probeId: 1,
    fromMs: atMs - 9 * hourMs,
    toMs: atMs - hourMs,
    status: 'DOWN',
  });
  await addRange(database, { monitorId: id, probeId: 1, fromMs: atMs - hourMs, toMs: null, status: 'UP' });
  await worker.query(sql.unsafe`
    insert into result_evidence (e, monitor_id, probe_id, message, evidence) values (${at(atMs - hourMs)}, ${id}, 1, 'm', '{}')`);
  await worker.query(sql.unsafe`
    insert into diagnoses (workspace_id, monitor_id, since, due_at) values (${workspaceId}, ${id}, ${at(atMs - hourMs)}, now())`);
  const hour = Math.floor(atMs / hourMs);
  await addPackedHours(database, id, hour - 240, hour - 1);
  await worker.query(sql.unsafe`insert into stale_hours (monitor_id, hour) values (${id}, ${hour - 30})`);
  return keptRows(database, id);
}

/** For tests: hours [first, last] of probes 1 and 2 as if they were packed, with six results each and no readable chunk, and their whole days. */
export async function addPackedHours(
  database: Database,
  monitorId: number,
  first: number,
  last: number,
): Promise<void> {
  const { worker } = database;
  for (let from = first; from <= last; from += 1_000) {
    await worker.query(sql.unsafe`select ensure_packed_partitions(${from}, ${Math.min(last, from + 999)})`);
  }
  await worker.query(sql.unsafe`
    insert into result_hours (monitor_id, hour, probe_id, results, summary, chunk)
    select ${monitorId}, hour, probe_id, 6, '', '' from generate_series(${first}::integer, ${last}::integer) hour, generate_series(1, 2) probe_id`);
  await worker.query(sql.unsafe`
    insert into result_days (monitor_id, day, probe_id, results, summary)
    select ${monitorId}, day, probe_id, 144, ''
    from generate_series(${Math.ceil(first / 24)}::integer, ${Math.floor(last / 24) - 1}::integer) day, generate_series(1, 2) probe_id`);
}
