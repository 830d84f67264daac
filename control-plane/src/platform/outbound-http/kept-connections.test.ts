import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { listen } from '../../../../packages/checks/src/testing/context.ts';
import { openPeer } from '../../../../packages/checks/src/testing/hostile-peers.ts';
import { createOutboundClients, KeptConnections, OutboundError } from './index.ts';

type Listeners = readonly { readonly address: string; readonly port: number }[];

async function world(t: Test, listener: RequestListener = (_request, response) => void response.end('ok')) {
  const server: Server = createServer({ keepAliveTimeout: 60_000 }, listener);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  const peer = await listen(server);
  t.teardown(() => peer.stop());
  const connections = new KeptConnections();
  t.teardown(() => connections.close());
  let denied: Listeners = [];
  const { guarded } = createOutboundClients({
    allowedPrivateTargets: ['127.0.0.0/8'],
    deniedListeners: () => denied,
    now: Date.now,
    version: '0.0.0',
  });
  return {
    connections,
    sockets,
    port: peer.port,
    deny: (listeners: Listeners) => {
      denied = listeners;
    },
    post: async (name: string, path = '/') =>
      guarded(
        { method: 'POST', url: `http://127.0.0.1:${peer.port}${path}`, body: {} },
        { timeoutMs: 5_000, keep: { connections, name } },
      ),
  };
}

void t.test('exchanges under one name share a connection, and those under another have their own', async (t) => {
  const { post, sockets } = await world(t);
  for (let n = 0; n < 20; n += 1) t.equal((await post('a')).text, 'ok');
  t.equal(sockets.length, 1);
  await post('b');
  t.equal(sockets.length, 2);
  await Promise.all([post('a'), post('a'), post('a')]);
  t.equal(sockets.length, 4, 'one exchange at a time goes over each');
  await Promise.all([post('a'), post('a'), post('a')]);
  t.equal(sockets.length, 4);
});

void t.test('a kept connection that the other side has closed costs another, and no error', async (t) => {
  const { post, sockets } = await world(t);
  await post('a');
  sockets[0]?.destroy();
  t.equal((await post('a')).text, 'ok');
  t.equal(sockets.length, 2);
  // In the moment in which it is used again.
  const peer = await openPeer((socket) => {
    let isFirst = true;
    socket
      .on('error', () => undefined)
      .on('data', () => {
        if (isFirst) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        else socket.destroy();
        isFirst = false;
      });
  });
  t.teardown(() => peer.stop());
  const connections = new KeptConnections();
  t.teardown(() => connections.close());
  const { trusted } = createOutboundClients({
    allowedPrivateTargets: [],
    deniedListeners: () => [],
    now: Date.now,
    version: '0.0.0',
  });
  for (let n = 0; n < 5; n += 1) {
    const answer = await trusted(
      { method: 'POST', url: `http://127.0.0.1:${peer.port}/`, body: {} },
      { timeoutMs: 5_000, keep: { connections, name: 'a' } },
    );
    t.equal(answer.text, 'ok');
  }
});

void t.test('a connection whose address is denied by now is not used again', async (t) => {
  const { post, sockets, deny, port } = await world(t);
  await post('a');
  deny([{ address: '127.0.0.1', port }]);
  const error: unknown = await post('a').catch((reason: unknown) => reason);
  t.ok(error instanceof OutboundError && error.code === 'address_denied', String(error));
  t.equal(sockets.length, 1);
});

void t.test('a connection with more to say is not kept, nor one whose end is announced', async (t) => {
  const { post, sockets } = await world(t, (request, response) => {
    if (request.url === '/long') response.end('x'.repeat(200_000));
    else if (request.url === '/last') response.setHeader('connection', 'close').end('ok');
    else if (request.url === '/packed') response.setHeader('content-encoding', 'gzip').end('ok');
    else response.writeHead(302, { location: '/' }).end();
  });
  for (const path of ['/long', '/last', '/packed', '/elsewhere']) {
    const before = sockets.length;
    await post('a', path).catch((error: unknown) => t.ok(error instanceof OutboundError));
    await post('a', path).catch((error: unknown) => t.ok(error instanceof OutboundError));
    t.equal(sockets.length - before, 2, path);
  }
  while (sockets.some((socket) => !socket.destroyed)) await new Promise((resolve) => setTimeout(resolve, 10));
});

void t.test('what is said without being asked for reaches no exchange', async (t) => {
  const said = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged';
  const peer = await openPeer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok${said}`);
      });
  });
  t.teardown(() => peer.stop());
  const connections = new KeptConnections();
  t.teardown(() => connections.close());
  const { trusted } = createOutboundClients({
    allowedPrivateTargets: [],
    deniedListeners: () => [],
    now: Date.now,
    version: '0.0.0',
  });
  for (let n = 0; n < 5; n += 1) {
    const answer = await trusted(
      { method: 'POST', url: `http://127.0.0.1:${peer.port}/`, body: {} },
      { timeoutMs: 5_000, keep: { connections, name: 'a' } },
    );
    t.equal(answer.text, 'ok');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

void t.test('connections end when nobody keeps them any more, and by themselves after a while', async (t) => {
  const { post, sockets, connections } = await world(t);
  await post('a');
  const untilClosed = async (at: number) => {
    while (sockets[at]?.destroyed === false) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await untilClosed(0);
  t.equal((await post('a')).text, 'ok');
  connections.close();
  await untilClosed(1);
  t.equal((await post('a')).text, 'ok');
  await untilClosed(2);
  t.equal(sockets.length, 3);
});
