import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { testApi } from '../../testing.ts';
import { completePage } from './page.ts';
import { pageWords } from './words.ts';

const script = /<script>(.*)<\/script>/s.exec(completePage.html)?.[1] ?? '';

type Part = { textContent: string; className: string; hidden: boolean; disabled: boolean; value: string };

/** Runs the page's script over parts that take text only, as a browser in a language would. */
function shown(hash: string, language = 'en-GB') {
  const parts = new Map<string, Part & Record<string, unknown>>();
  const listeners: ((event: unknown) => Promise<void>)[] = [];
  const calls: { url: string; body: unknown }[] = [];
  const replaced: unknown[] = [];
  let answer: { ok: boolean; status: number; json: () => Promise<unknown> } = {
    ok: true,
    status: 200,
    json: async () => ({}),
  };
  const part = (id: string) => {
    const known = parts.get(id) ?? {
      textContent: '',
      className: '',
      hidden: id === 'second',
      disabled: false,
      value: '',
      focus: () => undefined,
      addEventListener: (_kind: string, listener: (event: unknown) => Promise<void>) => listeners.push(listener),
    };
    parts.set(id, known);
    return known;
  };
  const document = { getElementById: part, documentElement: { lang: '' }, title: '' };
  runInNewContext(script, {
    location: { hash, pathname: '/auth/complete' },
    history: { replaceState: (...given: unknown[]) => replaced.push(given) },
    navigator: { language },
    document,
    URLSearchParams,
    fetch: async (url: string, { body }: { body: string }) => {
      calls.push({ url, body: JSON.parse(body) });
      return answer;
    },
  });
  return {
    part,
    document,
    calls,
    replaced,
    enter: async (code: string, given: { status: number; code?: string }) => {
      answer = { ok: given.status === 200, status: given.status, json: async () => ({ code: given.code }) };
      part('code').value = code;
      for (const listener of listeners) await listener({ preventDefault: () => undefined });
    },
  };
}

void t.test('each result is told in words, in English and Russian, and leaves the address', async (t) => {
  for (const [language, words] of [
    ['en-GB', pageWords.en],
    ['ru-RU', pageWords.ru],
    ['de', pageWords.en],
  ] as const) {
    const page = shown('#access_token=x&refresh_token=y', language);
    t.equal(page.part('head').textContent, words.signedIn[0]);
    t.equal(page.document.title, words.title);
    t.equal(page.replaced.length, 1, 'no history keeps a token');
    t.equal(shown('#linked=identity_provider_a', language).part('head').textContent, words.linked[0]);
    t.equal(shown('', language).part('head').textContent, words.empty[0]);
    for (const [error, text] of Object.entries(words.errors)) {
      t.match(shown(`#error=${error}`, language).part('head'), { textContent: words.failed, className: 'bad' });
      t.equal(shown(`#error=${error}`, language).part('text').textContent, text);
    }
  }
  t.same(Object.keys(pageWords.ru.errors), Object.keys(pageWords.en.errors));
});

void t.test('nothing of the address is shown', async (t) => {
  for (const error of ['<img src=x onerror=alert(1)>', '__proto__', 'constructor', 'toString', '']) {
    const page = shown(`#error=${encodeURIComponent(error)}&error_description=%3Cb%3E`);
    t.equal(page.part('text').textContent, pageWords.en.unknown, error);
  }
  t.notMatch(
    script,
    /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|location\.(href|assign|replace)/,
  );
});

void t.test('a second factor is asked for and sent to this very origin', async (t) => {
  const page = shown('#mfa_token=abc&factors=totp');
  t.equal(page.part('second').hidden, false);
  await page.enter(' 123 456 ', { status: 401, code: 'invalid_second_factor' });
  t.equal(page.part('problem').textContent, pageWords.en.wrongCode);
  await page.enter('1a2b-3c4d-5e6f-7g8h', { status: 429 });
  t.equal(page.part('problem').textContent, pageWords.en.tooManyCodes);
  await page.enter('123456', { status: 503 });
  t.equal(page.part('problem').textContent, pageWords.en.unavailable);
  await page.enter('123456', { status: 200 });
  t.equal(page.part('head').textContent, pageWords.en.signedIn[0]);
  t.equal(page.part('second').hidden, true);
  t.same(page.calls[0], { url: '../api/v1/auth/mfa/verify', body: { mfa_token: 'abc', totp_code: '123 456' } });
  t.same(page.calls[1]?.body, { mfa_token: 'abc', recovery_code: '1a2b-3c4d-5e6f-7g8h' });
  const late = shown('#mfa_token=abc');
  await late.enter('123456', { status: 401, code: 'invalid_credentials' });
  t.equal(late.part('text').textContent, pageWords.en.errors.invalid_state);
});

void t.test('the policy lets run what stands in the page and nothing else', async (t) => {
  const api = await testApi(t);
  const answer = await api.call('GET', '/auth/complete?error=%3Cscript%3E');
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(answer.text, completePage.html, 'the same bytes for everybody');
  const policy = answer.headers.get('content-security-policy') ?? '';
  const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const style = /<style>(.*)<\/style>/s.exec(answer.text)?.[1];
  t.equal(
    policy,
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  t.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  t.equal(answer.headers.get('cache-control'), 'no-store');
});
