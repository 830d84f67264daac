import type { PageView } from '../view/page-view.ts';
import { markerSheet } from './bars.ts';
import { type PageContext, addressOf, pathTo, zone } from './context.ts';
import { iconSheet } from './icons.ts';
import { isLink } from './markdown.ts';
import { type Html, html, visible } from './markup.ts';
import { styleOf } from './style.ts';
import { faviconLink, logo } from './pictures.ts';
import type { Drawing } from './style.ts';
import { wordsOf } from './words/languages.ts';
import { zoneScript } from './zone-script.ts';

export type Frame = {
  readonly title: string;
  /** What other sites show of it. */
  readonly summary: string;
  /** Below the page: empty for the page itself. */
  readonly path: string;
  /** It is for one reader alone: search engines and other sites are told nothing of it. */
  readonly isPrivate?: boolean;
  readonly drawing?: Drawing;
  readonly main: Html;
};

/** A whole document around what is particular to it. */
export function framed(
  context: PageContext,
  { title, summary, path, isPrivate = false, drawing = 'page', main }: Frame,
): string {
  const { view, locale, words } = context;
  const address = addressOf(view, path);
  const head = html`
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width,initial-scale=1">
    <title>${title}</title>
    <meta name="description" content="${summary}">
    <meta name="color-scheme" content="${view.theme.scheme === 'system' ? 'light dark' : view.theme.scheme}">
    ${(view.noindex || isPrivate) && html`<meta name="robots" content="noindex">`}
    ${!isPrivate && html`<link rel="canonical" href="${address}">`}
    ${!isPrivate && view.locales.length > 1 && view.locales.map((each) => html`<link rel="alternate" hreflang="${each}" href="${address}?lang=${each}">`)}
    <link rel="alternate" type="application/rss+xml" title="RSS" href="${addressOf(view, '/feed.rss')}">
    <link rel="alternate" type="application/atom+xml" title="Atom" href="${addressOf(view, '/feed.atom')}">
    <link rel="alternate" type="application/feed+json" title="JSON" href="${addressOf(view, '/feed.json')}">
    ${faviconLink(context)}
    ${
      !isPrivate &&
      html`
        <meta property="og:type" content="website">
        <meta property="og:title" content="${title}">
        <meta property="og:description" content="${summary}">
        <meta property="og:url" content="${address}">
        <meta property="og:locale" content="${words.openGraph}">`
    }`;
  const body = html`<a class="sk" href="#main">${words.skip}</a>${iconSheet}${path === '' && markerSheet}<div class="w">${header(context, path)}<main id="main" tabindex="-1">${main}</main>${footer(context, path)}</div>`;
  return `<!doctype html><html lang="${locale}" dir="ltr"><head>${head.text}<style>${styleOf(view, drawing)}</style></head><body>${body.text}<script>${zoneScript}</script></body></html>\n`;
}

function header(context: PageContext, path: string): Html {
  const { view, words } = context;
  if (path !== '')
    return html`<header><p class="bi"><a href="${pathTo(context, '')}">${words.back(view.name)}</a></p></header>`;
  const links = view.links.filter(({ url }) => isLink(url));
  return html`
    <header>
      <h1>${logo(context) ?? view.name}</h1>
      ${view.description !== '' && html`<p class="q">${view.description}</p>`}
      ${links.length > 0 && html`<nav aria-label="${words.links}"><ul>${links.map(({ label, url }) => html`<li><a href="${url}" rel="noopener">${label}</a></li>`)}</ul></nav>`}
    </header>`;
}

function footer(context: PageContext, path: string): Html {
  const { view, words, formats } = context;
  const below = (name: string, label: string): Html => html`<li><a href="${context.base}${name}">${label}</a></li>`;
  return html`
    <footer>
      <div class="r">
        <nav aria-label="${words.feeds}"><ul>
          ${path !== '/history' && html`<li><a href="${pathTo(context, '/history')}">${words.history}</a></li>`}
          ${below('/feed.rss', 'RSS')}${below('/feed.atom', 'Atom')}${below('/feed.json', 'JSON')}
          ${below('/calendar.ics', words.calendar)}
          ${view.subscribe.length > 0 && path !== '/subscribe' && html`<li><a href="${pathTo(context, '/subscribe')}">${words.subscribe}</a></li>`}
        </ul></nav>
        ${view.locales.length > 1 && languages(context, path)}
      </div>
      <p id="z" data-z="${formats.timeZone}" data-l="${words.language}" data-t="${words.showTimesIn}">${words.timesIn} ${zone(context, view.madeMs)}.</p>
      <p>${words.poweredBy} Parallax.</p>
    </footer>`;
}

function languages({ view, words, base, locale }: PageContext, path: string): Html {
  return html`
    <nav aria-label="${words.languages}"><ul>
      ${view.locales.map((each) => html`<li><a href="${`${base}${path}` || '/'}?lang=${each}" hreflang="${each}" lang="${each}"${each === locale && html` aria-current="true"`}>${wordsOf(each).name}</a></li>`)}
    </ul></nav>`;
}

/** The name and description of a page as one line for other sites. */
export function summaryOf({ name, description }: PageView, state: string): string {
  return visible([`${name}: ${state}.`, description].filter((each) => each !== '').join(' '));
}
