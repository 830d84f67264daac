import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { findKeys, retireOthers, rotateKey, withSuccessor } from '../installation/index.ts';
import type { FoundKeys } from '../installation/index.ts';
import { givenKeys } from '../key-source.ts';
import { keyIdOf } from '../platform/crypto/key-id.ts';
import { createSealer } from '../platform/crypto/seal.ts';
import { commandLog } from './command-log.ts';
import { withDatabase } from './database-for-command.ts';
import { UsageError } from './usage-error.ts';

export type RotateFlags = { readonly quiet?: boolean };

export async function runRotate(env: Environment, flags: RotateFlags): Promise<void> {
  const settings = readSettings(controlPlaneSettings, env);
  const tell = (line: string): void => void (flags.quiet === true || process.stderr.write(`${line}\n`));
  const given = await givenPair(givenKeys(settings));
  await withDatabase(settings, 'existing', commandLog(settings), async (database) => {
    const { worker: workerUrl } = await database.open();
    const [first, ...others] = given ?? (await withSuccessor(database.dataDir));
    const target = keyIdOf(first);
    const moved = await rotateKey({ workerUrl, ring: createSealer(first, others), target, tell });
    tell(`${moved} values were moved; everything stands under the key ${target}`);
    if (given !== undefined) {
      tell(
        'remove PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS everywhere, and keep the old key for as long as you keep backups made until now',
      );
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
