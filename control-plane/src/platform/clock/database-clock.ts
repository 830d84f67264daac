import { performance } from 'node:perf_hooks';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../database/pools.ts';

/** The database's clock as this process knows it: the one clock of the installation. */
export type DatabaseClock = {
  /** Milliseconds since the epoch, with fractions. */
  readonly now: () => number;
  readonly stop: () => void;
};

const sampleEveryMs = 10_000;
const samplesKept = 8;

type Sample = { readonly offsetMs: number; readonly roundTripMs: number };

/**
 * Keeps the offset between this process's monotonic clock and the database's. Of the last samples the one with the shortest
 * round trip counts, since its error is at most half of that. While the database is away the last offset stands.
 */
export async function startDatabaseClock(pool: DatabasePool): Promise<DatabaseClock> {
  const samples: Sample[] = [];
  let offsetMs = 0;
  const sample = async (): Promise<void> => {
    const before = performance.now();
    const serverMs = await pool.oneFirst(
      sql.type(
        z.object({ now_ms: z.number() }),
      )`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
    );
    const after = performance.now();
    samples.push({ offsetMs: serverMs - (before + after) / 2, roundTripMs: after - before });
    if (samples.length > samplesKept) samples.shift();
    offsetMs = best(samples).offsetMs;
  };
  for (let count = 0; count < 3; count += 1) await sample();
  const timer = setInterval(() => void sample().catch(() => undefined), sampleEveryMs);
  timer.unref();
  return { now: () => performance.now() + offsetMs, stop: () => clearInterval(timer) };
}

function best(samples: readonly Sample[]): Sample {
  return samples.reduce((a, b) => (b.roundTripMs < a.roundTripMs ? b : a));
}
