import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/** The text of a file, or undefined where there is none. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Gives a file this content, whole or not at all. A file that has it already is left alone. @returns whether it was written */
export async function writeWhole(file: string, content: string, mode: number): Promise<boolean> {
  if ((await readIfThere(file)) === content) return false;
  const temporary = await writeBeside(file, content, mode);
  await rename(temporary, file);
  await syncFolder(path.dirname(file));
  return true;
}

/** Makes a file that is not there yet; of two makers the first wins. @returns the content that it has now */
export async function makeOnce(file: string, content: string, mode: number): Promise<string> {
  const there = await readIfThere(file);
  if (there !== undefined) return there;
  const temporary = await writeBeside(file, content, mode);
  try {
    await link(temporary, file);
    await syncFolder(path.dirname(file));
    return content;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    return await readFile(file, 'utf8');
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Makes names in a folder survive a crash of the machine. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeBeside(file: string, content: string, mode: number): Promise<string> {
  const temporary = `${file}.${randomUUID()}`;
  const handle = await open(temporary, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return temporary;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
