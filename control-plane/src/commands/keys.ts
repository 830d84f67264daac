import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';
import { keyFileName } from '../installation/key-encryption-key.ts';
import type { RotateFlags } from './keys.run.ts';

/** Adds `keys rotate`, which ends with 0 only when no value is left under another key. */
export function addKeysCommands(program: Command, env: Environment): void {
  const keys = program
    .command('keys')
    .description('the key-encryption key, which secrets in the database are sealed with');
  keys
    .command('rotate')
    .description('exchange the key-encryption key, while the product runs or when it is stopped')
    .option('--quiet', 'print nothing unless something is wrong')
    .addHelpText(
      'after',
      `
With the key in the data folder, run this and nothing else: a new key is made in ${keyFileName}, running processes take it from there, and the
old one is put beside it.

With the key in PARALLAX_KEY_ENCRYPTION_KEY: make a new one (openssl rand -base64 32), give every replica the new one as
PARALLAX_KEY_ENCRYPTION_KEY and the old one as PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS and restart them one by one, run this with both, and then
remove the old one everywhere. Until this command is run they go on sealing with the old key.

It may be interrupted and run again at any time. Backups that were made before need the old key: keep it as long as you keep them.`,
    )
    .action(async (flags: RotateFlags) => {
      const { runRotate } = await import('./keys.run.ts');
      await runRotate(env, flags);
    });
}
