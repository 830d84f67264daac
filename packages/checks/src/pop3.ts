import { z } from 'zod';
import { lazily } from './lazily.ts';
import { mailFields, mailSecrets, plainMessage, secure } from './mail/settings.ts';
import { loginIsWhole } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { lineReader, maxReplyLines } from './net/lines.ts';
import type { Session } from './net/session.ts';

/** Settings of `pop3`. */
export const pop3Settings = lazily(() =>
  z
    .strictObject({
      ...mailFields(),
      /** How the password is sent; `auto`: the commands USER and PASS where they are offered, else AUTH PLAIN. */
      login_method: z.enum(['auto', 'user', 'plain']).default('auto'),
    })
    .refine(...loginIsWhole),
);
export type Pop3Settings = z.infer<ReturnType<typeof pop3Settings>>;

/** A mailbox server (RFC 1939): greeting, capabilities (RFC 2449), STLS (RFC 2595) or TLS from the start, login. Fetches no mail. */
export const pop3 = conversation({
  type: 'pop3',
  summary: 'A POP3 server: greeting, STLS or TLS, login',
  reference: {
    targets: ['pop3s://mail.example.com', 'mail.example.com:110'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      capabilities: 'What the server can do.',
      login: 'How the login was done.',
    },
  },
  settings: pop3Settings,
  peer: 'a POP3 server',
  codes: 'mail_protocol',
  target: { plain: { pop3: 110 }, secure: { pop3s: 995 }, implicitPorts: [995] },
  secrets: mailSecrets,
  talk: async (session, settings) => {
    await session.open();
    const greeting = await hear(session, 'its greeting');
    if (greeting.status === '+') session.fail('mail_protocol', 'The answer is not POP3.');
    if (greeting.status === '-ERR') {
      session.fail('mail_unavailable', `The server does not serve: "${session.show(greeting.text)}".`);
    }
    session.greeted(greeting.text);
    session.goodbye = 'QUIT';
    let capabilities = await capabilitiesOf(session);
    const secured = await secure(session, settings, capabilities.has('STLS'), async () => {
      const answer = await command(session, 'STLS');
      return { agreed: answer.status === '+OK', text: answer.text };
    });
    if (secured) capabilities = await capabilitiesOf(session);
    session.note('capabilities', [...capabilities.keys()].join(' '));
    if (settings.username !== undefined) await login(session, settings, capabilities);
  },
});

type Capabilities = ReadonlyMap<string, readonly string[]>;

/** What the server can do; nothing when it is older than RFC 2449. */
async function capabilitiesOf(session: Session): Promise<Capabilities> {
  const answer = await command(session, 'CAPA');
  const found = new Map<string, readonly string[]>();
  if (answer.status !== '+OK') return found;
  for (let count = 0; count <= maxReplyLines; count += 1) {
    const line = await session.hear('its capabilities', lineReader('mail_protocol'));
    if (line === '.') return found;
    const [name = '', ...parameters] = line.trim().toUpperCase().split(/\s+/);
    found.set(name, parameters);
  }
  return session.fail('mail_protocol', `An answer of more than ${maxReplyLines} lines came.`);
}

async function login(session: Session, settings: Pop3Settings, capabilities: Capabilities): Promise<void> {
  const { username = '', password = '', login_method: wanted } = settings;
  const offersPlain = capabilities.get('SASL')?.includes('PLAIN') === true;
  // A server without capabilities knows USER; one that names its capabilities without it wants SASL.
  const isUser = wanted === 'user' || (wanted === 'auto' && (capabilities.has('USER') || !offersPlain));
  if (!isUser && !offersPlain) session.fail('mail_login', 'The server does not offer the login PLAIN.');
  let answer: Answer;
  if (isUser) {
    answer = await command(session, `USER ${username}`);
    if (answer.status === '+OK') answer = await command(session, `PASS ${password}`, 'PASS …');
  } else {
    answer = await command(session, 'AUTH PLAIN');
    if (answer.status === '+') answer = await command(session, plainMessage(username, password), '…');
  }
  if (answer.status === '+OK') return session.note('login', isUser ? 'USER' : 'PLAIN');
  // Response codes of RFC 2449 and 3206 for what is not the fault of the credentials.
  const isServers = /^\[(SYS|IN-USE|LOGIN-DELAY)\b/i.test(answer.text);
  session.fail(
    isServers ? 'mail_unavailable' : 'mail_login',
    `The server ${isServers ? 'could not take' : 'refused'} the login: "${session.show(answer.text)}".`,
  );
}

type Answer = { readonly status: '+OK' | '-ERR' | '+'; readonly text: string };

async function command(session: Session, line: string, shown = line): Promise<Answer> {
  session.sayLine(line, shown);
  return hear(session, `an answer to ${shown.split(' ')[0] ?? shown}`);
}

async function hear(session: Session, waitingFor: string): Promise<Answer> {
  const line = await session.hear(waitingFor, lineReader('mail_protocol'));
  session.received(line);
  const [, mark = '', text = ''] = /^(\+OK|-ERR|\+)(?: (.*)|)$/is.exec(line) ?? [];
  const status = (['+OK', '-ERR', '+'] as const).find((each) => each === mark.toUpperCase());
  return status === undefined
    ? session.fail('mail_protocol', `The answer is not POP3: "${session.show(line)}".`)
    : { status, text };
}
