import { current } from '../engine/current.ts';
import { failure } from '../models/disk.ts';
import type { Disk, Inode } from '../models/disk.ts';

/* What the agent uses of `node:fs/promises`, on the disk of the machine whose process asks. */

const here = (): Disk => current().diskHere();

function found(path: string): Inode {
  const inode = here().find(path);
  if (inode === undefined) throw failure('ENOENT', `no such file or directory, '${path}'`);
  return inode;
}

class Handle {
  readonly #disk: Disk;
  /** Undefined for a folder. */
  readonly #inode: Inode | undefined;

  constructor(disk: Disk, inode: Inode | undefined) {
    this.#disk = disk;
    this.#inode = inode;
  }

  async write(bytes: Uint8Array, from = 0, length = bytes.length - from, position: number | null = null) {
    const bytesWritten = this.#disk.write(this.#file, bytes.subarray(from, from + length), position ?? this.#file.size);
    return { bytesWritten, buffer: bytes };
  }

  async writeFile(content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    for (let at = 0; at < bytes.length; ) at += this.#disk.write(this.#file, bytes.subarray(at), at);
  }

  async read(buffer: Uint8Array, offset: number, length: number, position: number) {
    const bytes = this.#file.bytes.subarray(position, position + length);
    buffer.set(bytes, offset);
    return { bytesRead: bytes.length, buffer };
  }

  datasync(): Promise<void> {
    return this.#disk.sync(this.#file);
  }

  sync(): Promise<void> {
    return this.#inode === undefined ? this.#disk.syncNames() : this.#disk.sync(this.#inode);
  }

  async close(): Promise<void> {}

  get #file(): Inode {
    if (this.#inode === undefined) throw failure('EISDIR', 'it is a folder');
    return this.#inode;
  }
}

export async function open(path: string, flags = 'r', _mode?: number): Promise<Handle> {
  const disk = here();
  const inode = disk.find(path);
  switch (flags) {
    case 'r':
      // Folders have no inode of their own here: whatever has files in it, or none, is one.
      return new Handle(disk, inode);
    case 'r+':
      return new Handle(disk, found(path));
    case 'wx':
      if (inode !== undefined) throw failure('EEXIST', `file already exists, '${path}'`);
      return new Handle(disk, disk.create(path));
    case 'w':
    case 'w+':
      inode?.truncate();
      return new Handle(disk, inode ?? disk.create(path));
    default:
      throw new Error(`the model of the file system does not know the flags ${flags}`);
  }
}

export async function readFile(path: string, encoding?: BufferEncoding): Promise<Buffer | string> {
  const bytes = Buffer.from(found(path).bytes);
  return encoding === undefined ? bytes : bytes.toString(encoding);
}

export async function mkdir(): Promise<void> {}

export async function readdir(folder: string): Promise<string[]> {
  return here().list(folder);
}

export async function rename(from: string, to: string): Promise<void> {
  if (!here().rename(from, to)) throw failure('ENOENT', `no such file or directory, '${from}'`);
}

export async function unlink(path: string): Promise<void> {
  if (!here().remove(path)) throw failure('ENOENT', `no such file or directory, '${path}'`);
}

export async function rm(path: string, options?: { readonly force?: boolean }): Promise<void> {
  if (!here().remove(path) && options?.force !== true) throw failure('ENOENT', `no such file or directory, '${path}'`);
}

export async function access(path: string): Promise<void> {
  found(path);
}
