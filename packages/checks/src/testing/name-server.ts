import { createSocket } from 'node:dgram';
import packet from 'dns-packet';

/** A name server of a test whose answers change from question to question. */
export type FickleNameServer = {
  readonly server: string;
  /** Questions for addresses so far. */
  readonly asked: () => number;
  readonly stop: () => Promise<void>;
};

/** Answers each question for IPv4 addresses of a name with the next of its lists of addresses, with no time to live. */
export async function answerInTurns(
  turnsOf: (name: string) => readonly (readonly string[])[],
): Promise<FickleNameServer> {
  const counts = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { id, questions = [] } = packet.decode(query);
    const [question] = questions;
    const name = question?.name ?? '';
    const turns = turnsOf(name);
    const count = question?.type === 'A' ? (counts.get(name) ?? 0) : 0;
    if (question?.type === 'A') counts.set(name, count + 1);
    const addresses = question?.type === 'A' ? (turns[count % turns.length] ?? []) : [];
    const answers = addresses.map((data) => ({ type: 'A' as const, name, ttl: 0, data }));
    const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
    socket.send(packet.encode({ type: 'response', id, flags, questions, answers }), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked: () => [...counts.values()].reduce((sum, each) => sum + each, 0),
    stop: () => new Promise<void>((resolve) => void socket.close(() => resolve())),
  };
}
