import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { confirm, connect, disconnect, type Packet, publish, readPacket, subscribe } from './mqtt/packets.ts';
import { addressFields, directTls, loginFields, oneLine, tlsFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed, timedOut } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';

/** Settings of `mqtt`: without a topic an accepted connection is enough. */
export const mqttSettings = lazily(() =>
  z.strictObject({
    ...addressFields(),
    ...tlsFields(),
    ...directTls(),
    ...loginFields(),
    /** The version of MQTT that is spoken. */
    version: z.enum(['3.1.1', '5']).default('3.1.1'),
    /** Who the check says it is; absent: a new name for each check. */
    client_id: oneLine(64).optional(),
    /** A message is published here and has to come back. */
    topic: oneLine(1024)
      .regex(/^[^+#]+$/, 'A topic has no wildcards.')
      .optional(),
    /** How surely that message is delivered: at most once, at least once, exactly once. */
    qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(1),
  }),
);
export type MqttSettings = z.infer<ReturnType<typeof mqttSettings>>;

/** An MQTT broker: connection, authentication, and a message out and back. */
export const mqtt = conversation({
  type: 'mqtt',
  summary: 'An MQTT broker: authentication, publish and receive',
  reference: {
    targets: ['mqtts://broker.example.com', 'mqtt://broker.example.com', 'broker.example.com:1883'],
    settings: { topic: 'health/parallax' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: { version: 'Version of MQTT that was spoken.' },
  },
  settings: mqttSettings,
  peer: 'an MQTT broker',
  codes: { breach: 'broker_protocol', closed: 'broker_closed' },
  target: { plain: { mqtt: 1883, tcp: 1883 }, secure: { mqtts: 8883, ssl: 8883 } },
  // Section 3.1.2.9 of 3.1.1; brokers end the connection without a word.
  problem: (_to, { version, username, password }) =>
    version === '3.1.1' && password !== undefined && username === undefined
      ? 'MQTT 3.1.1 has no password without a user name; give one, or choose version 5.'
      : undefined,
  talk: async (session, settings) => {
    await session.open();
    session.note('version', settings.version);
    await logIn(session, settings);
    const { topic } = settings;
    if (topic !== undefined) await roundTrip(session, settings, topic);
    session.say(disconnect);
  },
});

async function logIn(session: Session, settings: MqttSettings): Promise<void> {
  const { version, username, password } = settings;
  const clientId = settings.client_id ?? `parallax-${randomUUID().slice(0, 13)}`;
  session.say(connect(version, { clientId, username, password }));
  const answer = await hear(session, settings, 'an answer of MQTT');
  if (answer.kind !== 'connack') session.breach('It sent another packet than CONNACK.');
  if (answer.code !== 0) throw new Ended(refusal(answer.code));
  session.context.trace?.('login', 'accepted');
}

async function hear(session: Session, settings: MqttSettings, waitingFor: string): Promise<Packet> {
  const packet = await session.hear(waitingFor, readPacket(settings.version));
  if (packet === 'broken') session.breach('It sent something else than packets.');
  if (packet.kind === 'disconnect') throw new Ended(refusal(packet.code));
  return packet;
}

const subscribeId = 1;
const publishId = 2;

/** Subscribes, publishes, and waits for the message to come back. What others say on the topic meanwhile is confirmed and passed over. */
async function roundTrip(session: Session, settings: MqttSettings, topic: string): Promise<void> {
  const { version, qos } = settings;
  session.say(subscribe(version, subscribeId, topic, qos));
  for (;;) {
    const packet = await hear(session, settings, 'an answer of MQTT');
    if (packet.kind === 'suback' && packet.id === subscribeId) {
      if (packet.code < failureCode) break;
      stop('broker_denied', `The broker does not allow a subscription to ${topic} (${reason(packet.code)}).`);
    }
    confirmed(session, packet);
  }
  const text = randomUUID();
  session.say(publish(version, publishId, topic, qos, text));
  try {
    for (;;) {
      const packet = await hear(session, settings, 'the message');
      if ((packet.kind === 'puback' || packet.kind === 'pubrec') && packet.code >= failureCode)
        stop('broker_denied', `The broker does not take a message on ${topic} (${reason(packet.code)}).`);
      confirmed(session, packet);
      if (packet.kind === 'publish' && packet.payload.toString('utf8') === text) break;
    }
  } catch (error) {
    if (error instanceof Ended && error.failure.code === 'response_timeout')
      throw new Ended(timedOut('broker_message', `The message on ${topic} did not come back in time.`));
    throw error;
  }
  session.context.trace?.('message', `came back on ${topic}`);
}

/** Says what is due for a packet (section 4.3 of both standards). */
function confirmed(session: Session, packet: Packet): void {
  if (packet.kind === 'publish' && packet.qos > 0)
    session.say(confirm(packet.qos === 1 ? 'puback' : 'pubrec', packet.id));
  else if (packet.kind === 'pubrec') session.say(confirm('pubrel', packet.id));
  else if (packet.kind === 'pubrel') session.say(confirm('pubcomp', packet.id));
  else if (packet.kind === 'connack') session.breach('It sent CONNACK again.');
}

/** From here on the codes of an answer tell of a failure. */
const failureCode = 0x80;

/** Names of the codes that brokers use most: 1 to 5 of MQTT 3.1.1, the others of MQTT 5. */
const reasons = new Map([
  [0x01, 'unacceptable protocol version'],
  [0x02, 'identifier rejected'],
  [0x03, 'server unavailable'],
  [0x04, 'bad user name or password'],
  [0x05, 'not authorized'],
  [0x80, 'unspecified error'],
  [0x81, 'malformed packet'],
  [0x82, 'protocol error'],
  [0x84, 'unsupported protocol version'],
  [0x85, 'client identifier not valid'],
  [0x86, 'bad user name or password'],
  [0x87, 'not authorized'],
  [0x88, 'server unavailable'],
  [0x89, 'server busy'],
  [0x8a, 'banned'],
  [0x8b, 'server shutting down'],
  [0x8c, 'bad authentication method'],
  [0x8e, 'session taken over'],
  [0x8f, 'topic filter invalid'],
  [0x90, 'topic name invalid'],
  [0x97, 'quota exceeded'],
  [0x9b, 'quality of service not supported'],
  [0x9c, 'use another server'],
  [0x9d, 'server moved'],
  [0x9f, 'connection rate exceeded'],
]);

function reason(code: number): string {
  return reasons.get(code) ?? `code ${code}`;
}

/**
 * What a broker says that does not go on. CONNACK carries return codes 1 to 5 in MQTT 3.1.1 (section 3.2.2.3), reason codes from 128 on in
 * MQTT 5 (section 3.2.2.2), and so does DISCONNECT there.
 */
function refusal(code: number): Failure {
  const said = `It said "${reason(code)}".`;
  switch (code) {
    case 4:
    case 5:
    case 0x86:
    case 0x87:
    case 0x8a:
    case 0x8c:
      return failed('broker_auth', `The broker refused the credentials. ${said}`);
    case 3:
    case 0x88:
    case 0x89:
    case 0x8b:
    case 0x97:
    case 0x9f:
      return failed('broker_unavailable', `The broker takes no connections now. ${said}`);
    case 1:
    case 0x84:
      return failed('broker_protocol', `The broker does not speak this version of MQTT. ${said}`);
    default:
      return failed('broker_denied', `The broker refused the connection. ${said}`);
  }
}
