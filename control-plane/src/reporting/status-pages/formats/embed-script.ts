import type { PageDocument } from '../view/page-document.ts';
import { wordsOf } from './words.ts';

const bannerWords = (locale: 'en' | 'ru') => {
  const { indicators, openPage, dismiss } = wordsOf(locale);
  const { minor, major, critical, maintenance } = indicators;
  return { minor, major, critical, maintenance, openPage, dismiss };
};

// White texts have a contrast of 4.5 : 1 or more on these.
const style = [
  ':host{all:initial;position:fixed;left:0;right:0;bottom:0;z-index:2147483647}',
  ':host([data-position=top]){bottom:auto;top:0}',
  ':host([hidden]){display:none}',
  'div{display:flex;gap:12px;align-items:center;padding:10px 16px;color:#fff;background:#b45309;font:15px/1.4 system-ui,sans-serif}',
  '.major,.critical{background:#b42318}.maintenance{background:#0369a1}',
  'p{flex:1;margin:0;overflow-wrap:anywhere}a{color:inherit;white-space:nowrap}',
  'button{font:inherit;color:inherit;background:none;border:1px solid;border-radius:6px;padding:2px 10px;cursor:pointer}',
  ':focus-visible{outline:3px solid #fff;outline-offset:2px}',
].join('');

/*
 * A banner in other people's pages. Its limits: theirs may forbid styles in markup, so the style is a constructed sheet; what it is told stands in texts
 * alone, never in markup, and the link leads to where the script came from. A page that allows it with `script-src` must allow its origin with
 * `connect-src` too; without that it stays away. What a reader has dismissed comes back when something else happens. Its text comes a moment after the
 * banner, since programs that read pages aloud tell changes of a region that is there.
 */
const source = `(() => {
  const script = document.currentScript;
  if (!script || !('adoptedStyleSheets' in document)) return;
  const base = script.src.split(/[?#]/)[0].replace(/\\/embed\\.js$/, '');
  const key = 'parallax-banner ' + base;
  const lang = /^ru\\b/i.test(script.dataset.lang || document.documentElement.lang || navigator.language) ? 'ru' : 'en';
  const words = WORDS[lang];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  const host = document.createElement('parallax-status-banner');
  host.hidden = true;
  host.lang = lang;
  if (script.dataset.position === 'top') host.dataset.position = 'top';
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [sheet];
  const make = (name, parent) => parent.appendChild(document.createElement(name));
  const bar = make('div', root);
  const text = make('p', bar);
  text.setAttribute('role', 'status');
  const link = make('a', bar);
  link.href = base;
  link.textContent = words.openPage;
  const button = make('button', bar);
  button.type = 'button';
  button.textContent = '\\u2715';
  button.setAttribute('aria-label', words.dismiss);
  let shown = '';
  const remembered = (value) => {
    try {
      if (value) localStorage.setItem(key, value);
      return localStorage.getItem(key);
    } catch {
      return value;
    }
  };
  let dismissed = remembered();
  button.addEventListener('click', () => {
    dismissed = remembered(shown) || shown;
    host.hidden = true;
  });
  const show = (summary) => {
    const active = summary.scheduled_maintenances.filter((each) => each.status === 'in_progress');
    const events = [...summary.incidents, ...active];
    const indicator = summary.status.indicator;
    const kind = indicator === 'none' ? (summary.incidents.length ? 'minor' : active.length ? 'maintenance' : '') : indicator;
    shown = [kind, ...events.map((each) => each.id)].join(' ');
    const isHidden = !kind || dismissed === shown;
    if (!host.isConnected) {
      if (isHidden) return;
      document.body.append(host);
    }
    host.hidden = isHidden;
    bar.className = kind;
    const names = events.slice(0, 2).map((each) => each.name).join(', ') + (events.length > 2 ? ', +' + (events.length - 2) : '');
    const told = [indicator === 'none' && kind === 'minor' ? '' : words[kind], names].filter(Boolean).join(': ');
    setTimeout(() => {
      if (text.textContent !== told) text.textContent = told;
    }, 50);
  };
  const ask = () => {
    if (document.hidden) return;
    fetch(base + '/api/v2/summary.json', { credentials: 'omit' })
      .then((answer) => (answer.ok ? answer.json().then(show) : undefined))
      .catch(() => undefined);
  };
  const start = () => {
    ask();
    setInterval(ask, 60000);
    document.addEventListener('visibilitychange', ask);
  };
  if (document.body) start();
  else addEventListener('DOMContentLoaded', start);
})();
`;

const text = source
  .replaceAll(/^ +/gm, '')
  .replace('WORDS', () => JSON.stringify({ en: bannerWords('en'), ru: bannerWords('ru') }))
  .replace('STYLE', () => JSON.stringify(style));

/** The banner is the same for all pages: it learns its page from its own address. */
export const scriptDocument: PageDocument = {
  path: '/embed.js',
  contentType: 'text/javascript; charset=utf-8',
  isTranslated: false,
  isShared: true,
  render: () => text,
};
