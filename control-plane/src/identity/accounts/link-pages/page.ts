import { smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { linkPageWords } from './words.ts';
import type { LinkPage } from './words.ts';

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

/** A page that a mailed link opens, the same bytes for everybody. */
export function linkPage(page: LinkPage): Page {
  return smallPage({
    locale: 'en',
    title: linkPageWords[page].en.title,
    parts: [
      '<div role="status">',
      '<h1 id="head"></h1>',
      '<p id="text"></p>',
      '</div>',
      '<form id="form" hidden>',
      ...(page === 'reset-password' ? [field] : []),
      '<p id="problem" role="alert"></p>',
      '<button id="send"></button>',
      '</form>',
      '<noscript><p>This page needs JavaScript. Этой странице нужен JavaScript.</p></noscript>',
    ],
    script: scriptOf(page),
  });
}
