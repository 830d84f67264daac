import type { PreparedAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PageAccess } from '../access/page-access.ts';
import type { PageView } from '../view/page-view.ts';
import { servingOf, staleMs } from './freshness.ts';

/** A published page: which it is, and what it tells. */
export type FoundPage = {
  readonly pageId: number;
  readonly workspaceId: number;
  /** The one that it has now. */
  readonly slug: string;
  /** Counts changes of who may read it. */
  readonly accessVersion: number;
  /** Who may read it; null: everybody. */
  readonly access: PageAccess | null;
};

/** A page as it was read once. Times are milliseconds since the epoch. */
export type KeptView = { readonly found: FoundPage; readonly view: PageView; readonly readMs: number };

/** What stands in memory of a page. */
export type CachedPage = {
  readonly found: FoundPage;
  readonly view: PageView;
  readonly readMs: number;
  /** Whether it could not be read anew when it should have been. */
  readonly isOld: boolean;
  /** Documents that were made of this view, by their key. */
  readonly documents: Map<string, PreparedAnswer>;
};

/** What a slug leads to. */
export type SlugAnswer =
  | { readonly kind: 'page'; readonly page: CachedPage }
  | { readonly kind: 'moved'; readonly slug: string; readonly isPrivate: boolean }
  | { readonly kind: 'missing' };

export type PageCacheOptions = {
  /** @returns null: no published page has or had this slug */
  readonly find: (slug: string) => Promise<FoundPage | null>;
  /** @returns null: it was deleted meanwhile */
  readonly read: (found: FoundPage) => Promise<PageView | null>;
  /** What was read of a page before this process began; asked for while it cannot be read. */
  readonly readKept: (slug: string) => Promise<KeptView | undefined>;
  /** Told of what was read, for a time without a database. */
  readonly onRead: (kept: KeptView) => void;
  /** Told of a slug that leads to no page. */
  readonly onMissing: (slug: string) => void;
  readonly onFailure: (slug: string, error: unknown) => void;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** The memory for the documents of all pages. */
  readonly mostBytes: number;
};

type Entry = {
  page: CachedPage;
  changedMs: number | null;
  failedMs: number | null;
  askedMs: number;
  /** When the last reading began; never more than one a second. */
  startedMs: number;
  reading: Promise<void> | undefined;
};

/** A page that somebody has asked for within this time is read anew when something changes, before anybody asks again. */
const watchedMs = 60_000;
const leastBetweenReadsMs = 1_000;
/** So many pages are read anew at once after a change: one change may touch hundreds, and whoever waits for a page must not wait behind those. */
const mostReadAhead = 4;
/** Whoever waits for a page to be read anew is shown the old one after so long. */
const mostWaitMs = 2_000;
/** Slugs without a page, and former ones, are known for so long. */
const slugKeptMs = 60_000;
const mostSlugs = 10_000;

/** Published pages in memory: read once for all who ask, again when something has changed, and shown as they were while the database is away. */
export class PageCache {
  readonly #options: PageCacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #slugs = new Map<string, { readonly sinceMs: number; readonly answer: SlugAnswer }>();
  readonly #first = new Map<string, Promise<SlugAnswer>>();
  /** Pages that have changed and are to be read before anybody asks, those that have waited the longest first. */
  readonly #due = new Set<string>();
  readonly #ahead = new Set<Promise<void>>();
  /** Until one of them may be read again. */
  #later: Promise<void> | undefined;
  /** Counts changes of who may read pages: what is being read at that time may be older than one. */
  #accessChanges = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
  }

  /** How many pages are in memory. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether a page is in memory, be it too old. */
  has(slug: string): boolean {
    return this.#entries.has(slug);
  }

  /** What is there and may be shown, without waiting. @returns undefined: `get` waits for it */
  peek(slug: string): SlugAnswer | undefined {
    const nowMs = this.#options.now();
    const entry = this.#entries.get(slug);
    if (entry === undefined) {
      const known = this.#slugs.get(slug);
      return known !== undefined && nowMs - known.sinceMs < slugKeptMs ? known.answer : undefined;
    }
    entry.askedMs = nowMs;
    const { changedMs, failedMs, page } = entry;
    const serving = servingOf({ readMs: page.readMs, changedMs, failedMs }, nowMs);
    if (serving === 'wait') return undefined;
    if (serving === 'refresh') void this.#refresh(slug, entry);
    return this.#answerOf(entry);
  }

  /** What a slug leads to now. @throws when it cannot be read and nothing of it is there */
  async get(slug: string): Promise<SlugAnswer> {
    const there = this.peek(slug);
    if (there !== undefined) return there;
    const entry = this.#entries.get(slug);
    if (entry === undefined) return this.#readFirst(slug);
    // A database that hangs is no reason to hang with it, nor for the next to wait as long: until it is read the page counts as one that cannot be.
    const isRead = this.#refresh(slug, entry).then(() => true);
    const isInTime = await Promise.race([isRead, this.#options.sleep(mostWaitMs).then(() => false)]);
    if (!isInTime && entry.reading !== undefined) entry.failedMs ??= this.#options.now();
    // What has changed since that reading began is told by the next one.
    return this.#entries.get(slug) === entry ? this.#answerOf(entry) : this.#readFirst(slug);
  }

  /** Something has changed in workspaces, or with a page of theirs. */
  markChanged(workspaceIds: ReadonlySet<number>): void {
    if (workspaceIds.size > 0) this.#mark(({ workspaceId }) => workspaceIds.has(workspaceId));
  }

  /** Others may read a page now: nothing that was read of it before is shown any more, also when it cannot be read anew. */
  forget(pageId: number): void {
    this.#accessChanges += 1;
    for (const [slug, { page }] of this.#entries) {
      if (page.found.pageId !== pageId) continue;
      this.#entries.delete(slug);
      this.#options.onMissing(slug);
    }
    this.#slugs.clear();
  }

  /** Something has changed, and nobody knows where. */
  markAllChanged(): void {
    this.#mark(() => true);
  }

  #mark(isMeant: (found: FoundPage) => boolean): void {
    const nowMs = this.#options.now();
    for (const [slug, entry] of this.#entries) {
      if (!isMeant(entry.page.found)) continue;
      entry.changedMs ??= nowMs;
      if (nowMs - entry.askedMs < watchedMs) this.#due.add(slug);
    }
    this.#readAhead();
    // A page may have been published under a slug that had none.
    this.#slugs.clear();
  }

  #readAhead(): void {
    const nowMs = this.#options.now();
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const slug of this.#due) {
      if (this.#ahead.size >= mostReadAhead) return;
      const entry = this.#entries.get(slug);
      // A reader may have been quicker.
      const isDue = entry !== undefined && entry.changedMs !== null;
      const waitMs = isDue ? entry.startedMs + leastBetweenReadsMs - nowMs : 0;
      if (waitMs > 0) {
        soonestMs = Math.min(soonestMs, waitMs);
        continue;
      }
      this.#due.delete(slug);
      if (!isDue) continue;
      const reading = this.#refresh(slug, entry).finally(() => {
        this.#ahead.delete(reading);
        this.#readAhead();
      });
      this.#ahead.add(reading);
    }
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    this.#later ??= this.#readAheadIn(soonestMs);
  }

  async #readAheadIn(ms: number): Promise<void> {
    await this.#options.sleep(ms);
    this.#later = undefined;
    this.#readAhead();
  }

  /** Whether a page could be shown as it is, so that changes matter. */
  isWatched(): boolean {
    const sinceMs = this.#options.now() - Math.max(watchedMs, staleMs);
    for (const { askedMs, page } of this.#entries.values()) if (Math.max(askedMs, page.readMs) > sinceMs) return true;
    return false;
  }

  /** Reads nothing ahead any more, and waits for what is being read. */
  async stop(): Promise<void> {
    this.#due.clear();
    await this.settle();
  }

  /** Waits for what is being read. */
  async settle(): Promise<void> {
    const readings = [...this.#entries.values()].map(({ reading }) => reading);
    await Promise.allSettled([...readings, ...this.#first.values()]);
    while (this.#ahead.size > 0 || this.#later !== undefined) await Promise.allSettled([...this.#ahead, this.#later]);
  }

  #answerOf(entry: Entry): SlugAnswer {
    const isOld = entry.failedMs !== null;
    if (entry.page.isOld !== isOld) entry.page = { ...entry.page, isOld, documents: new Map() };
    return { kind: 'page', page: entry.page };
  }

  /** One reading for all who ask for the same slug at once. */
  async #readFirst(slug: string): Promise<SlugAnswer> {
    const under = this.#first.get(slug);
    if (under !== undefined) return under;
    const reading = this.#findAndRead(slug).finally(() => this.#first.delete(slug));
    this.#first.set(slug, reading);
    return reading;
  }

  async #findAndRead(slug: string): Promise<SlugAnswer> {
    const startedMs = this.#options.now();
    try {
      return await this.#readNew(slug, startedMs);
    } catch (error) {
      const kept = await this.#options.readKept(slug);
      if (kept === undefined) throw error;
      this.#options.onFailure(slug, error);
      return this.#answerOf(this.#add(slug, kept, { startedMs, failedMs: startedMs }));
    }
  }

  async #readNew(slug: string, startedMs: number): Promise<SlugAnswer> {
    const { find, read, onRead, onMissing } = this.#options;
    const accessChanges = this.#accessChanges;
    const found = await find(slug);
    if (found !== null && found.slug !== slug)
      return this.#keepSlug(slug, { kind: 'moved', slug: found.slug, isPrivate: found.access !== null });
    const view = found === null ? null : await read(found);
    if (accessChanges !== this.#accessChanges) return this.#readNew(slug, this.#options.now());
    if (found === null || view === null) {
      onMissing(slug);
      return this.#keepSlug(slug, { kind: 'missing' });
    }
    const kept = { found, view, readMs: startedMs };
    onRead(kept);
    return this.#answerOf(this.#add(slug, kept, { startedMs, failedMs: null }));
  }

  #add(slug: string, kept: KeptView, { startedMs, failedMs }: Pick<Entry, 'startedMs' | 'failedMs'>): Entry {
    const page = { ...kept, isOld: failedMs !== null, documents: new Map() };
    const askedMs = this.#options.now();
    const entry: Entry = { page, changedMs: null, failedMs, askedMs, startedMs, reading: undefined };
    this.#slugs.delete(slug);
    this.#entries.set(slug, entry);
    this.#makeRoom(slug);
    return entry;
  }

  #keepSlug(slug: string, answer: SlugAnswer): SlugAnswer {
    if (this.#slugs.size >= mostSlugs) this.#slugs.delete(this.#slugs.keys().next().value ?? '');
    this.#slugs.set(slug, { sinceMs: this.#options.now(), answer });
    return answer;
  }

  async #refresh(slug: string, entry: Entry): Promise<void> {
    entry.reading ??= this.#readAgain(slug, entry).finally(() => {
      entry.reading = undefined;
    });
    return entry.reading;
  }

  async #readAgain(slug: string, entry: Entry): Promise<void> {
    const { find, read, onRead, onMissing, onFailure, now } = this.#options;
    const waitMs = entry.startedMs + leastBetweenReadsMs - now();
    if (waitMs > 0) await this.#options.sleep(waitMs);
    entry.startedMs = now();
    // What is told of from here on is not in what is read, for all that is known.
    const changedMs = entry.changedMs;
    entry.changedMs = null;
    try {
      const found = await find(slug);
      const view = found === null || found.slug !== slug ? null : await read(found);
      // It was forgotten meanwhile, since others may read it now.
      if (this.#entries.get(slug) !== entry) return;
      if (found === null || view === null) {
        this.#entries.delete(slug);
        onMissing(slug);
        return;
      }
      entry.page = { found, view, readMs: entry.startedMs, isOld: false, documents: new Map() };
      entry.failedMs = null;
      this.#makeRoom(slug);
      onRead(entry.page);
    } catch (error) {
      entry.changedMs ??= changedMs;
      entry.failedMs = now();
      onFailure(slug, error);
    }
  }

  /** Forgets pages that nobody has asked for the longest, until the others have room. @param slug the one that stays */
  #makeRoom(slug: string): void {
    const sizes = [...this.#entries].map(([of, entry]) => ({ of, askedMs: entry.askedMs, bytes: bytesOf(entry) }));
    let bytes = sizes.reduce((sum, one) => sum + one.bytes, 0);
    if (bytes <= this.#options.mostBytes) return;
    for (const one of sizes.sort((a, b) => a.askedMs - b.askedMs)) {
      if (one.of === slug) continue;
      this.#entries.delete(one.of);
      bytes -= one.bytes;
      if (bytes <= this.#options.mostBytes) return;
    }
  }
}

function bytesOf({ page }: Entry): number {
  let bytes = bytesOfView(page.view);
  for (const answer of page.documents.values()) bytes += answer.byteLength();
  return bytes;
}

/** What objects, numbers and strings take in V8, as heaps of pages of 40 components have shown them; texts are counted as two bytes a character. */
const bytesOfPage = 8_000;
const bytesOfComponent = 500;
const bytesOfDay = 8;
const bytesOfTime = 24;
const bytesOfTrouble = 200;
const bytesOfPart = 500;

/** Worked out once for each view: all are added up whenever one is read. */
const knownBytes = new WeakMap<PageView, number>();

function bytesOfView(view: PageView): number {
  const known = knownBytes.get(view);
  if (known !== undefined) return known;
  const bytes = viewBytes(view);
  knownBytes.set(view, bytes);
  return bytes;
}

/** About how much memory a view takes. */
export function viewBytes({ sections, incidents, maintenance }: PageView): number {
  let bytes = bytesOfPage + bytesOfPart * maintenance.length;
  for (const { components } of sections) {
    for (const { days, responseTimesMs, troubles } of components) {
      bytes += bytesOfComponent + bytesOfDay * days.length + bytesOfTrouble * troubles.length;
      bytes += bytesOfTime * (responseTimesMs?.length ?? 0);
    }
  }
  for (const { updates, postmortem } of incidents) {
    bytes += bytesOfPart + 2 * (postmortem?.length ?? 0);
    for (const { body } of updates) bytes += bytesOfPart + 2 * (body?.length ?? 0);
  }
  return bytes;
}
