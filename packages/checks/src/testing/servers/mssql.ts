import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Test } from 'tap';
import { WrappedHandshake } from '../../mssql/handshake.ts';
import { listenRaw, type Peer } from '../context.ts';

export type MssqlOptions = {
  readonly key: string;
  readonly cert: string;
  /** What the server says about encryption: 0 off, 1 on, 2 not supported, 3 required. */
  readonly encryption?: number;
  /** Tokens that answer a login: the user name, the password and the database that came, and whether the session only reads. */
  readonly login: (username: string, password: string, database: string, isReadOnly: boolean) => Buffer;
  /** Tokens that answer a batch, by its text. */
  readonly batch?: (statements: string) => Buffer;
};

const done = Buffer.from([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** The server's side of TDS 7.4 as MS-TDS describes it: PRELOGIN, TLS inside of it, LOGIN7, batches. */
export async function startMssql(t: Test, options: MssqlOptions): Promise<Peer> {
  const peer = await listenRaw((socket) => {
    const offered = options.encryption ?? 1;
    hear(socket, (type, body, speaker) => {
      if (type === 0x12) {
        const wanted = wantedOf(body);
        send(speaker, Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, offered]));
        if (wanted !== 1 || offered === 2) return;
        socket.removeAllListeners('data');
        const wrapped = new WrappedHandshake(socket);
        // As SQL Server before 2022; TLS 1.3 goes on with records of its own after the handshake.
        const secureContext = tls.createSecureContext({ key: options.key, cert: options.cert, maxVersion: 'TLSv1.2' });
        const secure = new tls.TLSSocket(wrapped.asSocket(), { isServer: true, secureContext });
        secure.on('error', () => socket.destroy());
        // The server ends the handshake, so that whatever comes from the client shows that it is over.
        secure.once('data', () => wrapped.unwrap());
        hear(secure, (kind, content, inside) => answer(kind, content, inside, options));
        return;
      }
      answer(type, body, speaker, options);
    });
  });
  t.teardown(peer.stop);
  return peer;
}

/** What a client wants of encryption: one of the options that stand in a list of places and lengths. */
function wantedOf(body: Buffer): number {
  let at = 0;
  while (body[at] !== 1 && body[at] !== 0xff) at += 5;
  return body[at] === 1 ? (body[body.readUInt16BE(at + 1)] ?? 0) : 0;
}

function answer(type: number, body: Buffer, speaker: Socket, options: MssqlOptions): void {
  if (type === 0x10) {
    const text = (at: number) => {
      const from = body.readUInt16LE(at);
      return body.subarray(from, from + body.readUInt16LE(at + 2) * 2);
    };
    const password = Buffer.from(
      text(44).map((byte) => {
        const plain = byte ^ 0xa5;
        return ((plain << 4) | (plain >> 4)) & 0xff;
      }),
    );
    const [username, database] = [text(40).toString('utf16le'), text(68).toString('utf16le')];
    const isReadOnly = ((body[26] ?? 0) & 0x20) !== 0;
    send(speaker, options.login(username, password.toString('utf16le'), database, isReadOnly));
  }
  if (type === 0x01) {
    const statements = body.subarray(body.readUInt32LE(0)).toString('utf16le');
    send(speaker, Buffer.concat([options.batch?.(statements) ?? Buffer.alloc(0), done]));
  }
}

/** Gives whole messages of a connection. */
function hear(socket: Socket, take: (type: number, body: Buffer, speaker: Socket) => void): void {
  let waiting = Buffer.alloc(0);
  let message: Buffer[] = [];
  socket.on('data', (piece: Buffer) => {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= 8 && waiting.length >= waiting.readUInt16BE(2)) {
      const packet = waiting.subarray(0, waiting.readUInt16BE(2));
      waiting = waiting.subarray(packet.length);
      message.push(packet.subarray(8));
      if (((packet[1] ?? 0) & 1) === 0) continue;
      const whole = Buffer.concat(message);
      message = [];
      take(packet[0] ?? 0, whole, socket);
    }
  });
}

/** Sends tokens in packets of at most 512 bytes, so that reading has to put them together. */
function send(socket: Socket, tokens: Buffer): void {
  for (let at = 0; at < tokens.length; at += 504) {
    const piece = tokens.subarray(at, at + 504);
    const head = Buffer.from([0x04, at + 504 >= tokens.length ? 1 : 0, 0, 0, 0, 0, 1, 0]);
    head.writeUInt16BE(8 + piece.length, 2);
    socket.write(Buffer.concat([head, piece]));
  }
}

/** Tokens by name, for the scripts of tests. */
export const mssqlTokens = {
  done,
  error: (number: number, text: string) => {
    const fixed = Buffer.alloc(6);
    fixed.writeInt32LE(number, 0);
    return sized(0xaa, Buffer.concat([fixed, shortText(text), Buffer.from([0, 0, 1, 0, 0, 0])]));
  },
  welcome: () => {
    const name = Buffer.from('Microsoft SQL Server', 'utf16le');
    const version = Buffer.from([1, 0x74, 0, 0, 4, name.length / 2]);
    return Buffer.concat([sized(0xad, Buffer.concat([version, name, Buffer.from([16, 0, 0x10, 0x04])])), done]);
  },
  routing: () => sized(0xe3, Buffer.from([20, 0, 0, 0, 0])),
  /** One result of one column: what describes its type, and each value with its length. */
  result: (type: readonly number[], values: readonly Buffer[]) =>
    Buffer.concat([
      Buffer.from([0x81, 1, 0, 0, 0, 0, 0, 0, 0, ...type, 1, 0x63, 0]),
      ...values.flatMap((value) => [Buffer.from([0xd1]), value]),
    ]),
};

function sized(type: number, content: Buffer): Buffer {
  const head = Buffer.from([type, 0, 0]);
  head.writeUInt16LE(content.length, 1);
  return Buffer.concat([head, content]);
}

function shortText(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(text.length);
  return Buffer.concat([length, Buffer.from(text, 'utf16le')]);
}
