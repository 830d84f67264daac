import { z } from 'zod';
import { lazily } from './lazily.ts';
import { addressLiteral, base64, mailFields, mailSecrets, plainMessage, secure } from './mail/settings.ts';
import { loginIsWhole } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { parseHost, plainHost } from './net/host.ts';
import type { Reply } from './net/lines.ts';
import { hearReply, textOf } from './net/replies.ts';
import type { Session } from './net/session.ts';

/** Settings of `smtp`. */
export const smtpSettings = lazily(() =>
  z
    .strictObject({
      ...mailFields(),
      /** How the password is sent; `auto`: PLAIN where it is offered, else LOGIN. */
      login_method: z.enum(['auto', 'plain', 'login']).default('auto'),
      /** Name that the probe calls itself by; absent: its address in brackets (RFC 5321, 4.1.4). */
      helo_name: z
        .string()
        .max(253)
        .refine((name) => parseHost(name).kind === 'name', 'A name to greet with is a host name.')
        .optional(),
    })
    .refine(...loginIsWhole),
);
export type SmtpSettings = z.infer<ReturnType<typeof smtpSettings>>;

const replies = { code: 'mail_protocol', protocol: 'SMTP', freely: false } as const;

/** A mail server that takes mail (RFC 5321): greeting, EHLO, STARTTLS (RFC 3207) or TLS from the start, login (RFC 4954). Sends no mail. */
export const smtp = conversation({
  type: 'smtp',
  summary: 'An SMTP server: greeting, STARTTLS or TLS, login',
  reference: {
    targets: ['mail.example.com', 'smtps://mail.example.com', 'submission://mail.example.com'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      features: 'Extensions that the server offers.',
      login: 'How the login was done.',
    },
  },
  settings: smtpSettings,
  peer: 'an SMTP server',
  codes: replies.code,
  target: {
    plain: { smtp: 25, submission: 587 },
    secure: { smtps: 465, submissions: 465 },
    implicitPorts: [465],
  },
  purpose: () => ({ mail: true }),
  secrets: mailSecrets,
  talk: async (session, settings) => {
    await session.open();
    const greeting = await hearReply(session, 'its greeting', replies);
    if (greeting.code !== 220) refused(session, 'does not serve', greeting);
    session.greeted(greeting.lines.join(' '));
    session.goodbye = 'QUIT';
    let features = await hello(session, settings);
    const secured = await secure(session, settings, features.has('STARTTLS'), async () => {
      const answer = await command(session, 'STARTTLS');
      return { agreed: answer.code === 220, text: textOf(answer) };
    });
    if (secured) features = await hello(session, settings);
    session.note('features', [...features.keys()].join(' '));
    if (settings.username !== undefined) await login(session, settings, features);
  },
});

/** Names of the extensions that a server has, with their parameters in capitals. */
type Features = ReadonlyMap<string, readonly string[]>;

async function hello(session: Session, settings: SmtpSettings): Promise<Features> {
  const name = settings.helo_name === undefined ? addressLiteral(session) : plainHost(settings.helo_name);
  const answer = await command(session, `EHLO ${name}`);
  if (answer.code === 250) {
    const features = new Map<string, readonly string[]>();
    for (const line of answer.lines.slice(1)) {
      // Some servers write AUTH=LOGIN, beside or instead of AUTH LOGIN.
      const [feature = '', ...parameters] = line
        .trim()
        .toUpperCase()
        .split(/[\s=]+/);
      features.set(feature, [...(features.get(feature) ?? []), ...parameters]);
    }
    return features;
  }
  if (answer.code < 500) refused(session, 'refused EHLO', answer);
  const older = await command(session, `HELO ${name}`);
  if (older.code !== 250) refused(session, 'refused EHLO and HELO', older);
  return new Map();
}

async function login(session: Session, settings: SmtpSettings, features: Features): Promise<void> {
  const { username = '', password = '', login_method: wanted } = settings;
  const offered = features.get('AUTH') ?? [];
  const isPlain =
    wanted === 'plain' || (wanted === 'auto' && (offered.includes('PLAIN') || !offered.includes('LOGIN')));
  const method = isPlain ? 'PLAIN' : 'LOGIN';
  if (!offered.includes(method)) {
    const known = offered.length === 0 ? 'no login at all' : offered.join(', ');
    session.fail('mail_login', `The server does not offer the login ${method} but ${session.show(known)}.`);
  }
  let answer: Reply;
  if (isPlain) {
    const message = plainMessage(username, password);
    answer = await command(session, `AUTH PLAIN ${message}`, 'AUTH PLAIN …');
    // A server may ask for the message although it came along.
    if (answer.code === 334) answer = await command(session, message, '…');
  } else {
    answer = await command(session, 'AUTH LOGIN');
    if (answer.code === 334) answer = await command(session, base64(username), '…');
    if (answer.code === 334) answer = await command(session, base64(password), '…');
  }
  if (answer.code === 235) return session.note('login', method);
  if (answer.code < 500 && answer.code >= 400) refused(session, 'could not check the login', answer);
  session.fail('mail_login', `The server refused the login: "${session.show(textOf(answer))}".`);
}

function command(session: Session, line: string, shown = line): Promise<Reply> {
  session.sayLine(line, shown);
  return hearReply(session, `an answer to ${shown.split(' ')[0] ?? shown}`, replies);
}

function refused(session: Session, what: string, reply: Reply): never {
  return session.fail('mail_unavailable', `The server ${what}: "${session.show(textOf(reply))}".`);
}
