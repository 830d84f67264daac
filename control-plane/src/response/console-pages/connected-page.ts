import { smallPage } from '../../platform/http/page.ts';
import { connectedWords } from './words.ts';

// Reads the result from the fragment and takes it out of the address. Of what stands there only the key of a destination is shown, when it has the form
// of one, and as text.
const script = `
(() => {
  'use strict';
  const result = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, '', location.pathname);
  const language = (navigator.language || 'en').toLowerCase().startsWith('ru') ? 'ru' : 'en';
  const words = ${JSON.stringify(connectedWords)}[language];
  const part = (id) => document.getElementById(id);
  const show = ([head, text], isBad) => {
    part('head').textContent = head;
    part('head').className = isBad ? 'bad' : '';
    part('text').textContent = text;
  };
  document.documentElement.lang = language;
  document.title = words.title;
  const error = result.get('team_chat_error');
  const key = result.get('destination') || '';
  if (error !== null) show([words.failed, Object.hasOwn(words.errors, error) ? words.errors[error] : words.unknown], true);
  else if (result.get('team_chat') !== 'connected' || !/^[a-z0-9_-]{1,50}$/.test(key)) show(words.empty, false);
  else {
    show(words.connected, false);
    part('target').textContent = '{ "channel": "team-chat", "target": "' + key + '" }';
    part('next').hidden = false;
    part('next-text').textContent = words.next;
  }
})();
`;

/** `/alerts`, on which the connection of a room of the team chat ends: the same bytes for everybody. */
export const connectedPage = smallPage({
  locale: 'en',
  title: connectedWords.en.title,
  parts: [
    '<div role="status">',
    '<h1 id="head"></h1>',
    '<p id="text"></p>',
    '</div>',
    '<div id="next" hidden>',
    '<p class="hint" id="next-text"></p>',
    '<p><code id="target"></code></p>',
    '</div>',
    '<noscript><p>This page needs JavaScript to read how it ended. Этой странице нужен JavaScript, чтобы прочитать, чем всё закончилось.</p></noscript>',
  ],
  script,
});
