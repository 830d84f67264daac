import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { linkTo } from '../../mails/index.ts';
import { testApi } from '../../testing.ts';
import type { TestApi } from '../../testing.ts';
import { takeMails, tokenIn } from '../testing.ts';

type Part = { textContent: string; hidden: boolean; disabled: boolean; value: string };

/** Runs the script of a page as a browser would; the page talks to the API itself. */
async function open(api: TestApi, page: 'reset-password' | 'confirm-email', hash: string, language = 'en') {
  const served = await fetch(`${api.url}/auth/${page}`);
  const html = await served.text();
  const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? '';
  const parts = new Map<string, Part>();
  let submit: ((event: unknown) => Promise<void>) | undefined;
  for (const [, id = ''] of html.matchAll(/ id="([a-z]+)"/g)) {
    const part = { textContent: '', hidden: false, disabled: false, value: '' };
    const listens = { addEventListener: (_: string, listener: typeof submit) => (submit = listener) };
    parts.set(id, Object.assign(part, listens));
  }
  const places: string[] = [];
  runInNewContext(script, {
    URLSearchParams,
    location: { hash, pathname: `/auth/${page}` },
    history: { replaceState: (_state: unknown, _title: string, place: string) => places.push(place) },
    navigator: { language },
    document: { documentElement: {}, getElementById: (id: string) => parts.get(id) ?? null },
    fetch: (place: string, options: RequestInit) => fetch(new URL(place, `${api.url}/auth/${page}`), options),
  });
  const text = (id: string) => parts.get(id)?.textContent ?? 'none';
  return {
    served,
    html,
    script,
    places,
    text,
    isAsking: () => parts.get('form')?.hidden === false,
    press: async (password = '') => {
      const field = parts.get('password');
      if (field !== undefined) field.value = password;
      await submit?.({ preventDefault: () => undefined });
    },
  };
}

t.test('a mailed link opens a page that chooses a new password, when the button is pressed', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  await api.call('POST', '/api/v1/auth/forgot-password', { body: { email: ada.email } });
  const [mail] = await takeMails(api);
  const link = linkTo('https://monitor.example/base/', 'reset-password', tokenIn(mail));
  t.equal(new URL(link).pathname, '/base/auth/reset-password');
  const page = await open(api, 'reset-password', new URL(link).hash);
  t.equal(page.served.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(page.served.headers.get('referrer-policy'), 'no-referrer');
  const policy = page.served.headers.get('content-security-policy') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest('base64');
  t.match(policy, `script-src 'sha256-${digest(page.script)}'`);
  t.match(policy, `style-src 'sha256-${digest(/<style>([\s\S]*)<\/style>/.exec(page.html)?.[1] ?? '')}'`);
  t.match(policy, "default-src 'none'");
  t.same(page.places, ['/auth/reset-password'], 'the token leaves the address');
  t.equal(page.text('head'), 'Choose a new password');
  t.ok(page.isAsking());
  await page.press('password');
  t.match(page.text('problem'), /too common/);
  await page.press('another long phrase 8');
  t.equal(page.text('head'), 'The password was changed');
  t.notOk(page.isAsking());
  const login = { email: ada.email, password: 'another long phrase 8' };
  t.equal((await api.call('POST', '/api/v1/auth/login', { body: login })).status, 200);
  const again = await open(api, 'reset-password', new URL(link).hash, 'ru-RU');
  await again.press('yet another phrase 9');
  t.equal(again.text('head'), 'Ссылка больше не действует');
});

t.test('the page of an address confirms it, and shows nothing of what it was called with', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const [mail] = await takeMails(api);
  const page = await open(api, 'confirm-email', `#token=${tokenIn(mail)}`);
  t.equal(page.text('password'), 'none');
  const me = async () => (await api.call('GET', '/api/v1/auth/me', { token: ada.accessToken })).body;
  t.match(await me(), { email_verified: false }, 'opening it changes nothing');
  await page.press();
  t.equal(page.text('head'), 'The address is confirmed');
  t.match(await me(), { email_verified: true });
  for (const hash of ['', '#', '#token', '#error=<img src=x onerror=alert(1)>']) {
    const empty = await open(api, 'confirm-email', hash);
    if (hash !== '#token') t.notOk(empty.isAsking(), hash);
    t.notMatch(`${empty.text('head')} ${empty.text('text')}`, '<', hash);
  }
});
