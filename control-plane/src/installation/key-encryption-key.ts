import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { InstallationError } from './errors.ts';
import { makeOnce } from './whole-file.ts';

/** Name of the file in the data folder: base64 of 32 random bytes, one key a line, readable by its owner only. */
export const keyFileName = 'key-encryption-key';

/** While a key is exchanged the file holds two: what was before it, and what comes. */
const maxKeys = 4;

/** Reads the key file; undefined when there is none. @throws InstallationError when it holds something else */
export async function readKeyFile(dataDir: string): Promise<readonly Buffer[] | undefined> {
  const file = path.join(dataDir, keyFileName);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new InstallationError(`the key-encryption key cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const keys = text
    .trim()
    .split(/\s+/)
    .map((line) => Buffer.from(line, 'base64'));
  if (keys.length > maxKeys || keys.some((key) => key.length !== 32))
    throw new InstallationError(`${file} does not hold 32 bytes in base64: restore it from a backup`);
  return keys;
}

/** The content of a key file. */
export function keyFileText(keys: readonly Uint8Array[]): string {
  return keys.map((key) => `${Buffer.from(key).toString('base64')}\n`).join('');
}

/** Where the key-encryption key may be. */
export type KeySource = {
  readonly dataDir: string;
  /** 32 bytes, when the operator gives the key. */
  readonly keyEncryptionKey?: Uint8Array | undefined;
  /** While the key is exchanged: the other one of the two. */
  readonly previousKeyEncryptionKey?: Uint8Array | undefined;
};

/** At least one key, the first one first. */
export type FoundKeys = readonly [Buffer, ...Buffer[]];

/** The given keys, else those in the data folder, else undefined. @throws InstallationError for a previous key alone */
export async function findKeys(source: KeySource): Promise<FoundKeys | undefined> {
  const { keyEncryptionKey: given, previousKeyEncryptionKey: previous } = source;
  if (given !== undefined) return [Buffer.from(given), ...(previous === undefined ? [] : [Buffer.from(previous)])];
  if (previous !== undefined) {
    throw new InstallationError(
      'PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS goes with PARALLAX_KEY_ENCRYPTION_KEY: set both, or neither where the key is in the data folder',
    );
  }
  const [first, ...others] = (await readKeyFile(source.dataDir)) ?? [];
  return first === undefined ? undefined : [first, ...others];
}

/** The keys of an installation that exists. @throws InstallationError when there are none */
export async function requireKeys(source: KeySource): Promise<FoundKeys> {
  const keys = await findKeys(source);
  if (keys !== undefined) return keys;
  throw new InstallationError(
    `the database was set up with a key-encryption key that is not in ${path.join(source.dataDir, keyFileName)}: ` +
      'restore that file from a backup, or give the key as PARALLAX_KEY_ENCRYPTION_KEY',
  );
}

/**
 * Makes the key file. Whole or not at all: it is written beside and linked into place, and of two starters the first wins and
 * both get its key.
 */
export async function makeKeyFile(dataDir: string): Promise<FoundKeys> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, keyFileName);
  await makeOnce(file, keyFileText([randomBytes(32)]), 0o600);
  const [first, ...others] = (await readKeyFile(dataDir)) ?? [];
  if (first === undefined) throw new InstallationError(`${file} was written and is not there`);
  return [first, ...others];
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
