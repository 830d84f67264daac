import { createHash } from 'node:crypto';
import { cloneDatabase } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { migrate, readMigrations } from './migrate.ts';
import { openDatabase } from './pools.ts';
import type { Database, DatabaseUrls } from './pools.ts';
import type { TableSignals } from './table-signals.ts';

/**
 * For tests: an empty database with the present schema and an installation row, cloned from a template that is built once for
 * each state of the migrations; dropped when the test ends.
 */
export async function testDatabase(
  t: TestContext,
): Promise<{ readonly urls: DatabaseUrls; readonly database: Database }> {
  const migrations = await readMigrations();
  const digest = createHash('sha256').update(migrations.map((one) => one.checksum).join());
  const { urls } = await cloneDatabase(t, {
    templateKey: `migrated ${digest.digest('hex')}`,
    build: async (template) => {
      await migrate(template.owner, migrations);
    },
  });
  const database = await openDatabase(urls, { api: 4, worker: 6 });
  t.teardown(() => database.close());
  return { urls, database };
}

/** For tests that say themselves when work is looked for: nothing is signalled, and nobody polls for want of signals. */
export const silentSignals: TableSignals = {
  on: () => ({ stop: () => undefined }),
  isHeard: () => true,
  close: async () => undefined,
};
