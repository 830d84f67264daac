import { escapeHtml } from '../../../platform/mail/letter.ts';
import { pageLocale, smallPage } from '../../../platform/http/page.ts';
import type { PreparedAnswers, PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import { prepareAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedAnswer, PreparedHeaders } from '../../../platform/http/prepared/prepared-answer.ts';
import { privateHeaders } from '../access/answers.ts';
import { PageGuard } from '../access/page-guard.ts';
import type { Checked } from '../access/page-guard.ts';
import { refusal } from '../access/refusal.ts';
import type { PageDocument } from '../view/page-document.ts';
import { chooseLocale } from './choose-locale.ts';
import type { DocumentMatch, DocumentTable } from './document-table.ts';
import type { CachedPage, PageCache, SlugAnswer } from './page-cache.ts';
import type { PageFiles } from './page-files.ts';
import { PageUnlocking, unlockPath } from './page-unlocking.ts';
import type { UnlockLinks } from './page-unlocking.ts';
import { notFoundWords } from './words.ts';

/** An answer may be shown for so long without asking again, and for a day while nobody answers (RFC 9111; RFC 5861). */
const cacheControl = 'public, max-age=15, stale-while-revalidate=60, stale-if-error=86400';
/** An address with a hash in it never shows anything else (RFC 8246). */
const foreverControl = 'public, max-age=31536000, immutable';
/** While the database is away, documents are made anew so often, for they tell their age. */
const remakeMs = 30_000;
const mostDocuments = 500;
const pagesPrefix = '/status/';
const subscriptionForm = /^\/status\/[^/]*\/subscription\//;

/** Documents of published pages, from memory where they are there. */
export class PageServer implements PreparedAnswers {
  readonly #cache: PageCache;
  readonly #table: DocumentTable;
  readonly #now: () => number;
  readonly #files: PageFiles<PreparedAnswer> | undefined;
  readonly #guard: PageGuard;
  readonly #unlocking: PageUnlocking;

  constructor(cache: PageCache, table: DocumentTable, now: () => number, more: ServerOptions = {}) {
    this.#cache = cache;
    this.#table = table;
    this.#now = now;
    this.#files = more.files;
    this.#guard = more.guard ?? new PageGuard({ now });
    this.#unlocking = new PageUnlocking({
      cache,
      table,
      guard: this.#guard,
      now,
      links: more.links,
      isSecure: more.isSecure,
    });
  }

  covers(path: string): boolean {
    return this.#table.covers(path);
  }

  /** Documents below it are in no route; a link of a subscriber is. */
  owns(path: string): boolean {
    return path.startsWith(pagesPrefix) && !subscriptionForm.test(path);
  }

  /** To ask for a page that is in memory is no guessing at names, also when it must be read anew: in an outage all who ask wait for that at once. */
  isKnown({ path }: PreparedRequest): boolean {
    const match = this.#table.match(path);
    return match !== undefined && this.#cache.has(match.slug);
  }

  /** What can be sent without waiting. */
  find(request: PreparedRequest): PreparedAnswer | undefined {
    const match = this.#table.match(request.path);
    if (match === undefined) return undefined;
    const known = this.#peek(match.slug, request);
    if (known === undefined) return undefined;
    const access = known.kind === 'page' ? known.page.found.access : null;
    const judgement = access === null ? 'open' : this.#guard.judge(access, request.client);
    if (judgement === 'check') return undefined;
    const answer = this.#answer(match, known, request, { kind: judgement });
    // An error of the API is told by its route.
    return answer !== undefined && answer.status >= 400 && match.document.contract !== undefined ? undefined : answer;
  }

  /** What is sent. @throws when the page can neither be read nor is it in memory */
  async fetch(request: PreparedRequest): Promise<PreparedAnswer> {
    const match = this.#table.match(request.path);
    if (match === undefined) return (await this.#unlocking.show(request)) ?? notFound(undefined, request);
    const known = await this.#get(match.slug, request);
    const access = known.kind === 'page' ? known.page.found.access : null;
    const checked = await this.#guard.check(access, request.client);
    if (checked.kind === 'open') await this.#readFile(match, known);
    return this.#answer(match, known, request, checked) ?? notFound(match.document, request);
  }

  /** Whether a form is sent to this path that lets its reader into a page. */
  unlocks(path: string): boolean {
    return unlockPath(path) !== undefined;
  }

  /** What is answered to such a form. @throws when the page can neither be read nor is it in memory */
  async unlock(request: PreparedRequest, body: Buffer | undefined): Promise<PreparedAnswer> {
    return (await this.#unlocking.send(request, body)) ?? notFound(undefined, request, true);
  }

  // A domain leads to the page whatever its slug was a moment ago: its readers know of no slug, and a redirect could name none.
  #peek(slug: string, { isMapped }: PreparedRequest): SlugAnswer | undefined {
    const known = this.#cache.peek(slug);
    return isMapped === true && known?.kind === 'moved' ? this.#cache.peek(known.slug) : known;
  }

  async #get(slug: string, { isMapped }: PreparedRequest): Promise<SlugAnswer> {
    const known = await this.#cache.get(slug);
    return isMapped === true && known.kind === 'moved' ? this.#cache.get(known.slug) : known;
  }

  /** @returns undefined: a picture must be read first */
  #answer(
    match: DocumentMatch,
    known: SlugAnswer,
    request: PreparedRequest,
    checked: Checked,
  ): PreparedAnswer | undefined {
    switch (known.kind) {
      case 'missing':
        return notFound(match.document, request);
      case 'moved':
        return moved(match, known, request);
      case 'page':
        return this.#ofPage(match, known.page, request, checked);
    }
  }

  #ofPage(
    match: DocumentMatch,
    page: CachedPage,
    request: PreparedRequest,
    checked: Checked,
  ): PreparedAnswer | undefined {
    const { access } = page.found;
    if (access !== null && checked.kind !== 'open') return refusal(access, match, checked, request);
    if (match.document.file !== undefined) return this.#file(match, page, request);
    return this.#document(match, page, request) ?? notFound(match.document, request, access !== null);
  }

  #file(
    { document, id }: DocumentMatch,
    { view, found }: CachedPage,
    request: PreparedRequest,
  ): PreparedAnswer | undefined {
    const isThere = document.file?.(view, id) != null;
    return isThere ? this.#files?.peek(found, id) : notFound(document, request, found.access !== null);
  }

  async #readFile({ document, id }: DocumentMatch, known: SlugAnswer): Promise<void> {
    if (known.kind !== 'page' || document.file?.(known.page.view, id) == null) return;
    const isPrivate = known.page.found.access !== null;
    const headers = {
      ...headersOf(document, known.page.view, isPrivate),
      ...(isPrivate ? {} : { 'cache-control': foreverControl }),
      vary: 'Accept-Encoding',
    };
    const isPacked = !document.contentType.startsWith('image/svg');
    await this.#files?.get(known.page.found, id, (bytes) => prepareAnswer(200, headers, bytes, { isPacked }));
  }

  #document(
    { prefix, document, id }: DocumentMatch,
    page: CachedPage,
    request: PreparedRequest,
  ): PreparedAnswer | undefined {
    const { view, documents, isOld, found } = page;
    const nowMs = this.#now();
    const locale = document.isTranslated ? chooseLocale(view, request) : view.locale;
    const isAtDomain = request.isMapped === true;
    const age = isOld ? Math.floor(nowMs / remakeMs) : '';
    // The page itself and its form in the API have the same path below their prefixes.
    const key = `${prefix} ${document.path} ${id} ${locale} ${age} ${isAtDomain ? 'domain' : ''}`;
    const made = documents.get(key);
    if (made !== undefined) return made;
    const text = document.render(view, { locale, id, nowMs, isAtDomain });
    if (text === null) return undefined;
    const answer = prepareAnswer(200, headersOf(document, view, found.access !== null), text);
    if (documents.size >= mostDocuments) documents.clear();
    documents.set(key, answer);
    return answer;
  }
}

/** What a server of pages is given beside them. */
export type ServerOptions = {
  readonly guard?: PageGuard;
  readonly links?: UnlockLinks | undefined;
  /** Whether the installation is reached by https; absent: as the URL of a page says. */
  readonly isSecure?: boolean | undefined;
  /** Absent: pages have no pictures. */
  readonly files?: PageFiles<PreparedAnswer> | undefined;
};

function headersOf(document: PageDocument, view: CachedPage['view'], isPrivate: boolean): PreparedHeaders {
  const policy = typeof document.policy === 'function' ? document.policy(view) : document.policy;
  return {
    'content-type': document.contentType,
    'cache-control': cacheControl,
    vary: document.isTranslated ? 'Accept-Encoding, Accept-Language' : 'Accept-Encoding',
    ...(policy === undefined ? {} : { 'content-security-policy': policy }),
    // The policy says who may frame it; the older header knows only all or none.
    ...(policy !== undefined && !policy.includes("frame-ancestors 'none'") ? { 'x-frame-options': null } : {}),
    ...(document.isShared && !isPrivate ? sharedHeaders : {}),
    ...(view.noindex ? { 'x-robots-tag': 'noindex' } : {}),
    ...(isPrivate ? privateHeaders : {}),
  };
}

const sharedHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

function moved(
  { prefix, document, id }: DocumentMatch,
  { slug, isPrivate }: Extract<SlugAnswer, { kind: 'moved' }>,
  request: PreparedRequest,
): PreparedAnswer {
  const path = document.path.replace(':id', id);
  const query = request.query === '' ? '' : `?${request.query}`;
  const cache = isPrivate ? privateHeaders : { 'cache-control': 'public, max-age=60' };
  const headers = { location: `${prefix}${slug}${path}${query}`, ...cache };
  return prepareAnswer(301, { 'content-type': 'text/plain; charset=utf-8', ...headers }, '');
}

/** A page for people, and for programs the error of the API in short. */
function notFound(
  document: PageDocument | undefined,
  { acceptLanguage }: PreparedRequest,
  isPrivate = false,
): PreparedAnswer {
  const shared = { 'cache-control': 'public, max-age=15', ...(document?.isShared === true ? sharedHeaders : {}) };
  const cache = isPrivate ? privateHeaders : shared;
  if (document !== undefined && !document.contentType.startsWith('text/html')) {
    const problem = {
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      code: 'not_found',
      detail: notFoundWords.en.head,
    };
    return prepareAnswer(404, { 'content-type': 'application/problem+json', ...cache }, JSON.stringify(problem));
  }
  const locale = pageLocale(acceptLanguage);
  const { head, text } = notFoundWords[locale];
  const parts = [`<h1>${escapeHtml(head)}</h1>`, `<p>${escapeHtml(text)}</p>`];
  const { html, policy } = smallPage({ locale, title: head, parts });
  const type = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  return prepareAnswer(404, { ...type, vary: 'Accept-Language', ...cache }, html);
}
