import type { PreparedAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PageAccess } from '../../status-pages/index.ts';
import type { BadgeFacts } from '../picture/badge-text.ts';

/** What was read of a badge. */
export type ReadBadge = {
  readonly id: number;
  readonly facts: BadgeFacts;
  /** The status page of a badge, and who may read it; null: everybody. */
  readonly page?: { readonly pageId: number; readonly access: PageAccess | null } | undefined;
};

/** A badge in memory, with the documents that were made of it, by their keys. */
export type CachedBadge = ReadBadge & { readonly documents: Map<string, PreparedAnswer> };

export type BadgeCacheOptions<Asked> = {
  /** @returns null: there is no such badge */
  readonly read: (asked: Asked) => Promise<ReadBadge | null>;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** The memory for all badges and their documents. */
  readonly maxBytes: number;
};

type Entry = {
  readonly badge: CachedBadge;
  /** When it was read. */
  readonly readMs: number;
  /** When reading it again has failed last. */
  failedMs: number;
};

/** For so long a badge is shown as it was read. */
const freshMs = 60_000;
/** For so long nobody tries again what failed. */
const retryMs = 5_000;
/** Whoever waits for a badge to be read anew is shown the old one after so long. */
const maxWaitMs = 2_000;
const maxMissing = 10_000;
const maxDocuments = 20;
/** What an entry or a document takes beside its text: objects, keys and headers. */
const overheadBytes = 1_000;

/**
 * Badges in memory, by what is asked of them: read once for all who ask, again after a minute, and shown as they were while the database is away.
 * Those that nobody asked for the longest make room for others.
 */
export class BadgeCache<Asked> {
  readonly #options: BadgeCacheOptions<Asked>;
  /** In the order in which they were asked for. */
  readonly #entries = new Map<string, Entry>();
  readonly #missing = new Map<string, number>();
  readonly #reading = new Map<string, Promise<CachedBadge | null>>();
  #bytes = 0;
  /** Counts keys that have ended: what is being read at that time may be of one. */
  #ended = 0;

  constructor(options: BadgeCacheOptions<Asked>) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it is in memory, be it too old. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** What can be shown without waiting. @returns null: there is no such badge. undefined: `get` waits for it */
  peek(key: string): CachedBadge | null | undefined {
    const nowMs = this.#options.now();
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const sinceMs = this.#missing.get(key);
      return sinceMs !== undefined && nowMs - sinceMs < freshMs ? null : undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const canBeShown = nowMs - entry.readMs < freshMs || nowMs - entry.failedMs < retryMs;
    return canBeShown ? entry.badge : undefined;
  }

  /** What is to be shown. @returns null: there is no such badge. @throws when it cannot be read and is not in memory */
  async get(key: string, asked: Asked): Promise<CachedBadge | null> {
    const there = this.peek(key);
    if (there !== undefined) return there;
    const old = this.#entries.get(key);
    const reading = this.#read(key, asked);
    if (old === undefined) return reading;
    const shownAnyway = reading.catch((error: unknown) => {
      if (old.failedMs < this.#options.now()) this.#options.onFailure(error);
      old.failedMs = this.#options.now();
      return old.badge;
    });
    // A database that hangs is no reason to hang with it.
    const shownLate = this.#options.sleep(maxWaitMs).then(() => {
      old.failedMs = this.#options.now();
      return old.badge;
    });
    return Promise.race([shownAnyway, shownLate]);
  }

  /** Keeps a document of a badge in memory, as long as that. */
  keep(key: string, { documents }: CachedBadge, of: string, answer: PreparedAnswer): void {
    const entry = this.#entries.get(key);
    if (entry?.badge.documents !== documents) return;
    if (documents.size >= maxDocuments) {
      this.#bytes -= bytesOf(documents);
      documents.clear();
    }
    documents.set(of, answer);
    this.#bytes += bytesOfOne(answer);
    this.#makeRoom(key);
  }

  /** The key of a badge has ended. */
  forget(id: number): void {
    this.#ended += 1;
    for (const [key, { badge }] of this.#entries) if (badge.id === id) this.#remove(key);
  }

  /** A status page was set to something else, such as to be private. */
  forgetPage(pageId: number): void {
    this.#ended += 1;
    for (const [key, { badge }] of this.#entries) if (badge.page?.pageId === pageId) this.#remove(key);
  }

  /** Waits for what is being read. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#reading.values());
  }

  /** One reading for all who ask at once. */
  #read(key: string, asked: Asked): Promise<CachedBadge | null> {
    const under = this.#reading.get(key);
    if (under !== undefined) return under;
    const reading = this.#readNow(key, asked).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readNow(key: string, asked: Asked): Promise<CachedBadge | null> {
    const readMs = this.#options.now();
    const ended = this.#ended;
    const read = await this.#options.read(asked);
    const badge = read === null ? null : { ...read, documents: new Map() };
    this.#remove(key);
    if (badge === null) this.#keepMissing(key, readMs);
    // It may have been read before the end of its key was committed.
    else if (ended === this.#ended) this.#add(key, { badge, readMs, failedMs: Number.NEGATIVE_INFINITY });
    return badge;
  }

  #add(key: string, entry: Entry): void {
    this.#missing.delete(key);
    this.#entries.set(key, entry);
    this.#bytes += overheadBytes;
    this.#makeRoom(key);
  }

  #keepMissing(key: string, sinceMs: number): void {
    this.#missing.delete(key);
    if (this.#missing.size >= maxMissing) this.#missing.delete(this.#missing.keys().next().value ?? '');
    this.#missing.set(key, sinceMs);
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= overheadBytes + bytesOf(entry.badge.documents);
  }

  /** @param latest the one that stays */
  #makeRoom(latest: string): void {
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#options.maxBytes) return;
      if (key !== latest) this.#remove(key);
    }
  }
}

function bytesOf(documents: ReadonlyMap<string, PreparedAnswer>): number {
  let bytes = 0;
  for (const answer of documents.values()) bytes += bytesOfOne(answer);
  return bytes;
}

// As a reader with compression makes it: an encoding that comes later would not be counted, and is shorter than the text.
const bytesOfOne = (answer: PreparedAnswer): number => overheadBytes + 3 * answer.body('identity').length;
