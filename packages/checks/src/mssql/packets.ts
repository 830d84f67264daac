import { maxResultBytes } from '../data/expectation.ts';
import { type Failure, failed } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { stop, type Taken } from '../net/talk.ts';

/** Packets of TDS 7.4, the protocol of SQL Server (MS-TDS 2.2.3), and the messages that a client sends. */

export const packetType = { batch: 0x01, answer: 0x04, login: 0x10, prelogin: 0x12 } as const;
export const encryption = { off: 0, on: 1, notSupported: 2, required: 3 } as const;

const headBytes = 8;
const maxPacket = 4096;
const endOfMessage = 1;
const tdsVersion = 0x74000004;
const readOnlyIntent = 0x20;

/** A message in packets of at most 4,096 bytes. */
export function packets(type: number, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  const room = maxPacket - headBytes;
  for (let at = 0, id = 1; at === 0 || at < body.length; at += room, id++) {
    const piece = body.subarray(at, at + room);
    const head = Buffer.from([type, at + room >= body.length ? endOfMessage : 0, 0, 0, 0, 0, id & 0xff, 0]);
    head.writeUInt16BE(headBytes + piece.length, 2);
    parts.push(head, piece);
  }
  return Buffer.concat(parts);
}

type Packet = { readonly last: boolean; readonly body: Buffer };

function readPacket(received: Buffer): Taken<Packet> {
  if (received[0] !== packetType.answer) return { failure: foreign() };
  if (received.length < headBytes) return { need: headBytes };
  const length = received.readUInt16BE(2);
  if (length < headBytes) return { failure: foreign() };
  if (received.length < length) return { need: length };
  const last = ((received[1] ?? 0) & endOfMessage) !== 0;
  return { value: { last, body: received.subarray(headBytes, length) }, used: length };
}

/** The next whole message of the server, at most 1 MiB. */
export async function takeMessage(session: Session, waitingFor: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const next = await session.hear(waitingFor, readPacket);
    parts.push(next.body);
    bytes += next.body.length;
    if (bytes > maxResultBytes) stop('db_result_too_large', `The result has more than ${maxResultBytes} bytes.`);
    // Packets without content would never come to an end.
    if (!next.last && next.body.length === 0) stop('db_protocol', 'The server sends packets without content.');
    if (next.last) return Buffer.concat(parts);
  }
}

export function foreign(): Failure {
  return failed('db_protocol', 'The server does not speak the protocol of SQL Server.');
}

/** PRELOGIN with a version and what the client wants of encryption. */
export function prelogin(wanted: number): Buffer {
  const version = [0x00, 0, 11, 0, 6];
  const protection = [0x01, 0, 17, 0, 1];
  return packets(packetType.prelogin, Buffer.from([...version, ...protection, 0xff, 0, 0, 0, 0, 0, 0, wanted]));
}

/** What the server wants of encryption; undefined for something else than an answer to PRELOGIN. */
export function encryptionOf(body: Buffer): number | undefined {
  for (let at = 0; at + 5 <= body.length && body[at] !== 0xff; at += 5)
    if (body[at] === 0x01) return body[body.readUInt16BE(at + 1)];
  return undefined;
}

export type Login = {
  readonly username: string;
  readonly password: string;
  readonly database: string;
  readonly server: string;
  /** The session declares that it only reads, for which an availability group may have servers of its own. */
  readonly isReadOnly: boolean;
};

/** LOGIN7: a fixed part, places and lengths of texts, then the texts in UTF-16. */
export function login7(login: Login): Buffer {
  const fixed = Buffer.alloc(94);
  fixed.writeUInt32LE(tdsVersion, 4);
  fixed.writeUInt32LE(maxPacket, 8);
  // Errors of the database and the language are fatal; the settings of ODBC.
  fixed.set([0xe0, 0x03, login.isReadOnly ? readOnlyIntent : 0, 0], 24);
  const name = Buffer.from('parallax', 'utf16le');
  const texts = [
    name,
    Buffer.from(login.username, 'utf16le'),
    hidden(login.password),
    name,
    Buffer.from(login.server.slice(0, 128), 'utf16le'),
    Buffer.alloc(0),
    name,
    Buffer.alloc(0),
    Buffer.from(login.database, 'utf16le'),
  ];
  let at = fixed.length;
  for (const [index, text] of texts.entries()) {
    fixed.writeUInt16LE(at, 36 + index * 4);
    fixed.writeUInt16LE(text.length / 2, 38 + index * 4);
    at += text.length;
  }
  // Places of what is not sent.
  for (const place of [78, 82, 86]) fixed.writeUInt16LE(at, place);
  fixed.writeUInt32LE(at, 0);
  return packets(packetType.login, Buffer.concat([fixed, ...texts]));
}

/** How the protocol writes a password: it hides nothing from anybody. */
function hidden(password: string): Buffer {
  return Buffer.from(Buffer.from(password, 'utf16le').map((byte) => (((byte << 4) | (byte >> 4)) & 0xff) ^ 0xa5));
}

/** One batch of statements, outside of any transaction that the client began. */
export function batch(statements: string): Buffer {
  const headers = Buffer.alloc(22);
  headers.writeUInt32LE(22, 0);
  headers.writeUInt32LE(18, 4);
  headers.writeUInt16LE(2, 8);
  headers.writeUInt32LE(1, 18);
  return packets(packetType.batch, Buffer.concat([headers, Buffer.from(statements, 'utf16le')]));
}
