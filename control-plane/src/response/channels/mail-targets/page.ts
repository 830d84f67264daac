import { createHash } from 'node:crypto';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import { deadLinkWords, pageWords } from './words.ts';

// The look of the pages of an account's links (identity/accounts/link-pages).
const style = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 10vh 16px; background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 420px; margin: auto; overflow-wrap: anywhere; }
h1 { font-size: 22px; line-height: 1.3; }
button { box-sizing: border-box; width: 100%; margin-top: 16px; padding: 10px 12px; border: 0; border-radius: 8px; background: #1d4f91; color: #fff; font: inherit; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid #4c8ad6; outline-offset: 2px; }
`;

/** What a link is for, and whom. */
export type MailLink = {
  readonly purpose: 'confirm' | 'unsubscribe';
  readonly locale: 'en' | 'ru';
  readonly address: string;
};

/** The page of a link, without scripts: a form whose button sends to the page's own address. `isDone`: after it was pressed. */
export function mailLinkPage(link: MailLink, isDone: boolean): string {
  const words = pageWords[link.locale][link.purpose];
  const [head, text] = isDone ? words.done : [words.title, words.text];
  const form = isDone ? '' : `<form method="post"><button>${escapeHtml(words.button)}</button></form>`;
  return documentOf(link.locale, head, text(link.address), form);
}

/** The page of a link that does not work. Nobody knows whose it was, so it speaks the language that is asked for. */
export function deadLinkPage(locale: MailLink['locale']): string {
  return documentOf(locale, ...deadLinkWords[locale], '');
}

function documentOf(locale: string, head: string, text: string, form: string): string {
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(head)}</title>
<style>${style}</style>
</head>
<body>
<main>
<p>Parallax</p>
<div role="status">
<h1>${escapeHtml(head)}</h1>
<p>${escapeHtml(text)}</p>
</div>
${form}
</main>
</body>
</html>
`;
}

/** Lets the page's own style and form work, and nothing else. */
export const mailLinkPolicy: string = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
