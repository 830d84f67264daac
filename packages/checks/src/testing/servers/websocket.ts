import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Test } from 'tap';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { listen, type Peer } from '../context.ts';
import type { ServerCertificate } from './running.ts';

export type WebSocketSite = Peer & {
  readonly sockets: WebSocketServer;
  /** The address of a path, with the scheme that fits. */
  readonly url: (path?: string) => string;
};

/** The server of the package ws, with TLS where it is given a certificate; `handler` gets each connection. */
export async function startWebSocket(
  t: Test,
  handler: (socket: WebSocket) => void,
  options: ServerOptions = {},
  certificate?: ServerCertificate,
): Promise<WebSocketSite> {
  const web = certificate === undefined ? createServer() : createSecureServer(certificate);
  const peer = await listen(web);
  const sockets = new WebSocketServer({ server: web, ...options });
  sockets.on('connection', handler);
  t.teardown(peer.stop);
  const scheme = certificate === undefined ? 'ws' : 'wss';
  return { ...peer, sockets, url: (path = '/') => `${scheme}://127.0.0.1:${peer.port}${path}` };
}
