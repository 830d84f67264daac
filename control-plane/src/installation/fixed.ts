import { z } from 'zod';
import { SealError } from '../platform/crypto/seal.ts';
import type { Sealer } from '../platform/crypto/seal.ts';
import { InstallationError } from './errors.ts';
import { keyFileName } from './key-encryption-key.ts';

const keyCheckContext = 'key check';
const keyCheckText = 'parallax';

/** What is fixed when the product is installed. */
export const installationRow = z.object({ shards: z.number(), key_check: z.instanceof(Buffer) });
export type InstallationRow = z.infer<typeof installationRow>;

/** A known text under the key-encryption key: it opens under no other. */
export function sealKeyCheck(sealer: Sealer): Buffer {
  return sealer.seal(keyCheckText, keyCheckContext);
}

/** @throws InstallationError for another key than that of the installation */
export function requireSameKey(installed: InstallationRow, sealer: Sealer): void {
  try {
    if (sealer.open(installed.key_check, keyCheckContext).toString('utf8') === keyCheckText) return;
    throw new SealError('the key check holds another text');
  } catch (error) {
    throw new InstallationError(
      'the key-encryption key is not the one that this database was set up with: ' +
        `check PARALLAX_KEY_ENCRYPTION_KEY, or restore ${keyFileName} in the data folder from a backup`,
      { cause: error },
    );
  }
}

/** @throws InstallationError for another number of shards than that of the installation */
export function requireSameShards(installed: InstallationRow, shards: number): void {
  if (installed.shards === shards) return;
  throw new InstallationError(
    `the installation has ${installed.shards} shards and PARALLAX_SHARDS is ${shards}: ` +
      `the number is fixed at installation, set it back to ${installed.shards}`,
  );
}
