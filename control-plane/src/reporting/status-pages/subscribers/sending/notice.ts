import type { NewsFacts } from '../news/news-facts.ts';
import type { Locale } from '../../view/locale.ts';

/** One message to one subscriber: what is new of one thing, the oldest first. */
export type Notice = {
  readonly locale: Locale;
  readonly page: { readonly id: string; readonly name: string; readonly url: string; readonly timezone: string };
  readonly news: readonly NewsFacts[];
  /** The page by which the subscriber changes and ends it. */
  readonly manageUrl: string;
};

/** Where the page tells more. */
export function noticeUrl({ page, news }: Notice): string {
  const last = news.at(-1);
  return last?.type === 'incident' ? `${page.url}/incidents/${last.id}` : page.url;
}
