import { sendPings } from './client.ts';

// The clients in a process of their own, so that what they do is not mixed with what is measured.
process.once('message', (message: { port: number; paths: string[]; options: Parameters<typeof sendPings>[2] }) => {
  void answer(message);
});

async function answer(message: { port: number; paths: string[]; options: Parameters<typeof sendPings>[2] }) {
  const load = await sendPings(message.port, message.paths, message.options);
  // Once it is sent: an end of the channel takes with it what is longer than the pipe.
  process.send?.(load, undefined, undefined, () => process.disconnect());
}
