import type { RouteContract } from '@parallax/api-contract';
import type { Locale } from './locale.ts';
import type { PageFile, PageView } from './page-view.ts';

/** What a document of a page is made for. */
export type DocumentRequest = {
  readonly locale: Locale;
  readonly nowMs: number;
  /** What stands in the place of `:id` of its path; empty where the path has none. */
  readonly id: string;
  /** Whether the reader has asked for it at the page's own domain, where paths begin at the root. */
  readonly isAtDomain?: boolean | undefined;
};

/** A form of a page that is served below it, such as a feed. */
export type PageDocument = {
  /** What the API says of it, where it is part of that. */
  readonly contract?: RouteContract | undefined;
  /** Below `/status/:slug`: empty for the page itself, `/feed.rss`, `/incidents/:id`. */
  readonly path: string;
  readonly contentType: string;
  /** Whether it differs from language to language; otherwise it is made once, in that of the page. */
  readonly isTranslated: boolean;
  /** Whether pages of other origins may read it. */
  readonly isShared: boolean;
  /** Whether people open it, who are shown a form where it is private; programs get an error. */
  readonly isForPeople?: boolean | undefined;
  /** Policy for browsers (`Content-Security-Policy`), or how a page's own is made; absent: nothing may be loaded or framed. */
  readonly policy?: string | ((view: PageView) => string) | undefined;
  /** What the part of a path that is named by `:id` looks like; absent: twelve letters and digits. */
  readonly idForm?: RegExp | undefined;
  /** For a document that is a picture of the page, in place of `render`. @returns null: there is none of that `id` */
  readonly file?: ((view: PageView, id: string) => PageFile | null) | undefined;
  /** @returns the document; null: there is none of that `id` */
  readonly render: (view: PageView, asked: DocumentRequest) => string | null;
};
