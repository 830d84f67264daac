import type { Taken } from '../net/talk.ts';

/** Control packets of MQTT 3.1.1 and 5, as much of them as a check says and hears (section 2 and 3 of both standards). */
export type Version = '3.1.1' | '5';

/** What a broker says. A code below 128 is a good one, but for those of CONNACK in 3.1.1, where only 0 is. */
export type Packet =
  | { readonly kind: 'connack' | 'disconnect'; readonly code: number }
  | { readonly kind: 'suback' | 'puback' | 'pubrec' | 'pubrel' | 'pubcomp'; readonly id: number; readonly code: number }
  | { readonly kind: 'publish'; readonly qos: number; readonly id: number; readonly payload: Buffer }
  | { readonly kind: 'other' };

const types = {
  connect: 0x10,
  connack: 0x20,
  publish: 0x30,
  puback: 0x40,
  pubrec: 0x50,
  pubrel: 0x62,
  pubcomp: 0x70,
  subscribe: 0x82,
  suback: 0x90,
  pingresp: 0xd0,
  disconnect: 0xe0,
} as const;

/** The most that a length of four bytes of seven bits can say ends here. */
const lengthBytes = 4;

/** A reader of packets; gives `broken` for bytes that no broker sends. */
export function readPacket(version: Version): (received: Buffer) => Taken<Packet | 'broken'> {
  return (received) => {
    const first = received[0] ?? 0;
    const broken = { value: 'broken', used: received.length } as const;
    if (!isSaidByBrokers(first, version)) return broken;
    let length = 0;
    let at = 1;
    for (;;) {
      const byte = received[at];
      if (byte === undefined) return at > lengthBytes ? broken : { need: at + 1 };
      length += (byte & 0x7f) * 2 ** (7 * (at - 1));
      at += 1;
      if (byte < 0x80) break;
      if (at > lengthBytes) return broken;
    }
    const end = at + length;
    if (received.length < end) return { need: end };
    return { value: packetOf(first, received.subarray(at, end), version) ?? 'broken', used: end };
  };
}

function isSaidByBrokers(first: number, version: Version): boolean {
  if ((first & 0xf0) === types.publish) return (first & 0x06) !== 0x06;
  if (first === types.disconnect) return version === '5';
  const fixed: readonly number[] = [
    types.connack,
    types.puback,
    types.pubrec,
    types.pubrel,
    types.pubcomp,
    types.suback,
    types.pingresp,
  ];
  return fixed.includes(first);
}

/** A packet by its first byte and what stands behind its length; undefined for one that is cut short. */
function packetOf(first: number, body: Buffer, version: Version): Packet | undefined {
  if ((first & 0xf0) === types.publish) return publishOf((first >> 1) & 3, body, version);
  const code = body[2] ?? 0;
  switch (first) {
    case types.connack:
      return body.length < 2 ? undefined : { kind: 'connack', code: body[1] ?? 0 };
    case types.disconnect:
      return { kind: 'disconnect', code: body[0] ?? 0 };
    case types.suback: {
      if (body.length < 3) return undefined;
      const codes = behindProperties(body, 2, version);
      return codes?.[0] === undefined ? undefined : { kind: 'suback', id: body.readUInt16BE(0), code: codes[0] };
    }
    case types.pingresp:
      return { kind: 'other' };
    default: {
      if (body.length < 2) return undefined;
      const kinds = { [types.puback]: 'puback', [types.pubrec]: 'pubrec', [types.pubrel]: 'pubrel' } as const;
      const kind = (kinds as Readonly<Record<number, 'puback' | 'pubrec' | 'pubrel'>>)[first] ?? 'pubcomp';
      return { kind, id: body.readUInt16BE(0), code };
    }
  }
}

function publishOf(qos: number, body: Buffer, version: Version): Packet | undefined {
  if (body.length < 2) return undefined;
  const topicEnd = 2 + body.readUInt16BE(0);
  const at = qos === 0 ? topicEnd : topicEnd + 2;
  if (body.length < at) return undefined;
  const payload = behindProperties(body, at, version);
  return payload && { kind: 'publish', qos, id: qos === 0 ? 0 : body.readUInt16BE(topicEnd), payload };
}

/** What stands behind the properties that MQTT 5 has there; undefined when they are longer than the packet. */
function behindProperties(body: Buffer, from: number, version: Version): Buffer | undefined {
  if (version !== '5') return body.subarray(from);
  let length = 0;
  for (let at = from; at < from + lengthBytes; at++) {
    const byte = body[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * (at - from));
    if (byte < 0x80) return at + 1 + length > body.length ? undefined : body.subarray(at + 1 + length);
  }
  return undefined;
}

export type Connect = {
  readonly clientId: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
};

/** The first packet: a clean session without a keepalive, since it ends soon. */
export function connect(version: Version, { clientId, username, password }: Connect): Buffer {
  const flags = 0x02 | (username === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40);
  return packet(
    types.connect,
    text('MQTT'),
    Buffer.from([version === '5' ? 5 : 4, flags, 0, 0]),
    noProperties(version),
    text(clientId),
    username === undefined ? nothing : text(username),
    password === undefined ? nothing : text(password),
  );
}

export function subscribe(version: Version, id: number, topic: string, qos: number): Buffer {
  return packet(types.subscribe, short(id), noProperties(version), text(topic), Buffer.from([qos]));
}

export function publish(version: Version, id: number, topic: string, qos: number, payload: string): Buffer {
  const number = qos === 0 ? nothing : short(id);
  return packet(types.publish | (qos << 1), text(topic), number, noProperties(version), Buffer.from(payload));
}

/** One of the packets by which a message is confirmed. */
export function confirm(kind: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp', id: number): Buffer {
  return packet(types[kind], short(id));
}

export const disconnect = Buffer.from([types.disconnect, 0]);

const nothing = Buffer.alloc(0);

function noProperties(version: Version): Buffer {
  return version === '5' ? Buffer.alloc(1) : nothing;
}

function packet(first: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = [first];
  let rest = body.length;
  do {
    head.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from(head), body]);
}

function short(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([short(bytes.length), bytes]);
}
