import { gzipSync } from 'node:zlib';
import type { Socket } from 'node:net';
import t from 'tap';
import { openPeer } from '../../../../packages/checks/src/testing/hostile-peers.ts';
import { z } from 'zod';
import { only, sendingWorld, storeEvents } from './testing.ts';

/** 20 MB of zeros in 20 kB; made once, since it takes longer than the sender waits. */
const bomb = gzipSync(Buffer.alloc(20_000_000));

const head = (status: string, ...fields: readonly string[]) => `HTTP/1.1 ${[status, ...fields].join('\r\n')}\r\n`;

/** Writes a piece every so many milliseconds until the other side has had enough. */
function drip(socket: Socket, everyMs: number, piece: string): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as it is read. */
function flood(socket: Socket, piece: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

type Expected = {
  readonly code: string;
  readonly status?: number;
  /** From the end of the attempt to the next one, in seconds. */
  readonly seconds: readonly [number, number];
  readonly answer?: string | null;
  readonly isGone?: true;
};

/** The first delay is 5 s, give or take a fifth; that of who is busy a minute at least. */
const usual = [4, 6] as const;
const aMinute = [60, 60] as const;

const receivers: Readonly<Record<string, { readonly act: (socket: Socket) => unknown; readonly expected: Expected }>> =
  {
    'answers 200 after the time limit': {
      act: (socket) => setTimeout(() => socket.end(`${head('200 OK', 'content-length: 0')}\r\n`), 2_500).unref(),
      expected: { code: 'timeout', seconds: aMinute },
    },
    'never answers': { act: () => undefined, expected: { code: 'timeout', seconds: aMinute } },
    'closes without an answer': { act: (socket) => socket.end(), expected: { code: 'connect_failed', seconds: usual } },
    'resets the connection': {
      act: (socket) => socket.resetAndDestroy(),
      expected: { code: 'connect_failed', seconds: usual },
    },
    'redirects to the metadata service': {
      act: (socket) => socket.end(`${head('302 Found', 'location: http://169.254.169.254/', 'content-length: 0')}\r\n`),
      expected: { code: 'redirected', status: 302, seconds: usual },
    },
    'is gone': {
      act: (socket) => socket.end(`${head('410 Gone', 'content-length: 0')}\r\n`),
      expected: { code: 'gone', status: 410, seconds: usual, isGone: true },
    },
    'is busy for an hour': {
      act: (socket) => socket.end(`${head('429 Too Many Requests', 'retry-after: 3600', 'content-length: 0')}\r\n`),
      expected: { code: 'unexpected_status', status: 429, seconds: [3_600, 3_600] },
    },
    'is busy for a year': {
      act: (socket) => socket.end(`${head('503 Busy', 'retry-after: 31536000', 'content-length: 0')}\r\n`),
      expected: { code: 'unexpected_status', status: 503, seconds: [3_600, 3_600] },
    },
    'is busy until a day that was': {
      act: (socket) =>
        socket.end(`${head('429 Busy', 'retry-after: Mon, 01 Jan 2001 00:00:00 GMT', 'content-length: 0')}\r\n`),
      expected: { code: 'unexpected_status', status: 429, seconds: aMinute },
    },
    'speaks something else': {
      act: (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
      expected: { code: 'unexpected_answer', seconds: usual },
    },
    'answers with NUL bytes': {
      act: (socket) => socket.end(`${head('500 No', 'content-length: 3')}\r\na\0b`),
      expected: { code: 'unexpected_status', status: 500, seconds: usual, answer: 'a\uFFFDb' },
    },
    'sends a bomb of gzip': {
      act: (socket) => {
        socket.write(`${head('500 No', 'content-encoding: gzip', `content-length: ${bomb.length}`)}\r\n`);
        socket.end(bomb);
      },
      expected: { code: 'unexpected_status', status: 500, seconds: usual, answer: '' },
    },
    'sends headers without an end': {
      act: (socket) => {
        socket.write(head('200 OK'));
        flood(socket, `x-more: ${'x'.repeat(1_000)}\r\n`);
      },
      expected: { code: 'unexpected_answer', seconds: usual },
    },
    'sends a header now and then': {
      act: (socket) => {
        socket.write(head('200 OK'));
        drip(socket, 200, 'x-more: x\r\n');
      },
      expected: { code: 'timeout', seconds: aMinute },
    },
    'sends interim answers without an end': {
      act: (socket) => drip(socket, 50, `${head('103 Early Hints', 'link: <a>')}\r\n`),
      expected: { code: 'timeout', seconds: aMinute },
    },
    'sends a byte of its body each second': {
      act: (socket) => {
        socket.write(`${head('200 OK', 'transfer-encoding: chunked')}\r\n`);
        drip(socket, 1_000, '1\r\nx\r\n');
      },
      expected: { code: 'timeout', seconds: aMinute },
    },
    'sends a body without an end': {
      act: (socket) => {
        socket.write(`${head('500 No', 'transfer-encoding: chunked')}\r\n`);
        flood(socket, `400\r\n${'x'.repeat(1_024)}\r\n`);
      },
      expected: { code: 'unexpected_status', status: 500, seconds: usual, answer: 'x'.repeat(20_000) },
    },
    'breaks its body off': {
      act: (socket) => socket.end(`${head('200 OK', 'content-length: 100')}\r\nonly this`),
      expected: { code: 'unexpected_answer', seconds: usual },
    },
  };

const attempt = z.object({
  at: z.string(),
  duration_ms: z.number(),
  status_code: z.number().nullable(),
  error_code: z.string(),
  error: z.string(),
  answer: z.string().nullable(),
});

void t.test('whatever a receiver does, its delivery says what it was and when the next attempt is', async (t) => {
  const { api, run } = await sendingWorld(t);
  const peers = await Promise.all(
    Object.entries(receivers).map(async ([name, { act, expected }]) => {
      const peer = await openPeer((socket) => {
        socket.on('error', () => undefined);
        // Some of them answer before they have read anything.
        socket.once('data', () => act(socket));
      });
      t.teardown(() => peer.stop());
      const { id } = await api.webhook({ name, url: `http://127.0.0.1:${peer.port}/` });
      return { name, expected, peer, id };
    }),
  );
  await storeEvents(api.database.worker, api.workspaceId, [{}]);
  await run();
  for (const { name, expected, peer, id } of peers) {
    const delivery = await only(api, id);
    const [made, ...others] = z.array(attempt).parse(delivery['attempt_list']);
    t.equal(others.length, 0, `${name}: one attempt`);
    if (made === undefined) continue;
    t.match(made, { error_code: expected.code, status_code: expected.status ?? null }, name);
    t.ok(made.error.length > 10, `${name}: ${made.error}`);
    t.ok(made.duration_ms < 10_000, `${name}: over in time`);
    if (expected.answer !== undefined) t.equal(made.answer, expected.answer, `${name}: what it said`);
    if (expected.isGone) {
      t.match(delivery, { state: 'failed', next_attempt_at: null }, name);
      t.match((await api.webhooks('GET', `/${id}`)).body, { is_active: false, disabled_reason: 'gone' });
    } else {
      t.match(delivery, { state: 'queued', attempts: 1 }, name);
      const ended = Date.parse(made.at) + made.duration_ms;
      const seconds = (Date.parse(String(delivery['next_attempt_at'])) - ended) / 1_000;
      const [from, until] = expected.seconds;
      t.ok(seconds >= from - 0.01 && seconds <= until + 0.01, `${name}: the next attempt after ${seconds} s`);
    }
    while (peer.connections.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    t.pass(`${name}: no connection is left`);
  }
});
