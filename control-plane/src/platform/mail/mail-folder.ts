import { mkdir, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

// Links in mails are of use for hours at most; what is older only fills the disk.
const keptMs = 7 * 24 * 3_600_000;
const keptFiles = 1_000;

/**
 * Keeps a mail as a file that its owner alone may read, and removes those that are older than a week or more than a thousand.
 * @returns the path of the file, whose name begins with the time so that the newest is last
 */
export async function keepInFolder(folder: string, name: string, message: Uint8Array): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeOld(folder, Date.now() - keptMs);
  const file = path.join(folder, `${new Date().toISOString().replaceAll(/[-:]/g, '')}-${name}`);
  // Whole or not at all, for whoever watches the folder.
  await writeFile(`${file}.part`, message, { mode: 0o600 });
  await rename(`${file}.part`, file);
  return file;
}

async function removeOld(folder: string, olderThanMs: number): Promise<void> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.eml')).sort();
  const tooMany = Math.max(0, files.length - keptFiles + 1);
  for (const [index, file] of files.entries()) {
    const place = path.join(folder, file);
    // Another process may have removed it.
    const isOld = index < tooMany || ((await stat(place).catch(() => undefined))?.mtimeMs ?? 0) < olderThanMs;
    if (!isOld) break;
    await unlink(place).catch(() => undefined);
  }
}
