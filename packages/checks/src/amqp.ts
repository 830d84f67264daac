import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import {
  contentFrames,
  type FieldReader,
  type Frame,
  long,
  longText,
  methodFrame,
  methods,
  octet,
  parseFrame,
  protocolHeader,
  short,
  shortText,
  table,
} from './amqp/frames.ts';
import { addressFields, directTls, loginFields, oneLine, tlsFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import { printable } from './net/lines.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';

/** Settings of `amqp`. */
export const amqpSettings = lazily(() =>
  z.strictObject({
    ...addressFields(),
    ...tlsFields(),
    ...directTls(),
    /** The user to log in as; brokers take `guest` from their own machine only. */
    username: oneLine(256).default('guest'),
    /** The password of the user; absent: `guest`. */
    password: loginFields().password,
    /** The virtual host that is opened. */
    vhost: oneLine(255).default('/'),
    /** Publishes a message to a queue of its own, which ends with the connection, and gets it back. */
    round_trip: z.boolean().default(true),
    /** A queue that has to exist. */
    queue: oneLine(255).optional(),
    /** More waiting messages in that queue than these fail the check. */
    max_messages: z.int().min(0).max(4_294_967_295).optional(),
    /** Fewer consumers of that queue than these fail the check. */
    min_consumers: z.int().min(0).max(100_000).default(0),
  }),
);
export type AmqpSettings = z.infer<ReturnType<typeof amqpSettings>>;

/** A broker of AMQP 0-9-1, such as RabbitMQ: login, a message out and back, and the state of a queue. */
export const amqp = conversation({
  type: 'amqp',
  summary: 'An AMQP 0-9-1 broker: login, publish and get, queue length',
  reference: {
    targets: ['amqp://broker.example.com', 'amqps://broker.example.com', 'broker.example.com:5672'],
    settings: { username: 'probe', password: '…' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      product: 'Name of the broker software.',
      version: 'Its version.',
      cluster: 'Name of the cluster.',
      messages: 'Messages that wait in the queue.',
      consumers: 'Consumers of the queue.',
    },
  },
  settings: amqpSettings,
  peer: 'an AMQP 0-9-1 broker',
  codes: { breach: 'broker_protocol', closed: 'broker_closed' },
  target: { plain: { amqp: 5672 }, secure: { amqps: 5671 } },
  talk: async (session, settings) => {
    await session.open();
    await logIn(session, settings);
    if (settings.queue !== undefined) await lookAtQueue(session, settings.queue, settings);
    if (settings.round_trip) await roundTrip(session);
    session.say(methodFrame(0, methods.close, short(200), shortText('done'), short(0), short(0)));
  },
});

/** From the protocol header to an open channel 1 (sections 1.4 and 1.5 of the reference). */
async function logIn(session: Session, settings: AmqpSettings): Promise<void> {
  session.say(protocolHeader);
  const start = await answer(session, methods.start);
  start.octet();
  start.octet();
  const server = start.table();
  const mechanisms = start.longText().split(' ');
  session.note('product', server.get('product') ?? '');
  session.note('version', server.get('version') ?? '');
  session.note('cluster', server.get('cluster_name') ?? '');
  if (!mechanisms.includes('PLAIN'))
    stop('broker_auth', `The broker has no login by password. ${session.quote(mechanisms.join(' '))}`);
  const client = table({ product: printable(session.context.userAgent, 100) }, ['authentication_failure_close']);
  const response = longText(`\0${settings.username}\0${settings.password ?? 'guest'}`);
  session.say(methodFrame(0, methods.startOk, client, shortText('PLAIN'), response, shortText('en_US')));
  const tune = await answer(session, methods.tune);
  tune.short();
  const frameMax = tune.long();
  session.say(methodFrame(0, methods.tuneOk, short(1), long(Math.min(frameMax || 131_072, 131_072)), short(0)));
  session.say(methodFrame(0, methods.open, shortText(settings.vhost), shortText(''), octet(0)));
  await answer(session, methods.openOk);
  session.say(methodFrame(1, methods.channelOpen, shortText('')));
  await answer(session, methods.channelOpenOk);
  session.context.trace?.('login', 'accepted');
}

const passive = 1;
const exclusive = 4;
const autoDelete = 8;

function declare(name: string, flags: number): Buffer {
  return methodFrame(1, methods.queueDeclare, short(0), shortText(name), octet(flags), table({}));
}

async function lookAtQueue(session: Session, queue: string, settings: AmqpSettings): Promise<void> {
  session.say(declare(queue, passive));
  const declared = await answer(session, methods.queueDeclareOk);
  declared.shortText();
  const messages = declared.long();
  const consumers = declared.long();
  session.note('messages', messages);
  session.note('consumers', consumers);
  if (settings.max_messages !== undefined && messages > settings.max_messages)
    stop('broker_topic', `The queue ${queue} holds ${messages} messages, more than ${settings.max_messages}.`);
  if (consumers < settings.min_consumers)
    stop('broker_topic', `The queue ${queue} has ${consumers} consumers, fewer than ${settings.min_consumers}.`);
}

async function roundTrip(session: Session): Promise<void> {
  session.say(declare('', exclusive | autoDelete));
  const queue = (await answer(session, methods.queueDeclareOk)).shortText();
  const text = randomUUID();
  session.say(
    Buffer.concat([
      methodFrame(1, methods.publish, short(0), shortText(''), shortText(queue), octet(0)),
      contentFrames(1, Buffer.from(text)),
      methodFrame(1, methods.get, short(0), shortText(queue), octet(1)),
    ]),
  );
  const got = await nextFrame(session);
  if (got.kind === 'method' && got.method === methods.getEmpty) lost();
  fieldsOf(session, got, methods.getOk);
  const header = await nextFrame(session);
  if (header.kind !== 'header') session.breach('It sent a message without a header.');
  const pieces: Buffer[] = [];
  for (let left = header.bodySize; left > 0; ) {
    const body = await nextFrame(session);
    if (body.kind !== 'body' || body.bytes.length === 0) session.breach('It sent a message without its body.');
    pieces.push(body.bytes);
    left -= body.bytes.length;
  }
  if (Buffer.concat(pieces).toString('utf8') !== text) lost();
  session.context.trace?.('message', 'came back');
}

function lost(): never {
  stop('broker_message', 'The message that was published did not come back.');
}

/** The arguments of the method that has to come next. */
async function answer(session: Session, method: number): Promise<FieldReader> {
  return fieldsOf(session, await nextFrame(session), method);
}

function fieldsOf(session: Session, frame: Frame, method: number): FieldReader {
  if (frame.kind !== 'method') session.breach('It sent content where a method was due.');
  if (frame.method === methods.close || frame.method === methods.channelClose) {
    const code = frame.fields.short();
    // Until the broker tunes the connection only the login can be refused; later its words may be names of queues.
    throw new Ended(refusal(code, frame.fields.shortText(), session.quote, method === methods.tune));
  }
  if (frame.method !== method) session.breach('It sent another method than the one that was due.');
  return frame.fields;
}

async function nextFrame(session: Session): Promise<Frame> {
  for (;;) {
    const frame = await session.hear('a frame', (bytes) => {
      if (bytes.subarray(0, 4).toString('latin1') === 'AMQP' && bytes.length >= 8)
        session.breach(`It speaks version ${bytes[5]}-${bytes[6]}-${bytes[7]} only.`);
      if (bytes.length < 8 && protocolHeader.subarray(0, 4).equals(bytes.subarray(0, 4))) return { need: 8 };
      const parsed = parseFrame(bytes);
      if (parsed === 'broken') session.breach('It sent something else than frames.');
      return parsed;
    });
    if (frame.kind !== 'heartbeat') return frame;
  }
}

/** What the code with which a broker closes says (section 1.8 of the reference). */
function refusal(code: number, text: string, quote: Session['quote'], isLogin: boolean): Failure {
  const said = quote(text);
  switch (code) {
    case 403:
      return isLogin
        ? failed('broker_auth', `The broker refused the credentials. ${said}`)
        : failed('broker_denied', `The broker does not allow this. ${said}`);
    case 404:
    case 405:
      return failed('broker_topic', `The queue cannot be looked at. ${said}`);
    case 530:
      return failed('broker_denied', `The broker does not allow this virtual host. ${said}`);
    case 311:
    case 313:
    case 320:
    case 506:
    case 541:
      return failed('broker_unavailable', `The broker cannot serve now (code ${code}). ${said}`);
    default:
      return failed('broker_protocol', `The broker closed the connection with code ${code}. ${said}`);
  }
}
