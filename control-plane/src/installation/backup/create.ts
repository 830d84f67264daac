import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { z } from 'zod';
import type { Keyring } from '../../platform/crypto/seal.ts';
import { readMigrations } from '../../platform/database/migrate.ts';
import { installationRow, requireSameKey } from '../fixed.ts';
import { BackupError } from './backup-error.ts';
import { readDays, readIdentities, readStarts, readTables } from './catalog.ts';
import type { CatalogTable } from './catalog.ts';
import { BackupWriter } from './file-writer.ts';
import type { Sink } from './file-writer.ts';
import { tablePlans } from './tables.ts';
import type { TablePlan } from './tables.ts';

export type BackupOptions = {
  /** The login of workers: it passes row-level security, so no row is missing silently. */
  readonly workerUrl: string;
  readonly sealer: Keyring;
  readonly productVersion: string;
  readonly nowMs: number;
  readonly sink: Sink;
  readonly onProgress: (line: string) => void;
};

export type BackupSummary = { readonly tables: number; readonly rows: number };

const migrationRow = z.object({ number: z.number(), name: z.string(), checksum: z.string() });

/**
 * Writes everything that the database holds, as it is at one moment, while the product runs on.
 * @throws BackupError for a database that is not set up, has a newer schema than this program, or a table that is on no list
 * @throws InstallationError for another key-encryption key: such a backup could not be restored
 */
export async function createBackup(options: BackupOptions): Promise<BackupSummary> {
  const client = new pg.Client({ connectionString: options.workerUrl, application_name: 'parallax backup' });
  // A connection that is cut is told by the query that is under way.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const results = await presentTables(client, partitionedResults);
    await client.query('begin isolation level repeatable read read only');
    // Before the snapshot is taken, which the first query does: a partition that is dropped after it would be missing without a word.
    if (results.length > 0) await client.query(`lock table ${columnList(results)} in access share mode`);
    await client.query(sessionSettings);
    // A login that does not pass row-level security is told so, where it would else miss rows silently.
    await client.query('set local row_security = off');
    const writer = new BackupWriter(options.sink);
    await writer.begin(await describe(client, options));
    const tables = planned(await readTables(client));
    for (const { table, plan } of tables) {
      const rows = await writer.table(
        {
          name: table.name,
          columns: [...table.columns],
          ...(plan.kind === 'copied by day' ? { days: await readDays(client, table.name) } : {}),
          ...(plan.kind === 'copied by number' ? { starts: await readStarts(client, table.name) } : {}),
        },
        client.query(copyTo(copyOut(table))),
      );
      options.onProgress(`${table.name}: ${rows} rows`);
    }
    const rows = await writer.end(await readIdentities(client), options.sealer);
    await client.query('commit');
    return { tables: tables.length, rows };
  } finally {
    await client.end();
  }
}

/** Tables whose partitions are dropped while the product runs. */
const partitionedResults = ['check_results', 'result_hours', 'result_days'];

/** Those of these tables that the schema has. */
async function presentTables(client: pg.ClientBase, names: readonly string[]): Promise<string[]> {
  const found = await client.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is not null',
    [names],
  );
  return found.rows.map(({ name }) => name);
}

/** Texts that mean the same on every server; nothing ends a long COPY. */
export const sessionSettings = `set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'iso_8601';
  set local extra_float_digits = 3; set local bytea_output = 'hex'; set local client_encoding = 'UTF8';
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

/** The columns of a table as COPY and its list take them. */
export function columnList(columns: readonly string[]): string {
  return columns.map((column) => pg.escapeIdentifier(column)).join(', ');
}

/** A partitioned table can only be copied by a query. */
function copyOut({ name, columns }: CatalogTable): string {
  return `copy (select ${columnList(columns)} from ${pg.escapeIdentifier(name)}) to stdout`;
}

async function describe(client: pg.ClientBase, { sealer, productVersion, nowMs }: BackupOptions) {
  const exists = await client.query<{ exists: boolean }>(
    "select to_regclass('public.installation') is not null as exists",
  );
  const row =
    exists.rows[0]?.exists === true
      ? (await client.query('select shards, key_check from installation')).rows[0]
      : undefined;
  if (row === undefined) throw new BackupError('the database was not set up yet, so there is nothing to back up');
  const installed = installationRow.parse(row);
  requireSameKey(installed, sealer);
  const applied = await client.query('select number, name, checksum from schema_migrations order by number');
  const migrations = z.array(migrationRow).parse(applied.rows);
  const known = (await readMigrations()).length;
  if (migrations.length > known) {
    throw new BackupError(
      `the database has schema ${migrations.length} and this program knows ${known}: back it up with the newer version of Parallax`,
    );
  }
  return {
    format: 1 as const,
    product_version: productVersion,
    created_at: new Date(nowMs).toISOString(),
    migrations,
    shards: installed.shards,
    key_check: installed.key_check.toString('base64'),
  };
}

/** The tables that go into a backup. @throws BackupError for one that is on no list */
function planned(tables: readonly CatalogTable[]): { table: CatalogTable; plan: TablePlan }[] {
  return tables.flatMap((table) => {
    const plan = tablePlans[table.name];
    if (plan === undefined) {
      throw new BackupError(
        `the table ${table.name} is not one of Parallax and would be missing from the backup: move it out of the schema public`,
      );
    }
    return plan.kind === 'left out' ? [] : [{ table, plan }];
  });
}
