import type { Socket } from 'node:net';
import type { CheckContext } from '../check.ts';

const maxBytes = 4 * 1024;

export type Heard = { readonly firstByteUs: number; readonly text: string };

/** What comes over a connection within some milliseconds, up to 4 KiB; undefined for nothing. The caller destroys the socket. */
export function firstBytes(socket: Socket, withinMs: number, context: CheckContext): Promise<Heard | undefined> {
  const start = context.clock();
  const pieces: Buffer[] = [];
  let length = 0;
  let firstByteUs: number | undefined;
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', settle);
      socket.off('data', take).off('close', settle).off('end', settle);
      const text = Buffer.concat(pieces).subarray(0, maxBytes).toString('utf8').replaceAll('\0', '\ufffd');
      resolve(firstByteUs === undefined ? undefined : { firstByteUs, text });
    };
    const take = (piece: Buffer): void => {
      firstByteUs ??= Math.round((context.clock() - start) * 1000);
      pieces.push(piece);
      length += piece.length;
      if (length >= maxBytes) settle();
    };
    const timer = setTimeout(settle, withinMs);
    if (context.signal.aborted) return settle();
    context.signal.addEventListener('abort', settle);
    socket.on('data', take).on('close', settle).on('end', settle);
  });
}
