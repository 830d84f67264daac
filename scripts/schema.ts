// Writes schema.sql from a database that the migrations made; with --check compares and exits 1 when it differs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '@parallax/embedded';
import { createLogger } from '@parallax/telemetry';
import { migrate } from '../control-plane/src/platform/database/migrate.ts';
import { schemaListing } from '../control-plane/src/platform/database/schema-listing.ts';

const file = path.resolve(import.meta.dirname, '../schema.sql');
const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-schema-'));
chmodSync(dataDir, 0o711);
const postgres = await startPostgres({
  dataDir,
  durable: false,
  log: createLogger({ name: 'schema', level: 'silent' }),
});
try {
  await migrate(postgres.url('postgres'));
  const listing = await schemaListing(postgres.url('postgres'));
  if (!process.argv.includes('--check')) {
    writeFileSync(file, listing);
    console.log(`schema.sql: ${listing.split('\n').length} lines`);
  } else if (readFileSync(file, 'utf8') === listing) {
    console.log(`schema.sql agrees with the migrations (${listing.split('\n').length} lines)`);
  } else {
    console.error('schema.sql differs from what the migrations make\nrun: npm run schema');
    process.exitCode = 1;
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
