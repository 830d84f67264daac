import { quietLog } from '@parallax/testkit';
import { freePort } from '@parallax/testkit/free-port';
import t from 'tap';
import { createPasswordHasher } from '../../../identity/auth/index.ts';
import { accessFor, basic } from '../access/testing.ts';
import { request } from 'undici';
import { DocumentTable } from './document-table.ts';
import { PageServer } from './page-server.ts';
import { stageOfPages } from './testing.ts';
import { servePagesWhileAway } from './while-away.gateway.ts';

t.test(
  'while the database is away kept pages are shown and all else waits; then the port is free for the server',
  async (t) => {
    const { cache, publish, state, clock } = stageOfPages();
    publish('shop');
    await cache.get('shop');
    state.isAway = true;
    clock.ms += 3_600_000;
    const documents = [
      { path: '', contentType: 'text/html', isTranslated: false, isShared: false, render: () => 'kept' },
    ];
    const pages = new PageServer(cache, new DocumentTable([{ prefix: '/status/', documents }]), () => clock.ms);
    const port = await freePort();
    const abort = new AbortController();
    let isBack = false;
    const serving = servePagesWhileAway(
      {
        host: '127.0.0.1',
        port,
        publicUrl: 'http://127.0.0.1',
        trustedProxies: [],
        pages,
        hosts: { prefixOf: (host) => (host === 'status.shop.example' ? '/status/shop' : undefined) },
        reach: async () => {
          if (!isBack) throw new Error('away');
        },
        signal: abort.signal,
        log: quietLog,
      },
      new Error('away'),
    );
    const url = `http://127.0.0.1:${port}`;
    const ready = async (): Promise<Response> => fetch(`${url}/status/shop`).catch(() => ready());
    const page = await ready();
    t.equal(page.status, 200);
    t.equal(await page.text(), 'kept');
    t.equal(page.headers.get('x-content-type-options'), 'nosniff');
    const atDomain = async (path: string) =>
      (await request(url + path, { headers: { host: 'Status.Shop.Example:443' } })).statusCode;
    t.equal(await atDomain('/'), 200, 'a domain leads to its page');
    t.equal(await atDomain('/status/shop'), 404);
    t.equal(await atDomain('/api/v1/monitors'), 404);
    const other = await fetch(`${url}/api/v1/monitors`);
    t.equal(other.status, 503);
    t.equal(other.headers.get('retry-after'), '5');
    t.equal((await fetch(`${url}/status/unknown`)).status, 503, 'nobody knows whether there is such a page');
    t.equal((await fetch(`${url}/status/shop`, { method: 'POST' })).status, 503);
    isBack = true;
    await serving;
    await t.rejects(fetch(`${url}/status/shop`));
  },
);

t.test(
  'while the database is away a private page stays private, and lets in those who know its password',
  async (t) => {
    const { cache, publish, state, clock } = stageOfPages();
    const password = 'correct horse';
    const passwordHash = await createPasswordHasher({ memoryKib: 1_024 }).hash(password);
    publish('shop', {
      access: accessFor({ passwordHash, mailDomains: ['shop.example'], addresses: ['192.0.2.0/24'] }),
    });
    await cache.get('shop');
    state.isAway = true;
    clock.ms += 3_600_000;
    const documents = [
      {
        path: '',
        contentType: 'text/html',
        isTranslated: false,
        isShared: false,
        isForPeople: true,
        render: () => 'kept',
      },
    ];
    const pages = new PageServer(cache, new DocumentTable([{ prefix: '/status/', documents }]), () => clock.ms);
    const port = await freePort();
    const abort = new AbortController();
    const serving = servePagesWhileAway(
      {
        host: '127.0.0.1',
        port,
        publicUrl: 'http://127.0.0.1',
        trustedProxies: ['127.0.0.1/32'],
        pages,
        hosts: { prefixOf: (host) => (host === 'status.shop.example' ? '/status/shop' : undefined) },
        reach: async () => Promise.reject(new Error('away')),
        signal: abort.signal,
        log: quietLog,
      },
      new Error('away'),
    );
    t.teardown(async () => {
      abort.abort();
      await serving.catch(() => undefined);
    });
    const url = `http://127.0.0.1:${port}/status/shop`;
    const get = async (headers: Record<string, string> = {}): Promise<Response> =>
      fetch(url, { headers, redirect: 'manual' }).catch(() => get(headers));
    const send = (path: string, form: Record<string, string>) =>
      fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
    const closed = await get();
    t.equal(closed.status, 401);
    t.equal(closed.headers.get('cache-control'), 'no-store');
    t.match(await closed.text(), '<form method="post" action="/status/shop/unlock">');
    t.equal((await get({ 'x-status-password': 'wrong' })).status, 401);
    t.equal(await (await get({ 'x-status-password': password })).text(), 'kept');
    t.equal((await get({ authorization: basic(password) })).status, 200);
    t.equal((await get({ 'x-forwarded-for': '192.0.2.7' })).status, 200, 'a network that may read it');
    t.equal((await get({ 'x-forwarded-for': '192.0.3.7' })).status, 401);
    t.equal((await send('/unlock', { password: 'wrong' })).status, 401);
    const opened = await send('/unlock', { password });
    t.equal(opened.status, 303);
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    t.equal((await get({ cookie })).status, 200);
    t.equal((await send('/unlock', { mail: 'a@shop.example' })).status, 503, 'no mail can be sent now');
    t.equal((await send('/unlock/plsl_x', {})).status, 404);
    t.equal((await send('/unlock', { password: 'x'.repeat(5_000) })).status, 503);
    t.equal((await send('', { password })).status, 503, 'only the form acts');

    const atDomain = (
      path: string,
      more: { readonly method?: 'POST'; readonly body?: string } = {},
      headers: Readonly<Record<string, string | undefined>> = {},
    ) => request(`http://127.0.0.1:${port}${path}`, { ...more, headers: { host: 'status.shop.example', ...headers } });
    const form = await atDomain('/');
    t.equal(form.statusCode, 401);
    t.match(await form.body.text(), '<form method="post" action="/unlock">', 'as its readers see the path');
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ password }).toString();
    const letIn = await atDomain('/unlock', { method: 'POST', body }, type);
    t.match([letIn.statusCode, letIn.headers], [303, { location: '/', 'set-cookie': /; Path=\/; .*; Secure$/ }]);
    const own = String(letIn.headers['set-cookie']).split(';')[0];
    t.equal((await atDomain('/', {}, { cookie: own })).statusCode, 200);
  },
);
