import { maxBatchResults } from '@parallax/wire';
import pg from 'pg';
import { readRunning } from '../../control-plane/src/supervisor/index.ts';
import type { ArchivedResult } from '../harness/log-archive.ts';
import type { Product } from '../harness/product.ts';

/** A connection to the product's database as its worker. */
export function openDatabaseOf(product: Product): pg.Pool {
  const urls = readRunning(product.dataDir)?.database_urls;
  if (urls === undefined || urls === null) throw new Error('the product does not run with a database of its own');
  const pool = new pg.Pool({ connectionString: urls.worker, max: 2 });
  pool.on('error', () => undefined);
  return pool;
}

/** A stored result of a probe. `cut`: its probe's clock was ahead, so its time is that of its receipt. */
export type StoredKey = { readonly monitorId: number; readonly eUs: number; readonly cut: boolean };

/** Everything that is stored of one probe. */
export async function storedKeys(pool: pg.Pool, probeId: number): Promise<StoredKey[]> {
  // The ingest keeps the results of a batch apart by a microsecond when it cuts them to the receipt, and writes the receipt in whole
  // milliseconds, rounded up.
  const mostUs = 1_000 + maxBatchResults;
  const { rows } = await pool.query<{ monitor_id: number; us: string; cut: boolean }>(
    `select monitor_id, (extract(epoch from e) * 1000000)::bigint as us, received_at - e <= $2 * interval '1 microsecond' as cut
     from check_results where probe_id = $1 order by e`,
    [probeId, mostUs],
  );
  return rows.map((row) => ({ monitorId: row.monitor_id, eUs: Number(row.us), cut: row.cut }));
}

/** Whether a result is stored more than once: no monitor is checked twice by one probe at the same microsecond. */
export function isAnyTwice(stored: readonly StoredKey[]): boolean {
  return new Set(stored.map(({ monitorId, eUs }) => `${monitorId} ${eUs}`)).size < stored.length;
}

/** What is wrong with what is stored of a probe, against what its log had: nothing for a run in which nothing was lost or doubled. */
export function compareKeys(stored: readonly StoredKey[], archived: readonly ArchivedResult[]): string[] {
  const complaints: string[] = [];
  const logged = [...new Map(archived.map((one) => [`${one.epoch}/${one.shard}/${one.seq}`, one]))];
  if (stored.length !== logged.length) complaints.push(`${logged.length} were logged and ${stored.length} are stored`);
  const left = new Map<string, StoredKey[]>();
  for (const row of stored) {
    const key = `${row.monitorId} ${row.eUs}`;
    left.set(key, [...(left.get(key) ?? []), row]);
  }
  const unmatched = logged.filter(([, one]) => left.get(`${one.monitorId} ${one.effectiveUs}`)?.pop() === undefined);
  // What has no row of its very time: its time was not known when it was logged, or it was cut to the receipt.
  const spare = Map.groupBy([...left.values()].flat(), (row) => row.monitorId);
  for (const [place, one] of unmatched) {
    const rows = spare.get(one.monitorId) ?? [];
    const at = rows.findIndex((row) => one.effectiveUs === 0 || (row.cut && row.eUs <= one.effectiveUs));
    if (at === -1) complaints.push(`lost: ${place} (monitor ${one.monitorId} at ${one.effectiveUs})`);
    else rows.splice(at, 1);
  }
  for (const row of [...spare.values()].flat())
    complaints.push(`doubled or unknown: monitor ${row.monitorId} at ${row.eUs}`);
  return complaints.slice(0, 10);
}
