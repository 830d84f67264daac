import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import packet from 'dns-packet';
import type { Answer } from 'dns-packet';

/** A name server of a test whose answers change from question to question. */
export type FickleNameServer = {
  readonly server: string;
  /** Questions for addresses so far. */
  readonly asked: () => number;
  readonly stop: () => Promise<void>;
};

/**
 * Answers each question for addresses of a name with the next of its lists, with no time to live. The question for IPv4 addresses takes the next
 * list, that for IPv6 ones the same list again. What is no address in a list is an alias (CNAME), whose addresses follow it.
 */
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
    const count = counts.get(name) ?? 0;
    if (question?.type === 'A') counts.set(name, count + 1);
    const turn = question?.type === 'A' ? count : Math.max(0, count - 1);
    const answers = answersOf(name, turns[turn % turns.length] ?? [], question?.type);
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

function answersOf(asked: string, list: readonly string[], type: string | undefined): Answer[] {
  let name = asked;
  return list.flatMap((data): Answer[] => {
    const family = isIP(data);
    if (family === 0) {
      const alias: Answer = { type: 'CNAME', name, ttl: 0, data };
      name = data;
      return [alias];
    }
    if (family === 4 && type === 'A') return [{ type: 'A', name, ttl: 0, data }];
    if (family === 6 && type === 'AAAA') return [{ type: 'AAAA', name, ttl: 0, data }];
    return [];
  });
}
