import { accessSync, constants, statfsSync } from 'node:fs';
import { totalmem } from 'node:os';

/** A file system in memory, which every Linux has; containers often give it 64 MB. */
const folder = '/dev/shm';
/** A run of all tests was seen to use at most 0.5 GB. */
const minFolderBytes = 3 * 2 ** 30;
const minMemoryBytes = 6 * 2 ** 30;

/**
 * The folder in memory for what tests write, or undefined where there is none or too little of it. Only sizes that do not change decide, so that
 * all processes of a run come to the same answer.
 */
export function memoryFolder(): string | undefined {
  try {
    const { blocks, bsize } = statfsSync(folder);
    accessSync(folder, constants.W_OK);
    return blocks * bsize >= minFolderBytes && totalmem() >= minMemoryBytes ? folder : undefined;
  } catch {
    return undefined;
  }
}
