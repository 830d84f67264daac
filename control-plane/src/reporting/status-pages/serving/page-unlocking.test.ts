import t from 'tap';
import { accessFor, clientWith, verifyPlain } from '../access/testing.ts';
import { PageGuard } from '../access/page-guard.ts';
import { documentBases } from '../documents.ts';
import { DocumentTable } from './document-table.ts';
import { PageServer } from './page-server.ts';
import type { UnlockLinks } from './page-unlocking.ts';
import { stageOfPages } from './testing.ts';

const password = 'correct horse';

function stage(links?: UnlockLinks) {
  const pages = stageOfPages();
  const now = () => pages.clock.ms;
  const guard = new PageGuard({ now, verify: verifyPlain });
  const server = new PageServer(pages.cache, new DocumentTable(documentBases), now, { guard, links });
  const asked = (path: string, headers: Readonly<Record<string, string>> = {}, acceptLanguage = 'en') => ({
    path,
    query: '',
    acceptLanguage,
    client: clientWith(headers),
  });
  const send = (path: string, form: Record<string, string>, headers?: Readonly<Record<string, string>>) =>
    server.unlock(asked(path, headers), Buffer.from(new URLSearchParams(form).toString()));
  return { ...pages, server, asked, send };
}

t.test('the form leads to the document that was asked for, and nowhere else', async (t) => {
  const { publish, server, asked, send } = stage();
  publish('shop', { access: accessFor({ passwordHash: password }) });
  const form = (await server.fetch(asked('/status/shop/history', {}, 'ru'))).body('identity').toString();
  t.match(form, '<html lang="ru">');
  t.match(form, '<input type="hidden" name="to" value="/history">');
  t.notMatch(form, '<script');
  const opened = await send('/status/shop/unlock', { password, to: '/history' });
  t.equal(opened.status, 303);
  t.equal(opened.headers['location'], '/status/shop/history');
  t.match(opened.headers['set-cookie'], /; Path=\/status\/shop; .*HttpOnly; SameSite=Lax; Secure$/);
  t.equal(opened.headers['cache-control'], 'no-store');
  for (const to of [
    '',
    '//evil.example',
    '/../other',
    '/unlock',
    'https://evil.example/',
    '-2',
    '/\r\nset-cookie: a=b',
    '/embed',
  ]) {
    t.equal((await send('/status/shop/unlock', { password, to })).headers['location'], '/status/shop', to);
  }
  const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
  t.equal((await server.fetch(asked('/status/shop', { cookie }))).status, 200);
  t.equal((await server.fetch(asked('/status/shop/unlock', { cookie }))).headers['location'], '/status/shop');
});

t.test('a wrong password is said at the form, five times a minute', async (t) => {
  const { publish, send } = stage();
  publish('shop', { access: accessFor({ passwordHash: password }) });
  for (let number = 0; number < 5; number += 1) {
    const wrong = await send('/status/shop/unlock', { password: `wrong ${number}` });
    t.equal(wrong.status, 401);
    t.match(wrong.body('identity').toString(), /role="alert">This is not the password/);
    t.notOk('set-cookie' in wrong.headers);
  }
  const limited = await send('/status/shop/unlock', { password });
  t.equal(limited.status, 429, 'also the right one, which nobody has compared yet');
  t.equal(limited.headers['retry-after'], '12');
  t.equal(limited.headers['cache-control'], 'no-store');
});

t.test('opening a form or a link changes nothing, and only the forms of the page itself act', async (t) => {
  const taken: string[] = [];
  const { publish, server, asked, send } = stage({
    ask: async () => 0,
    take: async (_page, token) => taken.push(token) === 1,
  });
  publish('shop', { access: accessFor({ passwordHash: password, mailDomains: ['shop.example'] }) });
  t.equal((await server.fetch(asked('/status/shop/unlock'))).status, 200);
  const link = await server.fetch(asked('/status/shop/unlock/plsl_abc'));
  t.equal(link.status, 200);
  t.match(link.body('identity').toString(), '<form method="post"><button>Open the page</button></form>');
  t.same(taken, []);
  for (const site of ['cross-site', 'same-site']) {
    const elsewhere = await send('/status/shop/unlock', { password }, { 'sec-fetch-site': site });
    t.equal(elsewhere.status, 403);
    t.notOk('set-cookie' in elsewhere.headers);
    t.equal((await send('/status/shop/unlock/plsl_abc', {}, { 'sec-fetch-site': site })).status, 403);
  }
  t.same(taken, []);
  const opened = await send('/status/shop/unlock/plsl_abc', {}, { 'sec-fetch-site': 'same-origin' });
  t.equal(opened.status, 303);
  t.match(opened.headers['set-cookie'], 'status_access=');
  t.equal((await send('/status/shop/unlock/plsl_abc', {})).status, 404, 'it works once');
});

t.test('the form asks for what can open the page; a public one, and none, have no form', async (t) => {
  const { publish, server, asked, send } = stage({ ask: async () => 0, take: async () => false });
  publish('mail', { access: accessFor({ mailDomains: ['shop.example'] }) });
  publish('nets', { access: accessFor({ addresses: ['192.0.2.0/24'] }) });
  publish('open');
  publish('old', { slug: 'mail', access: accessFor({ mailDomains: ['shop.example'] }) });
  const text = async (slug: string) => (await server.fetch(asked(`/status/${slug}`))).body('identity').toString();
  t.notMatch(await text('mail'), 'type="password"');
  t.match(await text('mail'), 'type="email"');
  t.notMatch(await text('mail'), 'shop.example', 'it does not say whose addresses');
  t.notMatch(await text('nets'), '<form');
  t.equal((await send('/status/nets/unlock', { password })).status, 401);
  t.equal((await send('/status/mail/unlock', { mail: 'nobody' })).status, 422);
  for (const mail of ['a@shop.example', 'a@other.example', 'a@sub.shop.example']) {
    const answer = await send('/status/mail/unlock', { mail });
    t.equal(answer.status, 200);
    t.same(answer.etag, (await send('/status/mail/unlock', { mail: 'b@x.example' })).etag, 'the same for everybody');
  }
  t.match((await send('/status/open/unlock', { password })).headers, { location: '/status/open' });
  t.notOk('set-cookie' in (await send('/status/open/unlock', { password })).headers);
  t.equal((await send('/status/none/unlock', { password })).status, 404);
  t.equal((await send('/status/old/unlock', { password })).headers['location'], '/status/mail');
  t.equal((await server.fetch(asked('/status/shop/unlock/a/b'))).status, 404);
  t.notOk(server.unlocks('/status/shop'));
  t.ok(server.unlocks('/status/shop/unlock'));
});
