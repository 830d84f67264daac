import { askForTls as ldap } from '../ldap/starttls.ts';
import { addressLiteral } from '../mail/settings.ts';
import { capabilities, loginHead, packet, readGreeting } from '../mysql/greeting.ts';
import { failed } from '../net/failure.ts';
import { lineReader, maxReplyLines, type Reply } from '../net/lines.ts';
import { hearReply } from '../net/replies.ts';
import type { Session } from '../net/session.ts';
import type { Taken } from '../net/talk.ts';
import { sslRequest } from '../postgres/ssl-request.ts';

/** Protocols that can change to TLS on a connection that began without, with their usual ports. */
export const startTlsPorts = {
  smtp: 587,
  imap: 143,
  pop3: 110,
  ftp: 21,
  postgres: 5432,
  mysql: 3306,
  ldap: 389,
} as const;
export type StartTlsProtocol = keyof typeof startTlsPorts;
export const startTlsProtocols = Object.keys(startTlsPorts) as [StartTlsProtocol, ...StartTlsProtocol[]];

export function isStartTlsProtocol(value: unknown): value is StartTlsProtocol {
  return typeof value === 'string' && Object.hasOwn(startTlsPorts, value);
}

/**
 * Asks a server to change to TLS and shakes hands. The dialogues are as short as their protocols allow: a check of a certificate logs in
 * nowhere.
 */
export async function startTls(protocol: StartTlsProtocol, session: Session): Promise<void> {
  await dialogues[protocol](session);
  session.context.trace?.('starttls', `${session.where} agreed to TLS`);
  await session.startTls({ code: breach });
}

const breach = 'starttls_protocol';

const dialogues: Record<StartTlsProtocol, (session: Session) => Promise<void>> = {
  smtp,
  imap,
  pop3,
  ftp,
  postgres,
  mysql,
  ldap,
};

/** RFC 3207. */
async function smtp(session: Session): Promise<void> {
  const form = { code: breach, protocol: 'SMTP', freely: false } as const;
  const greeting = await hearReply(session, 'an SMTP greeting', form);
  if (greeting.code !== 220) refused(session, 'SMTP', greeting);
  session.sayLine(`EHLO ${addressLiteral(session)}`);
  const offer = await hearReply(session, 'an answer to EHLO', form);
  if (offer.code !== 250) refused(session, 'EHLO', offer);
  if (!offer.lines.some((line) => /^STARTTLS\b/i.test(line)))
    session.fail('starttls_refused', `${session.where} does not offer STARTTLS.`);
  session.sayLine('STARTTLS');
  const consent = await hearReply(session, 'an answer to STARTTLS', form);
  if (consent.code !== 220) refused(session, 'STARTTLS', consent);
}

/** RFC 4217. */
async function ftp(session: Session): Promise<void> {
  const form = { code: breach, protocol: 'FTP', freely: true } as const;
  const greeting = await hearReply(session, 'an FTP greeting', form);
  if (greeting.code !== 220) refused(session, 'FTP', greeting);
  session.sayLine('AUTH TLS');
  const consent = await hearReply(session, 'an answer to AUTH TLS', form);
  if (consent.code !== 234) refused(session, 'AUTH TLS', consent);
}

const line = lineReader(breach);

/** RFC 3501, section 6.2.1. */
async function imap(session: Session): Promise<void> {
  const greeting = await session.hear('an IMAP greeting', line);
  if (/^\* BYE\b/i.test(greeting)) turnedAway(session, greeting);
  if (!/^\* OK\b/i.test(greeting)) strange(session, 'IMAP', greeting);
  session.sayLine('a1 STARTTLS');
  for (let read = 0; read < maxReplyLines; read += 1) {
    const answer = await session.hear('an answer to STARTTLS', line);
    if (/^a1 OK\b/i.test(answer)) return;
    if (/^a1 /i.test(answer)) session.fail('starttls_refused', `${session.where} refused STARTTLS.`);
    if (!answer.startsWith('* ')) strange(session, 'IMAP', answer);
  }
  strange(session, 'IMAP', 'an answer without end');
}

/** RFC 2595, section 4. */
async function pop3(session: Session): Promise<void> {
  const greeting = await session.hear('a POP3 greeting', line);
  if (/^-ERR\b/i.test(greeting)) turnedAway(session, greeting);
  if (!greeting.startsWith('+OK')) strange(session, 'POP3', greeting);
  session.sayLine('STLS');
  const consent = await session.hear('an answer to STLS', line);
  if (!consent.startsWith('+OK')) session.fail('starttls_refused', `${session.where} refused STLS.`);
}

/** PostgreSQL's SSLRequest; one letter comes back. */
async function postgres(session: Session): Promise<void> {
  session.say(sslRequest());
  const answer = await session.hear('an answer to SSLRequest', (received) => ({
    value: String.fromCharCode(received[0] ?? 0),
    used: 1,
  }));
  if (answer === 'N') session.fail('starttls_refused', `${session.where} does not offer TLS.`);
  if (answer !== 'S') session.fail(breach, `${session.where} does not speak the protocol of PostgreSQL.`);
}

/** The first packet of a MySQL server names its capabilities; the client answers with a request for TLS of 32 bytes. */
async function mysql(session: Session): Promise<void> {
  const wrong = failed(breach, `${session.where} does not speak the protocol of MySQL.`);
  const body = await session.hear('a MySQL greeting', (received): Taken<Buffer> => {
    if (received.length < 4) return { need: 4 };
    const end = 4 + received.readUIntLE(0, 3);
    if (received[3] !== 0 || end === 4 || end > 4096) return { failure: wrong };
    return received.length < end ? { need: end } : { value: received.subarray(4, end), used: end };
  });
  if (body[0] === 0xff) session.fail('starttls_refused', `${session.where} refused the connection.`);
  const greeting = readGreeting(body);
  if (greeting === undefined) return session.demand(wrong);
  if ((greeting.capabilities & capabilities.tls) === 0)
    session.fail('starttls_refused', `${session.where} does not offer TLS.`);
  session.say(packet(1, loginHead(capabilities.protocol41 | capabilities.tls | capabilities.secureConnection)));
}

/** A server that is there and takes nobody in. */
function turnedAway(session: Session, said: string): never {
  session.fail('starttls_refused', `${session.where} does not serve: "${session.show(said)}".`);
}

function strange(session: Session, protocol: string, said: string): never {
  session.fail(breach, `${session.where} does not speak ${protocol} ("${session.show(said).slice(0, 80)}").`);
}

function refused(session: Session, what: string, { code }: Reply): never {
  session.fail('starttls_refused', `${session.where} answered ${what} with ${code}.`);
}
