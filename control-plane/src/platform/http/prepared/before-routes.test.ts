import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { route } from '@parallax/api-contract';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { handle, PreparedResult } from '../handler.ts';
import { buildHttpServer } from '../server.ts';
import { prepareAnswer } from './prepared-answer.ts';

const pageRoute = route({
  method: 'GET',
  path: '/pages/:name',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  params: z.object({ name: z.string() }),
  success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
});

/** It takes as many turns of the event loop as a write with its statements. */
const slowRoute = route({
  method: 'GET',
  path: '/turns',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  success: { status: 200, answer: z.object({}) },
});
const turnsOfRoute = 25;

async function open(t: Test, burst = 1_000) {
  const asked = { memory: 0, routes: 0 };
  const costs = { findMs: 0 };
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'public, max-age=15',
    'x-frame-options': null,
  };
  const page = prepareAnswer(200, headers, '<p>page</p>');
  const app = await buildHttpServer(
    [
      handle(pageRoute, async () => {
        asked.routes += 1;
        return new PreparedResult(page);
      }),
      handle(slowRoute, async () => {
        for (let turn = 0; turn < turnsOfRoute; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return {};
      }),
    ],
    {
      log: quietLog,
      publicUrl: 'http://127.0.0.1',
      trustedProxies: ['10.0.0.0/8'],
      authenticate: async () => undefined,
      limit: async () => undefined,
      limits: { prepared: { perSecond: 1, burst } },
      prepared: {
        covers: (path) => path.startsWith('/pages/'),
        find: ({ path }) => {
          asked.memory += 1;
          for (const untilMs = performance.now() + costs.findMs; performance.now() < untilMs; );
          return path === '/pages/there' ? page : undefined;
        },
        owns: (path) => path.startsWith('/pages/own'),
        isKnown: ({ path, query }) => path === '/pages/own-known' && query === '',
        fetch: async ({ path }) => {
          if (path === '/pages/own-broken') throw new Error('the database is away');
          return page;
        },
      },
    },
  );
  t.teardown(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { asked, costs, url };
}

t.test('what is in memory is answered before the routes, and in the same form by them', async (t) => {
  const { asked, url } = await open(t);
  const forms: unknown[] = [];
  for (const name of ['there', 'else']) {
    const answer = await fetch(`${url}/pages/${name}?x=1`);
    t.equal(answer.status, 200);
    t.equal(await answer.text(), '<p>page</p>');
    t.equal(answer.headers.get('cache-control'), 'public, max-age=15');
    t.equal(answer.headers.get('x-frame-options'), null, 'a header that every answer has can be left out');
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    t.equal(answer.headers.get('content-encoding'), 'gzip');
    const { 'x-request-id': id, date, ...rest } = Object.fromEntries(answer.headers);
    forms.push(rest);
    t.ok(date);
    t.equal(id === undefined, name === 'there', 'only what the routes answer has a number');
    const again = await fetch(`${url}/pages/${name}`, {
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    t.equal(again.status, 304);
    t.equal(again.headers.get('cache-control'), 'public, max-age=15');
    const head = await fetch(`${url}/pages/${name}`, { method: 'HEAD' });
    t.equal(head.status, 200);
    t.equal(await head.text(), '');
  }
  t.strictSame(forms[0], forms[1]);
  t.strictSame(asked, { memory: 6, routes: 3 });
});

t.test('what is wrong goes to the routes', async (t) => {
  const { asked, url } = await open(t);
  t.equal((await fetch(`${url}/pages/there`, { method: 'POST' })).status, 405);
  t.equal((await fetch(`${url}/other`)).status, 404);
  t.equal((await fetch(`${url}/pages/there?${'x'.repeat(3_000)}`)).status, 414);
  const strange = get(`${url}/pages/there`, { headers: { host: 'rebound.example' } });
  const [response]: IncomingMessage[] = await once(strange, 'response');
  response?.resume();
  t.equal(response?.statusCode, 421);
  t.strictSame(asked, { memory: 0, routes: 0 });
});

t.test('a client that asks too often is told to wait', async (t) => {
  const { url } = await open(t, 20);
  const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(`${url}/pages/there`)));
  const refused = answers.filter(({ status }) => status === 429);
  t.ok(refused.length >= 10 && refused.length <= 20);
  for (const { headers } of refused) t.match(headers.get('retry-after'), /^[1-9]$/);
  t.equal(answers.filter(({ status }) => status === 200).length, 40 - refused.length, 'a burst is let through');
  const other = await fetch(`${url}/pages/else`);
  t.equal(other.status, 200, 'routes have limits of their own');
});

t.test('what no route knows is made when it is asked for first', async (t) => {
  const { asked, url } = await open(t);
  const answer = await fetch(`${url}/pages/own`);
  t.equal(answer.status, 200);
  t.equal(await answer.text(), '<p>page</p>');
  const broken = await fetch(`${url}/pages/own-broken`);
  t.equal(broken.status, 503);
  t.equal(broken.headers.get('retry-after'), '5');
  const many = await Promise.all(Array.from({ length: 70 }, () => fetch(`${url}/pages/own`)));
  t.ok(many.some(({ status }) => status === 429));
  const known = await Promise.all(Array.from({ length: 70 }, () => fetch(`${url}/pages/own-known`)));
  t.ok(
    known.every(({ status }) => status === 200),
    'what was there lately is no guess, so it has the usual rate',
  );
  const guessed = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/pages/own-known?else`)));
  t.ok(guessed.some(({ status }) => status === 429));
  t.equal(asked.routes, 0);
});

t.test('a crowd that reads what is in memory leaves turns to everybody else', async (t) => {
  const { costs, url } = await open(t);
  const over: string[] = [];
  const ask = async (path: string, name: string): Promise<number> => {
    const answer = await fetch(url + path);
    await answer.text();
    over.push(name);
    return answer.status;
  };
  const askAll = async (): Promise<readonly number[]> =>
    Promise.all([...Array.from({ length: 200 }, () => ask('/pages/there', 'reader')), ask('/turns', 'route')]);
  // Their connections are there, so that all ask at once.
  await askAll();
  over.length = 0;
  costs.findMs = 2;
  t.ok((await askAll()).every((status) => status === 200));
  t.ok(over.indexOf('route') < 150, `the route was answered after ${over.indexOf('route')} of 200 readers`);
});
