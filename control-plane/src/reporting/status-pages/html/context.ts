import type { Locale } from '../view/locale.ts';
import type { DocumentRequest } from '../view/page-document.ts';
import type { PageView } from '../view/page-view.ts';
import { type Formats, formatsOf } from './times.ts';
import { wordsOf } from './words/languages.ts';
import type { Words } from './words/words.ts';
import { type Html, html } from './markup.ts';

/** What every part of a document is made from. */
export type PageContext = {
  readonly view: PageView;
  readonly locale: Locale;
  readonly nowMs: number;
  readonly words: Words;
  readonly formats: Formats;
  /** The path of the page on its host, without a slash at its end. */
  readonly base: string;
};

export function contextOf(view: PageView, { locale, nowMs, isAtDomain }: DocumentRequest): PageContext {
  const words = wordsOf(locale);
  const path = view.installationPath ?? (URL.canParse(view.url) ? new URL(view.url).pathname.replace(/\/+$/, '') : '');
  const base = isAtDomain === true ? '' : path;
  return { view, locale, nowMs, words, formats: formatsOf(words, view.timezone), base };
}

/** A link within the page, which stays on the reader's host and in the reader's language. */
export function pathTo({ view, base, locale }: PageContext, path: string): string {
  return `${`${base}${path}` || '/'}${view.locales.length > 1 ? `?lang=${locale}` : ''}`;
}

/** The address of a document for everybody, whatever their host or language. */
export function addressOf(view: PageView, path: string): string {
  return `${view.url}${path}`;
}

export function dateTime({ formats }: PageContext, ms: number): Html {
  return html`<time datetime=${isoOf(ms)}>${formats.dateTime(ms)}</time>`;
}

/** The time of an instant, with its date unless that is the date of the page. */
export function shortTime(context: PageContext, ms: number): Html {
  return timeUnder(context, context.formats.dateOf(context.view.madeMs), ms);
}

/** The time of an instant, with its date unless that is known. */
export function timeUnder(context: PageContext, date: string | undefined, ms: number): Html {
  const { formats } = context;
  if (formats.dateOf(ms) !== date) return dateTime(context, ms);
  return html`<time datetime=${isoOf(ms)}>${formats.clock(ms)}</time>`;
}

/** The name of the zone that times are written in. */
export function zone({ formats }: PageContext, ms: number): Html {
  return html`<span class="z">${formats.zone(ms)}</span>`;
}

export function isoOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A date such as `2026-11-27` in words. */
export function date(text: string, said: string): Html {
  return html`<time datetime=${text}>${said}</time>`;
}
