import type { FileHandle } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Keyring } from '../../platform/crypto/seal.ts';
import { applyMigrations, readMigrations } from '../../platform/database/migrate.ts';
import type { Migration } from '../../platform/database/migrate.ts';
import { BackupError } from './backup-error.ts';
import { columnList, sessionSettings } from './create.ts';
import { readBackup } from './file-reader.ts';
import type { BackupHeader, BackupIdentities, BackupTable } from './format.ts';
import { afterRestore, resumeIdentity, tablePlans } from './tables.ts';
import { verifyBackup } from './verify.ts';
import type { VerifiedBackup } from './verify.ts';

export type RestoreOptions = {
  readonly handle: FileHandle;
  /** What the file is called in messages. */
  readonly name: string;
  readonly sealer: Keyring;
  /** Asked for when the backup was found good: the owner's login of an empty database. */
  readonly openDatabase: () => Promise<string>;
  readonly nowMs: number;
  /** Breaks the restore off; nothing is changed then. */
  readonly signal?: AbortSignal;
  readonly onProgress: (line: string) => void;
};

export type RestoreSummary = {
  readonly header: BackupHeader;
  readonly rows: number;
  /** Names of the migrations that the backup did not have. */
  readonly migrated: readonly string[];
};

/**
 * Verifies a whole backup, then brings it into an empty database in one transaction: its schema, its rows, and the migrations that
 * came since. Whatever fails, the database is as it was.
 * @throws BackupError for a backup that cannot be restored here, and for a database that is not empty
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreSummary> {
  const { handle, name, sealer, onProgress } = options;
  const verified = await verifyBackup(handle, name, sealer);
  onProgress(`${name} is whole: ${verified.rows} rows of ${verified.header.created_at}`);
  const { ofBackup, since } = split(await readMigrations(), verified.header, name);
  for (const table of verified.tables.keys()) {
    if (tablePlans[table] === undefined)
      throw new BackupError(`${name} has a table ${table} that this program does not know`);
  }

  const client = new pg.Client({
    connectionString: await options.openDatabase(),
    application_name: 'parallax restore',
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await requireEmpty(client);
    await client.query('begin');
    await client.query(sessionSettings);
    await applyMigrations(client, ofBackup);
    await withoutRowSecurity(client, () => withoutTriggers(client, () => copyEverything(client, options, verified)));
    await applyMigrations(client, since);
    await withoutRowSecurity(client, async () => {
      for (const { text, values } of afterRestore(options.nowMs, verified.header.created_at))
        await client.query(text, [...values]);
    });
    await client.query('commit');
    await client.query('analyze');
  } finally {
    // Without a commit the end of the connection rolls everything back.
    await client.end();
  }
  return { header: verified.header, rows: verified.rows, migrated: since.map((migration) => migration.name) };
}

/** The migrations that the backup had, and those that came since. @throws BackupError for a newer or a foreign schema */
function split(known: readonly Migration[], header: BackupHeader, name: string) {
  const had = header.migrations;
  if (had.length > known.length) {
    throw new BackupError(
      `${name} has schema ${had.length} and this program knows ${known.length}: restore it with Parallax ${header.product_version} or newer`,
    );
  }
  for (const [index, migration] of had.entries()) {
    if (known[index]?.checksum !== migration.checksum || migration.number !== index + 1) {
      throw new BackupError(
        `${name} was made by a Parallax whose migration ${migration.name} differs from that of this program: restore it with Parallax ${header.product_version}`,
      );
    }
  }
  return { ofBackup: known.slice(0, had.length), since: known.slice(had.length) };
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S') limit 1",
  );
  if (rows[0] === undefined) return;
  throw new BackupError(
    `the database is not empty (it has ${rows[0].name}): a backup is restored into an empty database or a new data folder only; nothing was changed`,
  );
}

async function copyEverything(client: pg.Client, options: RestoreOptions, verified: VerifiedBackup): Promise<void> {
  let into: Intake | undefined;
  for await (const part of readBackup(options.handle, options.name)) {
    options.signal?.throwIfAborted();
    if (part.type === 'table') into = await startTable(client, part.table);
    else if (part.type === 'rows') await into?.write(part.text);
    else if (part.type === 'table end') {
      const rows = await into?.end();
      if (rows !== part.rows)
        throw new BackupError(`${part.name} took ${rows ?? 0} of ${part.rows} rows; nothing was changed`);
      options.onProgress(`${part.name}: ${part.rows} rows`);
    } else if (part.type === 'identities') {
      await resumeIdentities(client, part.identities, Date.parse(verified.header.created_at), options.nowMs);
    } else if (part.type === 'end' && !part.sum.equals(verified.sum)) {
      throw new BackupError(`${options.name} changed while it was read; nothing was changed`);
    }
  }
}

/**
 * For an owner who is no superuser: row-level security is forced on the owner too, under which COPY is refused and an UPDATE misses rows
 * silently. Nobody else can see the transaction that this is done in.
 */
async function withoutRowSecurity(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relforcerowsecurity",
  );
  const forced = rows.map((row) => pg.escapeIdentifier(row.name));
  for (const name of forced) await client.query(`alter table ${name} no force row level security`);
  await work();
  for (const name of forced) await client.query(`alter table ${name} force row level security`);
}

/** What triggers make of rows is in the backup, too. Those of PostgreSQL itself, which keep references, stay. */
async function withoutTriggers(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct c.relname::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'public'::regnamespace and not t.tgisinternal and t.tgparentid = 0`,
  );
  const tables = rows.map((row) => pg.escapeIdentifier(row.name));
  for (const name of tables) await client.query(`alter table ${name} disable trigger user`);
  await work();
  for (const name of tables) await client.query(`alter table ${name} enable trigger user`);
}

type Intake = { readonly write: (text: Buffer) => Promise<void>; readonly end: () => Promise<number> };

async function startTable(client: pg.Client, table: BackupTable): Promise<Intake> {
  for (const day of table.days ?? [])
    await client.query('select ensure_result_partitions($1::timestamptz, $1::timestamptz)', [`${day}T00:00:00Z`]);
  const plan = tablePlans[table.name];
  if (plan?.kind === 'copied by number') {
    for (const start of table.starts ?? []) await client.query(`select ${plan.makes}($1, $1)`, [start]);
  }
  const name = pg.escapeIdentifier(table.name);
  // Rows that the migrations have put there are in the backup as they became.
  await client.query(`delete from ${name}`);
  const stream = client.query(copyFrom(`copy ${name} (${columnList(table.columns)}) from stdin`));
  const ending = finished(stream);
  // Told where it is awaited.
  ending.catch(() => undefined);
  return {
    write: async (text) => {
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), ending]);
    },
    end: async () => {
      stream.end();
      await ending;
      return stream.rowCount;
    },
  };
}

async function resumeIdentities(
  client: pg.Client,
  identities: BackupIdentities,
  madeAtMs: number,
  nowMs: number,
): Promise<void> {
  for (const { table, column, last } of identities) {
    const next = resumeIdentity(last, madeAtMs, nowMs);
    await client.query(
      `alter table ${pg.escapeIdentifier(table)} alter column ${pg.escapeIdentifier(column)} restart with ${next}`,
    );
  }
}
