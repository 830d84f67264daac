import { timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Keyring } from '../../platform/crypto/seal.ts';
import { requireSameKey } from '../fixed.ts';
import { BackupError } from './backup-error.ts';
import { readBackup } from './file-reader.ts';
import type { BackupPart } from './file-reader.ts';
import { authenticate } from './format.ts';
import type { BackupHeader } from './format.ts';

export type VerifiedBackup = {
  readonly header: BackupHeader;
  readonly rows: number;
  /** Rows by table, in the order of the file. */
  readonly tables: ReadonlyMap<string, number>;
  /** SHA-256 of the content. */
  readonly sum: Buffer;
};

/** Opens a backup for reading. @throws BackupError when that is not possible */
export async function openBackup(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (error) {
    throw new BackupError(`the backup cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * Reads a whole backup and judges it. Without a key it is known to be undamaged; with the right key also to be what a
 * holder of that key wrote.
 * @throws BackupError for a damaged or altered file, or another key
 */
export async function verifyBackup(
  handle: FileHandle,
  name: string,
  sealer: Keyring | undefined,
): Promise<VerifiedBackup> {
  let header: BackupHeader | undefined;
  const tables = new Map<string, number>();
  for await (const part of readBackup(handle, name)) {
    if (part.type === 'header') header = part.header;
    else if (part.type === 'table end') tables.set(part.name, part.rows);
    else if (part.type === 'end' && header !== undefined) {
      if (sealer !== undefined) requireAuthentic(header, part, name, sealer);
      return { header, rows: part.rows, tables, sum: part.sum };
    }
  }
  throw new BackupError(`${name} has no end: take another backup`);
}

function requireAuthentic(
  header: BackupHeader,
  end: Extract<BackupPart, { type: 'end' }>,
  name: string,
  sealer: Keyring,
): void {
  let own: Keyring;
  try {
    // A backup of before the key was exchanged stands under the other one.
    own = requireSameKey({ key_check: Buffer.from(header.key_check, 'base64') }, sealer.withKey(sealer.sealsWith()));
  } catch (error) {
    throw new BackupError(
      `${name} was made under another key-encryption key: put the file key-encryption-key of that installation into the data folder, or give the key as PARALLAX_KEY_ENCRYPTION_KEY`,
      { cause: error },
    );
  }
  if (!timingSafeEqual(authenticate(own, end.sum), end.proof)) {
    throw new BackupError(`${name} was altered by somebody without the key-encryption key: take another backup`);
  }
}
