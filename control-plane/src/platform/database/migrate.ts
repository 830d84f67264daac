import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { ExplainedError } from '../explained-error.ts';

/** One numbered file of plain SQL. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
};

/** The database cannot be brought to this program's schema; the message says what to do. */
export class MigrationError extends ExplainedError {
  override readonly name = 'MigrationError';
}

// Any constant that no other program uses on this database.
const migrationLock = 7_152_036_401n;

const versionsTable = `create table if not exists schema_migrations (
  number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`;

/** Reads `NNNN_name.sql` files in order; a gap or a doubled number is an error. */
export async function readMigrations(folder = path.join(import.meta.dirname, 'migrations')): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(file.slice(0, 4));
      if (number !== index + 1) throw new MigrationError(`migration ${file}: expected number ${index + 1}`);
      const text = await readFile(path.join(folder, file), 'utf8');
      return { number, name: file, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/**
 * Brings the schema up to the last migration, each in a transaction of its own. A second starter waits for the first.
 * Refuses a schema that a newer program made and a migration that was changed after it ran.
 * @returns the names of the migrations that ran
 */
export async function migrate(ownerUrl: string, migrations?: readonly Migration[]): Promise<string[]> {
  const wanted = migrations ?? (await readMigrations());
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await client.query(versionsTable);
    const applied = await client.query<AppliedMigration>(
      'select number, name, checksum from schema_migrations order by number',
    );
    refuseForeignSchema(applied.rows, wanted);
    const ran: string[] = [];
    for (const migration of wanted.slice(applied.rows.length)) {
      await runOne(client, migration);
      ran.push(migration.name);
    }
    return ran;
  } finally {
    await client.end();
  }
}

/** What a database has noted of its migrations, in order. */
export type AppliedMigration = { readonly number: number; readonly name: string; readonly checksum: string };

/** @throws MigrationError for a schema that a newer program made, and for a migration that was changed after it ran */
export function refuseForeignSchema(applied: readonly AppliedMigration[], wanted: readonly Migration[]): void {
  if (applied.length > wanted.length) {
    throw new MigrationError(
      `the database has schema ${applied.length} (up to ${applied.at(-1)?.name}) and this program knows ${wanted.length}: start the newer version of Parallax that made it`,
    );
  }
  for (const [index, row] of applied.entries()) {
    const migration = wanted[index];
    if (migration === undefined || migration.checksum !== row.checksum) {
      throw new MigrationError(
        `migration ${row.name} was changed after it ran on this database: restore the file as it was and add a new one`,
      );
    }
  }
}

/** Runs migrations in the transaction that is open on the connection, and notes them. */
export async function applyMigrations(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  await client.query(versionsTable);
  for (const migration of migrations) {
    try {
      await client.query(migration.text);
      await client.query('insert into schema_migrations (number, name, checksum) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        migration.checksum,
      ]);
    } catch (error) {
      throw new MigrationError(
        `migration ${migration.name}: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
  }
}

async function runOne(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await applyMigrations(client, [migration]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
