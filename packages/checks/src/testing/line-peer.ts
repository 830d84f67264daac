import net from 'node:net';
import tls from 'node:tls';
import type { Test } from 'tap';
import { listen, type Peer } from './context.ts';

/** One side of a scripted conversation of lines. */
export type LinePeer = Peer & {
  /** Every line that came, over all connections. */
  readonly heard: readonly string[];
};

export type LineScript = {
  /** Said at once. */
  readonly greeting?: string;
  /** What is said to a line; undefined says nothing, `'tls'` as the second value shakes hands after saying it. */
  readonly answer: (line: string) => string | readonly [string, 'tls' | 'close'] | undefined;
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Shakes hands before the greeting. */
  readonly implicitTls?: boolean;
};

/** A server of a line protocol written from its specification; ends with the test. */
export async function linePeer(t: Test, script: LineScript): Promise<LinePeer> {
  const heard: string[] = [];
  const talk = (socket: net.Socket) => {
    let rest = '';
    const say = (text: string) => void socket.write(text.replaceAll(/\r?\n/g, '\r\n'));
    const hear = (piece: Buffer) => {
      rest += piece.toString('utf8');
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end).replace(/\r$/, '');
        rest = rest.slice(end + 1);
        heard.push(line);
        const answer = script.answer(line);
        if (answer === undefined) continue;
        if (typeof answer === 'string') {
          say(answer);
          continue;
        }
        say(answer[0]);
        if (answer[1] === 'close') return socket.end();
        socket.off('data', hear);
        return talk(secured(socket));
      }
    };
    socket.on('data', hear).on('error', () => undefined);
  };
  const secured = (socket: net.Socket) => {
    const server = new tls.TLSSocket(socket, { isServer: true, ...script.certificate });
    server.on('error', () => undefined);
    return server;
  };
  const peer = await listen(
    net.createServer((plain) => {
      const socket = script.implicitTls === true ? secured(plain) : plain;
      talk(socket);
      if (script.greeting !== undefined) socket.write(script.greeting.replaceAll(/\r?\n/g, '\r\n'));
    }),
  );
  t.teardown(peer.stop);
  return { ...peer, heard };
}
