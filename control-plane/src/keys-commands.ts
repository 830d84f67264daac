import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { createLogger } from '@parallax/telemetry';
import type { Command } from 'commander';
import { givenKeys, UsageError } from './command-settings.ts';
import { withDatabase } from './database-for-command.ts';
import { findKeys, keyFileName, retireOthers, rotateKey, withSuccessor } from './installation/index.ts';
import type { FoundKeys } from './installation/index.ts';
import { keyIdOf } from './platform/crypto/key-id.ts';
import { createSealer } from './platform/crypto/seal.ts';

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
    .action((flags: { quiet?: boolean }) => runRotate(env, flags));
}

async function runRotate(env: Environment, flags: { quiet?: boolean }): Promise<void> {
  const settings = readSettings(controlPlaneSettings, env);
  const tell = (line: string): void => void (flags.quiet === true || process.stderr.write(`${line}\n`));
  const given = await givenPair(givenKeys(settings));
  const log = createLogger({
    name: 'control-plane',
    level: settings.logLevel === 'info' ? 'warn' : settings.logLevel,
    destination: process.stderr,
  });
  await withDatabase(settings, 'existing', log, async (database) => {
    const { worker: workerUrl } = await database.open();
    const [first, ...others] = given ?? (await withSuccessor(database.dataDir));
    const target = keyIdOf(first);
    const moved = await rotateKey({ workerUrl, ring: createSealer(first, others), target, tell });
    tell(`${moved} values were moved; everything stands under the key ${target}`);
    if (given !== undefined) {
      tell('remove PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS everywhere, and keep the old key as long as backups of before');
      return;
    }
    for (const file of await retireOthers(database.dataDir)) {
      tell(`the old key is in ${file}: keep it elsewhere as long as backups that were made before, and remove it here`);
    }
  });
}

/** The two keys that the operator gives; undefined when the key is in the data folder. */
async function givenPair(given: ReturnType<typeof givenKeys>): Promise<FoundKeys | undefined> {
  if (given.keyEncryptionKey === undefined && given.previousKeyEncryptionKey === undefined) return undefined;
  const keys = await findKeys({ ...given, dataDir: '' });
  if (keys !== undefined && keys.length < 2) {
    throw new UsageError(
      'give the new key as PARALLAX_KEY_ENCRYPTION_KEY and the present one as PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS, here and on every replica',
    );
  }
  return keys;
}
