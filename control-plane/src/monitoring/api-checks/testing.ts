import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from '@parallax/testkit';

/** A shop that is signed in to by a password, which hands out a cookie and a token, and has orders for whoever shows both. */
export type Shop = {
  readonly url: string;
  /** What its list of orders says of itself. */
  state: string;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
};

export const shopPassword = 'hush-hush-0123456789';

/** For tests: starts it on a free port of 127.0.0.1. */
export async function startShop(t: TestContext): Promise<Shop> {
  const shop = { url: '', state: 'fine', asked: [] as string[] };
  const server = createServer((request, response) => void answer(shop, request, response));
  // A probe opens a connection for each step.
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  const address = server.address();
  shop.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return shop;
}

async function answer(shop: Shop, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  shop.asked.push(request.url ?? '');
  if (request.url === '/login') {
    const isKnown = body.includes(`"${shopPassword}"`);
    response.writeHead(isKnown ? 200 : 403, { 'set-cookie': 'session=s-abcdefgh12; Path=/', 'x-region': 'eu' });
    response.end(JSON.stringify(isKnown ? { token: 'tok-zyxwvuts98', user: { id: 7 } } : { error: 'no' }));
    return;
  }
  const { authorization, cookie } = request.headers;
  const isKnown = authorization === 'Bearer tok-zyxwvuts98' && cookie === 'session=s-abcdefgh12';
  response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ state: shop.state, path: request.url }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** An API check of the shop: log in, use the token and the cookie, judge what is said. */
export function shopCheck(shop: Shop) {
  return {
    url: shop.url,
    steps: [
      {
        name: 'log in',
        method: 'POST',
        url: '/login',
        json: { user: '{{user}}', password: '{{password}}' },
        extract: [
          { name: 'token', from: 'json', path: '$.token' },
          { name: 'id', from: 'json', path: '$.user.id' },
          { name: 'region', from: 'header', path: 'X-Region' },
          { name: 'session', from: 'cookie', path: 'session' },
        ],
      },
      {
        name: 'account',
        url: '/users/{{id}}?region={{region}}',
        headers: { Authorization: 'Bearer {{token}}' },
      },
      {
        name: 'orders',
        url: '/orders',
        headers: { Authorization: 'Bearer {{token}}' },
        assertions: {
          all: [
            { subject: 'status', comparison: 'equals', value: 200 },
            { subject: 'json', name: '$.state', comparison: 'equals', value: 'fine' },
          ],
        },
      },
    ],
    variables: { user: 'watcher' },
    secrets: { password: shopPassword },
  };
}
