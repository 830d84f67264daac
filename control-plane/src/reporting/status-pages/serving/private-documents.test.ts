import t from 'tap';
import { accessFor, basic, clientWith, verifyPlain } from '../access/testing.ts';
import { PageGuard } from '../access/page-guard.ts';
import { documentBases } from '../documents.ts';
import { DocumentTable } from './document-table.ts';
import { PageServer } from './page-server.ts';
import { stageOfPages } from './testing.ts';

const password = 'correct horse';
const secretName = 'Secret Shop';

function stage() {
  const pages = stageOfPages();
  pages.state.name = secretName;
  const now = () => pages.clock.ms;
  const guard = new PageGuard({ now, verify: verifyPlain });
  const server = new PageServer(pages.cache, new DocumentTable(documentBases), now, { guard });
  return { ...pages, guard, server };
}

/** Every document of the table, so that a new one cannot be forgotten. */
const documents = documentBases.flatMap(({ prefix, documents: all }) =>
  all.map((document) => ({
    document,
    path: `${prefix}shop${document.path.replace(':id', 'a'.repeat(document.file === undefined ? 12 : 32))}`,
    place: `${prefix}:slug${document.path}`,
  })),
);

t.test('the table has the documents that are known, and each says how it is refused', async (t) => {
  t.same(
    documents.filter(({ document }) => document.isForPeople).map(({ place }) => place),
    ['/status/:slug', '/status/:slug/history', '/status/:slug/subscribe', '/status/:slug/incidents/:id'],
    'people are shown a form; all else is for programs or stands in other pages',
  );
  t.ok(documents.length >= 20, String(documents.length));
});

t.test('nobody reads any document of a private page without one of its ways', async (t) => {
  const { server, publish } = stage();
  publish('shop', { access: accessFor({ passwordHash: password, addresses: ['192.0.2.0/24'] }) });
  for (const { document, path, place } of documents) {
    const asked = { path, query: '', acceptLanguage: 'en' };
    for (const client of [
      undefined,
      clientWith(),
      clientWith({ cookie: 'status_access=x.y' }),
      clientWith({ authorization: 'Bearer x' }),
    ]) {
      const made = await server.fetch({ ...asked, client });
      const text = made.body('identity').toString();
      t.equal(made.status, 401, place);
      t.equal(made.headers['cache-control'], 'no-store', place);
      t.match(made.headers['x-robots-tag'], 'noindex', place);
      t.notOk('access-control-allow-origin' in made.headers, place);
      t.notOk('cross-origin-resource-policy' in made.headers, place);
      t.ok(made.headers['www-authenticate'], place);
      t.notMatch(text, secretName, place);
      if (document.isForPeople === true) {
        t.match(text, '<form method="post" action="/status/shop/unlock">');
        t.notMatch(String(made.headers['www-authenticate']), 'Basic', 'no window of the browser in place of the form');
      } else {
        t.equal(made.headers['content-type'], 'application/problem+json', place);
        t.equal((JSON.parse(text) as { code: string }).code, 'password_required', place);
      }
      // Once it is in memory it is answered from there, or by its route.
      const found = server.find({ ...asked, client });
      t.equal(found?.status, document.contract === undefined ? 401 : undefined, place);
    }
  }
});

t.test('by each way all of it can be read, and nothing of it is kept or shared', async (t) => {
  const { server, publish } = stage();
  publish('shop', { access: accessFor({ passwordHash: password, addresses: ['192.0.2.0/24'] }) });
  const unlocked = await server.unlock(
    { path: '/status/shop/unlock', query: '', acceptLanguage: 'en', client: clientWith() },
    Buffer.from(new URLSearchParams({ password }).toString()),
  );
  t.equal(unlocked.status, 303);
  const cookie = String(unlocked.headers['set-cookie']).split(';')[0] ?? '';
  for (const { document, path, place } of documents) {
    for (const client of [
      clientWith({ cookie }),
      clientWith({ 'x-status-password': password }),
      clientWith({ authorization: basic(password) }),
      clientWith({}, '192.0.2.9'),
    ]) {
      const asked = { path, query: '', acceptLanguage: 'en', client };
      const made = await server.fetch(asked);
      // The page of the test has no component and no incident that such an id could name.
      const expected = document.path.includes(':id') ? 404 : 200;
      t.equal(made.status, expected, place);
      t.equal(made.headers['cache-control'], 'no-store', place);
      t.match(made.headers['x-robots-tag'], 'noindex', place);
      t.notOk('access-control-allow-origin' in made.headers, place);
      t.notOk('cross-origin-resource-policy' in made.headers, place);
      if (expected === 200) t.equal(server.find(asked)?.status, 200, `${place} without waiting`);
    }
  }
});

t.test('a page that becomes private is so for the next who asks, and what it was is gone from memory', async (t) => {
  const { server, publish, cache } = stage();
  publish('shop', { pageId: 1 });
  const asked = {
    path: '/status/shop/api/v2/summary.json',
    query: '',
    acceptLanguage: undefined,
    client: clientWith(),
  };
  t.equal((await server.fetch(asked)).status, 200);
  t.equal(server.find(asked)?.headers['access-control-allow-origin'], '*');
  publish('shop', { pageId: 1, accessVersion: 2, access: accessFor({ version: 2, passwordHash: password }) });
  cache.forget(1);
  t.equal(server.find(asked), undefined, 'nothing is answered from what was read before');
  t.equal((await server.fetch(asked)).status, 401);
});

t.test('a page that becomes private while it is read is read again, be it for the first time or not', async (t) => {
  const { server, publish, cache, state, clock, kept } = stage();
  const hold = () => {
    let go: () => void = () => undefined;
    state.hold = new Promise((resolve) => {
      go = resolve;
    });
    return go;
  };
  const turn = (version: number, isPrivate: boolean) => {
    const access = isPrivate ? accessFor({ version, passwordHash: password }) : null;
    publish('shop', { pageId: 1, accessVersion: version, access });
  };
  const asked = { path: '/status/shop', query: '', acceptLanguage: undefined, client: clientWith() };
  for (const [version, isFirst] of [
    [1, true],
    [3, false],
  ] as const) {
    turn(version, false);
    cache.forget(1);
    if (!isFirst) {
      t.equal((await server.fetch(asked)).status, 200);
      clock.ms += 3_600_000;
    }
    const go = hold();
    const first = server.fetch(asked);
    await new Promise((resolve) => setImmediate(resolve));
    turn(version + 1, true);
    cache.forget(1);
    go();
    t.equal((await first).status, 401);
    t.equal(kept.get('shop')?.found.accessVersion, version + 1, 'what was read before the change is not kept either');
    t.equal((await server.fetch(asked)).status, 401);
  }
});

t.test('a page that becomes private while the database goes away is not shown as it was', async (t) => {
  const { server, publish, cache, state, kept, missing } = stage();
  publish('shop', { pageId: 1 });
  const asked = { path: '/status/shop', query: '', acceptLanguage: undefined, client: clientWith() };
  t.equal((await server.fetch(asked)).status, 200);
  state.isAway = true;
  cache.forget(1);
  t.same(missing, ['shop'], 'its file goes, too');
  kept.delete('shop');
  t.equal(server.find(asked), undefined);
  await t.rejects(server.fetch(asked));
});

t.test('a former slug leads on without being kept, and says nothing else', async (t) => {
  const { server, publish } = stage();
  const access = accessFor({ passwordHash: password });
  publish('new', { access });
  publish('shop', { slug: 'new', access });
  const { status, headers, body } = await server.fetch({
    path: '/status/shop/history',
    query: '',
    acceptLanguage: undefined,
    client: clientWith(),
  });
  t.equal(status, 301);
  t.match(headers, { location: '/status/new/history', 'cache-control': 'no-store' });
  t.equal(body('identity').length, 0);
});
