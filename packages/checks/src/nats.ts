import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { addressFields, loginFields, oneLine, tlsFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { failed } from './net/failure.ts';
import { printable } from './net/lines.ts';
import type { Session } from './net/session.ts';
import { Ended, stop, type Taken } from './net/talk.ts';

/** Settings of `nats`: without a subject the greeting and an answered PING are enough. */
export const natsSettings = lazily(() =>
  z
    .strictObject({
      ...addressFields(),
      ...tlsFields(),
      /**
       * `auto`: TLS where the greeting of the server offers it. `starttls`: TLS behind the greeting or a failure, as `tls://` says too.
       * `implicit`: TLS from the first byte on (`handshake_first`). `none`: no TLS.
       */
      tls: z.enum(['none', 'auto', 'starttls', 'implicit']).default('auto'),
      ...loginFields(),
      /** A token in place of a user name. */
      token: oneLine(8192).optional(),
      /** A user JWT, which `nkey_seed` signs for. */
      jwt: oneLine(16_384).optional(),
      /** The seed of an NKey (`SU…`). */
      nkey_seed: z
        .string()
        .regex(/^SU[A-Z2-7]{56}$/, 'The seed of a user NKey begins with SU and has 58 characters.')
        .optional(),
      /** A message is published here and has to come back. */
      subject: z
        .string()
        .max(255)
        .regex(/^[^\s.*>\p{Cc}]+(?:\.[^\s.*>\p{Cc}]+)*$/u, 'A subject has no spaces and no wildcards.')
        .optional(),
    })
    .refine((all) => [all.username, all.token, all.nkey_seed].filter((each) => each !== undefined).length <= 1, {
      message: 'Give a user name, a token or an NKey, not several of them.',
      path: ['token'],
    })
    .refine((all) => all.jwt === undefined || all.nkey_seed !== undefined, {
      message: 'A JWT needs the seed of its NKey.',
      path: ['jwt'],
    }),
);
export type NatsSettings = z.infer<ReturnType<typeof natsSettings>>;

/** A NATS server: greeting, authentication, PING, and a message out and back. Other servers that it names are not visited. */
export const nats = conversation({
  type: 'nats',
  summary: 'A NATS server: authentication, publish and receive',
  reference: {
    targets: ['nats://nats.example.com', 'nats.example.com:4222'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: { server_name: 'Name of the server.', version: 'Its version.', jetstream: 'Whether it has JetStream.' },
  },
  settings: natsSettings,
  secretFields: ['token', 'jwt', 'nkey_seed'],
  peer: 'a NATS server',
  codes: { breach: 'broker_protocol', closed: 'broker_closed' },
  maxBytes: 4 * 1024 * 1024,
  target: { plain: { nats: 4222 }, secure: { tls: 4222 }, secureBy: 'starttls' },
  talk,
});

/** The client protocol of NATS (docs.nats.io, "NATS Protocol"): lines of text, and counted bytes after MSG. */
async function talk(session: Session, settings: NatsSettings): Promise<void> {
  await session.open();
  const { trace, userAgent } = session.context;
  const greeting = await nextControl(session);
  const info = greeting.verb === 'INFO' ? parseInfo(greeting.rest) : undefined;
  if (info === undefined) session.breach('It did not greet with INFO.');
  session.note('server_name', info.server_name ?? '');
  session.note('version', info.version ?? '');
  session.note('jetstream', info.jetstream === true);
  if (!session.isSecure) await secure(session, info);

  session.say(`CONNECT ${JSON.stringify(await credentials(info, settings, userAgent))}\r\nPING\r\n`);
  await untilPong(session);
  trace?.('login', 'accepted');
  if (settings.subject === undefined) return;
  const text = randomUUID();
  session.say(`SUB ${settings.subject} 1\r\nPUB ${settings.subject} ${text.length}\r\n${text}\r\nPING\r\n`);
  let came = false;
  // A server hands a message to its own client before it answers the PING behind it.
  for (;;) {
    const control = await nextControl(session);
    if (control.verb === 'PONG') break;
    if (control.verb === 'MSG' && control.payload === text) came = true;
    else answerOrRefuse(session, control);
  }
  if (!came) stop('broker_message', `The message on ${settings.subject} did not come back.`);
  trace?.('message', `came back on ${settings.subject}`);
}

/** TLS begins behind the greeting, without a word of the client. */
async function secure(session: Session, info: Info): Promise<void> {
  const isRequired = info.tls_required === true;
  if (session.tls === 'none') {
    if (isRequired) stop('broker_tls_required', 'The server takes connections with TLS only.');
    return;
  }
  if (isRequired || info.tls_available === true) return session.startTls();
  if (session.tls === 'starttls') stop('broker_tls_required', 'The server offers no TLS, but the monitor asks for it.');
}

async function untilPong(session: Session): Promise<void> {
  for (;;) {
    const control = await nextControl(session);
    if (control.verb === 'PONG') return;
    answerOrRefuse(session, control);
  }
}

/** What may come at any time: PING is answered, INFO and foreign messages are passed over, an error ends the check. */
function answerOrRefuse(session: Session, control: Control): void {
  if (control.verb === 'PING') session.say('PONG\r\n');
  else if (control.verb === '-ERR') throw new Ended(refusal(control.rest, session.quote));
  else if (!['INFO', 'MSG', '+OK'].includes(control.verb)) session.breach('It sent something else than an answer.');
}

function refusal(text: string, quote: Session['quote']) {
  // First, since it names the subject, which may hold any word.
  if (/permissions violation/i.test(text))
    return failed('broker_denied', `The server does not allow this subject. ${quote(text)}`);
  if (/authoriz|authentic|user .*expired|revoked/i.test(text))
    return failed('broker_auth', `The server refused the credentials. ${quote(text)}`);
  if (/maximum (?:account )?(?:active )?connections|stale|slow/i.test(text))
    return failed('broker_unavailable', `The server takes no more connections. ${quote(text)}`);
  return failed('broker_protocol', `The server refused. ${quote(text)}`);
}

type Control = { readonly verb: string; readonly rest: string; readonly payload?: string };

/** More than any server sends in one line. */
const maxLine = 64 * 1024;
/** What servers take unless they are told otherwise: others may publish on the subject too. */
const maxPayload = 1024 * 1024;

function nextControl(session: Session): Promise<Control> {
  return session.hear('its next line', (bytes) => {
    const end = bytes.subarray(0, maxLine).indexOf('\r\n');
    if (end === -1) {
      if (bytes.length >= maxLine) session.breach('It sent a line without end.');
      if (!/^[+\-A-Za-z]/.test(bytes.toString('latin1', 0, 1))) session.breach('It sent no text.');
      return { need: maxLine, orByte: 0x0a };
    }
    const text = bytes.toString('utf8', 0, end);
    const [verb = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(text)?.slice(1) ?? [];
    if (verb.toUpperCase() !== 'MSG') return { value: { verb: verb.toUpperCase(), rest }, used: end + 2 };
    return withPayload(session, bytes, end + 2, rest);
  });
}

function withPayload(session: Session, bytes: Buffer, from: number, rest: string): Taken<Control> {
  const size = Number(/(?:^|\s)(\d{1,9})\s*$/.exec(rest)?.[1] ?? Number.NaN);
  if (!(size <= maxPayload)) session.breach('It sent a message of an impossible length.');
  if (bytes.length < from + size + 2) return { need: from + size + 2 };
  return {
    value: { verb: 'MSG', rest, payload: bytes.toString('utf8', from, from + size) },
    used: from + size + 2,
  };
}

const infoSchema = lazily(() =>
  z.object({
    server_name: z.string().optional(),
    version: z.string().optional(),
    jetstream: z.boolean().optional(),
    tls_required: z.boolean().optional(),
    tls_available: z.boolean().optional(),
    nonce: z.string().optional(),
  }),
);

type Info = z.infer<ReturnType<typeof infoSchema>>;

function parseInfo(text: string): Info | undefined {
  try {
    return infoSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function credentials(info: Info, settings: NatsSettings, userAgent: string) {
  const common = { verbose: false, pedantic: false, lang: 'typescript', version: '1', protocol: 1, echo: true };
  const named = { ...common, name: printable(userAgent, 100) };
  if (settings.token !== undefined) return { ...named, auth_token: settings.token };
  if (settings.username !== undefined) return { ...named, user: settings.username, pass: settings.password ?? '' };
  if (settings.nkey_seed === undefined) return named;
  // Loaded when it is needed: most monitors have a user name.
  const { fromSeed } = await import('@nats-io/nkeys');
  const pair = fromSeed(Buffer.from(settings.nkey_seed));
  const signature = Buffer.from(pair.sign(Buffer.from(info.nonce ?? ''))).toString('base64url');
  const key = settings.jwt === undefined ? { nkey: pair.getPublicKey() } : { jwt: settings.jwt };
  pair.clear();
  return { ...named, ...key, sig: signature };
}
