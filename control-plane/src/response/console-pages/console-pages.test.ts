import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { testApi } from '../../identity/testing.ts';
import { connectedPage } from './connected-page.ts';
import { consolePagesCapability } from './index.ts';
import { connectedWords, thingWords } from './words.ts';

const script = /<script>(.*)<\/script>/s.exec(connectedPage.html)?.[1] ?? '';

type Part = { textContent: string; className: string; hidden: boolean };

/** Runs the page's script over parts that take text only, as a browser in a language would. */
function shown(hash: string, language = 'en-GB') {
  const parts = new Map<string, Part>();
  const replaced: unknown[] = [];
  const part = (id: string): Part => {
    const known = parts.get(id) ?? { textContent: '', className: '', hidden: id === 'next' };
    parts.set(id, known);
    return known;
  };
  runInNewContext(script, {
    location: { hash, pathname: '/alerts' },
    history: { replaceState: (...given: unknown[]) => replaced.push(given) },
    navigator: { language },
    document: { getElementById: part, documentElement: { lang: '' }, title: '' },
    URLSearchParams,
  });
  return { part, replaced };
}

void t.test('how the connection of a room ended is told in English and Russian, with what to do next', async (t) => {
  for (const [language, words] of [
    ['en-GB', connectedWords.en],
    ['ru-RU', connectedWords.ru],
    ['de', connectedWords.en],
  ] as const) {
    const page = shown('#team_chat=connected&destination=acme_alerts-2', language);
    t.equal(page.part('head').textContent, words.connected[0]);
    t.equal(page.part('next').hidden, false);
    t.equal(page.part('target').textContent, '{ "channel": "team-chat", "target": "acme_alerts-2" }');
    t.same(page.replaced, [[null, '', '/alerts']], 'the result leaves the address');
    t.equal(shown('', language).part('head').textContent, words.empty[0]);
    for (const [error, text] of Object.entries(words.errors)) {
      const failed = shown(`#team_chat_error=${error}`, language);
      t.match(failed.part('head'), { textContent: words.failed, className: 'bad' });
      t.equal(failed.part('text').textContent, text);
      t.equal(failed.part('next').hidden, true);
    }
  }
  t.same(Object.keys(connectedWords.ru.errors), Object.keys(connectedWords.en.errors));
});

void t.test('nothing that somebody wrote into the address is shown', async (t) => {
  for (const text of ['<img src=x onerror=alert(1)>', '__proto__', 'constructor', '', 'Call +1 555 0100']) {
    const failed = shown(`#team_chat_error=${encodeURIComponent(text)}`);
    t.equal(failed.part('text').textContent, connectedWords.en.unknown, text);
    if (/^[a-z0-9_-]+$/.test(text)) continue;
    const connected = shown(`#team_chat=connected&destination=${encodeURIComponent(text)}`);
    t.equal(connected.part('head').textContent, connectedWords.en.empty[0], text);
    t.equal(connected.part('target').textContent, '', text);
  }
  t.notMatch(script, /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|location\.(href|assign)/);
});

void t.test('what messages lead to is a page in the language that is asked for', async (t) => {
  const api = await testApi(t, { capabilities: [consolePagesCapability] });
  for (const [thing, id] of [
    ['incident', 17],
    ['monitor', 4],
    ['probe', 2],
  ] as const) {
    const english = await api.call('GET', `/${thing}s/${id}`);
    t.equal(english.status, 200);
    t.equal(english.headers.get('content-type'), 'text/html; charset=utf-8');
    t.match(english.text, `<h1>${thingWords.en.titles[thing](id)}</h1>`);
    t.match(english.text, 'authorization: Bearer', 'what all of them take');
    t.match(english.text, `/api/v1/${thing}s/${id}</code>`);
    const russian = await api.call('GET', `/${thing}s/${id}`, { headers: { 'accept-language': 'ru' } });
    t.match(russian.text, thingWords.ru.titles[thing](id));
    t.match(russian.text, '<html lang="ru">');
  }
  t.equal((await api.call('GET', '/incidents/%3Cb%3E')).status, 422);
});

void t.test('the policy lets run what stands in the page and nothing else', async (t) => {
  const api = await testApi(t, { capabilities: [consolePagesCapability] });
  const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const style = (html: string) => /<style>(.*)<\/style>/s.exec(html)?.[1];
  const alerts = await api.call('GET', '/alerts?error=%3Cscript%3E');
  t.equal(alerts.text, connectedPage.html, 'the same bytes for everybody');
  t.equal(
    alerts.headers.get('content-security-policy'),
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style(alerts.text))}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  const incident = await api.call('GET', '/incidents/1');
  t.equal(
    incident.headers.get('content-security-policy'),
    `default-src 'none'; style-src ${hash(style(incident.text))}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
  t.equal(incident.headers.get('referrer-policy'), 'no-referrer');
});
