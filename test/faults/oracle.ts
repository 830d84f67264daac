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

/** Stored results of one probe, by monitor. */
export async function storedKeys(pool: pg.Pool, probeId: number): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    `select monitor_id || ' ' || (extract(epoch from e) * 1000000)::bigint as key from check_results where probe_id = $1`,
    [probeId],
  );
  return rows.map((row) => row.key);
}

/** What is wrong with what is stored of a probe, against what its log had: nothing for a run in which nothing was lost or doubled. */
export function compareKeys(stored: readonly string[], archived: readonly ArchivedResult[]): string[] {
  const complaints: string[] = [];
  const unique = new Map(archived.map((one) => [`${one.epoch}/${one.shard}/${one.seq}`, one]));
  if (stored.length !== unique.size) complaints.push(`${unique.size} were logged and ${stored.length} are stored`);
  const left = new Map<string, number>();
  for (const key of stored) left.set(key, (left.get(key) ?? 0) + 1);
  for (const [place, one] of unique) {
    // Its time was not known when it was logged, so only its number can be compared.
    if (one.effectiveUs === 0) continue;
    const key = `${one.monitorId} ${one.effectiveUs}`;
    const count = left.get(key) ?? 0;
    if (count === 0) complaints.push(`lost: ${place} (monitor ${key})`);
    else left.set(key, count - 1);
  }
  for (const [key, count] of new Map([...left].filter(([, count]) => count > 0))) {
    if (new Set(stored).size !== stored.length) complaints.push(`doubled or unknown: ${key} (${count} too many)`);
  }
  return complaints.slice(0, 10);
}
