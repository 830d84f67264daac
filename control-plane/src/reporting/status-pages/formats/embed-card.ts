import { createHash } from 'node:crypto';
import type { DocumentRequest, PageDocument } from '../view/page-document.ts';
import type { Indicator, PageColours, PageView } from '../view/page-view.ts';
import { escapeMarkup } from './markup.ts';
import { incidentUrl, isOpen, maintenanceUrl } from './places.ts';
import { incidentTitle, maintenanceTitle, wordsOf } from './words.ts';

// Texts have a contrast of 4.5 : 1 or more on their ground, marks of 3 : 1.
const standard = {
  light: { surface: '#ffffff', text: '#16202c', accent: '#0369a1' },
  dark: { surface: '#17222e', text: '#e8edf3', accent: '#7dd3fc' },
} as const;
const marks: Readonly<Record<Indicator, string>> = {
  none: '#15803d',
  maintenance: '#0369a1',
  minor: '#b45309',
  major: '#c2410c',
  critical: '#b42318',
  unknown: '#64748b',
};
const marksOnDark: Readonly<Record<Indicator, string>> = {
  none: '#4ade80',
  maintenance: '#7dd3fc',
  minor: '#fbbf24',
  major: '#fb923c',
  critical: '#ff9d92',
  unknown: '#94a3b8',
};
const fonts = { system: 'system-ui, sans-serif', serif: 'ui-serif, Georgia, serif', mono: 'ui-monospace, monospace' };

/** A colour that can be nothing but a colour; else ours. */
const colourOf = (given: string | undefined, ours: string): string =>
  given !== undefined && /^#[0-9a-f]{6}$/i.test(given) ? given : ours;

function variablesOf(kind: 'light' | 'dark', given: PageColours, mark: string): string {
  const ours = standard[kind];
  const [surface, text, accent] = (['surface', 'text', 'accent'] as const).map((name) =>
    colourOf(given[name], ours[name]),
  );
  return `--surface:${surface};--text:${text};--accent:${accent};--mark:${mark}`;
}

function styleOf({ theme, indicator }: PageView): string {
  const light = variablesOf('light', theme.light, marks[indicator]);
  const dark = variablesOf('dark', theme.dark, marksOnDark[indicator]);
  const schemes = {
    system: `:root{color-scheme:light dark;${light}}@media(prefers-color-scheme:dark){:root{${dark}}}`,
    light: `:root{color-scheme:light;${light}}`,
    dark: `:root{color-scheme:dark;${dark}}`,
  };
  const radius = Math.min(24, Math.max(0, Math.round(theme.radius)));
  return [
    schemes[theme.scheme],
    '*{box-sizing:border-box}',
    `body{margin:0;padding:12px 16px;background:var(--surface);color:var(--text);border-radius:${radius}px;`,
    `font:15px/1.45 ${fonts[theme.font]};overflow-wrap:anywhere}`,
    'p,ul{margin:0}ul{padding:0;list-style:none}li{margin-top:6px}',
    'a{color:var(--accent)}a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}',
    '.name{font-size:13px}',
    '.status{display:flex;align-items:center;gap:8px;font-weight:600}',
    '.status svg{flex:none;width:12px;height:12px;fill:var(--mark)}',
  ].join('');
}

const maxListed = 3;

/** A card that other sites frame: how it is, and what is going on. It loads nothing and runs no script. */
function cardText(view: PageView, { locale }: DocumentRequest): string {
  const words = wordsOf(locale);
  const events = [
    ...view.incidents.filter(isOpen).map((each) => [incidentUrl(view, each), incidentTitle(each, words)] as const),
    ...view.maintenance
      .filter(({ status }) => status === 'in_progress')
      .map((each) => [maintenanceUrl(view, each), maintenanceTitle(each, words)] as const),
  ];
  const link = (url: string, text: string): string =>
    `<a href="${escapeMarkup(url)}" target="_blank" rel="noopener">${escapeMarkup(text)}</a>`;
  const listed = events.slice(0, maxListed).map(([url, text]) => `<li>${link(url, text)}</li>`);
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="300">
<title>${escapeMarkup(view.name)}</title>
<style>${styleOf(view)}</style>
</head>
<body>
<p class="name">${link(view.url, view.name)}</p>
<p class="status"><svg viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="6"/></svg>${escapeMarkup(words.indicators[view.indicator])}</p>
${listed.length === 0 ? '' : `<ul>${listed.join('')}</ul>\n`}</body>
</html>
`;
}

/** Origins as a policy names them; anything else would be read as more of the policy. */
const origin = /^https?:\/\/(\*\.)?[a-z0-9][a-z0-9.-]*(:\d{1,5})?$/i;

function cardPolicy(view: PageView): string {
  const ancestors = view.embedOrigins.filter((each) => origin.test(each));
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(styleOf(view)).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
  ].join('; ');
}

export const cardDocument: PageDocument = {
  path: '/embed',
  contentType: 'text/html; charset=utf-8',
  isTranslated: true,
  isShared: true,
  policy: cardPolicy,
  render: cardText,
};
