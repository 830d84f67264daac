import { z } from 'zod';
import { SealError } from '../platform/crypto/seal.ts';
import type { Keyring, Sealer } from '../platform/crypto/seal.ts';
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

/**
 * The ring, sealing with the key that the installation names: its key check stands under that, and all replicas seal with the same.
 * @throws InstallationError when the ring does not hold it
 */
export function requireSameKey(installed: Pick<InstallationRow, 'key_check'>, ring: Keyring): Keyring {
  try {
    if (ring.open(installed.key_check, keyCheckContext).toString('utf8') !== keyCheckText) {
      throw new SealError('the key check holds another text');
    }
    const keyId = keyIdOfCheck(installed, ring);
    if (keyId === undefined) throw new SealError('the key check names no key');
    ring.sealWith(keyId);
    return ring;
  } catch (error) {
    throw new InstallationError(
      'the key-encryption key is not the one that this database was set up with: ' +
        `check PARALLAX_KEY_ENCRYPTION_KEY, or restore ${keyFileName} in the data folder from a backup`,
      { cause: error },
    );
  }
}

/** Name of the key that the installation seals with; of an older check undefined unless the ring holds its key. */
export function keyIdOfCheck(installed: Pick<InstallationRow, 'key_check'>, ring: Keyring): string | undefined {
  return ring.keyOf(installed.key_check, keyCheckContext);
}

/** @throws InstallationError for another number of shards than that of the installation */
export function requireSameShards(installed: InstallationRow, shards: number): void {
  if (installed.shards === shards) return;
  throw new InstallationError(
    `the installation has ${installed.shards} shards and PARALLAX_SHARDS is ${shards}: ` +
      `the number is fixed at installation, set it back to ${installed.shards}`,
  );
}
