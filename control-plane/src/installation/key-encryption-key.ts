import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { InstallationError } from './errors.ts';
import { makeOnce } from './whole-file.ts';

/** Name of the file in the data folder: base64 of 32 random bytes, readable by its owner only. */
export const keyFileName = 'key-encryption-key';

/** Reads the key file; undefined when there is none. @throws InstallationError when it holds something else */
export async function readKeyFile(dataDir: string): Promise<Buffer | undefined> {
  const file = path.join(dataDir, keyFileName);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new InstallationError(`the key-encryption key cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== 32)
    throw new InstallationError(`${file} does not hold 32 bytes in base64: restore it from a backup`);
  return key;
}

/** Where the key-encryption key may be. */
export type KeySource = {
  readonly dataDir: string;
  /** 32 bytes, when the operator gives the key. */
  readonly keyEncryptionKey?: Uint8Array | undefined;
};

/** The given key, else the one in the data folder, else undefined. */
export async function findKey(source: KeySource): Promise<Buffer | undefined> {
  return source.keyEncryptionKey === undefined ? readKeyFile(source.dataDir) : Buffer.from(source.keyEncryptionKey);
}

/** The key of an installation that exists. @throws InstallationError when it is nowhere */
export async function requireKey(source: KeySource): Promise<Buffer> {
  const key = await findKey(source);
  if (key !== undefined) return key;
  throw new InstallationError(
    `the database was set up with a key-encryption key that is not in ${path.join(source.dataDir, keyFileName)}: ` +
      'restore that file from a backup, or give the key as PARALLAX_KEY_ENCRYPTION_KEY',
  );
}

/**
 * Makes the key file. Whole or not at all: it is written beside and linked into place, and of two starters the first wins and
 * both get its key.
 */
export async function makeKeyFile(dataDir: string): Promise<Buffer> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, keyFileName);
  await makeOnce(file, `${randomBytes(32).toString('base64')}\n`, 0o600);
  const key = await readKeyFile(dataDir);
  if (key === undefined) throw new InstallationError(`${file} was written and is not there`);
  return key;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
