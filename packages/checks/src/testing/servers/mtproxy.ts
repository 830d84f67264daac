import { createDecipheriv, createHash, createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { listenRaw, type Peer } from '../context.ts';

/** The sixteen bytes that the proxy and its clients share. */
export const mtproxyKey = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');

export type MtproxyBehaviour = {
  readonly secret?: Buffer;
  /** The time that a client has to state, milliseconds since 1970; absent: that of the clock, to a minute. */
  readonly nowMs?: number;
  /** What it does instead of answering right. */
  readonly answer?: 'error' | 'other nonce' | 'close' | 'silent' | 'long';
  /** Sends the answer byte by byte. */
  readonly slow?: boolean;
  readonly proof?: 'none';
};

/** What it saw of its last client. */
export type MtproxySeen = { tag?: number; dc?: number; domain?: string; padding?: number };
export type Mtproxy = Peer & { readonly seen: MtproxySeen };

/** A proxy, written from Telegram's documentation of the transport, with a data centre of its own behind it. */
export async function startMtproxy(t: Test, behaviour: MtproxyBehaviour = {}): Promise<Mtproxy> {
  const seen: MtproxySeen = {};
  const peer = await listenRaw((socket) => {
    let received = Buffer.alloc(0);
    let greeted = false;
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece]);
      if (!greeted && received[0] === 0x16 && received.length >= 517) {
        greeted = true;
        greet(socket, received.subarray(0, 517));
        received = received.subarray(517);
      }
      if (greeted && received.length < 6 + 5 + 64) return;
      if (greeted && received.subarray(0, 9).toString('hex') !== '140303000101170303') return socket.destroy();
      const stream = greeted ? received.subarray(11) : received;
      if (stream.length >= 64 + 44) forward(socket, stream, greeted);
    });
  });
  t.teardown(peer.stop);
  const secret = behaviour.secret ?? mtproxyKey;

  const isTimely = (seconds: number) =>
    behaviour.nowMs === undefined ? Math.abs(seconds - Date.now() / 1000) < 60 : seconds === behaviour.nowMs / 1000;

  function greet(socket: Socket, hello: Buffer) {
    seen.domain = /www[.a-z]+/.exec(hello.toString('latin1'))?.[0] ?? '';
    const random = hello.subarray(11, 43);
    const expected = createHmac('sha256', secret)
      .update(Buffer.from(hello).fill(0, 11, 43))
      .digest();
    const proven = expected.subarray(0, 28).equals(random.subarray(0, 28));
    const time = (expected.readUInt32LE(28) ^ random.readUInt32LE(28)) >>> 0;
    const reply = Buffer.concat([
      Buffer.from('160303007a020000760303', 'hex'),
      Buffer.alloc(32),
      Buffer.alloc(127 - 43, 7),
      Buffer.from('140303000101', 'hex'),
      Buffer.from([0x17, 3, 3, 0, 200]),
      Buffer.alloc(200, 9),
    ]);
    const valid = proven && isTimely(time) && hello.length === 517;
    if (valid && behaviour.proof !== 'none')
      createHmac('sha256', secret).update(random).update(reply).digest().copy(reply, 11);
    socket.write(reply);
  }

  function forward(socket: Socket, stream: Buffer, wrapped: boolean) {
    const header = stream.subarray(0, 64);
    const cipher = (bytes: Buffer) =>
      createDecipheriv(
        'aes-256-ctr',
        createHash('sha256').update(bytes.subarray(8, 40)).update(secret).digest(),
        bytes.subarray(40, 56),
      );
    const clear = cipher(header).update(stream);
    seen.tag = clear.readUInt32LE(56);
    seen.dc = clear.readInt16LE(60);
    const length = clear.readUInt32LE(64);
    const message = clear.subarray(68, 68 + length);
    if (behaviour.answer === 'close' || message.readUInt32LE(20) !== 0xbe7e8ef1) return socket.destroy();
    if (behaviour.answer === 'silent') return;
    seen.padding = message.length - 40;
    const answer = Buffer.alloc(20 + 4 + 32 + 30);
    answer.writeUInt32LE(66, 16);
    answer.writeUInt32LE(0x05162463, 20);
    message.copy(answer, 24, 24, 40);
    if (behaviour.answer === 'other nonce') answer.writeUInt8((answer[24] ?? 0) ^ 1, 24);
    const error = Buffer.alloc(4);
    error.writeInt32LE(-404);
    const packet = behaviour.answer === 'error' ? error : answer;
    const size = Buffer.alloc(4);
    size.writeUInt32LE(behaviour.answer === 'long' ? 1_000_000 : packet.length);
    const backwards = cipher(Buffer.from(header).reverse());
    const sealed = backwards.update(Buffer.concat([size, packet]));
    const parts =
      behaviour.slow === true ? [sealed.subarray(0, 2), sealed.subarray(2, 30), sealed.subarray(30)] : [sealed];
    for (const part of parts)
      socket.write(wrapped ? Buffer.concat([Buffer.from([0x17, 3, 3, 0, part.length]), part]) : part);
  }
  return { ...peer, seen };
}
