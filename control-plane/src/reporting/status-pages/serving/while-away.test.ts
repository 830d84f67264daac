import { quietLog } from '@parallax/testkit';
import { freePort } from '@parallax/testkit/free-port';
import t from 'tap';
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
