import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';
import { keyFileName } from '../installation/key-encryption-key.ts';
import type { BackupFlags } from './backup.run.ts';

/** Adds `backup` and `restore`. Both say what they do on standard error and end with 0 only when all of it was done. */
export function addBackupCommands(program: Command, env: Environment): void {
  program
    .command('backup')
    .description('write everything that the database holds into one file, while the product runs or when it is stopped')
    .argument('[file]', 'where to; - for standard output')
    .option('--quiet', 'print nothing unless something is wrong')
    .option('--verify <file>', 'instead, check that a backup is whole and unaltered; needs no database')
    .addHelpText(
      'after',
      `
The file is written whole or not at all and is readable by you only. The key-encryption key is not in it: keep a copy of that elsewhere,
since without it nothing of a backup can be restored.

Examples:
  control-plane backup parallax.backup
  control-plane backup --quiet - | ssh elsewhere 'cat > parallax.backup'
  control-plane backup --verify parallax.backup`,
    )
    .action(async (file: string | undefined, flags: BackupFlags) => {
      const { runBackup } = await import('./backup.run.ts');
      await runBackup(env, file, flags);
    });
  program
    .command('restore')
    .description('bring a backup into an empty database or a new data folder')
    .argument('<file>', 'a file that backup has written')
    .option('--quiet', 'print nothing unless something is wrong')
    .addHelpText(
      'after',
      `
The product must be stopped, and its key-encryption key must be in the new data folder or in PARALLAX_KEY_ENCRYPTION_KEY. The whole file is
verified before anything is changed. What happened after the backup is gone: revocations of that time have to be made again.

Example:
  mkdir --mode=0711 data-restored && cp data/${keyFileName} data-restored/
  PARALLAX_DATA_DIR=data-restored control-plane restore parallax.backup`,
    )
    .action(async (file: string, flags: BackupFlags) => {
      const { runRestore } = await import('./backup.run.ts');
      await runRestore(env, file, flags);
    });
}
