import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../whole-file.ts';
import { BackupError } from './backup-error.ts';
import type { Sink } from './file-writer.ts';

/**
 * Has a file written whole or not at all: under another name beside it, readable by its owner only, synced, judged, then renamed. A file that
 * stood there before stays until then.
 * @param judge reads what was written, before it gets its name
 */
export async function writeBackupFile<Result>(
  file: string,
  write: (sink: Sink) => Promise<Result>,
  judge: (written: string) => Promise<void>,
): Promise<Result> {
  const existing = await stat(file).catch(() => undefined);
  if (existing !== undefined && !existing.isFile())
    throw new BackupError(`${file} is not a file: name a file to write the backup to`);
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.${path.basename(file)}.${randomUUID().slice(0, 8)}.part`);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    let result: Result;
    try {
      result = await write((bytes) => handle.writeFile(bytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await judge(temporary);
    await rename(temporary, file);
    await syncFolder(folder);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    if (error instanceof Error && 'code' in error && 'syscall' in error) {
      throw new BackupError(`the backup cannot be written to ${file}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
