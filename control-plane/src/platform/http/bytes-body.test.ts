import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { route } from '@parallax/api-contract';
import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { handle } from './handler.ts';
import { buildHttpServer } from './server.ts';

const contract = route({
  method: 'POST',
  path: '/any',
  credentials: 'none',
  tag: 'Test',
  summary: 'Takes anything',
  bytes: { keptBytes: 10, readBytes: 100_000 },
  success: { status: 200, answer: z.object({ text: z.string().nullable(), isCut: z.boolean() }) },
});

const mebibyte = 1_048_576;
const long = { ...contract, bytes: { keptBytes: 64 * mebibyte, certainBytes: 10, readBytes: 65 * mebibyte } };

async function start(t: TestContext, served: typeof contract = contract, requestTimeoutMs = 400) {
  const taken: object[] = [];
  const answering = handle(served, async ({ bytes }) => {
    const answer = { text: bytes?.bytes.toString('latin1') ?? null, isCut: bytes?.isCut ?? false };
    taken.push(answer);
    return answer;
  });
  const app = await buildHttpServer([answering], {
    log: quietLog,
    publicUrl: 'http://127.0.0.1',
    trustedProxies: [],
    authenticate: async () => undefined,
    limit: async () => undefined,
    limits: { requestTimeoutMs, headersTimeoutMs: requestTimeoutMs / 2, checkingIntervalMs: 50 },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const address = app.server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, taken };
}

void t.test('any body is taken, and cut where it is long', async (t) => {
  const url = `http://127.0.0.1:${(await start(t)).port}/any`;
  const send = async (init: RequestInit) => (await fetch(url, { method: 'POST', ...init })).json();
  t.same(await send({}), { text: null, isCut: false });
  t.same(await send({ body: 'hello' }), { text: 'hello', isCut: false });
  t.same(await send({ body: '0123456789' }), { text: '0123456789', isCut: false });
  t.same(await send({ body: '0123456789a' }), { text: '0123456789', isCut: true });
  t.same(await send({ body: '{', headers: { 'content-type': 'application/json' } }), { text: '{', isCut: false });
  t.same(await send({ body: 'x', headers: { 'content-type': 'no/such; type' } }), { text: 'x', isCut: false });
  t.same(await send({ body: 'x', headers: { 'content-encoding': 'gzip' } }), { text: 'x', isCut: false });
  t.same(await send({ body: 'a'.repeat(90_000) }), { text: 'a'.repeat(10), isCut: true });
});

void t.test('long bodies share a memory, and what has no room there is cut to what is certain', async (t) => {
  const url = `http://127.0.0.1:${(await start(t, long, 60_000)).port}/any`;
  const send = async (bytes: number) => {
    const answer = await fetch(url, { method: 'POST', body: 'a'.repeat(bytes) });
    const { text, isCut } = (await answer.json()) as { text: string; isCut: boolean };
    return { length: text.length, isCut };
  };
  for (const round of ['first', 'again, since all was given back']) {
    t.same(await send(33 * mebibyte), { length: 10, isCut: true }, round);
    t.same(await send(20 * mebibyte), { length: 20 * mebibyte, isCut: false }, round);
  }
});

void t.test('of an endless body no more is read than is wanted, and its connection is closed', async (t) => {
  const { port, taken } = await start(t);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  socket.write('POST /any HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  const piece = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
  let sent = 0;
  while (!socket.destroyed && sent < 50_000_000) {
    sent += piece.length;
    if (!socket.write(piece)) await Promise.race([drained(socket), closed]);
  }
  await closed;
  const answer = Buffer.concat(chunks).toString();
  t.same(taken, [{ text: 'a'.repeat(10), isCut: true }]);
  // A client that goes on sending may lose the answer with the connection.
  if (answer !== '') t.match(answer, /^HTTP\/1\.1 200[\s\S]*connection: close[\s\S]*"isCut":true/);
  t.ok(sent < 50_000_000, `${sent} bytes were sent`);
});

void t.test('a body that stops on its way is no request', async (t) => {
  const { port, taken } = await start(t);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write('POST /any HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc');
  await once(socket, 'close');
  t.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 408/);
  t.same(taken, []);
});

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', () => resolve());
  });
}
