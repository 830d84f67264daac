import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { Test } from 'tap';
import { listen } from './context.ts';

/** Answers one request whose body has come. */
export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A web server on loopback for the time of a test, with TLS where it is given a certificate. */
export async function site(t: Test, handler: Handler, secure?: ServerOptions) {
  const take = (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.on('data', (piece) => {
      body += String(piece);
    });
    request.on('end', () => handler(request, response, body));
  };
  const peer = await listen(secure === undefined ? createServer(take) : createSecureServer(secure, take));
  t.teardown(peer.stop);
  const scheme = secure === undefined ? 'http' : 'https';
  return { ...peer, url: (path = '/') => `${scheme}://127.0.0.1:${peer.port}${path}` };
}
