import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@parallax/telemetry';
import type { KeptView } from './page-cache.ts';

/** Raised when `PageView` becomes another: files of another one are not read. */
const form = 2;
const leastBetweenWritesMs = 60_000;
const mostFileBytes = 5_000_000;

/** Pages in files of the data folder, so that a process which starts while the database is away can show them. */
export class KeptViews {
  readonly #folder: string;
  readonly #log: Logger;
  /** When a page was written last, by its slug. */
  readonly #written = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  /** @param dataDir the data folder of this process */
  constructor(dataDir: string, log: Logger) {
    this.#folder = path.join(dataDir, 'status-pages');
    this.#log = log;
  }

  /** Writes a page, not more than once a minute. A write that fails is told and costs nothing else. */
  keep({ found, view, readMs }: KeptView): void {
    const last = this.#written.get(found.slug);
    if (last !== undefined && readMs - last < leastBetweenWritesMs) return;
    this.#written.set(found.slug, readMs);
    const text = JSON.stringify({ form, found, view, readMs });
    this.#after(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const file = this.#fileOf(found.slug);
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      await rename(`${file}.new`, file);
    });
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
