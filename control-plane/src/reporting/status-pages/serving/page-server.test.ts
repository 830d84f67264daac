import t from 'tap';
import type { PageDocument } from '../view/page-document.ts';
import { DocumentTable } from './document-table.ts';
import { PageServer } from './page-server.ts';
import { stageOfPages } from './testing.ts';

const documents: readonly PageDocument[] = [
  {
    path: '',
    contentType: 'text/html; charset=utf-8',
    isTranslated: true,
    isShared: false,
    policy: "default-src 'none'; frame-ancestors 'none'",
    render: ({ name }, { locale }) => `${locale} ${name}`,
  },
  {
    path: '/embed',
    contentType: 'text/html; charset=utf-8',
    isTranslated: false,
    isShared: false,
    policy: ({ slug }) => `frame-ancestors https://${slug}.example`,
    render: ({ name }) => name,
  },
  {
    path: '/incidents/:id',
    contentType: 'text/html; charset=utf-8',
    isTranslated: true,
    isShared: false,
    render: (_view, { id }) => (id === 'aaaaaaaaaaaa' ? 'incident' : null),
  },
  {
    path: '/api/v2/status.json',
    contentType: 'application/json; charset=utf-8',
    isTranslated: false,
    isShared: true,
    render: ({ name }) => JSON.stringify({ name }),
  },
];

function stage() {
  const pages = stageOfPages();
  const table = new DocumentTable([{ prefix: '/status/', documents }]);
  const server = new PageServer(pages.cache, table, () => pages.clock.ms);
  const fetched = async (path: string, query = '', acceptLanguage?: string) => {
    const { status, headers, body } = await server.fetch({ path, query, acceptLanguage });
    return { status, headers, text: body('identity').toString() };
  };
  return { ...pages, server, fetched };
}

t.test('a document is made once for each language, and again when the page is read anew', async (t) => {
  const { publish, server, fetched, state, clock, cache } = stage();
  publish('shop');
  const asked = { path: '/status/shop', query: '', acceptLanguage: 'ru-RU, en;q=0.5' };
  t.equal(server.find(asked), undefined, 'nothing is there yet');
  t.equal((await fetched('/status/shop')).text, 'en Shop');
  t.equal(server.find(asked)?.body('identity').toString(), 'ru Shop');
  t.equal(server.find(asked), server.find(asked));
  t.equal((await fetched('/status/shop', 'lang=ru')).text, 'ru Shop');
  t.equal((await fetched('/status/shop', 'lang=xx', 'de, ru;q=0.1, en;q=0')).text, 'ru Shop');
  t.equal((await fetched('/status/shop', 'utm=1', 'de')).text, 'en Shop');
  state.name = 'Shop 2';
  clock.ms += 5_000;
  cache.markChanged(new Set([1]));
  await cache.settle();
  t.equal(server.find(asked)?.body('identity').toString(), 'ru Shop 2');
});

t.test('headers say who may keep, read and frame a document', async (t) => {
  const { publish, fetched } = stage();
  publish('shop');
  const page = await fetched('/status/shop');
  t.match(page.headers, {
    'cache-control': 'public, max-age=15, stale-while-revalidate=60, stale-if-error=86400',
    vary: 'Accept-Encoding, Accept-Language',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  t.notOk('x-frame-options' in page.headers, 'the common one stays');
  t.notOk('access-control-allow-origin' in page.headers);
  const embed = await fetched('/status/shop/embed');
  t.equal(embed.headers['x-frame-options'], null);
  t.equal(embed.headers['content-security-policy'], 'frame-ancestors https://shop.example');
  const json = await fetched('/status/shop/api/v2/status.json');
  t.match(json.headers, { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' });
});

t.test('what is not there is said in the form of what was asked for, and a former slug leads on', async (t) => {
  const { publish, fetched } = stage();
  publish('shop');
  publish('old', { slug: 'shop' });
  t.equal((await fetched('/status/shop/incidents/aaaaaaaaaaaa')).text, 'incident');
  for (const path of [
    '/status/shop/incidents/bbbbbbbbbbbb',
    '/status/none',
    '/status/shop/other',
    '/status/-',
    '/status/',
  ]) {
    const { status, headers, text } = await fetched(path, '', 'ru');
    t.equal(status, 404, path);
    t.match(headers['content-type'], 'text/html');
    t.match(text, /<html lang="ru">/);
  }
  const json = await fetched('/status/none/api/v2/status.json');
  t.equal(json.status, 404);
  t.equal(json.headers['access-control-allow-origin'], '*');
  t.equal((JSON.parse(json.text) as { code: string }).code, 'not_found');
  const moved = await fetched('/status/old/incidents/aaaaaaaaaaaa', 'lang=ru');
  t.equal(moved.status, 301);
  t.equal(moved.headers['location'], '/status/shop/incidents/aaaaaaaaaaaa?lang=ru');
});

t.test('hostile paths name nothing', async (t) => {
  const { publish, fetched } = stage();
  publish('shop');
  for (const path of [
    '/status/../shop',
    '/status/shop/../x',
    '/status/SHOP',
    '/status/%2e',
    `/status/${'a'.repeat(64)}`,
    '/status//',
  ]) {
    t.equal((await fetched(path)).status, 404, path);
  }
  const redirect = await fetched('/status/shop', 'lang=ru%0d%0aset-cookie:x', 'x'.repeat(10_000));
  t.equal(redirect.status, 200);
});

t.test('a page that was read is known, also when it must be read anew; what is made up is not', async (t) => {
  const { publish, server, fetched, clock } = stage();
  publish('shop');
  const asked = (slug: string) => ({ path: `/status/${slug}`, query: '', acceptLanguage: undefined });
  t.notOk(server.isKnown(asked('shop')));
  await fetched('/status/shop');
  t.ok(server.isKnown(asked('shop')));
  clock.ms += 3_600_000;
  t.equal(server.find(asked('shop')), undefined, 'it is too old to be shown');
  t.ok(server.isKnown(asked('shop')));
  await fetched('/status/made-up');
  t.notOk(server.isKnown(asked('made-up')));
  t.notOk(server.isKnown({ path: '/other', query: '', acceptLanguage: undefined }));
});

t.test('documents of one path below two prefixes are not taken for each other', async (t) => {
  const { publish, cache, clock } = stageOfPages();
  publish('shop');
  const document = { contentType: 'text/plain', isTranslated: false, isShared: true, path: '' };
  const table = new DocumentTable([
    { prefix: '/status/', documents: [{ ...document, render: () => 'page' }] },
    { prefix: '/api/v1/public/status/', documents: [{ ...document, render: () => 'api' }] },
  ]);
  const server = new PageServer(cache, table, () => clock.ms);
  const read = async (path: string) =>
    (await server.fetch({ path, query: '', acceptLanguage: undefined })).body('identity').toString();
  t.equal(await read('/status/shop'), 'page');
  t.equal(await read('/api/v1/public/status/shop'), 'api');
  t.equal(await read('/status/shop'), 'page');
});
