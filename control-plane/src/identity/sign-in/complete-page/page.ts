import { createHash } from 'node:crypto';
import { pageWords } from './words.ts';

const style = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #5a6878; --line: #d5dce4; --back: #f4f6f9; --card: #fff; --mark: #0369a1; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf3; --soft: #9fb0c2; --line: #2c3a4a; --back: #0f1720; --card: #17222e; --mark: #7dd3fc; --bad: #ff9d92; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 440px; padding: 32px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.name { display: flex; align-items: center; gap: 10px; margin: 0 0 24px; color: var(--soft); font-weight: 600; }
.name svg { width: 28px; height: 28px; }
h1 { margin: 0 0 8px; font-size: 22px; line-height: 1.3; overflow-wrap: break-word; }
h1.bad { color: var(--bad); }
p { margin: 0; }
form { margin-top: 20px; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input, button { width: 100%; padding: 10px 12px; border-radius: 8px; font: inherit; }
input { border: 1px solid var(--soft); background: transparent; color: inherit; letter-spacing: 0.06em; }
button { margin-top: 12px; border: 0; background: var(--mark); color: var(--card); font-weight: 600; cursor: pointer; }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
#problem { margin-top: 12px; color: var(--bad); }
[hidden] { display: none; }
`;

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

const { title } = pageWords.en;

/** The page on which a sign-in at a provider ends: the same bytes for everybody, the result is read from the hash by its script. */
export const completePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="name"><svg viewBox="0 0 36 36" aria-hidden="true"><path d="M4 31 18 6l14 25" fill="none" stroke="currentColor" stroke-width="3" stroke-linejoin="round"/><circle cx="18" cy="7" r="4" fill="currentColor"/></svg>Parallax</p>
<div role="status">
<h1 id="head"></h1>
<p id="text"></p>
</div>
<form id="second" hidden>
<label id="label" for="code"></label>
<input id="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="30" required>
<p id="problem" role="alert"></p>
<button id="send"></button>
</form>
<noscript><p>This page needs JavaScript to read how the sign-in ended. Этой странице нужен JavaScript, чтобы прочитать, чем закончился вход.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`;

const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Lets run and apply exactly what stands in the page, and lets it talk to its own origin only. */
export const completePagePolicy = [
  "default-src 'none'",
  `script-src ${hashSource(script)}`,
  `style-src ${hashSource(style)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
