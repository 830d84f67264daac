import type { Engine } from '../engine/engine.ts';
import type { Random } from '../engine/random.ts';

/** One write that a loss of power may still undo. */
type Write = { readonly offset: number; readonly length: number; readonly before: Buffer; readonly sizeBefore: number };

/** What a name stands for: bytes as programs see them, and which of them are not on the medium yet. */
export class Inode {
  data = Buffer.alloc(0);
  size = 0;
  unsynced: Write[] = [];

  get bytes(): Buffer {
    return this.data.subarray(0, this.size);
  }

  write(bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    this.unsynced.push({
      offset,
      length: bytes.length,
      before: Buffer.from(this.data.subarray(offset, Math.min(end, this.size))),
      sizeBefore: this.size,
    });
    if (end > this.data.length) {
      const larger = Buffer.alloc(Math.max(end, this.data.length * 2, 4_096));
      this.data.copy(larger, 0, 0, this.size);
      this.data = larger;
    }
    this.data.set(bytes, offset);
    this.size = Math.max(this.size, end);
  }

  truncate(): void {
    this.data = Buffer.alloc(0);
    this.size = 0;
    this.unsynced = [];
  }

  /** Of the writes that were not synced some remain, one may be torn, the others never were. */
  losePower(random: Random): void {
    const kept = random.between(0, this.unsynced.length);
    for (const [index, write] of [...this.unsynced.entries()].reverse()) {
      if (index < kept) continue;
      this.#undo(write, index === kept ? random.between(0, write.length) : 0);
    }
    this.unsynced = [];
  }

  #undo({ offset, length, before, sizeBefore }: Write, keptBytes: number): void {
    for (let at = keptBytes; at < length; at += 1) this.data[offset + at] = before[at] ?? 0;
    this.size = Math.max(sizeBefore, keptBytes > 0 ? offset + keptBytes : 0);
  }
}

/** How the disk of a machine behaves now. */
export type DiskState = 'well' | 'full' | 'broken';

/**
 * Files of one machine, as Linux keeps them: what is written is seen at once and is on the medium after a sync; so are names after a
 * sync of their folder. A killed program loses nothing of it, a loss of power what was not synced.
 */
export class Disk {
  state: DiskState = 'well';
  /** Syncs take this much longer. */
  stallUs = 0;
  readonly #files = new Map<string, Inode>();
  /** Undoes what was done to names and is not on the medium yet, newest last. */
  #unsyncedNames: (() => void)[] = [];
  readonly #engine: Engine;
  readonly #random: Random;

  constructor(engine: Engine, random: Random) {
    this.#engine = engine;
    this.#random = random;
  }

  find(path: string): Inode | undefined {
    return this.#files.get(path);
  }

  create(path: string): Inode {
    this.#mayTake();
    const inode = new Inode();
    this.#name(path, inode);
    return inode;
  }

  remove(path: string): boolean {
    if (!this.#files.has(path)) return false;
    this.#name(path, undefined);
    return true;
  }

  rename(from: string, to: string): boolean {
    const inode = this.#files.get(from);
    if (inode === undefined) return false;
    const undone = this.#unsyncedNames.length;
    this.#name(to, inode);
    this.#name(from, undefined);
    // A journal keeps both halves of a rename together.
    const halves = this.#unsyncedNames.splice(undone);
    this.#unsyncedNames.push(() => {
      for (const undo of halves.reverse()) undo();
    });
    return true;
  }

  /** Names directly within a folder. */
  list(folder: string): string[] {
    const start = `${folder}/`;
    return [...this.#files.keys()]
      .filter((path) => path.startsWith(start) && !path.slice(start.length).includes('/'))
      .map((path) => path.slice(start.length));
  }

  /** Takes as many bytes as there is room for. Throws when there is none. */
  write(inode: Inode, bytes: Uint8Array, offset: number): number {
    const room = this.#mayTake(bytes.length);
    inode.write(room < bytes.length ? bytes.subarray(0, room) : bytes, offset);
    return room;
  }

  async sync(inode: Inode): Promise<void> {
    // What is written while it runs is not covered by it.
    const covered = inode.unsynced.length;
    await this.#take();
    inode.unsynced.splice(0, covered);
  }

  async syncNames(): Promise<void> {
    const covered = this.#unsyncedNames.length;
    await this.#take();
    this.#unsyncedNames.splice(0, covered);
  }

  losePower(): void {
    const kept = this.#random.between(0, this.#unsyncedNames.length);
    for (const undo of this.#unsyncedNames.splice(kept).reverse()) undo();
    this.#unsyncedNames = [];
    for (const inode of new Set(this.#files.values())) inode.losePower(this.#random);
  }

  async #take(): Promise<void> {
    const random = this.#random;
    const usualUs = random.chance(0.02) ? random.between(5_000, 200_000) : random.between(200, 4_000);
    await this.#engine.pause(usualUs + this.stallUs);
    if (this.state === 'broken') throw failure('EIO', 'the medium failed');
  }

  #mayTake(bytes = 1): number {
    if (this.state === 'broken') throw failure('EIO', 'the medium failed');
    if (this.state === 'well') return bytes;
    // A disk that fills up takes a part before it refuses.
    if (bytes > 1 && this.#random.chance(0.5)) return this.#random.between(1, bytes - 1);
    throw failure('ENOSPC', 'no space left on the device');
  }

  #name(path: string, inode: Inode | undefined): void {
    const before = this.#files.get(path);
    if (inode === undefined) this.#files.delete(path);
    else this.#files.set(path, inode);
    this.#unsyncedNames.push(() => {
      if (before === undefined) this.#files.delete(path);
      else this.#files.set(path, before);
    });
  }
}

/** An error as the file system of Node gives it. */
export function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
