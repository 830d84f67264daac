import { createHash } from 'node:crypto';
import { escapeHtml } from '../mail/letter.ts';

/** A document and the `Content-Security-Policy` that lets exactly it work. */
export type Page = { readonly html: string; readonly policy: string };

// Colours have a contrast of 4.5 : 1 or more on their ground, in the light and in the dark.
const style = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #5a6878; --line: #d5dce4; --back: #f4f6f9; --card: #fff; --mark: #0369a1; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf3; --soft: #9fb0c2; --line: #2c3a4a; --back: #0f1720; --card: #17222e; --mark: #7dd3fc; --bad: #ff9d92; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 440px; padding: 32px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow-wrap: anywhere; }
.name { display: flex; align-items: center; gap: 10px; margin: 0 0 24px; color: var(--soft); font-weight: 600; }
.name svg { width: 28px; height: 28px; }
h1 { margin: 0 0 8px; font-size: 22px; line-height: 1.3; }
h1.bad { color: var(--bad); }
h2 { margin: 28px 0 0; font-size: 17px; line-height: 1.3; }
h2 + form { margin-top: 12px; }
p { margin: 0; }
p + p { margin-top: 8px; }
p.hint { margin-top: 24px; color: var(--soft); }
code { font: 14px/1.5 ui-monospace, monospace; }
a { color: var(--mark); }
form { margin-top: 20px; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input, button { width: 100%; padding: 10px 12px; border: 1px solid var(--soft); border-radius: 8px; font: inherit; }
input { background: transparent; color: inherit; }
input + label { margin-top: 14px; }
input + p { margin-top: 6px; color: var(--soft); }
input + p + label { margin-top: 14px; }
input[readonly] { border-style: dashed; }
button { margin-top: 16px; border-color: var(--mark); background: var(--mark); color: var(--card); font-weight: 600; cursor: pointer; }
button.other { border-color: var(--soft); background: transparent; color: inherit; font-weight: 400; }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
#problem { margin-top: 12px; color: var(--bad); }
[hidden] { display: none; }
@media (max-width: 480px) { body { padding: 0; background: var(--card); place-items: start stretch; } main { border: 0; padding: 24px; } }
`;

/**
 * A small page of its own, such as the one that a link in a mail opens: one card, light and dark, from 320 pixels on, loading nothing.
 * @param parts markup, in which every text is escaped already
 * @param script runs in the page and may ask this very origin, unless it only submits; without one, forms may be sent to this very origin
 */
export function smallPage(page: {
  readonly locale: 'en' | 'ru';
  readonly title: string;
  readonly parts: readonly string[];
  readonly script?: string;
  /** The script sends a form of the page and asks nothing. */
  readonly submits?: boolean;
}): Page {
  const { locale, title, parts, script, submits = script === undefined } = page;
  const html = `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="name"><svg viewBox="0 0 36 36" aria-hidden="true"><path d="M4 31 18 6l14 25" fill="none" stroke="currentColor" stroke-width="3" stroke-linejoin="round"/><circle cx="18" cy="7" r="4" fill="currentColor"/></svg>Parallax</p>
${parts.join('\n')}
</main>
${script === undefined ? '' : `<script>${script}</script>\n`}</body>
</html>
`;
  return { html, policy: policyOf(script, submits) };
}

function policyOf(script: string | undefined, submits: boolean): string {
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashSource(script)}`]),
    `style-src ${styleSource}`,
    ...(submits ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    `form-action ${submits ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const styleSource = hashSource(style);

/** What a page says: its heading and paragraphs as texts, in a region that is read out when it changes. */
export function said(head: string, texts: readonly string[]): string[] {
  return [
    '<div role="status">',
    `<h1>${escapeHtml(head)}</h1>`,
    ...texts.map((text) => `<p>${escapeHtml(text)}</p>`),
    '</div>',
  ];
}

/** The language of a page for nobody in particular. @param acceptLanguage the header */
export function pageLocale(acceptLanguage: string | undefined): 'en' | 'ru' {
  return acceptLanguage?.trim().toLowerCase().startsWith('ru') === true ? 'ru' : 'en';
}
