import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@parallax/telemetry';
import type { PageView } from '../view/page-view.ts';

const slugForm = /^[a-z0-9][a-z0-9-]{1,62}$/;
const hashForm = /^[0-9a-f]{32}$/;

/** Pictures of pages in files of the data folder, beside the pages themselves, for a time without a database. */
export class KeptFiles {
  readonly #folder: string;
  readonly #log: Logger;
  #writing: Promise<void> = Promise.resolve();

  /** @param dataDir the data folder of this process */
  constructor(dataDir: string, log: Logger) {
    this.#folder = path.join(dataDir, 'status-pages');
    this.#log = log;
  }

  /** Writes a picture. A write that fails is told and costs nothing else. */
  keep(slug: string, hash: string, bytes: Buffer): void {
    if (!slugForm.test(slug) || !hashForm.test(hash)) return;
    this.#after(async () => {
      await mkdir(this.#folderOf(slug), { recursive: true, mode: 0o700 });
      const file = path.join(this.#folderOf(slug), hash);
      await writeFile(`${file}.new`, bytes, { mode: 0o600 });
      await rename(`${file}.new`, file);
    });
  }

  /** Removes pictures that a page has no more. */
  keepOnly({ slug, files }: Pick<PageView, 'slug' | 'files'>): void {
    if (!slugForm.test(slug)) return;
    const named = new Set([files?.logoLight, files?.logoDark, files?.favicon].map((file) => file?.hash));
    this.#after(async () => {
      const names = await readdir(this.#folderOf(slug)).catch(() => []);
      const gone = names.filter((name) => !named.has(name));
      await Promise.all(gone.map((name) => rm(path.join(this.#folderOf(slug), name), { force: true })));
    });
  }

  /** A page is not published any more. */
  forget(slug: string): void {
    if (slugForm.test(slug)) this.#after(() => rm(this.#folderOf(slug), { recursive: true, force: true }));
  }

  /** A picture that was kept. @returns undefined: there is none, or it is damaged */
  async read(slug: string, hash: string): Promise<Buffer | undefined> {
    if (!slugForm.test(slug) || !hashForm.test(hash)) return undefined;
    const bytes = await readFile(path.join(this.#folderOf(slug), hash)).catch(() => undefined);
    const isWhole = bytes !== undefined && createHash('sha256').update(bytes).digest('hex').startsWith(hash);
    return isWhole ? bytes : undefined;
  }

  /** Waits for what is being written. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  /** No slug has a dot, so it is never that of a page. */
  #folderOf(slug: string): string {
    return path.join(this.#folder, `${slug}.files`);
  }

  #after(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'pictures of a status page cannot be kept in the data folder');
    });
  }
}
