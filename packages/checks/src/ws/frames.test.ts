import { randomBytes } from 'node:crypto';
import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { encodeFrame, FrameReader, opcodes, type Received } from './frames.ts';

/** Bytes written in hexadecimal digits, as the examples of RFC 6455, 5.7 have them. */
const hex = (text: string) => Buffer.from(text.replaceAll(/0x|\s/g, ''), 'hex');

function read(bytes: Buffer, pieceBytes = bytes.length): { all: Received[]; problem: string | undefined } {
  const all: Received[] = [];
  const reader = new FrameReader((received) => all.push(received));
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  return { all, problem: reader.problem };
}

/** A frame as a server writes it. */
function frame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.from([first, length]) : Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = first;
  if (length >= 65_536) head.writeBigUInt64BE(BigInt(length), 2);
  else if (length >= 126) head.writeUInt16BE(length, 2);
  if (length >= 126) head[1] = length < 65_536 ? 126 : 127;
  return Buffer.concat([head, payload]);
}

void t.test('the examples of RFC 6455 are read and written', async (t) => {
  t.same(read(hex('0x81 0x05 0x48 0x65 0x6c 0x6c 0x6f')).all, [{ kind: 'text', payload: Buffer.from('Hello') }]);
  t.same(read(hex('0x01 0x03 0x48 0x65 0x6c 0x80 0x02 0x6c 0x6f')).all, [
    { kind: 'text', payload: Buffer.from('Hello') },
  ]);
  t.same(read(hex('0x89 0x05 0x48 0x65 0x6c 0x6c 0x6f')).all, [{ kind: 'ping', payload: Buffer.from('Hello') }]);
  t.same(read(frame(0x82, Buffer.alloc(256))).all, [{ kind: 'binary', payload: Buffer.alloc(256) }]);
  t.same(read(frame(0x82, Buffer.alloc(65_536))).all, [{ kind: 'binary', payload: Buffer.alloc(65_536) }]);
  t.same(
    encodeFrame(opcodes.text, Buffer.from('Hello'), hex('37fa213d')),
    hex('0x81 0x85 0x37 0xfa 0x21 0x3d 0x7f 0x9f 0x4d 0x51 0x58'),
  );
  t.same(encodeFrame(opcodes.binary, Buffer.alloc(256), Buffer.alloc(4)).subarray(0, 4), hex('82fe0100'));
});

void t.test('pieces of any size give the same messages', async (t) => {
  const bytes = Buffer.concat([
    frame(0x01, Buffer.from('Grü')),
    frame(0x89, Buffer.from('ping')),
    frame(0x00, Buffer.alloc(0)),
    frame(0x80, Buffer.from('ße')),
    frame(0x82, randomBytes(70_000)),
    frame(0x88, Buffer.concat([hex('03e9'), Buffer.from('bye')])),
  ]);
  const whole = read(bytes);
  t.match(whole.all, [
    { kind: 'ping' },
    { kind: 'text', payload: Buffer.from('Grüße') },
    { kind: 'binary' },
    { kind: 'close', code: 1001, reason: 'bye' },
  ]);
  for (const size of [1, 2, 3, 7, 4096]) t.same(read(bytes, size), whole, `${size} bytes at a time`);
  // A character may lie across two fragments.
  t.match(read(Buffer.concat([frame(0x01, hex('c3')), frame(0x80, hex('bc'))])).all, [{ payload: Buffer.from('ü') }]);
});

void t.test('what breaks the rules ends it', async (t) => {
  const broken: Record<string, Buffer> = {
    'a mask': hex('818537fa213d7f9f4d5158'),
    'a reserved bit': hex('c100'),
    'an unknown kind': hex('8300'),
    'an unknown control frame': hex('8b00'),
    'a control frame in fragments': hex('0900'),
    'a long control frame': hex('897e0080'),
    'a length in a longer form': hex('827e0001'),
    'a length in the longest form': hex('827f0000000000000001'),
    'a continuation of nothing': hex('8000'),
    'a new message inside another': hex('01008100'),
    'a message that is too long': hex('827f0000000000100001'),
    'a length beyond all numbers': hex('827fffffffffffffffff'),
    'text that is not UTF-8': hex('8101ff'),
    'a close frame of one byte': hex('880103'),
    'a reason that is not UTF-8': hex('880303e8ff'),
    'fragments that are too long together': Buffer.concat([
      frame(0x02, Buffer.alloc(1024 * 1024)),
      frame(0x80, Buffer.alloc(1)),
    ]),
    'fragments without end': Buffer.concat(
      Array.from({ length: 1002 }, (_, at) => hex(at === 0 ? '020100' : '000100')),
    ),
  };
  for (const [what, bytes] of Object.entries(broken)) {
    t.type(read(bytes).problem, 'string', what);
    t.type(read(bytes, 1).problem, 'string', `${what}, byte by byte`);
  }
  t.equal(read(hex('8800')).problem, undefined, 'a close frame may be empty');
});

void t.test('whatever comes, reading it neither throws nor takes long', async (t) => {
  const took = await processorMs(() => {
    for (let round = 0; round < 2000; round += 1) read(randomBytes(200), 1 + (round % 50));
    read(Buffer.alloc(1024 * 1024), 1000);
  });
  t.ok(took < 2000);
});
