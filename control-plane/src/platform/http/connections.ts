import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from './client-address.ts';

export type ConnectionLimits = {
  /** Open connections of one IPv4 address or IPv6 /64. */
  readonly perAddress: number;
  /** Open connections in all; must stay well below the limit of open files. */
  readonly total: number;
};

/** A request whose answer is not whole yet. */
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** What the server knows of its open connections. */
export type Connections = {
  /** The requests of this connection whose answers are not whole yet, oldest first. */
  readonly exchanges: (socket: Socket) => readonly Exchange[];
};

/**
 * Caps connections. Where a client address has too many, its oldest one that is not being answered is cut for the new one, so
 * that connections left hanging do not shut out others behind the same address; when all are being answered, the new one is cut.
 * @param exempt addresses of trusted proxies, which speak for many
 */
export function capConnections(
  server: Server,
  limits: ConnectionLimits,
  exempt: (address: string) => boolean,
): Connections {
  const byNetwork = new Map<string, Set<Socket>>();
  const exchanges = new WeakMap<Socket, Exchange[]>();
  // A request that has not wholly arrived does not count: whoever is slow in sending gives way.
  const isAnswering = (socket: Socket): boolean =>
    exchanges.get(socket)?.some((exchange) => exchange.request.complete && isUnderWay(exchange)) === true;
  server.maxConnections = limits.total;
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (exempt(address)) return;
    const network = clientNetwork(address);
    const open = byNetwork.get(network) ?? new Set<Socket>();
    if (open.size >= limits.perAddress) {
      const oldest = [...open].find((candidate) => !isAnswering(candidate));
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      open.delete(oldest);
      oldest.destroy();
    }
    open.add(socket);
    byNetwork.set(network, open);
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0 && byNetwork.get(network) === open) byNetwork.delete(network);
    });
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const under = exchanges.get(socket);
    // Those that are over are looked for when the next one comes: to be told of each took a sixth of what an answer from memory costs.
    if (under === undefined) exchanges.set(socket, [{ request, response }]);
    else {
      removeAnswered(under);
      under.push({ request, response });
    }
  });
  return { exchanges: (socket) => (exchanges.get(socket) ?? []).filter(isUnderWay) };
}

const isUnderWay = ({ response }: Exchange): boolean => !response.closed;

function removeAnswered(exchanges: Exchange[]): void {
  let kept = 0;
  for (const exchange of exchanges) {
    if (!isUnderWay(exchange)) continue;
    exchanges[kept] = exchange;
    kept += 1;
  }
  exchanges.length = kept;
}
