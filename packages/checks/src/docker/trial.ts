import net from 'node:net';

/** Whether a socket of Docker can be opened from here. */
export type SocketTrial = {
  readonly path: string;
  /** `absent`: nobody listens there now; `forbidden`: this process may not open it. */
  readonly result: 'open' | 'absent' | 'forbidden';
};

/** Opens a socket and closes it again without a word. Takes some milliseconds, at most one second. */
export function tryDockerSocket(path: string): Promise<SocketTrial> {
  return new Promise((resolve) => {
    const socket = net.connect({ path });
    const settle = (result: SocketTrial['result']): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ path, result });
    };
    const timer = setTimeout(() => settle('absent'), 1000);
    socket.once('connect', () => settle('open'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'EACCES' || code === 'EPERM' ? 'forbidden' : 'absent'),
    );
  });
}
