import type { Socket } from 'node:net';
import type { StopSignal } from '../stop.ts';

/** So long a goodbye may take after the verdict. */
const goodbyeMs = 100;

/** Gives the other side, which was told goodbye, a moment to answer or close. */
export function awaitGoodbye(socket: Socket, signal: StopSignal): Promise<void> {
  return new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, goodbyeMs);
    signal.addEventListener('abort', done);
    socket.once('data', done).once('end', done).once('close', done);
    socket.resume();
  });
}
