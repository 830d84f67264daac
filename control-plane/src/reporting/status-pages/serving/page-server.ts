import { escapeHtml } from '../../../platform/mail/letter.ts';
import { pageLocale, smallPage } from '../../../platform/http/page.ts';
import type { PreparedAnswers, PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import { prepareAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedAnswer, PreparedHeaders } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PageDocument } from '../view/page-document.ts';
import { chooseLocale } from './choose-locale.ts';
import type { DocumentMatch, DocumentTable } from './document-table.ts';
import type { CachedPage, PageCache, SlugAnswer } from './page-cache.ts';
import { notFoundWords } from './words.ts';

/** An answer may be shown for so long without asking again, and for a day while nobody answers (RFC 9111; RFC 5861). */
const cacheControl = 'public, max-age=15, stale-while-revalidate=60, stale-if-error=86400';
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

  constructor(cache: PageCache, table: DocumentTable, now: () => number) {
    this.#cache = cache;
    this.#table = table;
    this.#now = now;
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
    const known = this.#cache.peek(match.slug);
    if (known === undefined) return undefined;
    const answer = this.#answer(match, known, request);
    // An error of the API is told by its route.
    return answer.status === 404 && match.document.contract !== undefined ? undefined : answer;
  }

  /** What is sent. @throws when the page can neither be read nor is it in memory */
  async fetch(request: PreparedRequest): Promise<PreparedAnswer> {
    const match = this.#table.match(request.path);
    if (match === undefined) return notFound(undefined, request);
    return this.#answer(match, await this.#cache.get(match.slug), request);
  }

  #answer(match: DocumentMatch, known: SlugAnswer, request: PreparedRequest): PreparedAnswer {
    switch (known.kind) {
      case 'missing':
        return notFound(match.document, request);
      case 'moved':
        return moved(match, known.slug, request);
      case 'page':
        return this.#document(match, known.page, request) ?? notFound(match.document, request);
    }
  }

  #document({ document, id }: DocumentMatch, page: CachedPage, request: PreparedRequest): PreparedAnswer | undefined {
    const { view, documents, isOld } = page;
    const nowMs = this.#now();
    const locale = document.isTranslated ? chooseLocale(view, request) : view.locale;
    const key = `${document.path} ${id} ${locale} ${isOld ? Math.floor(nowMs / remakeMs) : ''}`;
    const made = documents.get(key);
    if (made !== undefined) return made;
    const text = document.render(view, { locale, id, nowMs });
    if (text === null) return undefined;
    const answer = prepareAnswer(200, headersOf(document, view), text);
    if (documents.size >= mostDocuments) documents.clear();
    documents.set(key, answer);
    return answer;
  }
}

function headersOf(document: PageDocument, view: CachedPage['view']): PreparedHeaders {
  const policy = typeof document.policy === 'function' ? document.policy(view) : document.policy;
  return {
    'content-type': document.contentType,
    'cache-control': cacheControl,
    vary: document.isTranslated ? 'Accept-Encoding, Accept-Language' : 'Accept-Encoding',
    ...(policy === undefined ? {} : { 'content-security-policy': policy }),
    // The policy says who may frame it; the older header knows only all or none.
    ...(policy !== undefined && !policy.includes("frame-ancestors 'none'") ? { 'x-frame-options': null } : {}),
    ...(document.isShared ? sharedHeaders : {}),
    ...(view.noindex ? { 'x-robots-tag': 'noindex' } : {}),
  };
}

const sharedHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

function moved({ prefix, document, id }: DocumentMatch, slug: string, request: PreparedRequest): PreparedAnswer {
  const path = document.path.replace(':id', id);
  const query = request.query === '' ? '' : `?${request.query}`;
  const headers = { location: `${prefix}${slug}${path}${query}`, 'cache-control': 'public, max-age=60' };
  return prepareAnswer(301, { 'content-type': 'text/plain; charset=utf-8', ...headers }, '');
}

/** A page for people, and for programs the error of the API in short. */
function notFound(document: PageDocument | undefined, { acceptLanguage }: PreparedRequest): PreparedAnswer {
  const cache = { 'cache-control': 'public, max-age=15', ...(document?.isShared === true ? sharedHeaders : {}) };
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
