import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { Stop } from '../stop.ts';
import { listenRaw, testContext, until } from '../testing/context.ts';
import { dial } from './dial.ts';
import { lineReader } from './lines.ts';
import { Ended, type Reader, stop as stopWith, Talk } from './talk.ts';

const codes = { breach: 'broker_protocol', closed: 'broker_closed' } as const;

async function talkWith(t: Test, handler: (socket: Socket) => void, limit?: number) {
  const peer = await listenRaw(handler);
  t.teardown(peer.stop);
  const stop = new Stop();
  const context = testContext({ signal: stop });
  const endpoint = { address: '127.0.0.1', port: peer.port };
  const dialed = await dial(endpoint, context);
  if (!dialed.ok) throw new Error(dialed.failure.message);
  t.teardown(() => dialed.socket.destroy());
  return { talk: new Talk(dialed.socket, endpoint, context, codes, limit), stop, peer, socket: dialed.socket };
}

async function failureOf(heard: Promise<unknown>) {
  try {
    return { value: await heard };
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return error.failure;
  }
}

const word: Reader<string> = (received) => {
  const end = received.indexOf(' ');
  return end < 0 ? undefined : { value: received.toString('utf8', 0, end), used: end + 1 };
};

/** A length of four bytes and that many bytes behind it, as most protocols write their messages. */
const framed: Reader<Buffer> = (received) => {
  if (received.length < 4) return { need: 4 };
  const end = 4 + received.readUInt32BE(0);
  return received.length < end ? { need: end } : { value: received.subarray(4, end), used: end };
};

function frame(body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** A piece comes, and whoever waits for it is given the time to look at it. */
async function comes(socket: Socket, piece: Buffer): Promise<void> {
  socket.emit('data', piece);
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
}

void t.test('answers are taken one after the other, however they were cut', async (t) => {
  const { talk } = await talkWith(t, (socket) => {
    socket.once('data', () => {
      socket.write('one two thr');
      setImmediate(() => socket.write('ee rest'));
    });
  });
  talk.say('go');
  for (const value of ['one', 'two', 'three']) t.equal(await talk.hear('a word', word), value);
  t.type(talk.firstAt, 'number');
  t.equal(await talk.hear('the rest', (received) => (received.length < 4 ? undefined : { value: 1, used: 2 })), 1);
  t.equal(talk.left, 2);
});

void t.test('a value stays what it was, whatever comes after it', async (t) => {
  const bodies = [1, 2000, 3, 70_000, 5].map((length, index) => Buffer.alloc(length, index + 1));
  const { talk } = await talkWith(t, (socket) => {
    for (const piece of Buffer.concat(bodies.map(frame))
      .toString('latin1')
      .match(/[^]{1,333}/g) ?? [])
      socket.write(piece, 'latin1');
  });
  const values: Buffer[] = [];
  for (const _body of bodies) values.push(await talk.hear('a frame', framed));
  t.same(values, bodies);
});

void t.test('a reader is asked again only when what it needs has come', async (t) => {
  let asked = 0;
  const body = Buffer.alloc(1024 * 1024 - 4, 'x');
  const { talk, socket } = await talkWith(t, () => undefined);
  const heard = talk.hear('a frame', (received) => {
    asked += 1;
    return framed(received);
  });
  const bytes = frame(body);
  const start = process.cpuUsage();
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes.subarray(at, at + 1);
    if (at < 8 || at % 64 === 0) await comes(socket, byte);
    else socket.emit('data', byte);
  }
  t.ok((await heard).equals(body));
  const spentMs = (process.cpuUsage(start).user + process.cpuUsage(start).system) / 1000;
  t.equal(asked, 3);
  // A buffer that is made anew for each byte takes minutes.
  t.ok(spentMs < 5000, `a mebibyte in single bytes took ${Math.round(spentMs)} ms of processor time`);
});

void t.test('a reader without a need is asked at every piece, in linear time too', async (t) => {
  const { talk, socket } = await talkWith(t, () => undefined);
  const length = 32 * 1024;
  let asked = 0;
  const heard = talk.hear('all', (received) => {
    asked += 1;
    return received.length < length ? undefined : { value: true, used: length };
  });
  const start = process.cpuUsage();
  for (let at = 0; at < length; at += 1) await comes(socket, Buffer.from('x'));
  t.equal(await heard, true);
  t.equal(asked, length);
  t.ok(process.cpuUsage(start).user < 5_000_000);
});

void t.test('a byte that may end a message wakes the reader before all it needs is there', async (t) => {
  const { talk, socket } = await talkWith(t, () => undefined);
  const heard = talk.hear('a line', lineReader('broker_protocol'));
  for (const piece of ['hel', 'lo', '\r\nmore']) socket.emit('data', Buffer.from(piece));
  t.equal(await heard, 'hello');
  t.equal(talk.left, 4);
});

void t.test('an end, a reset, a limit and a deadline are failures, what came before is still heard', async (t) => {
  const ended = await talkWith(t, (socket) => socket.end('one '));
  t.equal(await ended.talk.hear('a word', word), 'one');
  t.match(await failureOf(ended.talk.hear('a word', word)), { code: 'broker_closed', message: /without a word/ });
  const silentEnd = await talkWith(t, (socket) => socket.end());
  t.match(await failureOf(silentEnd.talk.hear('a word', word)), { message: /without an answer/ });
  const reset = await talkWith(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  reset.talk.say('x');
  t.match(await failureOf(reset.talk.hear('a word', word)), { outcome: 'fail', code: 'connect_reset' });
  const flood = await talkWith(t, (socket) => void socket.write(Buffer.alloc(5000, 'x')), 1000);
  t.match(await failureOf(flood.talk.hear('a word', word)), { code: 'broker_protocol', message: /1000 bytes/ });
  const silent = await talkWith(t, (socket) => socket.resume());
  const heard = failureOf(silent.talk.hear('a word', word));
  setImmediate(() => silent.stop.abort());
  t.match(await heard, { outcome: 'timeout', code: 'response_timeout', message: /a word/ });
  const own = await talkWith(t, (socket) => void socket.write('x'));
  const failure = { outcome: 'fail', source: 'target', code: 'sip_protocol', message: 'No.' } as const;
  t.same(await failureOf(own.talk.hear('a word', () => ({ failure }))), failure);
  const thrown = own.talk.hear('a word', () => stopWith('sip_protocol', 'No.'));
  t.same(await failureOf(thrown), failure, 'a reader may throw as well');
});

void t.test('the limit counts everything that is read in the conversation', async (t) => {
  const { talk } = await talkWith(t, (socket) => void socket.write('word '.repeat(400)), 1000);
  for (let at = 0; at < 200; at += 1) await failureOf(talk.hear('a word', word));
  t.match(await failureOf(talk.hear('a word', word)), { code: 'broker_protocol' });
});

void t.test('a lent connection ends with the library, or with what breaks it', async (t) => {
  const due = () => 'a word of the library';
  const good = await talkWith(t, (socket) => void socket.write('hello'));
  const read = (socket: Socket) =>
    new Promise<string>((resolve) => {
      socket.once('data', (piece: Buffer) => resolve(piece.toString()));
    });
  t.equal(await good.talk.lend(due, read), 'hello');
  t.type(good.talk.firstAt, 'number');
  const never = () => new Promise<never>(() => undefined);
  const ended = await talkWith(t, (socket) => socket.end('x'));
  t.match(await failureOf(ended.talk.lend(due, never)), { code: 'broker_closed', message: /a word of the library/ });
  const flood = await talkWith(t, (socket) => void socket.write(Buffer.alloc(5000, 'x')), 1000);
  t.match(await failureOf(flood.talk.lend(due, never)), { code: 'broker_protocol' });
  const silent = await talkWith(t, (socket) => socket.resume());
  const lent = failureOf(silent.talk.lend(due, never));
  setImmediate(() => silent.stop.abort());
  t.match(await lent, { outcome: 'timeout', code: 'response_timeout', message: /a word of the library/ });
});

void t.test('a released socket has no listener of the conversation', async (t) => {
  const { talk, socket, peer } = await talkWith(t, (each) => void each.write('one '));
  await talk.hear('a word', word);
  t.equal(talk.release(), socket);
  for (const event of ['data', 'end', 'close']) t.ok(socket.listenerCount(event) <= 1, event);
  t.equal(socket.listenerCount('data'), 0);
  socket.destroy();
  await until(() => peer.connections.size === 0, 'the connection is gone');
});

void t.test('an answer that the end of the connection ends is whole only behind an orderly end', async (t) => {
  const { talk: whole } = await talkWith(t, (socket) => {
    socket.write('one ');
    setImmediate(() => socket.end('two'));
  });
  t.equal((await whole.rest('an answer')).toString(), 'one two');
  t.equal(whole.left, 0);
  const { talk: empty } = await talkWith(t, (socket) => void socket.end());
  t.match(await failureOf(empty.rest('an answer')), { code: 'broker_closed', message: /without an answer/ });
  const { talk: broken } = await talkWith(t, (socket) => {
    socket.write('one ');
    socket.once('data', () => socket.resetAndDestroy());
  });
  broken.say('?');
  t.match(await failureOf(broken.rest('an answer')), { code: 'connect_reset' });
  const { talk: flooded } = await talkWith(t, (socket) => void socket.end(Buffer.alloc(100)), 50);
  t.match(await failureOf(flooded.rest('an answer')), { code: 'broker_protocol', message: /more than 50 bytes/ });
  const { talk: endless, stop } = await talkWith(t, (socket) => void socket.write('one '));
  const heard = failureOf(endless.rest('an answer'));
  stop.abort();
  t.match(await heard, { code: 'response_timeout' });
});

void t.test('messages without end are a breach, however small they are', async (t) => {
  const { talk } = await talkWith(t, (socket) => void socket.write('.'.repeat(20_000)));
  const heard = async () => {
    for (let count = 0; ; count += 1)
      await talk.hear('the last one', (bytes) => (count < 20_000 ? { value: bytes[0], used: 1 } : undefined));
  };
  await t.rejects(heard(), /more than 10000 messages; the last one was due/);
});
