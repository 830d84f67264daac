import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import type { PreparedAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import { tokenBuckets } from '../../../platform/http/prepared/token-buckets.ts';
import type { PageView } from '../view/page-view.ts';
import { followChanges } from './changes.job.ts';
import { DocumentTable } from './document-table.ts';
import type { DocumentBase } from './document-table.ts';
import { KeptFiles } from './kept-files.gateway.ts';
import { KeptViews } from './kept-views.gateway.ts';
import { PageCache } from './page-cache.ts';
import type { CachedPage, FoundPage, PageCacheOptions } from './page-cache.ts';
import { PageFiles } from './page-files.ts';
import { PageServer } from './page-server.ts';
import { documentRoutes } from './serving.routes.ts';
import { askedOf, unlockRoutes } from './unlock.routes.ts';
import { unlockLinks } from '../access/links.gateway.ts';
import { PageGuard } from '../access/page-guard.ts';

export { servePagesWhileAway } from './while-away.gateway.ts';
export type { DocumentBase } from './document-table.ts';
export type { FoundPage } from './page-cache.ts';

/** How pages are found and read. */
export type PageReader = {
  readonly find: (context: Context, slug: string) => Promise<FoundPage | null>;
  readonly read: (context: Context, found: FoundPage, nowMs: number) => Promise<PageView | null>;
  /** The bytes of a picture of the page; null: it has it no more. */
  readonly readFile: (context: Context, found: FoundPage, hash: string) => Promise<Buffer | null>;
};

/** 60 a minute and client. */
const slowRate = { perSecond: 1, burst: 60, mostKeys: 20_000, now: () => performance.now() };
/** Memory for pages and their documents. */
const mostBytes = 256 * 1024 * 1024;
/** Memory for pictures, beside that. */
const mostFileBytes = 64 * 1024 * 1024;

type Kept = { readonly views: KeptViews; readonly files: KeptFiles };
type Serving = {
  readonly server: PageServer;
  readonly cache: PageCache;
  readonly kept: Kept | undefined;
  readonly guard: PageGuard;
};

/** Serves documents of published pages: routes for what is not in memory, and a service that follows changes. */
export function createServing(reader: PageReader, bases: readonly DocumentBase[]) {
  const table = new DocumentTable(bases);
  const servings = new WeakMap<Context, Serving>();
  const of = (context: Context): Serving => {
    const known = servings.get(context);
    if (known !== undefined) return known;
    const serving = openServing(context, reader, table);
    servings.set(context, serving);
    return serving;
  };
  const service: Service<Context> = {
    name: 'changes of status pages',
    role: 'api',
    start: async (context, log) => {
      const { cache, kept } = of(context);
      const following = followChanges(context, cache, log, kept?.views);
      return {
        stop: async () => {
          await following.stop();
          await kept?.views.settle();
          await kept?.files.settle();
        },
      };
    },
  };
  return {
    service,
    routes: (context: Context): readonly Route[] => [
      ...documentRoutes({ server: of(context).server, slowly: tokenBuckets(slowRate) }, bases),
      ...unlockRoutes(of(context).server),
    ],
    /** A page as its readers see it at present, and who they are. @returns null: none is published under the slug. @throws when it cannot be read */
    pageOf: async (context: Context, slug: string): Promise<Pick<CachedPage, 'view' | 'found'> | null> => {
      const found = await of(context).cache.get(slug);
      return found.kind === 'page' ? found.page : null;
    },
    /** Lets readers of private pages in. */
    guardOf: (context: Context): PageGuard => of(context).guard,
    /** Whether somebody may read a page, which is so for everybody where it is not private. */
    mayRead: async (context: Context, { access }: FoundPage, request: RequestFacts): Promise<boolean> =>
      (await of(context).guard.check(access, askedOf(request).client)).kind === 'open',
    /** What is answered before any route is asked. */
    serverOf: (context: Context): PageServer => of(context).server,
    /** Pages as they were kept in a data folder, for a time without a database. @returns undefined: none were */
    keptPages: async (dataDir: string, log: Context['log']): Promise<PageServer | undefined> => {
      const kept = new KeptViews(dataDir, log);
      if (!(await kept.hasAny())) return undefined;
      const away = async (): Promise<never> => Promise.reject(new Error('the database cannot be reached'));
      const cache = new PageCache({
        ...common(log),
        find: away,
        read: away,
        readKept: (slug) => kept.read(slug),
        onRead: () => undefined,
        onMissing: () => undefined,
        now: Date.now,
      });
      const keptFiles = new KeptFiles(dataDir, log);
      const files = new PageFiles<PreparedAnswer>({
        read: away,
        readKept: (slug, hash) => keptFiles.read(slug, hash),
        onRead: () => undefined,
        mostBytes: mostFileBytes,
      });
      return new PageServer(cache, table, Date.now, { files });
    },
  };
}

function openServing(context: Context, reader: PageReader, table: DocumentTable): Serving {
  const { log, now, dataDir } = context;
  const kept =
    dataDir === undefined ? undefined : { views: new KeptViews(dataDir, log), files: new KeptFiles(dataDir, log) };
  const cache = new PageCache({
    ...common(log),
    find: (slug) => reader.find(context, slug),
    read: (found) => reader.read(context, found, now()),
    readKept: async (slug) => kept?.views.read(slug),
    onRead: (one) => {
      if (kept?.views.keep(one) === true) kept.files.keepOnly(one.view);
    },
    onMissing: (slug) => {
      kept?.views.forget(slug);
      kept?.files.forget(slug);
    },
    now,
  });
  const files = new PageFiles<PreparedAnswer>({
    read: (found, hash) => reader.readFile(context, found, hash),
    readKept: async (slug, hash) => kept?.files.read(slug, hash),
    onRead: (slug, hash, bytes) => kept?.files.keep(slug, hash, bytes),
    mostBytes: mostFileBytes,
  });
  const guard = new PageGuard({ now, failuresPerMinute: () => context.limits.rate('status_page_password').quota });
  const links = unlockLinks(context);
  return {
    cache,
    kept,
    guard,
    server: new PageServer(cache, table, now, {
      guard,
      links,
      files,
      isSecure: context.publicUrl.startsWith('https:'),
    }),
  };
}

function common(log: Context['log']): Pick<PageCacheOptions, 'onFailure' | 'sleep' | 'mostBytes'> {
  return {
    onFailure: (slug, error) =>
      log.warn({ err: error, slug }, 'a status page cannot be read anew; it is shown as it was'),
    sleep: (ms) => delay(ms, undefined, { ref: false }),
    mostBytes,
  };
}
