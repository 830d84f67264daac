import type { PageDocument } from '../view/page-document.ts';
import { feedOf } from './feed.ts';
import type { Feed, FeedEntry } from './feed.ts';
import { element, xmlDocument } from './markup.ts';
import type { Markup } from './markup.ts';

/** RSS 2.0 (https://www.rssboard.org/rss-specification), with the link to itself that the RSS Advisory Board recommends. */
function rssText(feed: Feed): string {
  const channel = element('channel', {}, [
    element('title', {}, feed.title),
    element('link', {}, feed.pageUrl),
    element('description', {}, feed.description === '' ? feed.title : feed.description),
    element('language', {}, feed.locale),
    element('lastBuildDate', {}, mailTime(feed.updatedMs)),
    // In minutes.
    element('ttl', {}, '5'),
    element('atom:link', { href: `${feed.selfUrl}.rss`, rel: 'self', type: 'application/rss+xml' }),
    ...feed.entries.map(rssItem),
  ]);
  const namespaces = { version: '2.0', 'xmlns:atom': 'http://www.w3.org/2005/Atom' };
  return xmlDocument(element('rss', namespaces, [channel]));
}

function rssItem(entry: FeedEntry): Markup {
  return element('item', {}, [
    element('title', {}, entry.title),
    element('link', {}, entry.url),
    element('guid', { isPermaLink: 'false' }, entry.id),
    element('pubDate', {}, mailTime(entry.updatedMs)),
    element('description', {}, entry.html),
    ...entry.tags.map((tag) => element('category', {}, tag)),
  ]);
}

/** As RFC 822 writes times, with years of four digits: `Fri, 27 Nov 2026 13:03:12 +0000`. */
function mailTime(ms: number): string {
  return new Date(ms).toUTCString().replace(/GMT$/, '+0000');
}

/** Atom (RFC 4287). */
function atomText(feed: Feed): string {
  const root = element('feed', { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': feed.locale }, [
    element('id', {}, feed.id),
    element('title', {}, feed.title),
    ...(feed.description === '' ? [] : [element('subtitle', {}, feed.description)]),
    element('updated', {}, isoText(feed.updatedMs)),
    element('author', {}, [element('name', {}, feed.title)]),
    element('link', { rel: 'alternate', type: 'text/html', href: feed.pageUrl }),
    element('link', { rel: 'self', type: 'application/atom+xml', href: `${feed.selfUrl}.atom` }),
    ...feed.entries.map(atomEntry),
  ]);
  return xmlDocument(root);
}

function atomEntry(entry: FeedEntry): Markup {
  return element('entry', {}, [
    element('id', {}, entry.id),
    element('title', {}, entry.title),
    element('published', {}, isoText(entry.publishedMs)),
    element('updated', {}, isoText(entry.updatedMs)),
    element('link', { rel: 'alternate', type: 'text/html', href: entry.url }),
    ...entry.tags.map((term) => element('category', { term })),
    element('content', { type: 'html' }, entry.html),
  ]);
}

const isoText = (ms: number): string => new Date(ms).toISOString();

/** JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/). */
function jsonText(feed: Feed): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: feed.title,
    home_page_url: feed.pageUrl,
    feed_url: `${feed.selfUrl}.json`,
    ...(feed.description === '' ? {} : { description: feed.description }),
    language: feed.locale,
    items: feed.entries.map((entry) => ({
      id: entry.id,
      url: entry.url,
      title: entry.title,
      content_html: entry.html,
      date_published: isoText(entry.publishedMs),
      date_modified: isoText(entry.updatedMs),
      tags: entry.tags,
    })),
  });
}

const forms = [
  { ending: 'rss', contentType: 'application/rss+xml; charset=utf-8', write: rssText },
  { ending: 'atom', contentType: 'application/atom+xml; charset=utf-8', write: atomText },
  { ending: 'json', contentType: 'application/feed+json; charset=utf-8', write: jsonText },
] as const;

/** Feeds of a page and of its components, in the three forms. */
export const feedDocuments: readonly PageDocument[] = ['', '/components/:id'].flatMap((of) =>
  forms.map(
    ({ ending, contentType, write }): PageDocument => ({
      path: `${of}/feed.${ending}`,
      contentType,
      isTranslated: false,
      isShared: true,
      render: (view, asked) => {
        const feed = feedOf(view, asked);
        return feed === null ? null : write(feed);
      },
    }),
  ),
);
