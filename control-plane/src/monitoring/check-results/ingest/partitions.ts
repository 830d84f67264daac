import { ensurePartitions } from './queries.ts';
import type { Reader } from './windows/queries.ts';
import type { IngestRow } from './rows.ts';

const dayUs = 86_400_000_000;

export type Partitions = {
  /** Makes sure of yesterday to the day after tomorrow. */
  readonly prepare: (nowUs: number) => Promise<void>;
  /** Makes sure of the days of these rows, and of tomorrow. Asks the database only about days it has not seen. */
  readonly prepareFor: (rows: readonly IngestRow[], nowUs: number) => Promise<void>;
};

/** The daily partitions that are known to exist. */
export function createPartitions(reader: Reader): Partitions {
  const known = new Set<number>();

  async function ensure(wanted: Iterable<number>): Promise<void> {
    for (const day of wanted) {
      if (known.has(day)) continue;
      await ensurePartitions(reader, day * dayUs, day * dayUs);
      known.add(day);
    }
  }

  return {
    prepare: async (nowUs) => {
      const today = Math.floor(nowUs / dayUs);
      await ensure([today - 1, today, today + 1, today + 2]);
    },
    prepareFor: async (rows, nowUs) => {
      const days = new Set([Math.floor(nowUs / dayUs) + 1]);
      for (const row of rows) days.add(Math.floor(row.eUs / dayUs));
      await ensure(days);
    },
  };
}
