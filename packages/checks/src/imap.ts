import { z } from 'zod';
import { lazily } from './lazily.ts';
import { mailFields, mailSecrets, plainMessage, secure } from './mail/settings.ts';
import { loginIsWhole } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { lineReader, maxReplyLines } from './net/lines.ts';
import type { Session } from './net/session.ts';

/** Settings of `imap`. */
export const imapSettings = lazily(() =>
  z
    .strictObject({
      ...mailFields(),
      /** How the password is sent; `auto`: AUTHENTICATE PLAIN where it is offered, else the command LOGIN. */
      login_method: z.enum(['auto', 'plain', 'login']).default('auto'),
    })
    .refine(...loginIsWhole),
);
export type ImapSettings = z.infer<ReturnType<typeof imapSettings>>;

/** A mailbox server (RFC 9051 and 3501): greeting, capabilities, STARTTLS or TLS from the start, login. Opens no mailbox. */
export const imap = conversation({
  type: 'imap',
  summary: 'An IMAP server: greeting, STARTTLS or TLS, login',
  reference: {
    targets: ['imaps://mail.example.com', 'imap://mail.example.com', 'mail.example.com:143'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      capabilities: 'What the server can do.',
      login: 'How the login was done.',
    },
  },
  settings: imapSettings,
  peer: 'an IMAP server',
  codes: 'mail_protocol',
  target: { plain: { imap: 143 }, secure: { imaps: 993 }, implicitPorts: [993] },
  secrets: mailSecrets,
  talk: async (session, settings) => {
    await session.open();
    const isLoggedIn = await greet(session);
    const client = new Client(session);
    session.goodbye = 'z LOGOUT';
    let capabilities = await client.capabilities();
    const secured = await secure(session, settings, capabilities.has('STARTTLS'), async () => {
      const answer = await client.command('STARTTLS');
      return { agreed: answer.status === 'OK', text: answer.text };
    });
    if (secured) capabilities = await client.capabilities();
    session.note('capabilities', [...capabilities].join(' '));
    if (settings.username !== undefined && !isLoggedIn) await login(client, session, settings, capabilities);
  },
});

/** Reads the greeting; gives whether the server took the client in by itself. */
async function greet(session: Session): Promise<boolean> {
  const line = await session.hear('its greeting', lineReader('mail_protocol'));
  const match = /^\* (OK|PREAUTH|BYE)\b ?(.*)$/is.exec(line);
  const [, status = '', text = ''] = match ?? [];
  if (match === null) session.fail('mail_protocol', `The answer is not IMAP: "${session.show(line)}".`);
  if (/^BYE$/i.test(status)) {
    session.fail('mail_unavailable', `The server does not serve: "${session.show(text)}".`);
  }
  session.greeted(text);
  return /^PREAUTH$/i.test(status);
}

type Answer = {
  readonly status: 'OK' | 'NO' | 'BAD' | '+';
  readonly text: string;
  readonly untagged: readonly string[];
};

/** Sends commands with tags of their own and reads up to the line that bears the tag. */
class Client {
  readonly #session: Session;
  #count = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async command(line: string, shown = line): Promise<Answer> {
    this.#count += 1;
    this.#session.sayLine(`a${this.#count} ${line}`, `a${this.#count} ${shown}`);
    return this.#answer(shown.split(' ')[0] ?? shown);
  }

  /** Goes on with a command that the server has asked to go on with. */
  async goOn(line: string): Promise<Answer> {
    this.#session.sayLine(line, '…');
    return this.#answer('AUTHENTICATE');
  }

  async capabilities(): Promise<ReadonlySet<string>> {
    const answer = await this.command('CAPABILITY');
    if (answer.status !== 'OK') {
      this.#session.fail('mail_unavailable', `The server refused CAPABILITY: "${this.#session.show(answer.text)}".`);
    }
    const line = answer.untagged.find((each) => /^CAPABILITY /i.test(each)) ?? '';
    return new Set(line.toUpperCase().split(/\s+/).slice(1));
  }

  async #answer(name: string): Promise<Answer> {
    const session = this.#session;
    const tag = `a${this.#count}`;
    const untagged: string[] = [];
    for (;;) {
      const line = await session.hear(`an answer to ${name}`, lineReader('mail_protocol'));
      session.received(line);
      const [, mark = '', rest = ''] = /^(\*|\+|a\d+)(?: (.*))?$/s.exec(line) ?? [];
      if (mark === '*') {
        if (/^BYE\b/i.test(rest)) {
          session.fail('mail_unavailable', `The server ended the session: "${session.show(rest)}".`);
        }
        untagged.push(rest);
        if (untagged.length > maxReplyLines) {
          session.fail('mail_protocol', `An answer of more than ${maxReplyLines} lines came.`);
        }
        continue;
      }
      if (mark === '+') return { status: '+', text: rest, untagged };
      const [, status = '', text = ''] = /^(OK|NO|BAD)\b ?(.*)$/is.exec(rest) ?? [];
      const found = (['OK', 'NO', 'BAD'] as const).find((each) => each === status.toUpperCase());
      if (mark === tag && found !== undefined) return { status: found, text, untagged };
      session.fail('mail_protocol', `The answer to ${name} is not IMAP: "${session.show(line)}".`);
    }
  }
}

async function login(
  client: Client,
  session: Session,
  settings: ImapSettings,
  capabilities: ReadonlySet<string>,
): Promise<void> {
  const { username = '', password = '', login_method: wanted } = settings;
  const isPlain = wanted === 'plain' || (wanted === 'auto' && capabilities.has('AUTH=PLAIN'));
  if (isPlain && !capabilities.has('AUTH=PLAIN')) {
    session.fail('mail_login', 'The server does not offer the login PLAIN.');
  }
  if (!isPlain && capabilities.has('LOGINDISABLED')) {
    session.fail(
      'mail_tls_required',
      'The server allows no login on this connection (LOGINDISABLED); it wants TLS first.',
    );
  }
  const answer = isPlain
    ? await authenticatePlain(client, plainMessage(username, password), capabilities.has('SASL-IR'))
    : await client.command(`LOGIN ${quoted(username)} ${quoted(password)}`, 'LOGIN …');
  if (answer.status === 'OK') return session.note('login', isPlain ? 'PLAIN' : 'LOGIN');
  // Response codes of RFC 5530 for what is not the fault of the credentials.
  const isServers = /^\[(UNAVAILABLE|INUSE|LIMIT|SERVERBUG|CONTACTADMIN)\b/i.test(answer.text);
  session.fail(
    isServers ? 'mail_unavailable' : 'mail_login',
    `The server ${isServers ? 'could not check' : 'refused'} the login: "${session.show(answer.text)}".`,
  );
}

async function authenticatePlain(client: Client, message: string, atOnce: boolean): Promise<Answer> {
  const answer = atOnce
    ? await client.command(`AUTHENTICATE PLAIN ${message}`, 'AUTHENTICATE PLAIN …')
    : await client.command('AUTHENTICATE PLAIN');
  // A server may ask for the message although it came along.
  return answer.status === '+' ? client.goOn(message) : answer;
}

/** A quoted string (RFC 3501, 4.3); settings hold no control characters. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
