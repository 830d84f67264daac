import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { apis, bytes, int16, int32, KafkaReader, text } from '../../kafka/wire.ts';
import { listenRaw, type Peer } from '../context.ts';

const list = (items: readonly Buffer[]) => Buffer.concat([int32(items.length), ...items]);
const ids = (count: number) => list(Array.from({ length: count }, (_, id) => int32(id)));

export type KafkaCluster = {
  readonly brokers?: number;
  readonly topicError?: number;
  readonly leaders?: readonly number[];
  readonly inSync?: number;
  readonly metadataVersions?: readonly [number, number];
  /** Users with their passwords; absent: no login is wanted. */
  readonly users?: Readonly<Record<string, string>>;
};

/** The side of a broker on one connection, written from the protocol's specification. */
export function speakKafka(socket: Socket, cluster: KafkaCluster): void {
  let rest = Buffer.alloc(0);
  let loggedIn = cluster.users === undefined;
  const sasl = saslServer(cluster.users ?? {});
  socket.on('data', (piece: Buffer) => {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= 4 && rest.length >= rest.readInt32BE(0) + 4) {
      const size = rest.readInt32BE(0);
      const request = new KafkaReader(rest.subarray(4, size + 4));
      rest = rest.subarray(size + 4);
      const [api, version, correlation] = [request.int16(), request.int16(), request.int32()];
      request.text();
      const answer = (...parts: Buffer[]) => {
        const body = Buffer.concat([int32(correlation), ...parts]);
        socket.write(Buffer.concat([int32(body.length), body]));
      };
      if (api === apis.apiVersions) {
        const [min, max] = cluster.metadataVersions ?? [0, 12];
        const known = list([Buffer.concat([int16(apis.metadata), int16(min), int16(max)])]);
        answer(int16(0), known);
      } else if (api === apis.saslHandshake) {
        const known = sasl.choose(request.text() ?? '');
        answer(int16(known ? 0 : 33), list([text('SCRAM-SHA-256'), text('PLAIN')]));
      } else if (api === apis.saslAuthenticate) {
        const step = sasl.step(request.bytes().toString());
        if (step.done) loggedIn = step.reply !== undefined;
        answer(int16(step.reply === undefined ? 58 : 0), text('Authentication failed'), bytes(step.reply ?? ''));
      } else if (!loggedIn) socket.end();
      else answer(...metadataOf(cluster, version, request));
    }
  });
}

function metadataOf(cluster: KafkaCluster, version: number, request: KafkaReader): Buffer[] {
  const asked = request.list((one) => one.text() ?? '');
  const partitions = (cluster.leaders ?? [0, 1]).map((leader, id) =>
    Buffer.concat([
      int16(0),
      int32(id),
      int32(leader),
      ...(version >= 7 ? [int32(9)] : []),
      ids(3),
      ids(cluster.inSync ?? 3),
      ...(version >= 5 ? [ids(0)] : []),
    ]),
  );
  const broker = (id: number) => Buffer.concat([int32(id), text('10.0.0.1'), int32(9092), int16(-1)]);
  const topics = asked.map((name) =>
    Buffer.concat([int16(cluster.topicError ?? 0), text(name), Buffer.from([0]), list(partitions)]),
  );
  const brokers = Array.from({ length: cluster.brokers ?? 3 }, (_, id) => broker(id));
  return [int32(0), list(brokers), text('the-cluster'), int32(1), list(topics)];
}

/** The server's side of PLAIN and of SCRAM-SHA-256 (RFC 5802). */
function saslServer(users: Readonly<Record<string, string>>) {
  const salt = Buffer.from('salt-of-the-test');
  let mechanism = '';
  let first = '';
  let challenge = '';
  const hmac = (key: Buffer, value: string) => createHmac('sha256', key).update(value).digest();
  const step = (message: string): { readonly done: boolean; readonly reply?: string } => {
    if (mechanism === 'PLAIN') {
      const [, user = '', password] = message.split('\0');
      return users[user] === password ? { done: true, reply: '' } : { done: true };
    }
    if (first === '') {
      first = message.slice(3);
      challenge = `${first.slice(first.indexOf('r='))}server,s=${salt.toString('base64')},i=4096`;
      return { done: false, reply: challenge };
    }
    const user = /n=([^,]*)/.exec(first)?.[1] ?? '';
    const salted = pbkdf2Sync(users[user] ?? 'nobody', salt, 4096, 32, 'sha256');
    const [unproven = '', proof = ''] = message.split(',p=');
    const signed = `${first},${challenge},${unproven}`;
    const stored = createHash('sha256').update(hmac(salted, 'Client Key')).digest();
    const signature = hmac(stored, signed);
    const key = Buffer.from(Buffer.from(proof, 'base64').map((byte, at) => byte ^ (signature[at] ?? 0)));
    if (!createHash('sha256').update(key).digest().equals(stored)) return { done: true };
    return { done: true, reply: `v=${hmac(hmac(salted, 'Server Key'), signed).toString('base64')}` };
  };
  const choose = (wanted: string) => {
    mechanism = wanted;
    return wanted === 'PLAIN' || wanted === 'SCRAM-SHA-256';
  };
  return { choose, step };
}

/** A cluster behind one broker. */
export async function startKafka(t: Test, cluster: KafkaCluster = {}): Promise<Peer> {
  const peer = await listenRaw((socket) => speakKafka(socket, cluster));
  t.teardown(peer.stop);
  return peer;
}
