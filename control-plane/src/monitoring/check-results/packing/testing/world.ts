import { keptLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { testDatabase } from '../../../../platform/database/testing.ts';
import { copyText, createCopyEncoder } from '../../ingest/copy-buffer.ts';
import type { IngestRow } from '../../ingest/rows.ts';
import { insertMonitors, insertProbe, insertWorkspace } from '../../ingest/testing/fixture.ts';
import type { FixtureMonitors, FixtureProbe } from '../../ingest/testing/fixture.ts';
import { decodeChunk } from '../../packed/chunk.ts';
import { madeProtocols, madeResults, madeTarget, seededRandom } from '../../packed/testing/made-results.ts';
import { dayMs, hourMs, hoursOfDay } from '../hours.ts';
import { packAll } from '../job.ts';
import type { PackingWork } from '../job.ts';
import { createPackedPartitions } from '../queries.ts';

/** For tests: a database with probes and monitors, results that are made, and packing when the test wants. */
export async function packingWorld(
  t: TestContext,
  options: Partial<FixtureMonitors> & { readonly shards?: number; readonly probeCount?: number; readonly atMs: number },
) {
  const { urls, database } = await testDatabase(t);
  const pool = database.raw;
  const { log, lines } = keptLog();
  const shards = options.shards ?? 1;
  const owner = await insertWorkspace(pool, shards);
  const probes: FixtureProbe[] = [];
  for (let index = 0; index < (options.probeCount ?? 2); index += 1) probes.push(await insertProbe(pool, `r${index}`));
  const add = (count: number, changed: Partial<FixtureMonitors> = {}) =>
    insertMonitors(pool, owner, { probes, createdMs: options.atMs - 400 * dayMs, ...options, count, ...changed });
  const monitors = await add(options.count ?? 3);
  const encode = createCopyEncoder();
  const partitions = createPackedPartitions(pool);
  const packing = (changed: Partial<PackingWork> = {}): PackingWork => ({
    pool,
    partitions,
    shards,
    now: () => options.atMs,
    log,
    isStopped: () => false,
    settledSeconds: 0,
    ...changed,
  });

  return {
    urls,
    database,
    pool,
    log,
    lines,
    owner,
    probes,
    monitors,
    monitor: monitors[0] ?? 0,
    add,
    packing,
    pack: (changed?: Partial<PackingWork>) => packAll(packing(changed)),
    /** Stores rows as rows, with partitions for them, as if they had come long ago. */
    store: async (rows: readonly IngestRow[]) => {
      const days = new Set(rows.map((row) => Math.floor(row.eUs / 1_000 / dayMs)));
      for (const day of days) {
        await pool.query('select ensure_result_partitions($1, $1)', [new Date(day * dayMs)]);
      }
      const client = new pg.Client({ connectionString: urls.worker });
      await client.connect();
      await new Promise<void>((resolve, reject) => {
        const stream = client.query(copyFrom(copyText));
        stream.on('finish', resolve);
        stream.on('error', reject);
        stream.end(encode(rows));
      });
      await client.end();
    },
    foldUntil: (ms: number, shard = 0) =>
      pool.query('update shards set folded_until = $1 where shard = $2', [new Date(ms), shard]),
    count: async (table: string): Promise<number> =>
      Number((await pool.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]?.n),
  };
}

export type PackingWorld = Awaited<ReturnType<typeof packingWorld>>;

/** Results of one monitor and probe in [fromMs, toMs) as they are stored; always the same for a seed. */
export function stored(
  seed: number,
  monitorId: number,
  voter: number,
  span: { readonly fromMs: number; readonly toMs: number; readonly intervalS?: number },
): IngestRow[] {
  const random = seededRandom(seed * 7_919 + monitorId * 31 + voter);
  const target = madeTarget(random, madeProtocols[monitorId % madeProtocols.length] ?? 'http', span.intervalS ?? 60);
  return [...madeResults(random, target, span.fromMs * 1_000, span.toMs * 1_000)].map((row) => ({
    ...row,
    monitorId,
    voter,
    kind: 'scheduled',
    outcome: 'ok',
    dnsUs: row.dnsUs ?? undefined,
    connectUs: row.connectUs ?? undefined,
    tlsUs: row.tlsUs ?? undefined,
    firstByteUs: row.firstByteUs ?? undefined,
    transferUs: row.transferUs ?? undefined,
    evidence: undefined,
  }));
}

const columns = `r.monitor_id, r.probe_id, (extract(epoch from r.e) * 1000000)::bigint as e, (extract(epoch from r.received_at) * 1000000)::bigint as r,
  r.probe_revision, r.flags, r.fresh_s, r.total_us, r.dns_us, r.connect_us, r.tls_us, r.first_byte_us, r.transfer_us, r.error`;

/** Every row of `check_results` that counts, as text, in order. @param until hours before it only */
export async function hotRows(pool: pg.Pool, untilHour = Number.POSITIVE_INFINITY): Promise<string[]> {
  const found = await pool.query<Record<string, string | number | null>>(
    `select ${columns} from check_results r join monitors m on m.id = r.monitor_id
     where m.deleted_at is null and r.e >= coalesce(m.reset_at, '-infinity')`,
  );
  return found.rows
    .filter((row) => Number(row['e']) / 1_000 / hourMs < untilHour)
    .map((row) => Object.values(row).join(' '))
    .sort();
}

/** Every row that stands in a chunk, as the same text; and what is wrong with the numbers beside the chunks and with the days. */
export async function packedRows(pool: pg.Pool): Promise<{ rows: string[]; wrong: string[] }> {
  const rows: string[] = [];
  const wrong: string[] = [];
  const hours = await pool.query<{
    monitor_id: number;
    hour: number;
    probe_id: number;
    results: number;
    chunk: Buffer;
  }>('select monitor_id, hour, probe_id, results, chunk from result_hours');
  const days = new Map<string, number>();
  for (const { monitor_id, hour, probe_id, results, chunk } of hours.rows) {
    const decoded = decodeChunk(chunk);
    if (decoded.length !== results) wrong.push(`${monitor_id} ${hour} ${probe_id}: ${results} for ${decoded.length}`);
    const day = `${monitor_id} ${Math.floor(hour / hoursOfDay)} ${probe_id}`;
    days.set(day, (days.get(day) ?? 0) + decoded.length);
    for (let at = 0; at < decoded.length; at += 1) {
      const row = decoded.row(at);
      if (Math.floor(row.eUs / 1_000 / hourMs) !== hour) wrong.push(`${monitor_id} ${hour}: a row of another hour`);
      const { eUs, receivedUs, probeRevision, flags, freshS, totalUs } = row;
      const { dnsUs, connectUs, tlsUs, firstByteUs, transferUs, error } = row;
      const texts = [monitor_id, probe_id, eUs, receivedUs, probeRevision, flags, freshS, totalUs];
      rows.push([...texts, dnsUs, connectUs, tlsUs, firstByteUs, transferUs, error].join(' '));
    }
  }
  const merged = await pool.query<{ monitor_id: number; day: number; probe_id: number; results: number }>(
    'select monitor_id, day, probe_id, results from result_days',
  );
  for (const { monitor_id, day, probe_id, results } of merged.rows) {
    const expected = days.get(`${monitor_id} ${day} ${probe_id}`) ?? 0;
    if (expected !== results) wrong.push(`${monitor_id} day ${day} ${probe_id}: ${results} for ${expected}`);
  }
  return { rows: rows.sort(), wrong };
}
