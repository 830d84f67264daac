import pg from 'pg';
import type { Test } from 'tap';
import { createCopyEncoder } from '../../ingest/copy-buffer.ts';
import { writeRound } from '../../ingest/write.ts';
import type { IngestRow } from '../../ingest/rows.ts';
import { dayMs, hourMs } from '../hours.ts';
import { hotRows, packedRows, stored } from './world.ts';
import type { PackingWorld } from './world.ts';

/** Noon, some days ago: what is packed here lies in days that are over. */
export const noonMs = Math.floor(Date.now() / dayMs) * dayMs - 5 * dayMs + 12 * hourMs;
export const hourOf = (ms: number): number => Math.floor(ms / hourMs);
/** An hour is closed so long after its end. */
export const settledMs = 5 * 60_000;

/** Results of all monitors and probes. */
export function rowsOf(w: PackingWorld, fromMs: number, toMs: number, seed = 1): IngestRow[] {
  return w.monitors.flatMap((monitor) => w.probes.flatMap(({ id }) => stored(seed, monitor, id, { fromMs, toMs })));
}

/** Stores rows as the owner of the shard does, in one round under the fence. */
export async function round(w: PackingWorld, rows: readonly IngestRow[], client?: pg.Client): Promise<void> {
  const own = client ?? new pg.Client({ connectionString: w.urls.worker });
  if (client === undefined) await own.connect();
  await w.pool.query(`update shards set owner = 'me', term = 1`);
  try {
    await writeRound(
      own,
      { shard: 0, owner: 'me', term: 1 },
      {
        intake: { rows: [...rows], moves: new Map(), lost: [], rejected: [] },
        changes: { edits: [], statuses: [], outbox: [] },
        foldedUntilUs: undefined,
      },
      createCopyEncoder(),
    );
  } finally {
    if (client === undefined) await own.end();
  }
}

/** What is packed is what stands as rows in hours that are closed. */
export async function sameAsRows(t: Test, w: PackingWorld, message: string): Promise<void> {
  const closed = await w.pool.query<{ hour: number }>(
    'select (extract(epoch from min(closed_until)) / 3600)::integer as hour from shards',
  );
  const { rows, wrong } = await packedRows(w.pool);
  t.same(wrong, [], `${message}: numbers beside the chunks`);
  const expected = await hotRows(w.pool, closed.rows[0]?.hour ?? 0);
  t.ok(expected.length > 0, `${message}: there are rows`);
  t.equal(rows.length, expected.length, `${message}: as many rows`);
  t.ok(rows.join('\n') === expected.join('\n'), `${message}: the same rows`);
}

/** Resolves when somebody waits for a lock. */
export async function waiting(w: PackingWorld): Promise<void> {
  for (;;) {
    const found = await w.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (found.rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
