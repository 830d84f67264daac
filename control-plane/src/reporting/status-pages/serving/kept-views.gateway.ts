import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@parallax/telemetry';
import type { AccessVersion } from '../view/page.queries.ts';
import type { KeptView } from './page-cache.ts';

/** Raised when `PageView` becomes another: files of another one are not read. */
const form = 2;
const leastBetweenWritesMs = 60_000;
const mostFileBytes = 5_000_000;

/** Pages in files of the data folder, so that a process which starts while the database is away can show them. */
export class KeptViews {
  readonly #folder: string;
  readonly #log: Logger;
  /** When a page was written last, and in which version of who may read it; by its slug. */
  readonly #written = new Map<string, AccessVersion & { readonly readMs: number }>();
  #sweeping: Promise<void> | undefined;
  #isSweepingAgain = false;
  #writing: Promise<void> = Promise.resolve();

  /** @param dataDir the data folder of this process */
  constructor(dataDir: string, log: Logger) {
    this.#folder = path.join(dataDir, 'status-pages');
    this.#log = log;
  }

  /**
   * Writes a page, not more than once a minute unless others may read it now. A write that fails is told and costs nothing else.
   * @returns whether it is written now
   */
  keep({ found, view, readMs }: KeptView): boolean {
    const last = this.#written.get(found.slug);
    const { pageId, accessVersion } = found;
    const isRecent = last !== undefined && readMs - last.readMs < leastBetweenWritesMs;
    if (isRecent && last.pageId === pageId && last.accessVersion === accessVersion) return false;
    this.#written.set(found.slug, { readMs, pageId, accessVersion });
    const text = JSON.stringify({ form, found, view, readMs });
    this.#after(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const file = this.#fileOf(found.slug);
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      await rename(`${file}.new`, file);
    });
    return true;
  }

  /** A page is not published any more. */
  forget(slug: string): void {
    this.#written.delete(slug);
    if (slugForm.test(slug)) this.#after(() => rm(this.#fileOf(slug), { force: true }));
  }

  /** A page that was kept. @returns undefined: there is none that can be read */
  async read(slug: string): Promise<KeptView | undefined> {
    if (!slugForm.test(slug)) return undefined;
    const file = this.#fileOf(slug);
    try {
      if ((await stat(file)).size > mostFileBytes) return undefined;
      const kept = JSON.parse(await readFile(file, 'utf8')) as KeptView & { readonly form: number };
      if (kept.form !== form || kept.found.slug !== slug) return undefined;
      return { found: kept.found, view: kept.view, readMs: kept.readMs };
    } catch (error) {
      if (!isMissing(error)) this.#log.warn({ err: error, file }, 'a kept status page cannot be read; it is left out');
      return undefined;
    }
  }

  /**
   * Removes pages that are not published any more, and those that others may read now than when they were kept: a process that starts without a
   * database would open them.
   * @param versionsOf slugs of published pages, with how often it was changed who may read them
   */
  async sweep(versionsOf: (slugs: readonly string[]) => Promise<ReadonlyMap<string, AccessVersion>>): Promise<void> {
    // What has changed since a sweep began is for the next one.
    if (this.#sweeping !== undefined) this.#isSweepingAgain = true;
    this.#sweeping ??= this.#sweep(versionsOf).finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep(versionsOf: (slugs: readonly string[]) => Promise<ReadonlyMap<string, AccessVersion>>): Promise<void> {
    do {
      this.#isSweepingAgain = false;
      await this.settle();
      const names = await readdir(this.#folder).catch(() => []);
      const slugs = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
      const versions = slugs.length === 0 ? new Map<string, AccessVersion>() : await versionsOf(slugs);
      for (const slug of slugs) if (!(await this.#isCurrent(slug, versions.get(slug)))) this.forget(slug);
      await this.settle();
    } while (this.#isSweepingAgain);
  }

  async #isCurrent(slug: string, present: AccessVersion | undefined): Promise<boolean> {
    if (present === undefined) return false;
    const known = this.#written.get(slug) ?? (await this.read(slug))?.found;
    // It may have been written anew meanwhile.
    return known?.pageId === present.pageId && known.accessVersion >= present.accessVersion;
  }

  /** Whether any page was kept. */
  async hasAny(): Promise<boolean> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.some((name) => name.endsWith('.json'));
  }

  /** Waits for what is being written. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  #fileOf(slug: string): string {
    return path.join(this.#folder, `${slug}.json`);
  }

  /** One after another, so that the newest is written last. */
  #after(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'a status page cannot be kept in the data folder');
    });
  }
}

const slugForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
