import { smallPage } from '../../../platform/http/page.ts';
import { pageWords } from './words.ts';

// Reads the result from the hash and takes it out of the address, so that no history keeps a token. Texts are set as text, never as markup.
const script = `
(() => {
  'use strict';
  const result = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, '', location.pathname);
  const language = (navigator.language || 'en').toLowerCase().startsWith('ru') ? 'ru' : 'en';
  const words = ${JSON.stringify(pageWords)}[language];
  const part = (id) => document.getElementById(id);
  const show = (head, text, isBad) => {
    part('head').textContent = head;
    part('head').className = isBad ? 'bad' : '';
    part('text').textContent = text;
    part('second').hidden = true;
  };
  const done = () => show(words.signedIn[0], words.signedIn[1], false);
  document.documentElement.lang = language;
  document.title = words.title;
  const error = result.get('error');
  const mfaToken = result.get('mfa_token');
  if (error !== null) show(words.failed, Object.hasOwn(words.errors, error) ? words.errors[error] : words.unknown, true);
  else if (result.has('linked')) show(words.linked[0], words.linked[1], false);
  else if (result.has('access_token')) done();
  else if (mfaToken === null) show(words.empty[0], words.empty[1], false);
  else {
    show(words.secondFactor[0], words.secondFactor[1], false);
    part('label').textContent = words.code;
    part('send').textContent = words.send;
    part('second').hidden = false;
    part('code').focus();
    part('second').addEventListener('submit', async (event) => {
      event.preventDefault();
      const code = part('code').value.trim();
      const isTotp = /^[0-9 ]{6,8}$/.test(code);
      const body = { mfa_token: mfaToken, [isTotp ? 'totp_code' : 'recovery_code']: code };
      part('send').disabled = true;
      part('problem').textContent = '';
      try {
        const answer = await fetch('../api/v1/auth/mfa/verify', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        if (answer.ok) return done();
        const problem = await answer.json();
        if (problem.code === 'invalid_credentials') return show(words.failed, words.errors.invalid_state, true);
        part('problem').textContent =
          answer.status === 429 ? words.tooManyCodes : answer.status >= 500 ? words.unavailable : words.wrongCode;
      } catch {
        part('problem').textContent = words.unavailable;
      } finally {
        part('send').disabled = false;
      }
    });
  }
})();
`;

/** The page on which a sign-in at a provider ends: the same bytes for everybody, the result is read from the hash by its script. */
export const completePage = smallPage({
  locale: 'en',
  title: pageWords.en.title,
  parts: [
    '<div role="status">',
    '<h1 id="head"></h1>',
    '<p id="text"></p>',
    '</div>',
    '<form id="second" hidden>',
    '<label id="label" for="code"></label>',
    '<input id="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="30" required>',
    '<p id="problem" role="alert"></p>',
    '<button id="send"></button>',
    '</form>',
    '<noscript><p>This page needs JavaScript to read how the sign-in ended. Этой странице нужен JavaScript, чтобы прочитать, чем закончился вход.</p></noscript>',
  ],
  script,
});
