import { createSocket } from 'node:dgram';
import type { Test } from 'tap';
import type { Running } from './running.ts';

type Datagram = Buffer | string;

/** A peer of UDP on loopback that says what `answer` gives to each datagram. */
export async function startDatagrams(
  t: Test,
  answer: (bytes: Buffer) => Datagram | readonly Datagram[] | undefined,
): Promise<Running> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => {
    for (const each of [answer(bytes) ?? []].flat()) socket.send(each, from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= new Promise<void>((resolve) => socket.close(() => resolve())));
  t.teardown(stop);
  const { port } = socket.address();
  return { port, url: `127.0.0.1:${port}`, stop };
}
