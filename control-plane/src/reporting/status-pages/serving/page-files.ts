import type { FoundPage } from './page-cache.ts';

export type PageFilesOptions = {
  /** @returns null: the page has it no more. @throws when it cannot be read */
  readonly read: (found: FoundPage, hash: string) => Promise<Buffer | null>;
  /** As it was kept before this process began; asked for while it cannot be read. */
  readonly readKept: (slug: string, hash: string) => Promise<Buffer | undefined>;
  readonly onRead: (slug: string, hash: string, bytes: Buffer) => void;
  /** The bytes of all pictures in memory. */
  readonly mostBytes: number;
};

/** Pictures of pages in memory, read once for all who ask; who was not asked for the longest goes first. What a hash names never changes. */
export class PageFiles<Made> {
  readonly #options: PageFilesOptions;
  /** In the order in which they were asked for. */
  readonly #files = new Map<string, { readonly made: Made; readonly bytes: number }>();
  readonly #reading = new Map<string, Promise<Made | undefined>>();
  #bytes = 0;

  constructor(options: PageFilesOptions) {
    this.#options = options;
  }

  /** A picture that is in memory. */
  peek(found: FoundPage, hash: string): Made | undefined {
    const key = keyOf(found, hash);
    const file = this.#files.get(key);
    if (file === undefined) return undefined;
    this.#files.delete(key);
    this.#files.set(key, file);
    return file.made;
  }

  /**
   * Reads a picture into memory.
   * @param make what is sent of its bytes
   * @returns undefined: there is none. @throws when it can neither be read nor was it kept
   */
  async get(found: FoundPage, hash: string, make: (bytes: Buffer) => Made): Promise<Made | undefined> {
    const key = keyOf(found, hash);
    const there = this.peek(found, hash);
    if (there !== undefined) return there;
    const reading = this.#reading.get(key) ?? this.#read(found, hash, make).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(found: FoundPage, hash: string, make: (bytes: Buffer) => Made): Promise<Made | undefined> {
    const bytes = await this.#bytesOf(found, hash);
    if (bytes === undefined) return undefined;
    const made = make(bytes);
    this.#files.set(keyOf(found, hash), { made, bytes: bytes.length });
    this.#bytes += bytes.length;
    for (const [key, file] of this.#files) {
      if (this.#bytes <= this.#options.mostBytes) break;
      this.#files.delete(key);
      this.#bytes -= file.bytes;
    }
    return made;
  }

  async #bytesOf(found: FoundPage, hash: string): Promise<Buffer | undefined> {
    const { read, readKept, onRead } = this.#options;
    try {
      const bytes = await read(found, hash);
      if (bytes !== null) onRead(found.slug, hash, bytes);
      return bytes ?? undefined;
    } catch (error) {
      const kept = await readKept(found.slug, hash);
      if (kept === undefined) throw error;
      return kept;
    }
  }
}

const keyOf = ({ pageId }: FoundPage, hash: string): string => `${pageId} ${hash}`;
