import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { changeCipherSpec, clientHello, isServerGenuine, serverHelloLength, unwrap, wrap } from './mtproxy/fake-tls.ts';
import { obfuscate } from './mtproxy/obfuscation.ts';
import { question, readAnswer } from './mtproxy/question.ts';
import { type MtproxySecret, readSecret } from './mtproxy/secret.ts';
import { addressFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed, timedOut } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { Ended, type Taken } from './net/talk.ts';

/** Settings of `mtproxy`. */
const mtproxySettings = lazily(() =>
  z
    .strictObject({
      /**
       * The secret of the proxy's link in hexadecimal digits or base64: 16 bytes, `dd` and 16 bytes, or `ee`, 16 bytes and a host name;
       * absent: a proxy without one.
       */
      secret: z
        .string()
        .max(1000)
        .refine(
          (text) => readSecret(text) !== undefined,
          'A secret is 16 bytes, dd and 16 bytes, or ee, 16 bytes and a host name.',
        )
        .optional(),
      /** `telegram`: a question goes through the proxy to Telegram and back; `handshake`: the proxy has to prove that it knows the secret. */
      depth: z.enum(['telegram', 'handshake']).default('telegram'),
      /** The data centre of Telegram that is asked. */
      dc: z.int().min(1).max(5).default(2),
      ...addressFields(),
    })
    .refine((all) => all.depth === 'telegram' || readSecret(all.secret ?? '')?.disguise === 'tls', {
      message: 'Only a proxy with a secret that begins with ee proves itself in a handshake.',
      path: ['depth'],
    }),
);
export type MtproxySettings = z.infer<ReturnType<typeof mtproxySettings>>;

/** A proxy of Telegram: it knows the secret and forwards. */
export const mtproxy = conversation({
  type: 'mtproxy',
  summary: 'A Telegram proxy (MTProxy): secret, answer of Telegram',
  reference: {
    targets: ['proxy.example.com:443'],
    phases: ['dns', 'connect', 'first_byte'],
    details: { disguise: 'How the traffic is disguised.', dc: 'Data centre of Telegram that was asked.' },
  },
  settings: mtproxySettings,
  secretFields: ['secret'],
  peer: 'an MTProxy',
  codes: 'mtproxy_protocol',
  target: { plain: { mtproxy: 443 } },
  talk: async (session, settings) => {
    const secret = secretOf(settings);
    session.note('disguise', secret.disguise);
    session.note('dc', settings.dc);
    await session.open();
    if (secret.disguise === 'tls') {
      await session.inPlaceOfTls(() => greet(session, secret));
      session.context.trace?.('mtproxy', 'the proxy proved that it knows the secret');
      if (settings.depth === 'handshake') return;
    }
    await askTelegram(session, secret, settings.dc);
    session.context.trace?.('mtproxy', `data centre ${settings.dc} of Telegram answered`);
  },
});

function secretOf(settings: MtproxySettings): MtproxySecret {
  if (settings.secret === undefined) return { key: Buffer.alloc(0), disguise: 'plain', domain: '' };
  const secret = readSecret(settings.secret);
  if (secret === undefined) throw new Error('The secret was not validated.');
  return secret;
}

/** The handshake that looks like TLS 1.3. Whoever does not know the secret gets the answer of the web site that the proxy stands in front of. */
async function greet(session: Session, secret: MtproxySecret): Promise<void> {
  const hello = clientHello(secret, nowMs(session) / 1000);
  session.say(hello.bytes);
  const records = await session.hear('its answer to the handshake', (bytes): Taken<Buffer> => {
    const length = serverHelloLength(bytes);
    if (length === 'other') return { failure: notMtproxy(session) };
    return length === undefined ? undefined : { value: bytes.subarray(0, length), used: length };
  });
  if (isServerGenuine(records, hello.random, secret)) return;
  session.fail(
    'mtproxy_secret',
    `${session.where} did not prove that it knows the secret: the secret is wrong, or this is no MTProxy.`,
  );
}

/** Starts a key exchange with Telegram through the proxy, which takes no account and leaves nothing behind. */
async function askTelegram(session: Session, secret: MtproxySecret, dc: number): Promise<void> {
  const { header, encrypt, decrypt } = obfuscate(secret, dc);
  const nonce = randomBytes(16);
  const asked = encrypt(question(nonce, nowMs(session), secret.disguise !== 'plain'));
  const first = Buffer.concat([header, asked]);
  session.say(secret.disguise === 'tls' ? Buffer.concat([changeCipherSpec, wrap(first)]) : first);
  let received = Buffer.alloc(0);
  for (;;) {
    const heard = await hearData(session, secret);
    received = Buffer.concat([received, decrypt(Buffer.from(heard))]);
    const answer = readAnswer(received, nonce);
    if (answer === undefined) continue;
    if (answer.kind === 'error')
      session.fail('mtproxy_protocol', `Telegram answered through ${session.where} with the error ${answer.code}.`);
    if (answer.kind !== 'good') session.demand(notMtproxy(session));
    return;
  }
}

/** The next data of the proxy as they are encrypted. */
async function hearData(session: Session, secret: MtproxySecret): Promise<Buffer> {
  try {
    return await session.hear('an answer of Telegram', (bytes): Taken<Buffer> => {
      if (secret.disguise !== 'tls') return { value: bytes, used: bytes.length };
      const record = unwrap(bytes);
      if (record === 'other') return { failure: notMtproxy(session) };
      return record && { value: record.data, used: record.used };
    });
  } catch (error) {
    if (error instanceof Ended) session.demand(unanswered(error.failure, session));
    throw error;
  }
}

function nowMs({ context }: Session): number {
  return (context.wallClock ?? Date.now)();
}

function notMtproxy({ where }: Session): Failure {
  return failed('mtproxy_protocol', `${where} did not answer as an MTProxy does, or knows another secret.`);
}

/** A proxy turns a wrong secret away by closing or by silence, and does the same when Telegram cannot be reached from it. */
function unanswered(failure: Failure, { where }: Session): Failure {
  const reasons = 'the secret may be wrong, or the proxy cannot reach Telegram';
  if (failure.code === 'response_timeout')
    return timedOut('response_timeout', `No answer of Telegram came through ${where} in time: ${reasons}.`);
  if (failure.code === 'connect_reset')
    return failed('mtproxy_secret', `${where} closed the connection without an answer: ${reasons}.`);
  return failure;
}
