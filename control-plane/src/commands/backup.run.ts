import path from 'node:path';
import { chooseDataFolder } from '@parallax/embedded';
import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import {
  BackupError,
  createBackup,
  findKeys,
  keyFileName,
  openBackup,
  requireKeys,
  restoreBackup,
  verifyBackup,
  writeBackupFile,
} from '../installation/index.ts';
import type { BackupSummary, FoundKeys } from '../installation/index.ts';
import { givenKeys } from '../key-source.ts';
import { createSealer } from '../platform/crypto/seal.ts';
import type { Keyring } from '../platform/crypto/seal.ts';
import { version } from '../version.ts';
import { commandLog } from './command-log.ts';
import { checkout } from './command-settings.ts';
import { withDatabase } from './database-for-command.ts';
import type { CommandDatabase } from './database-for-command.ts';
import { UsageError } from './usage-error.ts';

export type BackupFlags = { readonly quiet?: boolean; readonly verify?: string };

export async function runBackup(env: Environment, file: string | undefined, flags: BackupFlags): Promise<void> {
  const settings = readSettings(controlPlaneSettings, env);
  if (flags.verify !== undefined) {
    if (file !== undefined) throw new UsageError('backup --verify takes one file');
    await verify(settings, flags.verify, printer(flags));
    return;
  }
  if (file === undefined) throw new UsageError('name the file to write the backup to, or - for standard output');
  const tell = printer(flags);
  const interruption = untilInterrupted();
  await withDatabase(settings, 'existing', commandLog(settings), async (database) => {
    const sealer = await sealerOf(settings, database);
    const { worker: workerUrl } = await database.open();
    const write = (sink: (bytes: Buffer) => Promise<void>): Promise<BackupSummary> =>
      createBackup({
        workerUrl,
        sealer,
        productVersion: version,
        nowMs: Date.now(),
        sink: (bytes) => {
          interruption.throwIfAborted();
          return sink(bytes);
        },
        onProgress: tell,
      });
    const { tables, rows } =
      file === '-'
        ? await write(toStandardOutput())
        : await writeBackupFile(path.resolve(file), write, readBack(sealer));
    tell(`${tables} tables, ${rows} rows`);
    tell(
      `the key-encryption key is not in the backup; without it nothing can be restored: keep a copy of ${placeOfKey(settings, database)}`,
    );
  });
}

function readBack(sealer: Keyring): (written: string) => Promise<void> {
  return async (written) => {
    const handle = await openBackup(written);
    try {
      await verifyBackup(handle, 'what was written', sealer);
    } finally {
      await handle.close();
    }
  };
}

async function verify(settings: ControlPlaneSettings, file: string, tell: (line: string) => void): Promise<void> {
  const dataDir =
    settings.databaseUrl === undefined
      ? chooseDataFolder({ named: settings.dataDir, checkout }).folder
      : (settings.dataDir ?? './data');
  const keys = await findKeys({ ...givenKeys(settings), dataDir });
  const handle = await openBackup(file);
  try {
    const { header, tables, rows } = await verifyBackup(handle, file, keys === undefined ? undefined : ringOf(keys));
    tell(
      `${file} is whole: made ${header.created_at} by Parallax ${header.product_version}, schema ${header.migrations.length}, ${tables.size} tables, ${rows} rows`,
    );
    tell(
      keys === undefined
        ? 'whether somebody altered it cannot be said without the key-encryption key'
        : 'it was made under this key-encryption key and nobody altered it',
    );
  } finally {
    await handle.close();
  }
}

export async function runRestore(env: Environment, file: string, flags: BackupFlags): Promise<void> {
  const settings = readSettings(controlPlaneSettings, env);
  const tell = printer(flags);
  const interruption = untilInterrupted();
  const handle = await openBackup(file);
  try {
    await withDatabase(settings, 'new', commandLog(settings), async (database) => {
      const sealer = await sealerOf(settings, database);
      const restored = await restoreBackup({
        handle,
        name: file,
        sealer,
        openDatabase: async () => (await database.open()).owner,
        nowMs: Date.now(),
        signal: interruption,
        onProgress: tell,
      });
      const { created_at: madeAt, shards } = restored.header;
      if (restored.migrated.length > 0) tell(`migrated: ${restored.migrated.join(', ')}`);
      tell(`restored: ${restored.rows} rows, as they were at ${madeAt}`);
      tell(
        'everybody logs in again, and join tokens are void; accounts, keys and probes that were revoked after the backup are to be revoked again',
      );
      if (settings.shards !== shards)
        tell(`the installation has ${shards} shards: start it with PARALLAX_SHARDS=${shards}`);
    });
  } finally {
    await handle.close();
  }
}

async function sealerOf(settings: ControlPlaneSettings, database: CommandDatabase): Promise<Keyring> {
  return ringOf(await requireKeys({ ...givenKeys(settings), dataDir: database.dataDir }));
}

function ringOf([first, ...others]: FoundKeys): Keyring {
  return createSealer(first, others);
}

function placeOfKey(settings: ControlPlaneSettings, database: CommandDatabase): string {
  return settings.keyEncryptionKey === undefined
    ? path.join(database.dataDir, keyFileName)
    : 'PARALLAX_KEY_ENCRYPTION_KEY';
}

function printer(flags: BackupFlags): (line: string) => void {
  return flags.quiet === true ? () => undefined : (line) => void process.stderr.write(`${line}\n`);
}

function toStandardOutput(): (bytes: Buffer) => Promise<void> {
  if (process.stdout.isTTY)
    throw new UsageError('a backup is not for a terminal: name a file, or send the output somewhere');
  let failure: Error | undefined;
  process.stdout.on('error', (error) => (failure = error));
  return (bytes) =>
    new Promise((resolve, reject) => {
      if (failure !== undefined) reject(new BackupError(`standard output cannot be written: ${failure.message}`));
      else
        process.stdout.write(bytes, (error) =>
          error == null ? resolve() : reject(new BackupError(`standard output cannot be written: ${error.message}`)),
        );
    });
}

/** So that an interruption undoes what was begun: the unfinished file, the transaction, the database that was started. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => controller.abort(new UsageError(`interrupted by ${signal}; nothing was changed`)));
  }
  return controller.signal;
}
