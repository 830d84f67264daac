import { chown, stat } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { keyIdOf } from '../../platform/crypto/key-id.ts';
import { InstallationError } from '../errors.ts';
import { keyFileName, keyFileText, readKeyFile } from '../key-encryption-key.ts';
import type { FoundKeys } from '../key-encryption-key.ts';
import { writeWhole } from '../whole-file.ts';

/** The keys of the data folder with the one to come first, which is made unless an interrupted exchange has made it. */
export async function withSuccessor(dataDir: string): Promise<FoundKeys> {
  const [first, ...others] = (await readKeyFile(dataDir)) ?? [];
  if (first === undefined) throw new InstallationError(`there is no ${path.join(dataDir, keyFileName)}`);
  if (others.length > 0) return [first, ...others];
  const made = randomBytes(32);
  await writeKeys(dataDir, keyFileName, [made, first]);
  return [made, first];
}

/**
 * Leaves the first key alone in the key file. The others are put beside it, since backups that were made under them need them.
 * @returns the files that hold them
 */
export async function retireOthers(dataDir: string): Promise<readonly string[]> {
  const [first, ...others] = (await readKeyFile(dataDir)) ?? [];
  if (first === undefined) return [];
  const files: string[] = [];
  for (const key of others) {
    const name = `${keyFileName}.${keyIdOf(key)}`;
    await writeKeys(dataDir, name, [key]);
    files.push(path.join(dataDir, name));
  }
  await writeKeys(dataDir, keyFileName, [first]);
  return files;
}

/** With the owner that the key file has: who exchanges a key may be another than who runs the product. */
async function writeKeys(dataDir: string, name: string, keys: readonly Uint8Array[]): Promise<void> {
  const { uid, gid } = await stat(path.join(dataDir, keyFileName));
  const file = path.join(dataDir, name);
  await writeWhole(file, keyFileText(keys), 0o600);
  const written = await stat(file);
  if (written.uid !== uid || written.gid !== gid) await chown(file, uid, gid);
}
