import { createHash } from 'node:crypto';
import { linkPageWords } from './words.ts';
import type { LinkPage } from './words.ts';

const style = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 10vh 16px; background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 420px; margin: auto; }
h1 { font-size: 22px; line-height: 1.3; }
label { display: block; margin: 16px 0 6px; }
input, button { box-sizing: border-box; width: 100%; padding: 10px 12px; border: 1px solid GrayText; border-radius: 8px; font: inherit; }
button { margin-top: 16px; border: 0; background: #1d4f91; color: #fff; font-weight: 600; cursor: pointer; }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 3px solid #4c8ad6; outline-offset: 2px; }
[hidden] { display: none; }
`;

/**
 * The script of a page: takes the token out of the fragment, so that no history keeps it, and sends it when the button is pressed, and not
 * when a mail scanner opens the link. Texts are set as text, never as markup.
 */
function scriptOf(page: LinkPage): string {
  return `
(() => {
  'use strict';
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', location.pathname);
  const language = (navigator.language || 'en').toLowerCase().startsWith('ru') ? 'ru' : 'en';
  const words = ${JSON.stringify(linkPageWords[page])}[language];
  const part = (id) => document.getElementById(id);
  const show = ([head, text]) => {
    part('head').textContent = head;
    part('text').textContent = text;
    part('form').hidden = true;
  };
  document.documentElement.lang = language;
  document.title = words.title;
  if (token === null) return show(words.invalid);
  show([words.title, words.text]);
  part('send').textContent = words.button;
  part('form').hidden = false;
  part('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const password = part('password');
    part('send').disabled = true;
    part('problem').textContent = '';
    try {
      const answer = await fetch('../api/v1/auth/${page}', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(password === null ? { token } : { token, new_password: password.value }),
      });
      if (answer.ok) return show(words.done);
      const { code } = await answer.json();
      if (code === 'invalid_token') return show(words.invalid);
      part('problem').textContent =
        code === 'email_taken' ? words.taken
        : answer.status === 429 ? words.busy
        : answer.status >= 500 ? words.unavailable
        : words.refused;
    } catch {
      part('problem').textContent = words.unavailable;
    } finally {
      part('send').disabled = false;
    }
  });
})();
`;
}

const field =
  '<label for="password">New password · Новый пароль</label>\n<input id="password" type="password" autocomplete="new-password" minlength="4" maxlength="1024" required>';

const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A page that a mailed link opens, the same bytes for everybody, and the policy that lets run exactly what stands in it. */
export function linkPage(page: LinkPage): { readonly html: string; readonly policy: string } {
  const script = scriptOf(page);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${linkPageWords[page].en.title}</title>
<style>${style}</style>
</head>
<body>
<main>
<p>Parallax</p>
<div role="status">
<h1 id="head"></h1>
<p id="text"></p>
</div>
<form id="form" hidden>
${page === 'reset-password' ? field : ''}
<p id="problem" role="alert"></p>
<button id="send"></button>
</form>
<noscript><p>This page needs JavaScript. Этой странице нужен JavaScript.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { html, policy };
}
