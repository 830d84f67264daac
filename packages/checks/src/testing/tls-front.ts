import type { Socket } from 'node:net';
import tls from 'node:tls';
import { ber, berInteger, berTags } from '../net/ber.ts';
import { listenRaw, type Peer } from './context.ts';

/**
 * The beginning of a protocol in the clear, as a server speaks it, up to the point where TLS begins: `secure` is called with what has come
 * of the handshake already.
 */
export type Preamble = (socket: Socket, secure: (begun: Buffer) => void) => void;

/** Preambles of the protocols that change to TLS on a connection that began without, by what the change is called there. */
export const preambles = {
  smtp: inLines('220 hello', (line) => (/^STARTTLS/i.test(line) ? ['220 go'] : '250-hello\r\n250 STARTTLS')),
  imap: inLines('* OK hello', (line) => {
    const tag = line.split(' ')[0];
    return /STARTTLS/i.test(line) ? [`${tag} OK go`] : `* CAPABILITY IMAP4rev1 STARTTLS\r\n${tag} OK done`;
  }),
  pop3: inLines('+OK hello', (line) => (/^STLS/i.test(line) ? ['+OK go'] : '+OK\r\nSTLS\r\n.')),
  ftp: inLines('220 hello', (line) => (/^AUTH TLS/i.test(line) ? ['234 go'] : '500 what')),
  // The server says at once that it wants TLS, and the client begins.
  nats: (socket, secure) => {
    socket.write('INFO {"server_id":"a","version":"2.10.0","max_payload":1000,"tls_required":true}\r\n');
    socket.once('data', (begun) => secure(begun));
  },
  postgres: (socket, secure) => {
    socket.once('data', () => {
      secure(Buffer.alloc(0));
      socket.write('S');
    });
  },
  // A greeting of version 10 that offers TLS; the client's request has 36 bytes, and the handshake may come with it.
  mysql: (socket, secure) => {
    const rest = Buffer.alloc(31);
    rest[8] = 21;
    const greeting = Buffer.concat([
      Buffer.from('\x0a8.0.36\0'),
      Buffer.from([1, 0, 0, 0]),
      Buffer.from('abcdefgh\0'),
      Buffer.from([0xff, 0xff, 45, 2, 0, 0xff, 0xff, 21]),
      Buffer.alloc(10),
      Buffer.from('ijklmnopqrst\0mysql_native_password\0'),
    ]);
    socket.write(Buffer.concat([Buffer.from([greeting.length, 0, 0, 0]), greeting]));
    socket.once('data', (bytes) => secure(bytes.subarray(36)));
  },
  ldap: (socket, secure) => {
    socket.once('data', () => {
      secure(Buffer.alloc(0));
      const result = [ber(berTags.enumerated, Buffer.from([0])), ber(0x04, ''), ber(0x04, '')];
      socket.write(ber(berTags.sequence, berInteger(1), ber(0x78, ...result)));
    });
  },
} as const satisfies Readonly<Record<string, Preamble>>;

/** A protocol of lines; an answer in brackets is the consent to TLS. */
function inLines(greeting: string, answer: (line: string) => string | readonly [string]): Preamble {
  return (socket, secure) => {
    socket.write(`${greeting}\r\n`);
    const hear = (piece: Buffer) => {
      for (const line of piece.toString('latin1').split('\r\n').filter(Boolean)) {
        const said = answer(line);
        if (typeof said === 'string') {
          socket.write(`${said}\r\n`);
          continue;
        }
        socket.off('data', hear);
        secure(Buffer.alloc(0));
        socket.write(`${said[0]}\r\n`);
        return;
      }
    };
    socket.on('data', hear);
  };
}

/** A server that speaks a preamble, if there is one, shakes hands and then says nothing but goodbye. */
export async function openTlsFront(options: tls.TlsOptions, preamble?: Preamble): Promise<Peer> {
  const server = tls.createServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.end();
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return listenRaw((socket) => {
    const secure = (begun: Buffer) => {
      socket.pause();
      if (begun.length > 0) socket.unshift(begun);
      server.emit('connection', socket);
    };
    if (preamble === undefined) secure(Buffer.alloc(0));
    else preamble(socket, secure);
  });
}
