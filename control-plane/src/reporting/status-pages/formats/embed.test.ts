import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import type { Test } from 'tap';
import type { PageView } from '../view/page-view.ts';
import { formatDocuments } from './documents.ts';
import { answerOf, findBrowser, openTab } from './testing/browser.ts';
import type { Answer, Tab } from './testing/browser.ts';
import { textOf } from './testing/render.ts';
import { emptyPageOf, incidentOf, nowMs, pageOf } from './testing/samples.ts';

const pageHost = 'status.example';
const hostile = '</script><img src=x onerror="document.title=\'owned\'">';

/** A page of ours at the root of a host, as its own domain serves it, and pages of another host that hold what it offers. */
function world(state: { view: PageView }, hosts: Readonly<Record<string, Answer>>) {
  return (url: URL): Answer | null =>
    url.hostname === pageHost
      ? answerOf(formatDocuments, state.view, url.pathname)
      : (hosts[url.host + url.pathname] ?? null);
}

const html = (body: string, policy?: string): Answer => ({
  contentType: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><title>Shop</title><body><h1>Shop</h1>${body}</body></html>`,
  ...(policy !== undefined && { headers: { 'content-security-policy': policy } }),
});

async function inBrowser(
  t: Test,
  state: { view: PageView },
  hosts: Readonly<Record<string, Answer>>,
  story: (tab: Tab) => Promise<void>,
): Promise<void> {
  const path = findBrowser();
  if (path === undefined) return void needs(t, 'chromium');
  const tab = await openTab(path, world(state, hosts));
  try {
    await story(tab);
  } finally {
    await tab.close();
  }
}

/** What the banner shows; null while it shows nothing. */
const banner = `(() => {
  const host = document.querySelector('parallax-status-banner');
  return host === null || host.hidden ? null : host.shadowRoot.querySelector('p').textContent;
})()`;
const strict = `default-src 'none'; script-src http://${pageHost}; connect-src http://${pageHost}; require-trusted-types-for 'script'`;
const tag = `<script src="http://${pageHost}/embed.js" async></script>`;

void t.test('the script of the banner is at most 4 kB, and reads nothing as markup or code', async (t) => {
  const text = textOf(formatDocuments, '/embed.js', pageOf());
  t.ok(Buffer.byteLength(text) <= 4_096, `${Buffer.byteLength(text)} bytes`);
  t.notMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setTimeout\(['"`]/);
  t.notMatch(text, /WORDS|STYLE/);
  t.equal(text, textOf(formatDocuments, '/embed.js', emptyPageOf({ locale: 'ru' })), 'it is the same for all pages');
});

void t.test('the banner comes in trouble, under a strict policy, and stays away after it is dismissed', async (t) => {
  const state = { view: emptyPageOf({ indicator: 'none' }) };
  const hosts = {
    'shop.example/': html(tag, strict),
    'shop.example/russian': html(
      `<script src="http://${pageHost}/embed.js" data-lang="ru" data-position="top"></script>`,
      strict,
    ),
  };
  await inBrowser(t, state, hosts, async (tab) => {
    await tab.open('http://shop.example/');
    const settled = `fetch('http://${pageHost}/api/v2/summary.json').then((answer) => answer.json()).then(() => true)`;
    t.equal(await tab.evaluate(settled), true);
    t.equal(await tab.evaluate(`document.querySelector('parallax-status-banner')`), null, 'nothing is wrong');

    state.view = pageOf({ incidents: [incidentOf({ title: hostile })], maintenance: [] });
    await tab.open('http://shop.example/');
    await tab.until(`${banner} === ${JSON.stringify(`Partial System Outage: ${hostile}`)}`);
    t.equal(await tab.evaluate('document.title'), 'Shop');
    const inShadow = `document.querySelector('parallax-status-banner').shadowRoot`;
    t.equal(await tab.evaluate(`${inShadow}.querySelector('p').getAttribute('role')`), 'status');
    t.equal(await tab.evaluate(`${inShadow}.querySelector('a').href`), `http://${pageHost}/`);
    t.equal(
      await tab.evaluate(`getComputedStyle(${inShadow}.querySelector('div')).backgroundColor`),
      'rgb(180, 35, 24)',
    );
    t.equal(await tab.evaluate(`${inShadow}.querySelector('button').getAttribute('aria-label')`), 'Dismiss');

    await tab.evaluate(`${inShadow}.querySelector('button').click()`);
    t.equal(await tab.evaluate(banner), null);
    await tab.open('http://shop.example/');
    t.equal(await tab.evaluate(settled), true);
    t.equal(await tab.evaluate(banner), null, 'it was dismissed');

    state.view = pageOf({ incidents: [incidentOf({ id: 'inc000000009' })] });
    await tab.open('http://shop.example/russian');
    await tab.until(`${banner} === 'Часть систем не работает: Checkout: outage, Maintenance'`);
    t.equal(await tab.evaluate(`getComputedStyle(document.querySelector('parallax-status-banner')).top`), '0px');

    state.view = pageOf({ indicator: 'maintenance', incidents: [] });
    await tab.open('http://shop.example/');
    await tab.until(`${banner} === 'Service Under Maintenance: Maintenance'`);
  });
});

void t.test('sites that a page names may frame its card, and no others', async (t) => {
  const frame = `<iframe src="http://${pageHost}/embed" width="320" height="120"></iframe>`;
  const hosts = { 'shop.example/': html(frame), 'other.example/': html(frame) };
  const view = pageOf({ embedOrigins: ['http://shop.example'], incidents: [incidentOf({ title: hostile })] });
  await inBrowser(t, { view }, hosts, async (tab) => {
    await tab.open('http://shop.example/');
    const [text, ...others] = await tab.frames();
    t.same(others, []);
    t.match(text, 'Partial System Outage');
    t.ok(text?.includes(hostile), 'a title is a text');
    await tab.open('http://other.example/');
    t.notOk((await tab.frames()).some((each) => each.includes('Partial System Outage')));
  });
});

void t.test('the policy of a card names origins and nothing else that somebody wrote', async (t) => {
  const card = formatDocuments.find(({ path }) => path === '/embed');
  const policyOf = (embedOrigins: string[]) => {
    const policy = card?.policy;
    return typeof policy === 'function' ? policy(pageOf({ embedOrigins })) : policy;
  };
  t.match(policyOf([]), /frame-ancestors 'none'$/);
  t.match(
    policyOf(['https://a.example', 'https://*.b.example:8443']),
    /frame-ancestors https:\/\/a.example https:\/\/\*.b.example:8443$/,
  );
  t.match(
    policyOf([
      "https://a.example; script-src 'unsafe-inline'",
      'javascript:alert(1)',
      '*',
      'https://a.example\r\nx: y',
      "'self'",
    ]),
    /frame-ancestors 'none'$/,
  );
});

void t.test('a card speaks the language that is asked for, in the colours of its page', async (t) => {
  const view = pageOf({
    indicator: 'none',
    incidents: [],
    maintenance: [],
    theme: {
      scheme: 'dark',
      light: {},
      dark: { surface: '#102030', text: 'red}*{display:none' },
      font: 'mono',
      radius: 4,
    },
  });
  const card = formatDocuments.find(({ path }) => path === '/embed');
  const text = card?.render(view, { locale: 'ru', nowMs, id: '' });
  t.match(text, 'Все системы работают');
  t.match(text, '<html lang="ru">');
  t.match(text, '--surface:#102030;--text:#e8edf3');
  t.notMatch(text, 'display:none');
  t.notMatch(text, '<ul>');
});

void t.test('the widget that Statuspage publishes shows a page of ours unchanged', async (t) => {
  const folder = dirname(createRequire(import.meta.url).resolve('@statuspage/status-widget/package.json'));
  const script = { contentType: 'text/javascript', body: readFileSync(join(folder, 'dist/index.js'), 'utf8') };
  const widget = `<script src="/widget.js"></script><statuspage-widget src="http://${pageHost}"></statuspage-widget>`;
  const hosts = { 'shop.example/': html(widget), 'shop.example/widget.js': script };
  const state = { view: pageOf() };
  await inBrowser(t, state, hosts, async (tab) => {
    const shown = `document.querySelector('statuspage-widget').shadowRoot?.querySelector('.status-text')?.textContent`;
    for (const [indicator, text] of [
      ['major', 'Partial System Outage'],
      ['unknown', 'No data'],
    ] as const) {
      state.view = pageOf({ indicator });
      await tab.open('http://shop.example/');
      await tab.until(`${shown} === ${JSON.stringify(text)}`);
      const mark = `document.querySelector('statuspage-widget').shadowRoot.querySelector('.status-indicator').className`;
      t.match(await tab.evaluate(mark), indicator === 'unknown' ? 'none' : indicator);
    }
  });
});
