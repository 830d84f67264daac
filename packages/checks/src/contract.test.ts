import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { z } from 'zod';
import { errorCodes, outcomes } from './outcome.ts';
import { probeCapabilities } from './check.ts';
import {
  checkTypeOf,
  checkTypes,
  isProtocol,
  type Protocol,
  protocols,
  secretFieldsOf,
  settingsSchema,
} from './registry.ts';
import { runCheck } from './run.ts';
import { listen, testContext, until } from './testing/context.ts';

const timeoutMs = 200;
const toleranceMs = 50;

/** What a hostile peer does with a connection. */
const peers: Record<string, (socket: Socket) => void> = {
  'closes at once': (socket) => socket.destroy(),
  'ends at once': (socket) => socket.resume().end(),
  'never answers': (socket) => socket.resume(),
  'answers garbage': (socket) => socket.resume().write('\x16\x03\x7fgarbage\xff\xfe\r\n\r\n', 'latin1'),
  'sends one byte at a time': (socket) => trickle(socket, 'HTTP/1.1 200 OK\r\nServer: slow'),
  'streams without end': (socket) => stream(socket, Buffer.alloc(65536, 'x')),
  'speaks another protocol': (socket) => socket.resume().write('SSH-2.0-OpenSSH_9.2\r\n'),
  resets: (socket) => socket.resetAndDestroy(),
  'closes in the handshake': (socket) => socket.once('data', () => socket.destroy()),
  'resets in the handshake': (socket) => socket.once('data', () => socket.resetAndDestroy()),
  'sends a header without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    stream(socket, Buffer.from(`X-A: ${'b'.repeat(8000)}\r\n`));
  },
  'sends binary zeros': (socket) => socket.resume().write(Buffer.alloc(10_000)),
};

/** How each check type is pointed at a peer on loopback. A new type has to say so here. */
const pointedAt: Record<Protocol, ((port: number) => { url: string; settings: object }) | 'no port'> = {
  http: (port) => ({ url: `http://127.0.0.1:${port}/`, settings: { keyword: 'never' } }),
  https: (port) => ({ url: `https://127.0.0.1:${port}/`, settings: {} }),
  tcp: (port) => ({ url: `127.0.0.1:${port}`, settings: { send: 'hello', expect: 'never' } }),
  dns: (port) => ({ url: 'www.test', settings: { server: `127.0.0.1:${port}` } }),
  ssl: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  tls: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  icmp: 'no port',
  ping: 'no port',
};

function trickle(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), 20);
  socket.resume().on('close', () => clearInterval(timer));
}

function stream(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.resume().on('drain', more);
  more();
}

/** What keeps the process alive, by kind, without the streams of the process itself. */
function openHandles(): string {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /TCP|UDP|TLS|Process|Timeout|Query|GetAddrInfo/.test(kind))
    .sort()
    .join(' ');
}

for (const protocol of protocols) {
  const point = pointedAt[protocol];
  if (point === 'no port') continue;
  void t.test(`${protocol} survives hostile peers`, async (t) => {
    const before = openHandles();
    await Promise.all(
      Object.entries(peers).map(async ([what, handler]) => {
        const tcp = await listen(createServer(handler));
        const udp = createSocket('udp4');
        udp.on('message', (_query, from) => {
          if (!/never|close|reset|end/.test(what)) udp.send(Buffer.alloc(100, what), from.port, from.address);
        });
        await new Promise<void>((resolve) => {
          udp.bind(tcp.port, '127.0.0.1', resolve);
        });
        const { url, settings } = point(tcp.port);
        // Measured against a bare timer of the same length, so that a busy machine delays both.
        let due = Number.POSITIVE_INFINITY;
        const timer = setTimeout(() => {
          due = performance.now();
        }, timeoutMs);
        const outcome = await runCheck(protocol, { url }, settings, testContext({ timeoutMs }));
        const late = performance.now() - due;
        clearTimeout(timer);
        t.ok(late < toleranceMs, `${what}: done within ${toleranceMs} ms of the deadline`);
        t.ok(
          outcomes.includes(outcome.outcome) && ['fail', 'timeout'].includes(outcome.outcome),
          `${what}: ${outcome.outcome}`,
        );
        t.ok(
          outcome.code !== undefined && Object.hasOwn(errorCodes, outcome.code),
          `${what}: ${outcome.code ?? 'no code'}`,
        );
        t.match(outcome.message, /^.{10,600}\.$/s, `${what}: a sentence`);
        t.equal(outcome.source, 'target');
        for (const duration of [outcome.total, ...Object.values(outcome.phases)])
          t.ok(Number.isSafeInteger(duration) && duration >= 0);
        t.ok((outcome.evidence?.body?.length ?? 0) <= 4096);
        await until(() => tcp.connections.size === 0, `${protocol} left a connection to a peer that ${what}`);
        await Promise.all([tcp.stop(), new Promise<void>((resolve) => udp.close(() => resolve()))]);
      }),
    );
    await until(() => openHandles() === before, `${protocol} left no handle (${openHandles()})`);
  });
}

void t.test('every check type keeps to the contract', async (t) => {
  for (const [protocol, checkType] of Object.entries(checkTypes)) {
    t.ok(isProtocol(protocol));
    if (!isProtocol(protocol)) continue;
    t.equal(checkType.type, protocol, 'the type is named as it is registered');
    t.equal(checkTypeOf(protocol), checkType);
    t.match(checkType.summary, /^.{10,80}$/);
    const empty = settingsSchema(protocol).parse({});
    t.same(settingsSchema(protocol).parse(empty), empty, 'what was read can be read again');
    t.equal(settingsSchema(protocol).safeParse({ no_such_setting: 1 }).success, false, 'unknown settings are refused');
    for (const io of ['input', 'output'] as const)
      t.match(z.toJSONSchema(settingsSchema(protocol), { io }), { type: 'object' });
    const fields = Object.keys(
      (z.toJSONSchema(settingsSchema(protocol), { io: 'input' }) as { properties: object }).properties,
    );
    for (const field of secretFieldsOf(protocol)) t.ok(fields.includes(field), `${field} is a setting`);
    for (const need of checkType.requires) t.ok(probeCapabilities.includes(need));
    t.type(checkTypeOf(protocol).validateTarget({ url: '' }, empty), 'string', 'nothing is no target');
    t.type(checkTypeOf(protocol).validateTarget({ url: 'a b\0c' }, empty), 'string');
  }
  for (const text of ['constructor', '__proto__', 'toString', 'HTTP', '']) t.equal(isProtocol(text), false, text);
});
