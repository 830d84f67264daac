import net from 'node:net';

/** `answered`: it accepted or refused a connection, so somebody is there. `unreachable`: the system knows no way to it. */
export type Knock = 'answered' | 'unreachable' | 'silent';

/** Tries one TCP connection and ends it at once; never rejects. */
export function knock(host: string, port: number, timeoutMs: number): Promise<Knock> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const done = (result: Knock): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => done('silent'), timeoutMs);
    socket.once('connect', () => done('answered'));
    socket.on('error', (error: NodeJS.ErrnoException) => done(fromError(error.code)));
  });
}

function fromError(code: string | undefined): Knock {
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return 'answered';
  const hasNoWay = code === 'ENETUNREACH' || code === 'EHOSTUNREACH' || code === 'ENETDOWN' || code === 'EHOSTDOWN';
  return hasNoWay ? 'unreachable' : 'silent';
}
