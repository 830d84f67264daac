import { filePath } from '../files/documents.ts';
import type { PageFile } from '../view/page-view.ts';
import type { PageContext } from './context.ts';
import { favicon, toneOfIndicator } from './icons.ts';
import { Html, html } from './markup.ts';

const mediaTypes = { png: 'image/png', webp: 'image/webp', svg: 'image/svg+xml' } as const;

/** The logo of a page in place of its name, which it is read out as; null: it has none. A page that has one for one scheme shows it in both. */
export function logo(context: PageContext): Html | null {
  const { view } = context;
  const light = view.files?.logoLight ?? view.files?.logoDark;
  const dark = view.files?.logoDark ?? view.files?.logoLight;
  if (light == null || dark == null) return null;
  const shown = view.theme.scheme === 'dark' ? dark : light;
  const img = html`<img class="lo" src="${addressIn(context, shown)}" alt="${view.name}"${sizeOf(shown)}>`;
  if (view.theme.scheme !== 'system' || dark.hash === light.hash) return img;
  const source = html`<source media="(prefers-color-scheme:dark)" srcset="${addressIn(context, dark)}"${sizeOf(dark)}>`;
  return html`<picture>${source}${img}</picture>`;
}

/** The icon of the page; without one of its own it shows the state, and stands in the document. */
export function faviconLink(context: PageContext): Html {
  const { view } = context;
  const own = view.files?.favicon;
  return own == null
    ? html`<link rel="icon" type="image/svg+xml" href="${new Html(favicon(toneOfIndicator(view.indicator)))}">`
    : html`<link rel="icon" type="${mediaTypes[own.type]}" href="${addressIn(context, own)}">`;
}

const addressIn = ({ base }: PageContext, file: PageFile): string => `${base}${filePath(file)}`;

/** So that nothing moves when the picture arrives. */
const sizeOf = ({ width, height }: PageFile): Html | null =>
  width === null || height === null ? null : html` width="${width}" height="${height}"`;
